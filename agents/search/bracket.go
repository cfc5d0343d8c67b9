package search

import (
	"cmp"
	"slices"

	"proctor/tasks"
)

// A bracket is one round of successive halving: settings start on the lowest
// rung, and from each rung the best 1/eta climb to the next.
type bracket struct {
	number int
	rungs  []rung
	at     int // the rung being worked on
	trials int
	slow   int    // settings left out because there was no time for them
	ended  string // why it did not get to its end; empty when it did
}

// A rung is all settings at one fidelity.
type rung struct {
	level int // divisions by eta below the highest fidelity
	queue []setting
	done  []result
	size  int // how many settings it had at first
}

// A result is what a setting measured on a rung.
type result struct {
	setting setting
	value   float64
}

func newBracket(number int, levels []int, start []setting) *bracket {
	b := &bracket{number: number}
	for _, level := range levels {
		b.rungs = append(b.rungs, rung{level: level})
	}
	b.rungs[0].queue, b.rungs[0].size = start, len(start)
	return b
}

func (b *bracket) rung() *rung { return &b.rungs[b.at] }

// next takes the next setting of the rung at hand.
func (b *bracket) next() (setting, bool) {
	r := b.rung()
	if len(r.queue) == 0 {
		return nil, false
	}
	set := r.queue[0]
	r.queue = r.queue[1:]
	return set, true
}

// promote moves the best of the finished rung to the next one and reports
// whether there are any. A setting without fidelity has nothing to gain from
// climbing and stays. Equal values keep the order in which they came.
func (b *bracket) promote(m tasks.Metric, eta int, flat func(setting) bool) bool {
	done := slices.DeleteFunc(ranked(b.rung().done, m), func(r result) bool { return flat(r.setting) })
	if b.at+1 == len(b.rungs) || len(done) == 0 {
		return false
	}
	keep := max(1, b.rung().size/eta)
	b.at++
	for _, r := range done[:min(keep, len(done))] {
		b.rung().queue = append(b.rung().queue, r.setting)
	}
	b.rung().size = len(b.rung().queue)
	return true
}

// standing lists the settings still in the bracket, best first, then those
// not yet tried on this rung.
func (b *bracket) standing(m tasks.Metric) []setting {
	var all []setting
	for _, r := range ranked(b.rung().done, m) {
		all = append(all, r.setting)
	}
	return append(all, b.rung().queue...)
}

// ranked returns the results best first.
func ranked(results []result, m tasks.Metric) []result {
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b result) int {
		if m.HigherIsBetter {
			a, b = b, a
		}
		return cmp.Compare(a.value, b.value)
	})
	return results
}
