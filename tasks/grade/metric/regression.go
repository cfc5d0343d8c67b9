package metric

import (
	"errors"
	"fmt"
	"math"
)

// MAE returns the mean absolute error.
func MAE(truth, guess, weights []float64) (float64, error) {
	if err := numbers(truth, guess, weights); err != nil {
		return 0, err
	}
	return average(len(truth), weights, func(i int) float64 { return math.Abs(truth[i] - guess[i]) })
}

// RMSE returns the root of the mean squared error.
func RMSE(truth, guess, weights []float64) (float64, error) {
	if err := numbers(truth, guess, weights); err != nil {
		return 0, err
	}
	mean, err := average(len(truth), weights, func(i int) float64 { return square(truth[i] - guess[i]) })
	return math.Sqrt(mean), err
}

// RMSLE returns the root of the mean squared difference of log(1+x). Values
// below zero have none.
func RMSLE(truth, guess, weights []float64) (float64, error) {
	if err := numbers(truth, guess, weights); err != nil {
		return 0, err
	}
	for i := range truth {
		if truth[i] < 0 || guess[i] < 0 {
			return 0, fmt.Errorf("a value of row %d is negative, which has no logarithmic error", i+1)
		}
	}
	mean, err := average(len(truth), weights, func(i int) float64 {
		return square(math.Log1p(truth[i]) - math.Log1p(guess[i]))
	})
	return math.Sqrt(mean), err
}

// MCRMSE averages RMSE over columns.
func MCRMSE(truth, guess [][]float64, weights []float64) (float64, error) {
	if err := paired(truth, guess); err != nil {
		return 0, err
	}
	return meanOf(len(truth), func(c int) (float64, error) { return RMSE(truth[c], guess[c], weights) })
}

// MeanRMSLE averages RMSLE over columns.
func MeanRMSLE(truth, guess [][]float64, weights []float64) (float64, error) {
	if err := paired(truth, guess); err != nil {
		return 0, err
	}
	return meanOf(len(truth), func(c int) (float64, error) { return RMSLE(truth[c], guess[c], weights) })
}

// LogMAE averages the logarithm of MAE over groups of rows; group names each
// row's. It is undefined when a group is predicted without any error.
func LogMAE(truth, guess []float64, group []string) (float64, error) {
	if err := numbers(truth, guess, nil); err != nil {
		return 0, err
	}
	if len(group) != len(truth) {
		return 0, fmt.Errorf("there are %d groups for %d rows", len(group), len(truth))
	}
	sum, rows := map[string]float64{}, map[string]float64{}
	var order []string
	for i, g := range group {
		if rows[g] == 0 {
			order = append(order, g)
		}
		sum[g] += math.Abs(truth[i] - guess[i])
		rows[g]++
	}
	var logs float64
	for _, g := range order {
		if sum[g] == 0 {
			return 0, errors.New("a group has no error at all, whose logarithm is undefined")
		}
		logs += math.Log(sum[g] / rows[g])
	}
	return finite(logs / float64(len(order)))
}
