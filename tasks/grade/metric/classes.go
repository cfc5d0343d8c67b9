package metric

import (
	"cmp"
	"math"
	"slices"
)

// Accuracy returns the share of rows whose class was predicted.
func Accuracy[T cmp.Ordered](truth, guess []T, weights []float64) (float64, error) {
	if err := sameLength(len(truth), len(guess), weights); err != nil {
		return 0, err
	}
	return average(len(truth), weights, func(i int) float64 {
		if truth[i] == guess[i] {
			return 1
		}
		return 0
	})
}

// Error returns the share of rows whose class was not predicted.
func Error[T cmp.Ordered](truth, guess []T, weights []float64) (float64, error) {
	accuracy, err := Accuracy(truth, guess, weights)
	if err != nil {
		return 0, err
	}
	return 1 - accuracy, nil
}

// QWK returns Cohen's kappa with quadratic weights: 1 is agreement, 0 what
// chance would give. Two classes differ by the distance of their places
// among the sorted classes that occur in either column, as in scikit-learn's
// cohen_kappa_score, not by the difference of their values.
func QWK[T cmp.Ordered](truth, guess []T, weights []float64) (float64, error) {
	if err := sameLength(len(truth), len(guess), weights); err != nil {
		return 0, err
	}
	c := confusionOf(truth, guess, weights)
	var observed, expected float64
	for pair, w := range c.pairs {
		observed += w * square(float64(pair[0]-pair[1]))
	}
	for i, t := range c.truth {
		for j, g := range c.guess {
			expected += t * g / c.total * square(float64(i-j))
		}
	}
	return finite(1 - observed/expected)
}

// MCC returns Matthews' correlation coefficient of any number of classes. It
// is 0 when truth or prediction is constant.
func MCC[T cmp.Ordered](truth, guess []T, weights []float64) (float64, error) {
	if err := sameLength(len(truth), len(guess), weights); err != nil {
		return 0, err
	}
	c := confusionOf(truth, guess, weights)
	var correct, tt, tg, gg float64
	for i := range c.truth {
		correct += c.pairs[[2]int{i, i}]
		tt += c.truth[i] * c.truth[i]
		tg += c.truth[i] * c.guess[i]
		gg += c.guess[i] * c.guess[i]
	}
	square := c.total * c.total
	if (square-gg)*(square-tt) == 0 {
		return 0, nil
	}
	return finite((correct*c.total - tg) / math.Sqrt((square-tt)*(square-gg)))
}

func square(x float64) float64 { return x * x }

// A confusion counts how often each class was taken for which. Classes are
// numbered in sorted order.
type confusion struct {
	pairs        map[[2]int]float64 // by true and predicted class
	truth, guess []float64          // sums over the other
	total        float64
}

func confusionOf[T cmp.Ordered](truth, guess []T, weights []float64) confusion {
	classes := distinct(truth, guess)
	number := make(map[T]int, len(classes))
	for i, class := range classes {
		number[class] = i
	}
	c := confusion{
		pairs: map[[2]int]float64{},
		truth: make([]float64, len(classes)),
		guess: make([]float64, len(classes)),
	}
	for i := range truth {
		t, g, w := number[truth[i]], number[guess[i]], weight(weights, i)
		c.pairs[[2]int{t, g}] += w
		c.truth[t] += w
		c.guess[g] += w
		c.total += w
	}
	return c
}

// distinct returns the sorted values that occur in either column.
func distinct[T cmp.Ordered](a, b []T) []T {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
