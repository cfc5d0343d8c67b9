package metric

import (
	"errors"
	"fmt"
	"slices"
)

// F1Labels returns the F1 score of rows that have any number of labels each.
// Labels are numbers from 0 to classes-1; twice the same in a row counts
// once. It is scikit-learn's f1_score of two indicator matrices.
func F1Labels(truth, guess [][]int, classes int, average Average, weights []float64) (float64, error) {
	return overLabels(truth, guess, classes, average, weights, counts.f1)
}

// JaccardLabels returns intersection over union of rows that have any number
// of labels each, as scikit-learn's jaccard_score; two empty sets count 0.
func JaccardLabels(truth, guess [][]int, classes int, average Average, weights []float64) (float64, error) {
	return overLabels(truth, guess, classes, average, weights, counts.jaccard)
}

func overLabels(truth, guess [][]int, classes int, avg Average, weights []float64, figure func(counts) float64) (float64, error) {
	if err := sameLength(len(truth), len(guess), weights); err != nil {
		return 0, err
	}
	if classes < 1 {
		return 0, errors.New("there are no labels")
	}
	byClass := make([]counts, classes)
	byRow := make([]counts, len(truth))
	for i := range truth {
		t, g := labelSet(truth[i]), labelSet(guess[i])
		w := weight(weights, i)
		for _, label := range slices.Concat(t, g) {
			if label < 0 || label >= classes {
				return 0, fmt.Errorf("row %d has label %d of %d", i+1, label, classes)
			}
		}
		for _, label := range t {
			byClass[label].actual += w
		}
		for _, label := range g {
			byClass[label].predicted += w
			if _, hit := slices.BinarySearch(t, label); hit {
				byClass[label].hits += w
				byRow[i].hits++
			}
		}
		byRow[i].actual, byRow[i].predicted = float64(len(t)), float64(len(g))
	}
	if avg == Samples {
		return average(len(byRow), weights, func(i int) float64 { return figure(byRow[i]) })
	}
	return finite(combine(byClass, avg, figure))
}

// labelSet returns the labels sorted and each once.
func labelSet(labels []int) []int {
	set := slices.Clone(labels)
	slices.Sort(set)
	return slices.Compact(set)
}
