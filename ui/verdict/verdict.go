// Package verdict is the screen that shows how a run was judged: the medal or
// the score, what it is worth against the baseline and the references, how it
// came about, what it cost, and where the record lies.
package verdict

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/event"
	"proctor/tasks"
	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// Verdict is the screen.
type Verdict struct {
	run    string
	dir    string // of the record; "" when unknown
	state  *event.State
	theme  func() *theme.Theme
	dialog dialog.Dialog
}

// New shows the verdict that a state holds. The state and the theme are read
// whenever the screen is drawn.
func New(run, dir string, state *event.State, look func() *theme.Theme) *Verdict {
	return &Verdict{run: run, dir: dir, state: state, theme: look}
}

// SetRecord tells where the run's record lies.
func (s *Verdict) SetRecord(dir string) { s.dir = dir }

// Update takes a key.
func (s *Verdict) Update(msg tea.Msg) []screen.Request {
	if s.dialog != nil {
		requests, done := s.dialog.Update(msg)
		if done {
			s.dialog = nil
		}
		return requests
	}
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	deed, _ := theme.Match(theme.Verdict, key.String())
	switch deed {
	case theme.Flip, theme.Cancel:
		return []screen.Request{screen.Show{Name: screen.Console}}
	case theme.Watch:
		return []screen.Request{screen.Open{Run: s.run, Replay: true}}
	case theme.Fresh:
		return []screen.Request{screen.Show{Name: screen.Launch}}
	case theme.Help:
		s.dialog = dialog.NewHelp(theme.Verdict, enabled)
	case theme.Redraw:
		return []screen.Request{screen.Redraw{}}
	case theme.Quit:
		return []screen.Request{screen.Quit{}}
	}
	return nil
}

// enabled is why a deed cannot be done: what this screen cannot do has no
// business in its help.
func enabled(d theme.Deed) string {
	switch d {
	case theme.Find, theme.LineUp, theme.LineDown, theme.PageUp, theme.PageDown, theme.ToTop, theme.ToEnd:
		return "everything is on the screen"
	}
	return ""
}

// Cursor is hidden.
func (s *Verdict) Cursor() *tea.Cursor { return nil }

// Interval is none: nothing here moves.
func (s *Verdict) Interval() time.Duration { return 0 }

// Draw draws the screen.
func (s *Verdict) Draw(w, h int) []string {
	t, v := s.theme(), s.state.Verdict
	if w < screen.MinWidth || h < screen.MinHeight || v == nil {
		return screen.Small(w, h)
	}
	room := h - 2
	hero := s.hero(t, v, w, room >= 18)
	lines := append([]string{s.header(t, w)}, hero...)
	room -= len(hero)
	if v.Status == tasks.Graded {
		if n := min(room, standingRows(w, h)); n >= 5 {
			lines = append(lines, s.standing(t, v, w, n)...)
			room -= n
		}
	}
	lines = append(lines, s.lower(t, v, w, room)...)
	lines = append(lines, screen.Footer(t, theme.Verdict, w, enabled))
	if s.dialog != nil {
		lines, _, _ = dialog.Place(t, lines, s.dialog.Draw(t, w, h), w, h)
	}
	return lines
}

func (s *Verdict) header(t *theme.Theme, w int) string {
	run := s.state.Run
	sep := draw.S(t.Faint, "  ")
	left := append(screen.Brand(t), sep, draw.S(t.Text, pane.Clean(run.Task.Ref)), sep, draw.S(t.Muted, pane.Clean(run.Agent)))
	if run.Model != "" {
		left = append(left, draw.S(t.Muted, " "+theme.Bullet+" "+pane.Clean(run.Model)))
	}
	if run.Sandbox == "none" {
		left = append(left, sep, draw.S(t.Pill(theme.Bad), " "+theme.Warning+" no isolation "))
	} else {
		left = append(left, sep, draw.S(t.Muted, pane.Clean(run.Sandbox)))
	}
	sign := theme.Judged(s.state.Verdict)
	right := []draw.Span{draw.S(t.Pill(sign.Tone), " "+sign.Symbol+" "+strings.ToUpper(sign.Word)+" ")}
	return draw.Row{Base: t.Bar, Left: left, Right: right}.Render(w)
}

// standingRows is how high the box with the bar is.
func standingRows(w, h int) int {
	switch {
	case h >= 50:
		return 11
	case h >= 34:
		return 9
	case w >= 60 && h >= 20:
		return 7
	}
	return 6
}

// standing is the box with the bar of comparisons.
func (s *Verdict) standing(t *theme.Theme, v *tasks.Verdict, w, h int) []string {
	b := draw.Box{Border: t.Border, Pad: 3, Title: []draw.Span{draw.S(t.Title, "Standing")}}
	if w < 60 {
		b.Pad = 1
	}
	if v.Metric != "" {
		b.Note = []draw.Span{draw.S(t.Muted, pane.Clean(v.Metric)+" "+pane.Direction(v.HigherIsBetter)+", better to the right")}
	}
	inner, rows := b.Inner(w, h)
	names := max(rows-3, 1)
	var content []string
	if rows >= 7 {
		content, names = []string{draw.Spaces(inner)}, rows-5
	}
	return b.Draw(w, h, append(content, bar(t, v, inner, names)...))
}

