// Package runs is the screen that lists the runs of this machine, those that
// are alive first.
package runs

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/attempts"
	"proctor/runner/rundir"
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
	entries  []entry         // all of them, as folded
	open     map[string]bool // groups that show their attempts, by id
	shown    []entry
	query    string
	filter   *dialog.Prompt
	dialog   dialog.Dialog
	selected string // id of a run or a group
	top      int
	height   int
	now      time.Time
}

// New returns the screen.
func New(look *theme.Theme, clock func() time.Time) *Runs {
	return &Runs{theme: look, clock: clock, now: clock(), open: map[string]bool{}}
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
	r.entries = fold(r.all)
	r.apply()
}

// apply filters the list by words, all of which must occur, and lays the
// attempts of open groups out below them.
func (r *Runs) apply() {
	r.shown = r.shown[:0:0]
	words := strings.Fields(strings.ToLower(r.query))
	for _, e := range r.entries {
		if !e.matches(words) {
			continue
		}
		r.shown = append(r.shown, e)
		if e.group != nil && r.open[e.id()] {
			r.shown = append(r.shown, e.members...)
		}
	}
	if r.index() < 0 && len(r.shown) > 0 {
		r.selected = r.shown[0].id()
	}
}

func (r *Runs) index() int {
	for i, e := range r.shown {
		if e.id() == r.selected {
			return i
		}
	}
	return -1
}

// group returns the selected group; nil when a run is selected.
func (r *Runs) group() *attempts.Group {
	if i := r.index(); i >= 0 {
		return r.shown[i].group
	}
	return nil
}

// fold shows or hides the attempts of the selected group, or of the one that
// the selected attempt belongs to.
func (r *Runs) fold() {
	i := r.index()
	if i < 0 {
		return
	}
	id := r.shown[i].id()
	if a := r.shown[i].run.Attempt; r.shown[i].group == nil && a != nil {
		id = a.Group
		r.selected = id
	}
	r.open[id] = !r.open[id]
	r.apply()
}

func (r *Runs) move(n int) {
	if len(r.shown) > 0 {
		r.selected = r.shown[min(max(r.index()+n, 0), len(r.shown)-1)].id()
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
			r.selected = r.shown[i].id()
		}
	case tea.KeyPressMsg:
		deed, _ := theme.Match(theme.Runs, msg.String())
		return r.do(deed)
	}
	return nil
}

func (r *Runs) do(deed theme.Deed) []screen.Request {
	switch deed {
	case theme.Fold:
		r.fold()
	case theme.Open, theme.Watch:
		if r.group() != nil {
			if deed == theme.Open {
				r.fold()
			}
			return nil
		}
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
