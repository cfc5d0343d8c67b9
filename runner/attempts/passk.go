package attempts

import "math"

// A Rate is pass@k: how likely it is that at least one of k attempts passes.
type Rate struct {
	K     int      `json:"k"`
	Value float64  `json:"value"` // 0 to 1
	SE    *float64 `json:"se"`    // its standard error; nil when there are too few attempts to tell
}

// PassAt estimates pass@k from c passes in n attempts, 1 ≤ k ≤ n, without
// bias: 1 - C(n-c, k) / C(n, k), the chance that k of the n attempts, drawn
// without putting back, are not all failures.
//
// The standard error is that of leaving one attempt out at a time. For k = 1
// it is the standard error of the mean with n-1 below the line, which is what
// MLE-bench reports over seeds: √(p(1-p)/(n-1)). With one attempt left out
// there must still be k, so pass@n has none.
func PassAt(n, c, k int) Rate {
	r := Rate{K: k, Value: passAt(n, c, k)}
	if k >= n {
		return r
	}
	apart := 0.0
	if c > 0 && c < n {
		apart = passAt(n-1, c, k) - passAt(n-1, c-1, k)
	}
	total, passes := float64(n), float64(c)
	se := math.Sqrt((total-1)/total*passes*(total-passes)/total) * apart
	r.SE = &se
	return r
}

// passAt multiplies the odds instead of dividing binomials, which overflow.
func passAt(n, c, k int) float64 {
	if n-c < k {
		return 1
	}
	none := 1.0
	for i := n - c + 1; i <= n; i++ {
		none *= 1 - float64(k)/float64(i)
	}
	return 1 - none
}

// A Mean is a mean with its standard error.
type Mean struct {
	Value float64  `json:"value"`
	SE    *float64 `json:"se"` // with n-1 below the line; nil for one value
	N     int      `json:"n"`
}

// mean returns nil when there is nothing to average.
func mean(values []float64) *Mean {
	n := float64(len(values))
	if n == 0 {
		return nil
	}
	m := Mean{N: len(values)}
	for _, x := range values {
		m.Value += x / n
	}
	if n == 1 {
		return &m
	}
	squares := 0.0
	for _, x := range values {
		squares += (x - m.Value) * (x - m.Value)
	}
	se := math.Sqrt(squares / (n - 1) / n)
	m.SE = &se
	return &m
}
