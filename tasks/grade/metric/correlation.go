package metric

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

var errConstant = errors.New("a column is constant, so nothing correlates with it")

// Pearson returns the linear correlation of two columns, from -1 to 1. It is
// undefined when one of them is constant.
func Pearson(x, y []float64) (float64, error) {
	if err := numbers(x, y, nil); err != nil {
		return 0, err
	}
	if len(x) < 2 {
		return 0, errors.New("a correlation needs two rows")
	}
	if constant(x) || constant(y) {
		return 0, errConstant
	}
	dx, dy := centred(x), centred(y)
	nx, ny := norm(dx), norm(dy)
	var r float64
	for i := range dx {
		r += dx[i] / nx * (dy[i] / ny)
	}
	r, err := finite(r)
	return min(max(r, -1), 1), err
}

// Spearman returns the rank correlation of two columns: Pearson's of their
// ranks, where equals share the mean of theirs.
func Spearman(x, y []float64) (float64, error) {
	if err := numbers(x, y, nil); err != nil {
		return 0, err
	}
	return Pearson(ranks(x), ranks(y))
}

// MeanSpearman averages Spearman over columns.
func MeanSpearman(truth, guess [][]float64) (float64, error) {
	if err := paired(truth, guess); err != nil {
		return 0, err
	}
	return meanOf(len(truth), func(c int) (float64, error) { return Spearman(truth[c], guess[c]) })
}

func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

func centred(x []float64) []float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	mean := sum / float64(len(x))
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = v - mean
	}
	return d
}

// norm is the Euclidean length, scaled so that squares do not overflow.
func norm(x []float64) float64 {
	var largest, sum float64
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 0
	}
	for _, v := range x {
		sum += square(v / largest)
	}
	return largest * math.Sqrt(sum)
}

// ranks numbers the values from 1 in ascending order.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	rank := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			rank[order[k]] = float64(i+1+j) / 2
		}
		i = j
	}
	return rank
}
