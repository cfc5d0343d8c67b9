package runs

import (
	"fmt"
	"time"

	"proctor/runner/rundir"
	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// firstRow is the line of the first run: below the header, the border and the
// names of the columns.
const firstRow = 3

// Draw draws the screen.
func (r *Runs) Draw(w, h int) []string {
	if w < screen.MinWidth || h < screen.MinHeight {
		return screen.Small(w, h)
	}
	t := r.theme
	alive := 0
	for _, s := range r.all {
		if s.Alive {
			alive++
		}
	}
	head := draw.Row{Base: t.Bar, Left: append(screen.Brand(t), draw.S(t.Muted, "  runs"))}
	if len(r.all) > 0 {
		head.Right = []draw.Span{draw.S(t.Muted, fmt.Sprintf("%d runs, %d alive ", len(r.all), alive))}
	}
	b := draw.Box{Border: t.Focus, Pad: 1, Title: []draw.Span{draw.S(t.Focus.Bold(), theme.Arrow+" Runs")}}
	if i := r.index(); i >= 0 {
		b.Foot = []draw.Span{draw.S(t.Faint, fmt.Sprintf("%d of %d", i+1, len(r.shown)))}
	}
	inner, rows := b.Inner(w, h-2)
	lines := append([]string{head.Render(w)}, b.Draw(w, h-2, r.table(t, inner, rows))...)
	lines = append(lines, screen.Footer(t, theme.Runs, w, screen.Enabled))
	if r.dialog != nil {
		lines, _, _ = dialog.Place(t, lines, r.dialog.Draw(t, w, h), w, h)
	}
	return lines
}

func (r *Runs) table(t *theme.Theme, w, h int) []string {
	lines := []string{r.columns(t, w)}
	if r.filter != nil || r.query != "" {
		query := r.query
		if r.filter != nil {
			query = r.filter.Text
		}
		lines[0] = draw.Line(w, draw.S(t.Key, "/ "), draw.S(t.Text, query))
	}
	switch {
	case r.err != "":
		return append(lines, draw.Line(w, draw.S(t.Tone(theme.Bad), theme.Cross+" "+r.err)))
	case !r.loaded:
		return append(lines, draw.Line(w, draw.S(t.Muted, "reading …")))
	case len(r.all) == 0:
		return append(lines, draw.Spaces(w), draw.Line(w, draw.S(t.Muted, "no runs yet")), draw.Line(w, draw.S(t.Faint, "n starts one")))
	case len(r.shown) == 0:
		return append(lines, draw.Line(w, draw.S(t.Muted, "no run matches; esc shows all")))
	}
	r.height = h - 1
	at := max(r.index(), 0)
	r.top = max(min(r.top, at, max(len(r.shown)-r.height, 0)), at-r.height+1, 0)
	for _, s := range r.shown[r.top:min(r.top+r.height, len(r.shown))] {
		lines = append(lines, r.row(t, s, w))
	}
	return lines
}

// widths are the columns' at a width; 0 leaves one out.
func widths(w int) (state, task, agent, result, work, when int) {
	state, work, when = 21, 9, 5
	if w < 90 {
		work = 0
	}
	if w < 70 {
		state = 14
	}
	rest := w - state - work - when - 2
	task = rest * 40 / 100
	agent = rest * 20 / 100
	return state, task, agent, rest - task - agent, work, when
}

func (r *Runs) columns(t *theme.Theme, w int) string {
	state, task, agent, result, work, when := widths(w)
	cell := func(name string, n int) draw.Span { return draw.S(t.Faint, draw.Fit(name, n)) }
	return draw.Line(w, cell("  state", state+2), cell("task", task), cell("agent", agent), cell("result", result), cell("worked", work), cell("ago", when))
}

func (r *Runs) row(t *theme.Theme, s rundir.Summary, w int) string {
	state, task, agent, result, work, when := widths(w)
	base, mark := theme.Plain, "  "
	if s.ID == r.selected {
		base, mark = t.Select, theme.Arrow+" "
	}
	sign := signOf(s)
	cell := func(style theme.Style, text string, n int) draw.Span {
		return draw.S(style, draw.Fit(draw.Cut(text, max(n-1, 0)), n))
	}
	style := t.Muted
	if v := s.Verdict; v != nil && v.Score != nil {
		style = t.Text
		if medal, ok := t.Medal(v.Medal); ok {
			style = medal.Bold()
		}
	}
	text := outcome(s)
	if s.Assisted {
		text += " " + theme.Flag
	}
	spans := []draw.Span{
		draw.S(t.Tone(theme.Accent), mark),
		cell(t.Tone(sign.Tone), sign.Symbol+" "+sign.Word, state),
		cell(t.Text, pane.Clean(s.Task), task),
		cell(t.Muted, pane.Clean(s.Agent), agent),
		cell(style, text, result),
	}
	if work > 0 {
		spans = append(spans, cell(t.Muted, pane.Clock(time.Duration(s.Work*1e9)), work))
	}
	spans = append(spans, cell(t.Muted, pane.Ago(r.now.Sub(s.Created)), when))
	return draw.Row{Base: base, Left: spans}.Render(w)
}
