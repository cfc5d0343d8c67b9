package tree

import (
	"slices"
	"time"

	"proctor/agents"
)

// shareOfRest is the part of the remaining time that one script may take.
const shareOfRest = 4

// timeLimit is how long a script may run, in working time: a quarter of what
// is left, and never more than most.
func timeLimit(left *time.Duration, most time.Duration) time.Duration {
	if left == nil {
		return most
	}
	return max(time.Millisecond, min(*left/shareOfRest, most))
}

// actionsOfNode is how many actions a node takes: the script is written and
// run. One more is kept for clearing up when nothing has worked.
const actionsOfNode = 2

// over says why there should be no further node, "" when there should.
// took is what the nodes so far took.
func over(left agents.Remaining, took []time.Duration, worked bool) string {
	actions := actionsOfNode
	if !worked {
		actions++
	}
	switch {
	case left.Steps != nil && *left.Steps < actions:
		return "too few steps are left for another solution"
	case left.Time != nil && *left.Time < max(median(took), time.Millisecond):
		return "too little time is left for another solution"
	case left.Tokens != nil && *left.Tokens <= 0:
		return "the tokens are spent"
	case left.Cost != nil && *left.Cost <= 0:
		return "the money is spent"
	case left.GPUHours != nil && *left.GPUHours <= 0:
		return "the GPU-hours are spent"
	}
	return ""
}

// unlimited reports whether a budget has no limit at all.
func unlimited(left agents.Remaining) bool { return left == agents.Remaining{} }

// median returns the middle of some durations, 0 of none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	n := len(d)
	return (d[(n-1)/2] + d[n/2]) / 2
}
