package mlebench

import "math"

// complete refuses predictions that are missing or infinite.
func complete(guess []*column) error {
	for _, c := range guess {
		for i := range c.text {
			if c.isMissing(i) {
				return invalidf("the column %q has no value (or NaN) in row %d", c.name, i+1)
			}
			if c.isNumeric() && math.IsInf(c.numbers[i], 0) {
				return invalidf("the column %q has an infinite value in row %d", c.name, i+1)
			}
		}
	}
	return nil
}

// between refuses predictions outside [low, high].
func between(low, high float64) func([]*column) error {
	return func(guess []*column) error {
		for _, c := range guess {
			values, err := c.values()
			if err != nil {
				return invalidf("%v", err)
			}
			for i, x := range values {
				if !(x >= low && x <= high) {
					return invalidf("the column %q has %v in row %d, expected values from %v to %v", c.name, x, i+1, low, high)
				}
			}
		}
		return nil
	}
}

// distributions refuses rows that are not probabilities with a sum of 1, to
// within tolerance.
func distributions(tolerance float64) func([]*column) error {
	return func(guess []*column) error {
		if err := between(0, 1)(guess); err != nil {
			return err
		}
		for i := range guess[0].text {
			var sum float64
			for _, c := range guess {
				sum += c.numbers[i]
			}
			if math.Abs(sum-1) > tolerance {
				return invalidf("the probabilities of row %d have the sum %v, expected 1", i+1, sum)
			}
		}
		return nil
	}
}
