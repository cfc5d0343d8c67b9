package attempts

import (
	"math"
	"math/bits"
	"testing"
)

// drawn is pass@k by its definition: the share of all ways to draw k of the
// attempts in which one of them passes.
func drawn(passes []bool, k int) float64 {
	ways, good := 0, 0
	for set := range uint(1) << len(passes) {
		if bits.OnesCount(set) != k {
			continue
		}
		ways++
		for i, passed := range passes {
			if passed && set>>i&1 == 1 {
				good++
				break
			}
		}
	}
	return float64(good) / float64(ways)
}

// leaveOneOut is the standard error by its definition.
func leaveOneOut(passes []bool, k int) float64 {
	n := float64(len(passes))
	var values []float64
	mean := 0.0
	for i := range passes {
		rest := append(append([]bool(nil), passes[:i]...), passes[i+1:]...)
		values = append(values, drawn(rest, k))
		mean += values[i] / n
	}
	sum := 0.0
	for _, x := range values {
		sum += (x - mean) * (x - mean)
	}
	return math.Sqrt((n - 1) / n * sum)
}

func TestPassAtAgainstItsDefinition(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for c := 0; c <= n; c++ {
			passes := make([]bool, n)
			for i := range c {
				passes[(i*7)%n] = true
				for j := 0; count(passes) <= i; j++ {
					passes[j] = true
				}
			}
			for k := 1; k <= n; k++ {
				r := PassAt(n, c, k)
				if want := drawn(passes, k); math.Abs(r.Value-want) > 1e-12 {
					t.Errorf("pass@%d of %d in %d is %v, want %v", k, c, n, r.Value, want)
				}
				if k == n {
					if r.SE != nil {
						t.Errorf("pass@%d of %d attempts has a standard error %v", k, n, *r.SE)
					}
					continue
				}
				if want := leaveOneOut(passes, k); r.SE == nil || math.Abs(*r.SE-want) > 1e-12 {
					t.Errorf("the standard error of pass@%d of %d in %d is %v, want %v", k, c, n, r.SE, want)
				}
			}
		}
	}
}

func count(passes []bool) (n int) {
	for _, p := range passes {
		if p {
			n++
		}
	}
	return n
}

// What a person can check with a pocket calculator.
func TestPassAtByHand(t *testing.T) {
	for _, tc := range []struct {
		n, c, k   int
		value, se float64
	}{
		{6, 3, 1, 0.5, math.Sqrt(0.25 / 5)},
		{6, 3, 2, 1 - 3.0/15, math.Sqrt(5.0/6*9/6) * (9.0/10 - 7.0/10)},
		{8, 3, 1, 0.375, math.Sqrt(0.375 * 0.625 / 7)},
		{10, 1, 5, 0.5, math.Sqrt(9.0/10*9/10) * 5 / 9},
		{4, 0, 2, 0, 0},
		{4, 4, 3, 1, 0},
		{1000, 500, 1, 0.5, math.Sqrt(0.25 / 999)},
	} {
		r := PassAt(tc.n, tc.c, tc.k)
		if math.Abs(r.Value-tc.value) > 1e-12 || r.SE == nil || math.Abs(*r.SE-tc.se) > 1e-12 {
			t.Errorf("PassAt(%d, %d, %d) = %v, want %v ± %v", tc.n, tc.c, tc.k, r, tc.value, tc.se)
		}
	}
	// Where the binomials themselves would overflow.
	if r := PassAt(1000, 1, 500); math.Abs(r.Value-0.5) > 1e-9 {
		t.Errorf("pass@500 of one in 1000 is %v, want a half", r.Value)
	}
}

// The standard error of pass@1 is the standard error of the mean of zeros and
// ones, as a benchmark that averages over seeds computes it.
func TestPassAt1IsAMean(t *testing.T) {
	for n := 2; n < 40; n++ {
		for c := 0; c <= n; c++ {
			values := make([]float64, n)
			for i := range c {
				values[i] = 1
			}
			m, r := mean(values), PassAt(n, c, 1)
			if math.Abs(m.Value-r.Value) > 1e-12 || math.Abs(*m.SE-*r.SE) > 1e-12 {
				t.Errorf("%d of %d: pass@1 %v, mean %v ± %v", c, n, r, m.Value, *m.SE)
			}
		}
	}
}

func TestMean(t *testing.T) {
	if mean(nil) != nil {
		t.Error("a mean of nothing")
	}
	if m := mean([]float64{3}); m.Value != 3 || m.SE != nil || m.N != 1 {
		t.Errorf("of one value: %+v", m)
	}
	// 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 32, variance 32/7.
	if m := mean([]float64{2, 4, 4, 4, 5, 5, 7, 9}); m.Value != 5 || math.Abs(*m.SE-math.Sqrt(32.0/7/8)) > 1e-12 {
		t.Errorf("%v ± %v", m.Value, *m.SE)
	}
}
