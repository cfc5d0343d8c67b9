package search

import (
	"math"
	"slices"
	"time"
)

// A pace is how long trials have taken, and from that how long the next will.
type pace struct {
	seen []duration
}

type duration struct {
	work
	seconds float64
}

// A work is what is known beforehand about the time of a trial.
type work struct {
	key   string  // the setting apart from its fidelity
	group string  // its choices: settings of one group resemble each other
	load  float64 // beside the highest fidelity
	flat  bool    // it has no fidelity
}

func (p *pace) add(d duration) { p.seen = append(p.seen, d) }

// known reports whether there is anything to go by.
func (p *pace) known() bool { return len(p.seen) > 0 }

// trial estimates the seconds of a trial. What the same setting took before
// counts most, then trials of its group, then those with the same load, then
// all. Time is taken as proportional to load.
func (p *pace) trial(w work) float64 {
	var own, group, same, all []float64
	for _, d := range p.seen {
		seconds := d.seconds
		if !d.flat && !w.flat && d.load > 0 {
			seconds *= w.load / d.load
		}
		all = append(all, seconds)
		if d.flat == w.flat && math.Abs(d.load-w.load) <= 0.01*w.load {
			same = append(same, d.seconds)
		}
		if d.group == w.group {
			group = append(group, seconds)
		}
		if d.key == w.key {
			own = append(own, seconds)
		}
	}
	switch {
	case len(own) > 0:
		return own[len(own)-1]
	case len(group) > 0:
		return median(group)
	case len(same) > 0:
		return median(same)
	case len(all) > 0:
		return median(all)
	}
	return 0
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// A limit is what the search may still use. Nil fields have no limit.
type limit struct {
	seconds *float64 // working time, less the margin
	trials  *int
}

// affords reports whether so many trials of so many seconds in all fit.
func (l limit) affords(trials int, seconds float64) bool {
	return (l.trials == nil || trials <= *l.trials) && (l.seconds == nil || seconds <= *l.seconds)
}

// margin is how much of the working time is left unused, so that the search
// finishes by itself and not at the hard limit.
func margin(total time.Duration) time.Duration {
	return min(max(2*time.Second, total*3/100), total/5)
}

// A shape is a bracket of successive halving before it has settings: how
// many start, and the level of each rung, which is how many divisions by eta
// it is below the highest fidelity.
type shape struct {
	start  int
	levels []int
}

// fit returns the largest bracket that the limit affords; ok is false when
// not even one trial is. A bracket that ends at a higher fidelity comes
// before one with more rungs. cost estimates a trial's seconds at a level.
func fit(depth, eta int, cost func(level int) float64, l limit) (s shape, ok bool) {
	if depth == 0 { // no fidelity: as many as a bracket of three rungs starts
		for n := eta * eta; n > 0; n-- {
			if l.affords(n, float64(n)*cost(0)) {
				return shape{n, []int{0}}, true
			}
		}
		return shape{}, false
	}
	for top := 0; top <= depth; top++ {
		for rungs := depth - top + 1; rungs > 0; rungs-- {
			s := shape{start: 1}
			trials, seconds := 0, 0.0
			for level := top; level < top+rungs; level++ {
				s.levels = append([]int{level}, s.levels...)
				trials += s.start
				seconds += float64(s.start) * cost(level)
				s.start *= eta
			}
			s.start /= eta
			if l.affords(trials, seconds) {
				return s, true
			}
		}
	}
	return shape{}, false
}
