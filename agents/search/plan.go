package search

import (
	"fmt"

	"proctor/agents"
)

// A chapter is what the plan keeps of a bracket that is done with.
type chapter struct {
	first, last int // brackets
	trials      int
	best        *float64
	ended       string
}

// close makes the chapter of a bracket.
func (w *sweep) close(b *bracket) chapter {
	c := chapter{first: b.number, last: b.number, trials: b.trials, ended: b.ended}
	for _, r := range b.rungs {
		c.include(ranked(r.done, w.Task.Metric), w.Task.Metric.Better)
	}
	return c
}

// include takes the first of the results into account.
func (c *chapter) include(results []result, better func(a, b float64) bool) {
	if len(results) > 0 && (c.best == nil || better(results[0].value, *c.best)) {
		c.best = &results[0].value
	}
}

// plan shows what has been done, the rungs of b, and what is to come. b is
// nil between brackets.
func (w *sweep) plan(b *bracket) {
	starter := agents.PlanEntry{Content: "the starter as it is", Priority: "high", Status: agents.InProgress}
	if w.first != "" {
		starter.Content += ": " + w.Task.Metric.Name + " " + w.first
		starter.Status = agents.Completed
	}
	entries := []agents.PlanEntry{starter}
	for _, c := range w.chapters() {
		entries = append(entries, agents.PlanEntry{Content: w.chapterLine(c), Priority: "medium", Status: agents.Completed})
	}
	if b != nil {
		for i := range b.rungs {
			entries = append(entries, w.rungEntry(b, i))
		}
	} else if w.reason == "" {
		entries = append(entries, agents.PlanEntry{
			Content: "successive halving over " + w.names(), Priority: "high", Status: agents.Pending,
		})
	}
	submit := agents.PlanEntry{Content: "submit the best", Priority: "high", Status: agents.Pending}
	if w.best != nil {
		submit.Content += fmt.Sprintf(": %s %s, trial %d", w.Task.Metric.Name, w.score(w.best.value), w.best.trial)
	}
	if w.reason != "" {
		submit.Status = agents.Completed
	}
	w.Plan(append(entries, submit))
}

// chapters returns the last few of the past as they are, and those before
// them as one.
func (w *sweep) chapters() []chapter {
	const shown = 4
	if len(w.past) <= shown {
		return w.past
	}
	old := w.past[:len(w.past)-shown]
	merged := chapter{first: old[0].first, last: old[len(old)-1].last}
	for _, c := range old {
		merged.trials += c.trials
		if c.best != nil {
			merged.include([]result{{value: *c.best}}, w.Task.Metric.Better)
		}
	}
	return append([]chapter{merged}, w.past[len(old):]...)
}

func (w *sweep) chapterLine(c chapter) string {
	line := fmt.Sprintf("bracket %d", c.first)
	if c.last > c.first {
		line = fmt.Sprintf("brackets %d to %d", c.first, c.last)
	}
	line += ": " + count(c.trials, "trial")
	if c.best != nil {
		line += ", best " + w.score(*c.best)
	}
	if c.ended != "" {
		line += "; " + c.ended
	}
	return line
}

func (w *sweep) rungEntry(b *bracket, i int) agents.PlanEntry {
	r := b.rungs[i]
	e := agents.PlanEntry{Priority: "high", Status: agents.Pending}
	size := r.size
	if i > b.at {
		size = max(1, b.rungs[b.at].size)
		for range i - b.at {
			size = max(1, size/w.Eta)
		}
	}
	switch {
	case i > 0:
		e.Content = fmt.Sprintf("rung %d: the best %d", i+1, size)
	case len(b.rungs) == 1:
		e.Content = count(size, "setting")
	default:
		e.Content = "rung 1: " + count(size, "setting")
	}
	if b.number > 1 {
		e.Content = fmt.Sprintf("bracket %d, %s", b.number, e.Content)
	}
	if fidelity := w.space.fidelity(r.level); fidelity != "" {
		e.Content += " at " + fidelity
	}
	switch {
	case i < b.at:
		e.Status = agents.Completed
	case i == b.at:
		e.Status = agents.InProgress
	}
	if best := ranked(r.done, w.Task.Metric); len(best) > 0 {
		e.Content += fmt.Sprintf(" (%d done, best %s)", len(best), w.score(best[0].value))
	}
	return e
}

// names lists the knobs, such as "model, lr and epochs".
func (w *sweep) names() string {
	text := ""
	for i, k := range w.space.knobs {
		switch {
		case i == 0:
		case i == len(w.space.knobs)-1:
			text += " and "
		default:
			text += ", "
		}
		text += k.Name
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
