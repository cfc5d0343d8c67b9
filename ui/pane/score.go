package pane

import (
	"fmt"
	"math"

	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// Score plots the task's metric over working time.
type Score struct{ still }

// Name names the pane.
func (p *Score) Name() string { return "Score" }

// Stamp tells when it changed; the time axis moves once a second.
func (p *Score) Stamp(f Frame) Stamp { return Stamp{State: f.Version, Clock: f.second() / 4} }

// Note names the metric and its direction.
func (p *Score) Note(f Frame) []draw.Span {
	info := f.State.Run.Task
	if info.Metric == "" {
		return nil
	}
	return []draw.Span{draw.S(f.Theme.Muted, Clean(info.Metric)+" "+Direction(info.HigherIsBetter))}
}

// Direction is an arrow towards the better.
func Direction(higher bool) string {
	if higher {
		return theme.Up
	}
	return theme.Down
}

// Body draws the best score with what it means, and the chart.
func (p *Score) Body(f Frame, w, h int, _ bool) []string {
	t, s := f.Theme, f.State
	info := s.Run.Task
	if info.Metric == "" && s.Seq == 0 {
		return nil
	}
	if info.Metric == "" {
		return empty(t, w, h, "no metric", "this task tells no score while the agent works")
	}
	head := draw.Line(w, draw.S(t.Muted, "no score yet"))
	if s.Best != nil {
		head = draw.Row{Left: p.best(f, *s.Best, w), Right: p.claimed(f)}.Render(w)
	}
	if h < 6 {
		return []string{head}
	}
	return append([]string{head}, ChartOf(t, s, f.Work).Draw(t, w, h-1)...)
}

func (p *Score) best(f Frame, best float64, w int) []draw.Span {
	t, info := f.Theme, f.State.Run.Task
	spans := []draw.Span{draw.S(t.Muted, "best "), draw.S(t.Tone(theme.Accent).Bold(), Unit(best, info.Unit))}
	if medal := Reached(info.Thresholds, best, info.HigherIsBetter); medal != "" {
		style, _ := t.Medal(medal)
		spans = append(spans, draw.S(style.Bold(), "  "+theme.Pick+" "+medal))
	}
	if info.Baseline != nil && w >= 30 {
		spans = append(spans, draw.S(t.Muted, "  "+OverBaseline(best, *info.Baseline, info.HigherIsBetter)))
	}
	return spans
}

// claimed says where the best score comes from when nobody measured it.
func (p *Score) claimed(f Frame) []draw.Span {
	for i := len(f.State.Points) - 1; i >= 0; i-- {
		if pt := f.State.Points[i]; pt.Name == f.State.Run.Task.Metric && pt.Value == *f.State.Best {
			if pt.Source == "claimed" {
				return []draw.Span{draw.S(f.Theme.Tone(theme.Warn), "claimed")}
			}
			return nil
		}
	}
	return nil
}

// Reached returns the medal whose threshold a score reaches, or "".
func Reached(th tasks.Thresholds, score float64, higher bool) string {
	for _, m := range []struct {
		name string
		at   *float64
	}{{"gold", th.Gold}, {"silver", th.Silver}, {"bronze", th.Bronze}} {
		if m.at != nil && (score == *m.at || score > *m.at == higher) {
			return m.name
		}
	}
	return ""
}

// OverBaseline says how much better than the baseline a score is.
func OverBaseline(score, baseline float64, higher bool) string {
	if baseline == 0 || math.IsNaN(score) {
		return ""
	}
	gain := (score - baseline) / math.Abs(baseline) * 100
	if !higher {
		gain = -gain
	}
	return fmt.Sprintf("%+.1f %%", gain)
}
