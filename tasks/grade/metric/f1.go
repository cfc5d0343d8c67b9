package metric

import (
	"cmp"
	"fmt"
)

// Average is how figures of several classes become one.
type Average string

// The ways to average.
const (
	Micro   Average = "micro"   // over all decisions together
	Macro   Average = "macro"   // over classes, each weighing the same
	Samples Average = "samples" // over rows, for sets of labels only
)

// F1 returns the F1 score, the harmonic mean of precision and recall, of a
// class for each row. The classes are those that occur in either column; one
// that is never hit counts 0. Samples is not for single classes.
func F1[T cmp.Ordered](truth, guess []T, average Average, weights []float64) (float64, error) {
	if err := sameLength(len(truth), len(guess), weights); err != nil {
		return 0, err
	}
	if average == Samples {
		return 0, fmt.Errorf("the average %q needs a set of labels for each row", average)
	}
	c := confusionOf(truth, guess, weights)
	classes := make([]counts, len(c.truth))
	for i := range classes {
		classes[i] = counts{hits: c.pairs[[2]int{i, i}], predicted: c.guess[i], actual: c.truth[i]}
	}
	return finite(combine(classes, average, counts.f1))
}

// counts are the decisions on one class, or one row.
type counts struct{ hits, predicted, actual float64 }

// f1 is 0 where there was nothing to find and nothing was found.
func (c counts) f1() float64 { return ratio(2*c.hits, c.predicted+c.actual) }

// jaccard is intersection over union, 0 for two empty sets.
func (c counts) jaccard() float64 { return ratio(c.hits, c.predicted+c.actual-c.hits) }

func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// combine averages a figure over classes, or takes it of all together.
func combine(classes []counts, average Average, figure func(counts) float64) float64 {
	var all counts
	var sum float64
	for _, c := range classes {
		all.hits += c.hits
		all.predicted += c.predicted
		all.actual += c.actual
		sum += figure(c)
	}
	if average == Micro {
		return figure(all)
	}
	return sum / float64(len(classes))
}
