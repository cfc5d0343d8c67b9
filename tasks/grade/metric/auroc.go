package metric

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// AUROC returns the area under the receiver operating characteristic: the
// chance that a positive row scores above a negative one, where a tie counts
// half. The larger of the two values in truth is the positive class. It is
// scikit-learn's roc_auc_score.
func AUROC(truth, score, weights []float64) (float64, error) {
	if err := numbers(truth, score, weights); err != nil {
		return 0, err
	}
	low, high, err := twoClasses(truth)
	if err != nil {
		return 0, err
	}
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[a], score[b]) })

	// Rows of one score form a group: each positive of it beats all negatives
	// before the group and half of those in it.
	var below, negatives, positives, area float64
	for i := 0; i < len(order); {
		var pos, neg float64
		s := score[order[i]]
		for ; i < len(order) && score[order[i]] == s; i++ {
			w := weight(weights, order[i])
			if truth[order[i]] == high {
				pos += w
			} else {
				neg += w
			}
		}
		area += pos * (below + neg/2)
		below += neg
		negatives += neg
		positives += pos
	}
	if negatives == 0 || positives == 0 {
		return 0, fmt.Errorf("all rows that weigh anything have one class of %v and %v", low, high)
	}
	return finite(area / negatives / positives)
}

// MeanAUROC averages AUROC over columns, each a class of its own.
func MeanAUROC(truth, score [][]float64, weights []float64) (float64, error) {
	if err := paired(truth, score); err != nil {
		return 0, err
	}
	return meanOf(len(truth), func(c int) (float64, error) { return AUROC(truth[c], score[c], weights) })
}

// twoClasses returns the two values that a binary truth consists of.
func twoClasses(truth []float64) (low, high float64, err error) {
	low, high = slices.Min(truth), slices.Max(truth)
	if low == high {
		return 0, 0, errors.New("the true values are all of one class")
	}
	for i, y := range truth {
		if y != low && y != high {
			return 0, 0, fmt.Errorf("the true value of row %d makes a third class", i+1)
		}
	}
	return low, high, nil
}
