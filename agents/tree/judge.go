package tree

import (
	"fmt"
	"math"
	"strings"

	"proctor/agents"
)

// measure takes the metric from what a script printed: by the task's pattern,
// whose last match counts, and else from a line "validation metric: X". own
// says that it was the latter, which nobody else has recorded.
func measure(obs agents.Observation) (found *score, own bool) {
	for i := len(obs.Metrics) - 1; i >= 0; i-- {
		if v := obs.Metrics[i].Value; !math.IsNaN(v) && !math.IsInf(v, 0) {
			return &score{v, agents.Measured}, false
		}
	}
	if v, ok := printedMetric(obs.Text); ok {
		return &score{v, agents.Measured}, true
	}
	return nil, false
}

// failure says in a word or two what is wrong with a script by what can be
// seen without understanding it, "" when nothing is. kept is why its outputs
// could not be kept.
func failure(obs agents.Observation, kept string) string {
	switch {
	case obs.Denied:
		return "denied"
	case obs.TimedOut:
		return "out of time"
	case obs.ExitCode != 0:
		return fmt.Sprintf("exit code %d", obs.ExitCode)
	}
	return kept
}

// invents reports whether a review names a metric that the output does not
// have. Nothing of such a review is believed.
func invents(r review, output string) bool {
	return r.Claim != nil && !prints(output, *r.Claim)
}

// judge decides what a node that has run is worth. What was seen comes first;
// the review, if there is one, may call the script broken, say so in words,
// and name a metric where none was measured.
func judge(n *node, failed string, r *review) {
	n.done = true
	n.why = failed
	if r != nil {
		n.summary = r.Summary
		if n.score == nil && r.Claim != nil && failed == "" {
			n.score = &score{*r.Claim, agents.Claimed}
		}
		if n.why == "" && r.Bug {
			n.why = "buggy"
		}
	}
	if n.why == "" && n.score == nil {
		n.why = "no metric"
	}
	n.buggy = n.why != ""
}

// result says to the model what came of a node.
func (n *node) result() string {
	text := "It worked."
	if n.buggy {
		text = "It did not work: " + n.why + "."
	}
	return strings.TrimSpace(text + " " + n.summary)
}
