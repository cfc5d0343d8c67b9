package runs

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"proctor/runner/attempts"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// An entry is a line of the list: a run, or a group of attempts with the
// entries of its members.
type entry struct {
	run     rundir.Summary
	group   *attempts.Group
	members []entry
	last    bool // of its group's attempts
}

// fold makes the list's entries, those that are alive first, then the newest:
// attempts become members of their group's entry.
func fold(all []rundir.Summary) []entry {
	var list []entry
	members := map[string][]rundir.Summary{}
	for _, s := range all {
		if s.Attempt == nil {
			list = append(list, entry{run: s})
			continue
		}
		members[s.Attempt.Group] = append(members[s.Attempt.Group], s)
	}
	for id, runs := range members {
		g := attempts.Sum(id, runs)
		e := entry{group: &g}
		sort.SliceStable(runs, func(i, j int) bool { return runs[i].Attempt.Number < runs[j].Attempt.Number })
		for i, s := range runs {
			e.members = append(e.members, entry{run: s, last: i == len(runs)-1})
		}
		list = append(list, e)
	}
	sort.SliceStable(list, func(i, j int) bool {
		if a, b := list[i].alive(), list[j].alive(); a != b {
			return a
		}
		if a, b := list[i].created(), list[j].created(); !a.Equal(b) {
			return a.After(b)
		}
		return list[i].id() > list[j].id()
	})
	return list
}

func (e entry) id() string {
	if e.group != nil {
		return e.group.ID
	}
	return e.run.ID
}

func (e entry) alive() bool { return e.run.Alive || e.group != nil && e.group.Alive > 0 }

func (e entry) created() time.Time {
	if e.group != nil {
		return e.group.Created
	}
	return e.run.Created
}

// matches reports whether all words occur in the entry, for a group in its
// own line or in one of its attempts'.
func (e entry) matches(words []string) bool {
	if e.group == nil {
		s := e.run
		return holds(words, s.ID, s.Task, s.Agent, s.Sandbox, signOf(s).Word, outcome(s))
	}
	for _, m := range e.members {
		if m.matches(words) {
			return true
		}
	}
	return holds(words, append(e.group.Words(pane.Value), e.group.ID, e.group.Task, e.group.Agent, e.group.State())...)
}

func holds(words []string, parts ...string) bool {
	text := strings.ToLower(strings.Join(parts, " "))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// signOf is the state of a run in a list.
func signOf(s rundir.Summary) theme.Sign {
	phase := event.Phase(s.Phase)
	switch {
	case !s.Alive && !phase.Over():
		return theme.Phase(event.Interrupted, false)
	case phase == event.Done && s.Verdict != nil:
		return theme.Judged(s.Verdict)
	}
	return theme.Phase(phase, false)
}

// outcome is what a run came to: its medal and score, or its best so far.
func outcome(s rundir.Summary) string {
	text := ""
	switch v := s.Verdict; {
	case v != nil && v.Status != tasks.Graded:
		return pane.Clean(v.Reason)
	case v != nil && v.Score != nil:
		text = pane.Unit(*v.Score, v.Unit)
		if v.Medal != "" {
			text += " " + v.Medal
		}
		if v.Entered != nil {
			text += " " + theme.Bullet + " by " + pane.Clean(v.Entered.By)
		}
	case s.Best != nil:
		text = fmt.Sprintf("%s so far", pane.Value(*s.Best))
	default:
		text = pane.Clean(s.Reason)
	}
	return text
}
