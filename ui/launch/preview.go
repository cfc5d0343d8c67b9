package launch

import (
	"fmt"
	"strings"

	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// preview is what a task is: its figures, what to know about it, and its
// instruction.
type preview struct {
	task     *tasks.Task
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
		return nil
	}
	key := previewKey{p.task, w, t, p.rendered != nil && p.width == w}
	if p.madeFor != key {
		p.madeFor, p.lines = key, p.layout(t, w)
	}
	p.total, p.height = len(p.lines), h
	p.move(0)
	return p.lines[p.top:min(p.top+h, len(p.lines))]
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
	for _, m := range task.Warnings {
		lines = append(lines, wrapped(t, theme.Warn, theme.Warning, pane.Clean(m), w)...)
	}
	lines = append(lines, figures(t, task, w)...)
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
	if medals := medalSpans(t, s.Thresholds, w >= 64); len(medals) > 0 {
		row("medals", medals...)
	}
	for i, list := 0, references(s); i < len(list); i++ {
		name := ""
		if i == 0 {
			name = "to beat"
		}
		spans := []draw.Span{draw.S(t.Text, fmt.Sprintf("%-9s", pane.Value(list[i].Score))), draw.S(t.Text, pane.Clean(list[i].Name))}
		if list[i].How != "" {
			spans = append(spans, draw.S(t.Faint, "  "+pane.Clean(list[i].How)))
		}
		row(name, spans...)
	}
	row("budget", draw.S(t.Text, budgetText(task.Budget)))
	if n := needsText(task.Needs); n != "" {
		row("needs", draw.S(t.Text, n))
	}
	if len(task.Outputs) > 0 {
		row("hands in", draw.S(t.Text, pane.Clean(strings.Join(task.Outputs, ", "))))
	}
	return lines
}

// references are the best few scores to beat.
func references(s tasks.Standing) []tasks.Reference {
	list := append(append([]tasks.Reference(nil), s.References...), s.Published...)
	return list[:min(len(list), 4)]
}

func medalSpans(t *theme.Theme, th tasks.Thresholds, roomy bool) []draw.Span {
	var spans []draw.Span
	bullet, gap := "", " "
	if roomy {
		bullet, gap = theme.Pick+" ", "   "
	}
	for _, m := range []struct {
		name string
		at   *float64
	}{{"gold", th.Gold}, {"silver", th.Silver}, {"bronze", th.Bronze}} {
		if m.at == nil {
			continue
		}
		style, _ := t.Medal(m.name)
		if len(spans) > 0 {
			spans = append(spans, draw.S(t.Text, gap))
		}
		spans = append(spans, draw.S(style.Bold(), bullet+m.name), draw.S(t.Text, " "+pane.Value(*m.at)))
	}
	return spans
}

func budgetText(b tasks.Budget) string {
	var parts []string
	if b.Time > 0 {
		parts = append(parts, pane.Clock(b.Time)+" of working time")
	}
	if b.Steps > 0 {
		parts = append(parts, pane.Plural(b.Steps, "step"))
	}
	if b.Tokens > 0 {
		parts = append(parts, pane.Count(b.Tokens)+" tokens")
	}
	if b.Cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", b.Cost))
	}
	if len(parts) == 0 {
		return "no limit"
	}
	return strings.Join(parts, ", ")
}

func cores(n float64) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%g cores", n)
}

func needsText(n tasks.Needs) string {
	var parts []string
	if n.CPUs > 0 {
		parts = append(parts, cores(n.CPUs))
	}
	if n.MemoryBytes > 0 {
		parts = append(parts, pane.Bytes(n.MemoryBytes)+" of memory")
	}
	if n.GPUs > 0 {
		parts = append(parts, pane.Plural(n.GPUs, "GPU"))
	}
	if n.Network {
		parts = append(parts, "network")
	}
	if len(n.Modules) > 0 {
		parts = append(parts, "python: "+pane.Clean(strings.Join(n.Modules, ", ")))
	}
	return strings.Join(parts, ", ")
}
