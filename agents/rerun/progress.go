package rerun

import (
	"fmt"
	"strings"

	"proctor/agents"
)

// progress is how far a rerun has come, and its plan.
type progress struct {
	titles   []string
	verdicts []verdict
	done     int
	running  bool
}

func newProgress(log []agents.RecordedAction) *progress {
	p := &progress{verdicts: make([]verdict, len(log))}
	for _, r := range log {
		p.titles = append(p.titles, r.Action.Title)
	}
	return p
}

func (p *progress) start() { p.running = true }

func (p *progress) finish(i int, v verdict) {
	p.verdicts[i] = v
	p.done, p.running = i+1, false
}

// How much of a long run the plan shows one by one.
const (
	shownWhole   = 40 // a run of up to so many actions, entirely
	shownDiffers = 20
	shownLast    = 5
	shownNext    = 10
)

// entries is the plan: an entry for each action, or for a long run the
// differences, the last few that are done and the next few, with the rest in
// a line each.
func (p *progress) entries() []agents.PlanEntry {
	var entries []agents.PlanEntry
	if len(p.titles) <= shownWhole {
		for i := range p.titles {
			entries = append(entries, p.entry(i))
		}
		return entries
	}
	recent := max(0, p.done-shownLast)
	if recent > 0 {
		entries = append(entries, agents.PlanEntry{
			Content:  fmt.Sprintf("actions 1 to %d: %s", recent, p.tally(recent)),
			Priority: "medium", Status: agents.Completed,
		})
	}
	shown := 0
	for i := range recent {
		if p.verdicts[i].kind == differs && shown < shownDiffers {
			entries = append(entries, p.entry(i))
			shown++
		}
	}
	next := min(len(p.titles), p.done+shownNext)
	for i := recent; i < next; i++ {
		entries = append(entries, p.entry(i))
	}
	if rest := len(p.titles) - next; rest > 0 {
		entries = append(entries, agents.PlanEntry{
			Content: fmt.Sprintf("and %d more", rest), Priority: "medium", Status: agents.Pending,
		})
	}
	return entries
}

func (p *progress) entry(i int) agents.PlanEntry {
	e := agents.PlanEntry{
		Content:  fmt.Sprintf("%d %s", i+1, p.titles[i]),
		Priority: "medium",
		Status:   agents.Pending,
	}
	switch {
	case i < p.done:
		e.Status = agents.Completed
		e.Content += " · " + p.verdicts[i].text
		if p.verdicts[i].kind == differs {
			e.Priority = "high"
			e.Content = fmt.Sprintf("%d %s · DIFFERS: %s", i+1, p.titles[i], p.verdicts[i].text)
		}
	case i == p.done && p.running:
		e.Status = agents.InProgress
	}
	return e
}

// tally counts the verdicts on the first n actions, such as "11 the same, 1
// differs".
func (p *progress) tally(n int) string {
	counts := map[outcome]int{}
	for _, v := range p.verdicts[:n] {
		counts[v.kind]++
	}
	parts := []string{fmt.Sprintf("%d the same", counts[same])}
	switch n := counts[differs]; n {
	case 0:
	case 1:
		parts = append(parts, "1 differs")
	default:
		parts = append(parts, fmt.Sprintf("%d differ", n))
	}
	if n := counts[skipped]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d not done again", n))
	}
	return strings.Join(parts, ", ")
}

// summary is the closing message.
func (p *progress) summary(run string) string {
	noun := "actions"
	if len(p.titles) == 1 {
		noun = "action"
	}
	text := fmt.Sprintf("%d %s of run %s: %s.", len(p.titles), noun, run, p.tally(len(p.titles)))
	for i, v := range p.verdicts {
		if v.kind == differs {
			text += fmt.Sprintf("\n%d %s · %s", i+1, p.titles[i], v.text)
		}
	}
	return text
}