// lower puts the chart, the cost and the record side by side, or the cost
// alone where there is no room.
func (s *Verdict) lower(t *theme.Theme, v *tasks.Verdict, w, h int) []string {
	if h < 3 {
		return draw.Blank(w, h)
	}
	left := 0
	if w >= 76 && len(s.state.Points) > 0 {
		left = w * 56 / 100
	}
	right := s.figures(t, v, w-left, h)
	if left == 0 {
		return right
	}
	return draw.Beside(s.chart(t, left, h), right)
}

// chart is the score over working time, and below it what a person said.
func (s *Verdict) chart(t *theme.Theme, w, h int) []string {
	b := draw.Box{Border: t.Border, Pad: 1, Title: []draw.Span{draw.S(t.Title, "Score over working time")}}
	if n := len(s.state.Hints); n > 0 {
		b.Note = []draw.Span{draw.S(t.Tone(theme.Hint), theme.Flag+" "+pane.Plural(n, "hint"))}
	}
	inner, rows := b.Inner(w, h)
	hints := s.hints(t, inner, max(rows-12, 0))
	work := time.Duration(s.state.Work * float64(time.Second))
	lines := pane.ChartOf(t, s.state, work).Draw(t, inner, rows-len(hints))
	return b.Draw(w, h, append(lines, hints...))
}

// hints tells the newest hints, when they came and what the agent made of
// them, in at most so many lines.
func (s *Verdict) hints(t *theme.Theme, w, most int) []string {
	n := min(len(s.state.Hints), most-1, 4)
	if n <= 0 {
		return nil
	}
	lines := []string{draw.Spaces(w)}
	for _, h := range s.state.Hints[len(s.state.Hints)-n:] {
		spans := []draw.Span{
			draw.S(t.Tone(theme.Hint), theme.Flag+" "), draw.S(t.Muted, pane.Clock(time.Duration(h.Work*1e9))+" "),
			draw.S(t.Tone(theme.Hint), pane.Clean(h.Text)),
		}
		if h.Reply != "" {
			spans = append(spans, draw.S(t.Muted, "  "+theme.Say+" "+pane.Clean(h.Reply)))
		}
		lines = append(lines, draw.Line(w, spans...))
	}
	return lines
}

// costRows is how high the box of costs is when the ranking is above it.
const costRows = 11

// figures are the boxes at the right: what was spent, and how the run ranks
// among the references where there is room to say it.
func (s *Verdict) figures(t *theme.Theme, v *tasks.Verdict, w, h int) []string {
	table := ranking(t, v, w-4, h-costRows-2)
	if len(table) == 0 {
		return s.costs(t, v, w, h)
	}
	b := draw.Box{Border: t.Border, Pad: 1, Title: []draw.Span{draw.S(t.Title, "Ranking")}}
	n := len(table) + 2
	return append(b.Draw(w, n, table), s.costs(t, v, w, h-n)...)
}

// costs is what was spent, and where the record lies.
func (s *Verdict) costs(t *theme.Theme, v *tasks.Verdict, w, h int) []string {
	b := draw.Box{Border: t.Border, Pad: 1, Title: []draw.Span{draw.S(t.Title, "Spent")}}
	inner, rows := b.Inner(w, h)
	var lines []string
	work := time.Duration(v.WorkingSeconds * float64(time.Second))
	for _, d := range pane.Spending(s.state, work) {
		name := draw.S(t.Muted, fmt.Sprintf("%-8s", d.Name))
		row := draw.Row{Left: []draw.Span{name, draw.S(t.Text, d.Used)}}
		if d.Limit == "" {
			row.Left = append(row.Left, draw.S(t.Faint, "  no limit"))
		} else {
			row.Left = append(row.Left, draw.S(t.Muted, " of "+d.Limit))
			if inner >= 42 {
				row.Right = d.Bar(t, min(inner-30, 24), 0)
			}
		}
		lines = append(lines, row.Render(inner))
	}
	fact := func(name, value string) {
		if value != "" {
			lines = append(lines, draw.Line(inner, draw.S(t.Muted, fmt.Sprintf("%-8s", name)), draw.S(t.Text, value)))
		}
	}
	fact("wall", pane.Clock(time.Duration(v.WallSeconds*1e9))+"  grading "+pane.Took(v.GraderSeconds))
	if rows >= len(lines)+4 {
		lines = append(lines, draw.Spaces(inner))
	}
	fact("sha256", pane.Clean(v.SubmissionSHA256))
	fact("grader", pane.Clean(v.Grader))
	fact("run", s.run)
	fact("record", s.dir)
	return b.Draw(w, h, lines)
}
