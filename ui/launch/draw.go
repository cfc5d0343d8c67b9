package launch

import (
	"fmt"
	"slices"

	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// A layout says where the sections are; one that is not shown is empty.
type layout struct {
	w, h     int
	all      bool // all sections are shown
	sections [secCount]draw.Rect
	command  draw.Rect
}

// compute lays out the sections that are shown, in their order.
func compute(w, h, focus int, shown []int) layout {
	l := layout{w: w, h: h}
	if w < screen.MinWidth || h < screen.MinHeight {
		return l
	}
	command := 2
	if h >= 36 {
		command = 4 // in a box of its own
	}
	l.command = draw.Rect{Y: h - 1 - command, W: w, H: command}
	body := h - 2 - command
	if w < 76 || h < 22 {
		l.sections[focus] = draw.Rect{Y: 1, W: w, H: body}
		return l
	}
	l.all = true
	bottom := min(max(body*30/100, 7), 13)
	left := min(max(w*32/100, 26), 56)
	l.sections[secTasks] = draw.Rect{Y: 1, W: left, H: body - bottom}
	l.sections[secTask] = draw.Rect{X: left, Y: 1, W: w - left, H: body - bottom}
	x, below := 0, shown[2:]
	for i, s := range below {
		to := w * (i + 1) / len(below)
		l.sections[s] = draw.Rect{X: x, Y: 1 + body - bottom, W: to - x, H: bottom}
		x = to
	}
	return l
}

func (l *layout) at(x, y int) int {
	for i, r := range l.sections {
		if !r.Empty() && r.Contains(x, y) {
			return i
		}
	}
	return -1
}

// Draw draws the screen.
func (l *Launch) Draw(w, h int) []string {
	if w < screen.MinWidth || h < screen.MinHeight {
		return screen.Small(w, h)
	}
	l.arrange(w, h)
	lines := append(make([]string, 0, h), l.header(w))
	if l.layout.all {
		lines = append(lines, draw.Beside(l.section(secTasks), l.section(secTask))...)
		var below [][]string
		for _, s := range l.shown()[2:] {
			below = append(below, l.section(s))
		}
		lines = append(lines, draw.Beside(below...)...)
	} else {
		lines = append(lines, l.section(l.focus)...)
	}
	lines = append(lines, l.commandLines()...)
	lines = append(lines, l.footer(w))
	if l.dialog != nil {
		lines, _, _ = dialog.Place(l.theme, lines, l.dialog.Draw(l.theme, w, h), w, h)
	}
	return lines
}

func (l *Launch) header(w int) string {
	t := l.theme
	left := append(screen.Brand(t), draw.S(t.Muted, "  new run"))
	var right []draw.Span
	if n := len(l.tasks.all); n > 0 && w >= 60 {
		right = []draw.Span{draw.S(t.Muted, fmt.Sprintf("%d tasks ", n))}
	}
	return draw.Row{Base: t.Bar, Left: left, Right: right}.Render(w)
}

// section draws one section in its border.
func (l *Launch) section(i int) []string {
	t, r, focused := l.theme, l.layout.sections[i], i == l.focus
	b := draw.Box{Border: t.Border, Pad: 1, Title: []draw.Span{draw.S(t.Faint, fmt.Sprint(slices.Index(l.shown(), i)+1)), draw.S(t.Title, " "+sectionNames[i])}}
	if focused {
		b.Border, b.Title = t.Focus, []draw.Span{draw.S(t.Focus.Bold(), theme.Arrow+" "+sectionNames[i])}
	}
	w, h := b.Inner(r.W, r.H)
	var body []string
	switch i {
	case secTasks:
		body = l.drawTasks(w, h, focused)
	case secTask:
		body = l.preview.draw(t, w, h)
		if p := &l.preview; p.total > p.height {
			b.Foot = []draw.Span{draw.S(t.Faint, fmt.Sprintf("%d–%d of %d", p.top+1, min(p.top+p.height, p.total), p.total))}
		}
	case secAgent:
		body = l.agents.draw(t, w, h, focused)
	case secSandbox:
		body = l.sandboxes.draw(t, w, h, focused)
	case secModel:
		body = l.models.draw(t, w, h, focused)
	case secBudget:
		body = l.limits.draw(t, w, h, focused)
	}
	return b.Draw(r.W, r.H, body)
}

func (l *Launch) drawTasks(w, h int, focused bool) []string {
	t := l.theme
	if l.filter == nil && l.tasks.query == "" {
		return l.tasks.draw(t, w, h, focused)
	}
	query := l.tasks.query
	if l.filter != nil {
		query = l.filter.Text
	}
	row := draw.Row{
		Left:  []draw.Span{draw.S(t.Key, "/ "), draw.S(t.Text, query)},
		Right: []draw.Span{draw.S(t.Muted, fmt.Sprintf("%d of %d", len(l.tasks.shown), len(l.tasks.all)))},
	}
	return append([]string{row.Render(w)}, l.tasks.draw(t, w, h-1, focused)...)
}

// commandLines show the command that starts the same run, and below it what
// keeps it from starting.
func (l *Launch) commandLines() []string {
	t, r := l.theme, l.layout.command
	start, why := l.Start()
	command := []draw.Span{draw.S(t.Faint, "$ "), draw.S(t.Tone(theme.Info), l.command(start))}
	status := []draw.Span{draw.S(t.Tone(theme.Good).Bold(), "enter"), draw.S(t.Muted, " starts this run; the command above starts the same")}
	switch {
	case l.starting:
		status = []draw.Span{draw.S(t.Tone(theme.Accent).Bold(), "starting …")}
	case l.err != "":
		status = []draw.Span{draw.S(t.Tone(theme.Bad).Bold(), theme.Cross+" "+l.err)}
	case l.said != "":
		status = []draw.Span{draw.S(t.Tone(theme.Good), theme.Done+" "+l.said)}
	case why != "" && l.tasks.loaded:
		status = []draw.Span{draw.S(t.Tone(theme.Warn), theme.Warning+" "+why)}
	}
	if start.Task == "" {
		command = []draw.Span{draw.S(t.Faint, "$ …")}
	}
	if r.H < 4 {
		lead := draw.S(t.Text, "  ")
		return []string{
			draw.Line(r.W, append([]draw.Span{lead}, command...)...),
			draw.Line(r.W, append([]draw.Span{lead}, status...)...),
		}
	}
	b := draw.Box{Border: t.Border, Pad: 1, Title: []draw.Span{draw.S(t.Title, "Command")}, Note: []draw.Span{draw.S(t.Key, "y"), draw.S(t.Muted, " copies")}}
	w, _ := b.Inner(r.W, r.H)
	return b.Draw(r.W, r.H, []string{draw.Line(w, command...), draw.Line(w, status...)})
}

func (l *Launch) footer(w int) string {
	if l.filter != nil {
		t := l.theme
		return draw.Row{Base: t.Bar, Left: []draw.Span{
			draw.S(t.Key, " ↑/↓"), draw.S(t.Muted, " choose  "), draw.S(t.Key, "enter"), draw.S(t.Muted, " keep  "),
			draw.S(t.Key, "esc"), draw.S(t.Muted, " show all"),
		}}.Render(w)
	}
	return screen.Footer(l.theme, theme.Launch, w, screen.Enabled)
}
