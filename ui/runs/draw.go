package runs

import (
	"fmt"
	"strings"
	"time"

	"proctor/runner/attempts"
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
	if g := r.group(); g != nil {
		b.Foot = details(t, g, inner-20, b.Foot)
	}
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
	for _, e := range r.shown[r.top:min(r.top+r.height, len(r.shown))] {
		if e.group != nil {
			lines = append(lines, r.groupRow(t, e.group, w))
		} else {
			lines = append(lines, r.row(t, e, w))
		}
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
	task, agent = rest*40/100, rest*20/100
	if work > 0 {
		task, agent = rest*38/100, rest*15/100 // the result of a group is long
	}
	return state, task, agent, rest - task - agent, work, when
}

func (r *Runs) columns(t *theme.Theme, w int) string {
	state, task, agent, result, work, when := widths(w)
	cell := func(name string, n int) draw.Span { return draw.S(t.Faint, draw.Fit(name, n)) }
	return draw.Line(w, cell("  state", state+2), cell("task", task), cell("agent", agent), cell("result", result), cell("worked", work), cell("ago", when))
}

// cell is text in a column, cut so that the next one stands apart.
func cell(style theme.Style, text string, n int) draw.Span {
	return draw.S(style, draw.Fit(draw.Cut(text, max(n-1, 0)), n))
}

// base is what a row stands on, and the mark before it.
func (r *Runs) base(t *theme.Theme, id string) (theme.Style, draw.Span) {
	if id == r.selected {
		return t.Select, draw.S(t.Tone(theme.Accent), theme.Arrow+" ")
	}
	return theme.Plain, draw.S(t.Tone(theme.Accent), "  ")
}

func (r *Runs) row(t *theme.Theme, e entry, w int) string {
	state, task, agent, result, work, when := widths(w)
	s := e.run
	base, mark := r.base(t, s.ID)
	sign := signOf(s)
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
	spans := []draw.Span{mark}
	first, second := pane.Clean(s.Task), pane.Clean(s.Agent)
	if s.Attempt != nil {
		branch := theme.Branch
		if e.last {
			branch = theme.LastBranch
		}
		spans = append(spans, draw.S(t.Faint, branch+" "))
		state -= 2
		first, second = fmt.Sprintf("attempt %d of %d", s.Attempt.Number, s.Attempt.Of), fmt.Sprintf("seed %d", s.Seed)
	}
	spans = append(spans,
		cell(t.Tone(sign.Tone), sign.Symbol+" "+sign.Word, state),
		cell(t.Text, first, task), cell(t.Muted, second, agent), cell(style, text, result),
	)
	if work > 0 {
		spans = append(spans, cell(t.Muted, pane.Clock(time.Duration(s.Work*1e9)), work))
	}
	spans = append(spans, cell(t.Muted, pane.Ago(r.now.Sub(s.Created)), when))
	return draw.Row{Base: base, Left: spans}.Render(w)
}

// groupRow is a group's line; what its attempts come to may reach into the
// column of the working time, which a group has none of.
func (r *Runs) groupRow(t *theme.Theme, g *attempts.Group, w int) string {
	state, task, agent, result, work, when := widths(w)
	base, mark := r.base(t, g.ID)
	sign, tone := theme.Folded, t.Tone(theme.Accent)
	if r.open[g.ID] {
		sign = theme.Unfolded
	}
	return draw.Row{Base: base, Left: []draw.Span{
		mark, cell(tone, sign+" "+g.State(), state),
		cell(t.Text, pane.Clean(g.Task), task), cell(t.Muted, pane.Clean(g.Agent), agent),
		cell(t.Strong, fitting(g.Words(pane.Value), result+work-1), result+work),
		cell(t.Muted, pane.Ago(r.now.Sub(g.Created)), when),
	}}.Render(w)
}

// fitting joins as many of the words as there is room for, at least one.
func fitting(words []string, w int) string {
	for n := len(words); n > 1; n-- {
		if text := strings.Join(words[:n], " "+theme.Bullet+" "); draw.Width(text) <= w {
			return text
		}
	}
	return strings.Join(words[:min(len(words), 1)], "")
}

// details puts what the selected group's row has left out before the foot of
// the box: the mean, and the chances of more attempts.
func details(t *theme.Theme, g *attempts.Group, w int, foot []draw.Span) []draw.Span {
	words := g.Details(pane.Value)
	if n := len(words); len(g.PassAt) > 0 && g.Score != nil {
		words = append([]string{words[n-1]}, words[1:n-1]...)
	}
	text := fitting(words, w)
	if text == "" || draw.Width(text) > w {
		return foot
	}
	return append([]draw.Span{draw.S(t.Muted, text), draw.S(t.Faint, "   ")}, foot...)
}
