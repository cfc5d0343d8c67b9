package pane

import (
	"math"
	"sort"
	"time"

	"proctor/runner/event"
	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// A Chart is a score over working time: every measurement as a dot, the best
// so far as a line, levels such as a medal's threshold across, and marks such
// as a hint on the time axis. Dots are braille, eight to a cell.
type Chart struct {
	Points []XY
	Higher bool    // higher is better
	Until  float64 // right end of the axis, seconds
	Levels []Level
	Marks  []AxisMark
}

// XY is a measurement: seconds of working time and a score.
type XY struct{ X, Y float64 }

// A Level is a horizontal line with a name.
type Level struct {
	Value float64
	Name  string
	Style theme.Style
}

// An AxisMark is a symbol on the time axis.
type AxisMark struct {
	X      float64
	Symbol string
	Style  theme.Style
}

// ChartOf makes the chart of a run's metric.
func ChartOf(t *theme.Theme, s *event.State, until time.Duration) Chart {
	info := s.Run.Task
	c := Chart{Higher: info.HigherIsBetter, Until: max(until.Seconds(), 5)}
	for _, p := range s.Points {
		if p.Name == info.Metric && p.Source != "graded" && !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
			c.Points = append(c.Points, XY{p.Work, p.Value})
		}
	}
	c.Levels = Levels(t, info.Thresholds, info.Baseline)
	for _, m := range s.Marks {
		if mark, ok := axisMark(t, m); ok {
			c.Marks = append(c.Marks, mark)
		}
	}
	return c
}

// Levels lists the thresholds and the baseline of a task.
func Levels(t *theme.Theme, th tasks.Thresholds, baseline *float64) []Level {
	var levels []Level
	add := func(v *float64, name string, style theme.Style) {
		if v != nil {
			levels = append(levels, Level{*v, name, style})
		}
	}
	add(th.Gold, "gold", t.Gold)
	add(th.Silver, "silver", t.Silver)
	add(th.Bronze, "bronze", t.Bronze)
	add(th.Median, "median", t.Muted)
	add(baseline, "base", t.Muted)
	return levels
}

func axisMark(t *theme.Theme, m event.Mark) (AxisMark, bool) {
	switch m.Kind {
	case event.TypeHint:
		return AxisMark{m.Work, theme.Flag, t.Tone(theme.Hint)}, true
	case event.TypeState:
		return AxisMark{m.Work, theme.PauseBars, t.Tone(theme.Warn)}, true
	case event.TypeBudget:
		return AxisMark{m.Work, theme.Diamond, t.Tone(theme.Info)}, true
	case event.TypeTakeover:
		return AxisMark{m.Work, "⌨", t.Tone(theme.Hint)}, true
	}
	return AxisMark{}, false
}

// Draw plots onto h lines of w cells; the last two are the axis and its times.
func (c Chart) Draw(t *theme.Theme, w, h int) []string {
	if w < 16 || h < 4 {
		return draw.Blank(w, h)
	}
	low, high := c.bounds()
	gutter := max(draw.Width(Value(low)), draw.Width(Value(high)))
	names := 0
	if w >= 34 {
		for _, l := range c.Levels {
			names = max(names, len(l.Name)+1)
		}
	}
	p := plot{
		w: w - gutter - 1 - names, h: h - 2,
		low: low, high: high, until: c.Until,
	}
	p.cells = make([]plotCell, p.w*p.h)
	for _, l := range c.Levels {
		p.level(l)
	}
	for _, xy := range c.Points {
		p.dot(xy.X, xy.Y, t.Text)
	}
	p.line(c.best(), t.Tone(theme.Accent).Bold())
	lines := make([]string, 0, h)
	labels := p.labels(c.Levels)
	for y := range p.h {
		left, tick := "", "│"
		switch y {
		case 0:
			left, tick = Value(high), "┤"
		case p.h - 1:
			left, tick = Value(low), "┤"
		}
		spans := []draw.Span{draw.S(t.Faint, draw.Spaces(gutter-draw.Width(left))+left+tick)}
		spans = p.row(spans, y)
		if l, ok := labels[y]; ok && names > 0 {
			spans = append(spans, draw.S(l.Style, " "+l.Name))
		}
		lines = append(lines, draw.Line(w, spans...))
	}
	lines = append(lines, draw.Line(w, c.axis(t, gutter, p)...))
	return append(lines, draw.Row{
		Left:  []draw.Span{draw.S(t.Faint, draw.Spaces(gutter+1)+"0:00")},
		Right: []draw.Span{draw.S(t.Faint, Clock(time.Duration(c.Until*1e9))+draw.Spaces(names))},
	}.Render(w))
}

// best returns the running best as the corners of a line.
func (c Chart) best() []XY {
	var out []XY
	better := tasks.Metric{HigherIsBetter: c.Higher}.Better
	for _, p := range c.Points {
		if len(out) == 0 || better(p.Y, out[len(out)-1].Y) {
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		out = append(out, XY{c.Until, out[len(out)-1].Y})
	}
	return out
}

// bounds chooses the scale: all levels and the best line, and of the other
// measurements those that do not squash them; what is worse sticks to the edge.
func (c Chart) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	take := func(v float64) { low, high = min(low, v), max(high, v) }
	for _, l := range c.Levels {
		take(l.Value)
	}
	best := c.best()
	for i, p := range best {
		if i > 0 || len(c.Levels) < 2 || len(best) <= 2 {
			take(p.Y)
		}
	}
	if math.IsInf(low, 0) {
		return 0, 1
	}
	span := high - low
	for _, p := range c.Points {
		if p.Y > low-0.35*span && p.Y < high+0.35*span {
			take(p.Y)
		}
	}
	if high == low {
		pad := max(math.Abs(high)*0.05, 1e-6)
		return low - pad, high + pad
	}
	pad := (high - low) * 0.04
	return low - pad, high + pad
}

// axis draws the time axis with its marks.
func (c Chart) axis(t *theme.Theme, gutter int, p plot) []draw.Span {
	spans := []draw.Span{draw.S(t.Faint, draw.Spaces(gutter)+"└")}
	at := map[int]AxisMark{}
	for _, m := range c.Marks {
		at[min(int(m.X/c.Until*float64(p.w)), p.w-1)] = m
	}
	columns := make([]int, 0, len(at))
	for x := range at {
		columns = append(columns, x)
	}
	sort.Ints(columns)
	from := 0
	for _, x := range columns {
		if x < from {
			continue
		}
		spans = append(spans, draw.S(t.Faint, draw.Rule(x-from)), draw.S(at[x].Style, at[x].Symbol))
		from = x + 1
	}
	return append(spans, draw.S(t.Faint, draw.Rule(p.w-from)))
}
