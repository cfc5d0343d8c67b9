package launch

import (
	"fmt"
	"strings"

	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/tasks/grade"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// preview is what a task is: its figures, what to know about it, and its
// instruction.
type preview struct {
	task     *tasks.Task
	problem  *tasks.Problem // shown in place of a task
	key      string
	rendered []string // the instruction as Markdown; nil until it is there
	width    int      // of rendered

	top, total, height int
	lines              []string
	madeFor            previewKey
}

type previewKey struct {
	task     *tasks.Task
	w        int
	theme    *theme.Theme
	rendered bool
}

func (p *preview) show(task *tasks.Task) {
	if p.task != task {
		*p = preview{task: task}
	}
}

// text is the instruction without anything that could touch the terminal.
func (p *preview) text() string { return terminal.Clean(p.task.Instruction) }

func (p *preview) move(n int) { p.top = min(max(p.top+n, 0), max(p.total-p.height, 0)) }

func (p *preview) draw(t *theme.Theme, w, h int) []string {
	if p.task == nil {
		return p.drawProblem(t, w, h)
	}
	key := previewKey{p.task, w, t, p.rendered != nil && p.width == w}
	if p.madeFor != key {
		p.madeFor, p.lines = key, p.layout(t, w)
	}
	p.total, p.height = len(p.lines), h
	p.move(0)
	return p.lines[p.top:min(p.top+h, len(p.lines))]
}

// drawProblem says why a task cannot be read.
func (p *preview) drawProblem(t *theme.Theme, w, h int) []string {
	if p.problem == nil {
		return nil
	}
	lines := []string{draw.Line(w, draw.S(t.Strong, pane.Clean(p.problem.Ref))), draw.Spaces(w)}
	lines = append(lines, wrapped(t, theme.Bad, theme.Cross, "cannot be read: "+pane.Clean(p.problem.Err.Error()), w)...)
	return lines[:min(len(lines), h)]
}

func (p *preview) layout(t *theme.Theme, w int) []string {
	task := p.task
	lines := []string{draw.Row{
		Left:  []draw.Span{draw.S(t.Strong, pane.Clean(task.Title))},
		Right: []draw.Span{draw.S(t.Muted, pane.Clean(task.Ref))},
	}.Render(w)}
	for _, l := range draw.Wrap(pane.Clean(task.Summary), w) {
		lines = append(lines, draw.Line(w, draw.S(t.Muted, l)))
	}
	lines = append(lines, draw.Spaces(w))
	for _, m := range task.Missing {
		lines = append(lines, wrapped(t, theme.Bad, theme.Cross, "missing: "+pane.Clean(m), w)...)
	}
	if len(task.Missing) > 0 {
		lines = append(lines, draw.Spaces(w))
	}
	lines = append(lines, figures(t, task, w)...)
	for _, m := range task.Warnings {
		lines = append(lines, wrapped(t, theme.Warn, theme.Warning, pane.Clean(m), w)...)
	}
	lines = append(lines, draw.Line(w, draw.S(t.Faint, draw.Rule(w))))
	if p.rendered != nil && p.width == w {
		return append(lines, p.rendered...)
	}
	for _, l := range draw.Wrap(p.text(), w) {
		lines = append(lines, draw.Line(w, draw.S(t.Text, l)))
	}
	return lines
}

func wrapped(t *theme.Theme, tone theme.Tone, symbol, text string, w int) []string {
	var lines []string
	for i, l := range draw.Wrap(text, w-2) {
		lead := "  "
		if i == 0 {
			lead = symbol + " "
		}
		lines = append(lines, draw.Line(w, draw.S(t.Tone(tone), lead+l)))
	}
	return lines
}

// figures are the numbers of a task: how it is judged, what there is to beat,
// what it may cost and what it needs.
func figures(t *theme.Theme, task *tasks.Task, w int) []string {
	var lines []string
	row := func(name string, spans ...draw.Span) {
		lines = append(lines, draw.Line(w, append([]draw.Span{draw.S(t.Muted, fmt.Sprintf("%-10s", name))}, spans...)...))
	}
	if m := task.Metric; m.Name != "" {
		better := "lower is better"
		if m.HigherIsBetter {
			better = "higher is better"
		}
		row("metric", draw.S(t.Strong, pane.Clean(m.Name)+" "+pane.Direction(m.HigherIsBetter)), draw.S(t.Muted, "  "+better))
	}
	s := task.Standing
	if s.Baseline != nil {
		row("baseline", draw.S(t.Text, pane.Unit(*s.Baseline, task.Metric.Unit)))
	}
	if medals := medalSpans(t, s.Thresholds, w); len(medals) > 0 {
		row("medals", medals...)
	}
	if s.TopHuman != nil {
		row("top human", draw.S(t.Text, pane.Unit(*s.TopHuman, task.Metric.Unit)))
	}
	results := func(name string, list []tasks.Reference) {
		for _, r := range list {
			row(name, resultSpans(t, r)...)
			name = ""
		}
	}
	results("to beat", s.References[:min(len(s.References), 4)])
	scales, by := pane.Published(s.Published)
	for _, scale := range scales {
		name := "published"
		if scale != "" {
			row(name, draw.S(t.Muted, pane.Clean(scale)))
			name = ""
		}
		results(name, by[scale])
	}
	row("budget", draw.S(t.Text, pane.BudgetText(task.Budget)))
	if n := pane.Clean(pane.NeedsText(task.Needs)); n != "" {
		row("needs", draw.S(t.Text, n))
	}
	if len(task.Outputs) > 0 {
		row("hands in", draw.S(t.Text, pane.Clean(strings.Join(task.Outputs, ", "))))
	}
	return lines
}

// resultSpans are somebody's score and how it came about.
func resultSpans(t *theme.Theme, r tasks.Reference) []draw.Span {
	score := pane.Value(r.Score)
	if r.Scale != "" {
		score = grade.Format(r.Score, "")
	}
	spans := []draw.Span{draw.S(t.Text, fmt.Sprintf("%-9s", score)), draw.S(t.Text, pane.Clean(r.Name))}
	if r.How != "" {
		spans = append(spans, draw.S(t.Faint, "  "+pane.Clean(r.How)))
	}
	return spans
}

// medalSpans are the scores from which there are medals, and where there is
// room the median.
func medalSpans(t *theme.Theme, th tasks.Thresholds, w int) []draw.Span {
	bullet, gap := "", " "
	if w >= 64 {
		bullet, gap = theme.Pick+" ", "   "
	}
	value := pane.Value
	if crowded(th) {
		value = func(x float64) string { return grade.Format(x, "") }
	}
	var spans []draw.Span
	add := func(style theme.Style, name string, at *float64) {
		if at == nil {
			return
		}
		if len(spans) > 0 {
			spans = append(spans, draw.S(t.Text, gap))
		}
		spans = append(spans, draw.S(style, name), draw.S(t.Text, " "+value(*at)))
	}
	for _, m := range []struct {
		name string
		at   *float64
	}{{"gold", th.Gold}, {"silver", th.Silver}, {"bronze", th.Bronze}} {
		style, _ := t.Medal(m.name)
		add(style.Bold(), bullet+m.name, m.at)
	}
	if w >= 72 {
		add(t.Muted, "median", th.Median)
	}
	return spans
}

// crowded reports whether thresholds that differ would look the same.
func crowded(th tasks.Thresholds) bool {
	for _, pair := range [][2]*float64{{th.Gold, th.Silver}, {th.Silver, th.Bronze}, {th.Bronze, th.Median}} {
		a, b := pair[0], pair[1]
		if a != nil && b != nil && *a != *b && pane.Value(*a) == pane.Value(*b) {
			return true
		}
	}
	return false
}
