package pane

import (
	"fmt"
	"time"

	"proctor/runner/event"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// Budget shows a bar for each limit, and what was used where there is none.
type Budget struct{ still }

// Name names the pane.
func (p *Budget) Name() string { return "Budget" }

// Stamp tells when it changed: with the clock, four times a second at most.
func (p *Budget) Stamp(f Frame) Stamp { return Stamp{State: f.Version, Clock: f.second() / 4} }

// Note counts extensions.
func (p *Budget) Note(f Frame) []draw.Span {
	if n := f.State.Extensions; n > 0 {
		return []draw.Span{draw.S(f.Theme.Tone(theme.Hint), "extended "+times(n))}
	}
	return nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// A Spent is one dimension of a budget.
type Spent struct {
	Name     string
	Used     string
	Limit    string // "" when there is none
	Left     string
	Fraction float64
	Reached  bool // the hard limit
}

// Spending lists the dimensions that are limited or were used.
func Spending(s *event.State, work time.Duration) []Spent {
	l := s.Limits
	list := []Spent{spent("time", work.Seconds(), l.Time.Seconds(), func(v float64) string { return Clock(time.Duration(v * 1e9)) })}
	if l.Time > 0 {
		list[0].Left = Left(l.Time - work)
	}
	whole := func(v float64) string { return Count(int64(v)) }
	list = append(list, spent("steps", float64(s.Steps), float64(l.Steps), whole))
	if used := s.Usage.Tokens(); used > 0 || l.Tokens > 0 {
		list = append(list, spent("tokens", float64(used), float64(l.Tokens), whole))
	}
	if s.Usage.Calls > 0 || l.Cost > 0 {
		cost := spent("cost", s.Usage.Cost, l.Cost, Dollars)
		if s.Usage.UnknownCost {
			cost.Used = "≥ " + cost.Used
		}
		list = append(list, cost)
	}
	for _, b := range s.Fired {
		for i := range list {
			if b.What == "hard" && b.Dimension == list[i].Name {
				list[i].Reached = true
			}
		}
	}
	return list
}

func spent(name string, used, limit float64, write func(float64) string) Spent {
	d := Spent{Name: name, Used: write(used)}
	if limit > 0 {
		d.Limit, d.Fraction = write(limit), used/limit
		d.Left = write(max(limit-used, 0))
	}
	return d
}

// Bar draws the spending as a bar of width cells.
func (d Spent) Bar(t *theme.Theme, width int, soft float64) []draw.Span {
	return bar(t, width, d.Fraction, soft, t.Tone(d.Tone(soft)))
}

// Tone says how near the limit is.
func (d Spent) Tone(soft float64) theme.Tone {
	switch {
	case d.Reached || d.Fraction >= 0.95:
		return theme.Bad
	case soft > 0 && soft < 1 && d.Fraction >= soft, d.Fraction >= 0.8:
		return theme.Warn
	}
	return theme.Good
}

// Body draws two lines for each dimension where there is room, else one.
func (p *Budget) Body(f Frame, w, h int, _ bool) []string {
	t, s := f.Theme, f.State
	if s.Seq == 0 {
		return nil
	}
	list := Spending(s, f.Work)
	per := 1
	if h >= 2*len(list)+1 {
		per = 2
	}
	if h >= 3*len(list)+1 {
		per = 3
	}
	var lines []string
	for _, d := range list {
		lines = append(lines, d.lines(t, w, s.Run.Soft, min(per, 2))...)
		if per == 3 {
			lines = append(lines, draw.Spaces(w))
		}
	}
	wall := f.Now.Sub(s.Started)
	if s.Ended != nil {
		wall = s.At.Sub(s.Started)
	}
	if len(lines) < h && !s.Started.IsZero() {
		lines = append(lines, draw.Line(w, draw.S(t.Faint, "wall    "), draw.S(t.Faint, Clock(wall)+" since "+s.Started.In(f.Now.Location()).Format("15:04"))))
	}
	return lines[:min(len(lines), h)]
}

func (d Spent) lines(t *theme.Theme, w int, soft float64, per int) []string {
	name := draw.S(t.Muted, fmt.Sprintf("%-8s", d.Name))
	if d.Limit == "" {
		lines := []string{draw.Row{Left: []draw.Span{name, draw.S(t.Text, d.Used), draw.S(t.Faint, "  no limit")}}.Render(w)}
		if per == 2 {
			lines = append(lines, draw.Spaces(w))
		}
		return lines
	}
	left := []draw.Span{draw.S(t.Tone(d.Tone(soft)).Bold(), d.Left), draw.S(t.Muted, " left")}
	if d.Reached {
		left = []draw.Span{draw.S(t.Tone(theme.Bad).Bold(), "limit reached")}
	}
	used := draw.S(t.Muted, d.Used+" of "+d.Limit)
	if per == 1 {
		room := w - 8 - 14
		row := draw.Row{Left: append([]draw.Span{name}, d.Bar(t, room, soft)...), Right: left}
		return []string{row.Render(w)}
	}
	head := draw.Row{Left: []draw.Span{name, used}, Right: left}
	return []string{head.Render(w), draw.Line(w, d.Bar(t, w, soft)...)}
}
