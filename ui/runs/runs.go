// Package runs is the screen that lists the runs of this machine, those that
// are alive first.
package runs

import (
	"fmt"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// refresh is how often the list is read anew while it is shown.
const refresh = 2 * time.Second

// Runs is the screen.
type Runs struct {
	theme *theme.Theme
	clock func() time.Time

	loaded   bool
	err      string
	all      []rundir.Summary
	shown    []rundir.Summary
	query    string
	filter   *dialog.Prompt
	dialog   dialog.Dialog
	selected string // id
	top      int
	height   int
	now      time.Time
}

// New returns the screen.
func New(look *theme.Theme, clock func() time.Time) *Runs {
	return &Runs{theme: look, clock: clock, now: clock()}
}

// SetTheme changes the looks.
func (r *Runs) SetTheme(t *theme.Theme) { r.theme = t }

// Set brings the list.
func (r *Runs) Set(list []rundir.Summary, err error) {
	r.now, r.loaded, r.err = r.clock(), true, ""
	if err != nil {
		r.err = pane.Clean(err.Error())
		return
	}
	r.all = append([]rundir.Summary(nil), list...)
	sort.SliceStable(r.all, func(i, j int) bool {
		if a, b := r.all[i].Alive, r.all[j].Alive; a != b {
			return a
		}
		return r.all[i].Created.After(r.all[j].Created)
	})
	r.apply()
}

// apply filters the list by words, all of which must occur.
func (r *Runs) apply() {
	r.shown = r.shown[:0:0]
	words := strings.Fields(strings.ToLower(r.query))
next:
	for _, s := range r.all {
		text := strings.ToLower(strings.Join([]string{s.ID, s.Task, s.Agent, s.Sandbox, signOf(s).Word, outcome(s)}, " "))
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue next
			}
		}
		r.shown = append(r.shown, s)
	}
	if r.index() < 0 && len(r.shown) > 0 {
		r.selected = r.shown[0].ID
	}
}

func (r *Runs) index() int {
	for i, s := range r.shown {
		if s.ID == r.selected {
			return i
		}
	}
	return -1
}

func (r *Runs) move(n int) {
	if len(r.shown) > 0 {
		r.selected = r.shown[min(max(r.index()+n, 0), len(r.shown)-1)].ID
	}
}

// Interval keeps the list fresh.
func (r *Runs) Interval() time.Duration { return refresh }

// Cursor is in the line that filters.
func (r *Runs) Cursor() *tea.Cursor {
	if r.filter == nil {
		return nil
	}
	c := tea.NewCursor(4+draw.Width(r.filter.Text), 2)
	c.Blink = false
	return c
}

// Update takes a key, a paste or the mouse.
func (r *Runs) Update(msg tea.Msg) []screen.Request {
	switch {
	case r.dialog != nil:
		_, done := r.dialog.Update(msg)
		if done {
			r.dialog = nil
		}
		return nil
	case r.filter != nil:
		r.find(msg)
		return nil
	}
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		r.move(map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button])
	case tea.MouseClickMsg:
		if i := msg.Y - firstRow + r.top; msg.Y >= firstRow && i < len(r.shown) {
			r.selected = r.shown[i].ID
		}
	case tea.KeyPressMsg:
		deed, _ := theme.Match(theme.Runs, msg.String())
		return r.do(deed)
	}
	return nil
}

func (r *Runs) do(deed theme.Deed) []screen.Request {
	switch deed {
	case theme.Open, theme.Watch:
		if r.index() >= 0 {
			return []screen.Request{screen.Open{Run: r.selected, Replay: deed == theme.Watch}}
		}
	case theme.LineDown:
		r.move(1)
	case theme.LineUp:
		r.move(-1)
	case theme.PageDown:
		r.move(max(r.height-1, 1))
	case theme.PageUp:
		r.move(-max(r.height-1, 1))
	case theme.ToTop:
		r.move(-len(r.shown))
	case theme.ToEnd:
		r.move(len(r.shown))
	case theme.Find:
		r.filter = &dialog.Prompt{Text: r.query}
	case theme.Help:
		r.dialog = dialog.NewHelp(theme.Runs, screen.Enabled)
	case theme.Cancel:
		if r.query != "" {
			r.query = ""
			r.apply()
			return nil
		}
		return []screen.Request{screen.Show{Name: screen.Launch}}
	case theme.Fresh:
		return []screen.Request{screen.Show{Name: screen.Launch}}
	case theme.Redraw:
		return []screen.Request{screen.Redraw{}}
	case theme.Quit:
		return []screen.Request{screen.Quit{}}
	}
	return nil
}

func (r *Runs) find(msg tea.Msg) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc", "ctrl+c":
			r.filter, r.query = nil, ""
			r.apply()
			return
		case "enter":
			r.filter = nil
			return
		}
	}
	if r.filter.Type(msg) {
		r.query = r.filter.Text
		r.apply()
	}
}

// signOf is the state of a run in a list.
func signOf(s rundir.Summary) theme.Sign {
	phase := event.Phase(s.Phase)
	switch {
	case !s.Alive && !phase.Over():
		return theme.Phase(event.Interrupted, false)
	case phase == event.Done && s.Verdict != nil:
		return theme.Status(s.Verdict.Status)
	}
	return theme.Phase(phase, false)
}

// outcome is what a run came to: its medal and score, or its best so far.
func outcome(s rundir.Summary) string {
	switch v := s.Verdict; {
	case v != nil && v.Status != tasks.Graded:
		return pane.Clean(v.Reason)
	case v != nil && v.Score != nil && v.Medal != "":
		return pane.Unit(*v.Score, v.Unit) + " " + v.Medal
	case v != nil && v.Score != nil:
		return pane.Unit(*v.Score, v.Unit)
	case s.Best != nil:
		return fmt.Sprintf("%s so far", pane.Value(*s.Best))
	}
	return pane.Clean(s.Reason)
}
