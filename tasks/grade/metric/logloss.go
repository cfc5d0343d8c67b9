package metric

import (
	"fmt"
	"math"
)

// epsilon is the spacing of float64 at 1: predictions are kept this far from
// 0 and 1, so that a single confident mistake does not cost everything.
const epsilon = 0x1p-52

// LogLoss returns the mean negative log-likelihood of two classes in nats:
// probability is that of the larger value in truth. It is scikit-learn's
// log_loss.
func LogLoss(truth, probability, weights []float64) (float64, error) {
	if err := numbers(truth, probability, weights); err != nil {
		return 0, err
	}
	_, high, err := twoClasses(truth)
	if err != nil {
		return 0, err
	}
	for i, p := range probability {
		if p < 0 || p > 1 {
			return 0, fmt.Errorf("the prediction of row %d is %v, which is no probability", i+1, p)
		}
	}
	return average(len(truth), weights, func(i int) float64 {
		p := min(max(probability[i], epsilon), 1-epsilon)
		other := 1 - p
		if truth[i] != high {
			p, other = other, p
		}
		return -math.Log(p / (p + other))
	})
}

// LogLossColumns returns the mean negative log-likelihood of classes given as
// columns: truth is 1 in the column of a row's class and 0 elsewhere,
// probability one column for each class. Each row's probabilities are
// divided by their sum first, as scikit-learn does.
func LogLossColumns(truth, probability [][]float64, weights []float64) (float64, error) {
	if err := paired(truth, probability); err != nil {
		return 0, err
	}
	if len(truth) < 2 {
		return 0, fmt.Errorf("there are %d classes, expected two or more", len(truth))
	}
	for c := range truth {
		if err := oneHot(truth[c], probability[c], weights); err != nil {
			return 0, fmt.Errorf("in column %d %w", c+1, err)
		}
		if len(truth[c]) != len(truth[0]) {
			return 0, fmt.Errorf("column %d has %d rows, expected %d", c+1, len(truth[c]), len(truth[0]))
		}
	}
	return average(len(truth[0]), weights, func(i int) float64 {
		var sum, loss float64
		for c := range truth {
			sum += min(max(probability[c][i], epsilon), 1-epsilon)
		}
		for c := range truth {
			if truth[c][i] == 1 {
				loss -= math.Log(min(max(probability[c][i], epsilon), 1-epsilon) / sum)
			}
		}
		return loss
	})
}

// oneHot checks one class's column.
func oneHot(truth, probability, weights []float64) error {
	if err := numbers(truth, probability, weights); err != nil {
		return err
	}
	for i, y := range truth {
		if y != 0 && y != 1 {
			return fmt.Errorf("the true value of row %d is %v, expected 0 or 1", i+1, y)
		}
		if p := probability[i]; p < 0 || p > 1 {
			return fmt.Errorf("the prediction of row %d is %v, which is no probability", i+1, p)
		}
	}
	return nil
}
