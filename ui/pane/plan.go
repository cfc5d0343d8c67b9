package pane

import (
	"fmt"
	"strings"

	"proctor/agents"
	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// Plan shows what the agent means to do and how far it is.
type Plan struct {
	top, total, height int
	held               bool // a person scrolled
	gen                uint64
	query              string
}

// Name names the pane.
func (p *Plan) Name() string { return "Plan" }

// Pad is one column.
func (p *Plan) Pad() int { return 1 }

// Stamp tells when it changed.
func (p *Plan) Stamp(f Frame) Stamp { return Stamp{State: f.Version, Own: p.gen} }

// Note counts what is done.
func (p *Plan) Note(f Frame) []draw.Span {
	if len(f.State.Plan) == 0 {
		return nil
	}
	done := 0
	for _, e := range f.State.Plan {
		if e.Status == agents.Completed {
			done++
		}
	}
	return []draw.Span{draw.S(f.Theme.Muted, fmt.Sprintf("%d of %d", done, len(f.State.Plan)))}
}

// Foot says how much is out of sight.
func (p *Plan) Foot(f Frame) []draw.Span {
	if p.total <= p.height {
		return nil
	}
	return []draw.Span{draw.S(f.Theme.Faint, fmt.Sprintf("%d–%d of %d", p.top+1, min(p.top+p.height, p.total), p.total))}
}

// Body draws the entries; without a person's scrolling the one being worked
// on stays in sight.
func (p *Plan) Body(f Frame, w, h int, _ bool) []string {
	t := f.Theme
	if len(f.State.Plan) == 0 {
		return empty(t, w, h, "no plan yet", "what the agent means to do appears here")
	}
	lines, current := p.entries(f, w, true)
	if len(lines) > h {
		lines, current = p.entries(f, w, false)
	}
	p.total, p.height = len(lines), h
	end := max(len(lines)-h, 0)
	if !p.held {
		p.top = max(current-h/2, 0)
	}
	p.top = min(p.top, end)
	return lines[p.top:min(p.top+h, len(lines))]
}

// entries draws all entries, those that are too long on two lines if they may
// wrap, and returns where the one being worked on is.
func (p *Plan) entries(f Frame, w int, wrap bool) (lines []string, current int) {
	for _, e := range f.State.Plan {
		if e.Status == agents.InProgress {
			current = len(lines)
		}
		lines = append(lines, planEntry(f.Theme, e, w, wrap, p.query)...)
	}
	return lines, current
}

func planEntry(t *theme.Theme, e agents.PlanEntry, w int, wrap bool, query string) []string {
	sign := theme.Plan(e.Status)
	style := t.Text
	switch e.Status {
	case agents.Completed:
		style = t.Muted
	case agents.InProgress:
		style = t.Strong
	}
	text := draw.OneLine(terminal.Clean(e.Content))
	if query != "" && contains(text, query) {
		style = t.Found
	}
	parts := []string{text}
	if wrap {
		if parts = draw.Wrap(text, w-2); len(parts) > 2 {
			parts = []string{parts[0], strings.Join(parts[1:], " ")}
		}
	}
	lines := []string{draw.Line(w, draw.S(t.Tone(sign.Tone), sign.Symbol+" "), draw.S(style, parts[0]))}
	for _, rest := range parts[1:] {
		lines = append(lines, draw.Line(w, draw.S(t.Text, "  "), draw.S(style, rest)))
	}
	return lines
}

// Move scrolls.
func (p *Plan) Move(lines int) {
	p.gen++
	p.top = min(max(p.top+lines, 0), max(p.total-p.height, 0))
	p.held = true
}

// Page scrolls by screens.
func (p *Plan) Page(screens int) { p.Move(screens * max(p.height-1, 1)) }

// Ends goes to the start; the end lets the pane follow the work again.
func (p *Plan) Ends(end int) {
	p.gen++
	p.held, p.top = end < 0, 0
}

// Find highlights the entries that match.
func (p *Plan) Find(f Frame, query string, _ int) bool {
	p.gen++
	p.query = query
	for _, e := range f.State.Plan {
		if contains(terminal.Clean(e.Content), query) {
			return true
		}
	}
	return false
}

// empty is what a pane shows before there is anything.
func empty(t *theme.Theme, w, h int, what, why string) []string {
	lines := []string{draw.Line(w, draw.S(t.Muted, what))}
	for _, l := range draw.Wrap(why, w) {
		lines = append(lines, draw.Line(w, draw.S(t.Faint, l)))
	}
	return lines[:min(len(lines), max(h, 0))]
}

// contains reports whether text holds query, whatever the case.
func contains(text, query string) bool {
	return query != "" && strings.Contains(strings.ToLower(text), strings.ToLower(query))
}
