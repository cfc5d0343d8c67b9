package metric

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// LRAP returns label-ranking average precision: for each true label of a row,
// the share of true labels among those that score at least as high, averaged
// over labels and then over rows. truth and score hold a row each; a label
// is true when its truth is above zero. A row of which all labels or none are
// true counts 1.
func LRAP(truth, score [][]float64, weights []float64) (float64, error) {
	if err := sameLength(len(truth), len(score), weights); err != nil {
		return 0, err
	}
	if len(truth[0]) < 2 {
		return 0, errors.New("it needs two labels or more")
	}
	of := make([]float64, len(truth))
	for i := range truth {
		if len(truth[i]) != len(truth[0]) || len(score[i]) != len(truth[0]) {
			return 0, fmt.Errorf("row %d has %d labels and %d scores, expected %d", i+1, len(truth[i]), len(score[i]), len(truth[0]))
		}
		if err := allFinite("score", score[i]); err != nil {
			return 0, fmt.Errorf("in row %d %w", i+1, err)
		}
		of[i] = rowPrecision(truth[i], score[i])
	}
	return average(len(of), weights, func(i int) float64 { return of[i] })
}

func rowPrecision(truth, score []float64) float64 {
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	var relevant, sum float64
	for i := 0; i < len(order); {
		j, hits := i, 0.0
		for ; j < len(order) && score[order[j]] == score[order[i]]; j++ {
			if truth[order[j]] > 0 {
				hits++
			}
		}
		relevant += hits
		sum += hits * relevant / float64(j)
		i = j
	}
	if relevant == 0 || int(relevant) == len(order) {
		return 1
	}
	return sum / relevant
}

// MAP returns mean average precision at k: guess holds each row's answers,
// best first, truth the right ones. An answer that repeats an earlier one is
// no hit, and a row without right answers counts 0.
func MAP(truth, guess [][]string, k int) (float64, error) {
	if err := sameLength(len(truth), len(guess), nil); err != nil {
		return 0, err
	}
	if k < 1 {
		return 0, fmt.Errorf("k is %d, expected at least 1", k)
	}
	return average(len(truth), nil, func(i int) float64 {
		right := slices.Clone(truth[i])
		slices.Sort(right)
		right = slices.Compact(right)
		first := guess[i][:min(k, len(guess[i]))]
		var hits, score float64
		for j, answer := range first {
			if _, hit := slices.BinarySearch(right, answer); hit && !slices.Contains(first[:j], answer) {
				hits++
				score += hits / float64(j+1)
			}
		}
		return ratio(score, float64(min(len(right), k)))
	})
}
