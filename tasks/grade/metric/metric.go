// Package metric computes the plain metrics that machine-learning
// competitions are scored by, equal to scikit-learn's and SciPy's.
//
// Each function takes the truth first and the prediction second, row by row.
// Where a metric takes weights, nil means that all rows weigh the same, and a
// row of weight zero is as good as absent from the sums. Where scikit-learn
// raises an error, or would return NaN, the function returns an error whose
// text completes "the metric cannot be computed: ". No function returns NaN
// or an infinity.
//
// One idea to a file: auroc.go, logloss.go, classes.go (accuracy, QWK, MCC),
// f1.go, regression.go, correlation.go, labels.go (sets of labels for each
// row), ranking.go (lists in an order).
package metric

import (
	"errors"
	"fmt"
	"math"
)

// errEmpty: there is no row to judge.
var errEmpty = errors.New("there are no rows")

// sameLength checks that truth, prediction and weights, if any, are of one
// length of at least 1.
func sameLength(truth, guess int, weights []float64) error {
	switch {
	case truth != guess:
		return fmt.Errorf("there are %d predictions for %d rows", guess, truth)
	case weights != nil && len(weights) != truth:
		return fmt.Errorf("there are %d weights for %d rows", len(weights), truth)
	case truth == 0:
		return errEmpty
	}
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("the weight of row %d is %v", i+1, w)
		}
	}
	return nil
}

// allFinite refuses NaN and infinities, naming what values are.
func allFinite(what string, values []float64) error {
	for i, x := range values {
		if math.IsNaN(x) {
			return fmt.Errorf("the %s of row %d is missing or NaN", what, i+1)
		}
		if math.IsInf(x, 0) {
			return fmt.Errorf("the %s of row %d is infinite", what, i+1)
		}
	}
	return nil
}

// numbers checks two columns of numbers.
func numbers(truth, guess, weights []float64) error {
	if err := sameLength(len(truth), len(guess), weights); err != nil {
		return err
	}
	if err := allFinite("true value", truth); err != nil {
		return err
	}
	return allFinite("prediction", guess)
}

// weight returns row i's weight.
func weight(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// average returns the weighted mean of n values.
func average(n int, weights []float64, value func(i int) float64) (float64, error) {
	var sum, total float64
	for i := range n {
		w := weight(weights, i)
		sum += w * value(i)
		total += w
	}
	return finite(sum / total)
}

// finite turns what is no number into an error.
func finite(x float64) (float64, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, errors.New("it is undefined for these values")
	}
	return x + 0, nil // a negative zero becomes zero
}

// meanOf averages a metric over columns. The error names the column by its
// place, from 1.
func meanOf(columns int, metric func(c int) (float64, error)) (float64, error) {
	if columns == 0 {
		return 0, errEmpty
	}
	var sum float64
	for c := range columns {
		x, err := metric(c)
		if err != nil {
			return 0, fmt.Errorf("in column %d %w", c+1, err)
		}
		sum += x
	}
	return sum / float64(columns), nil
}

// paired checks that truth and prediction have the same number of columns.
func paired(truth, guess [][]float64) error {
	if len(truth) != len(guess) {
		return fmt.Errorf("there are %d columns of predictions, expected %d", len(guess), len(truth))
	}
	return nil
}
