package pane

import (
	"fmt"
	"strings"

	"proctor/runner/gpu"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// gpuBody draws the devices, each in as many lines as there is room for: one
// line, two, or a chart over the run's whole working time.
func gpuBody(f Frame, w, h int) []string {
	s := &f.State.GPU
	shown := s.Readings
	if len(shown) > h {
		shown = shown[:max(0, h-1)]
	}
	if len(shown) == 0 {
		return nil
	}
	each := h / len(shown)
	var lines []string
	for _, r := range shown {
		d := device{f.Theme, s.Info(r.ID), r, s.Series[r.ID]}
		switch {
		case each >= 6:
			lines = append(lines, d.charted(f, w, each)...)
		case each >= 2:
			lines = append(lines, d.line(w), d.second(w))
		default:
			lines = append(lines, d.line(w))
		}
	}
	if more := len(s.Readings) - len(shown); more > 0 {
		lines = append(lines, draw.Line(w, draw.S(f.Theme.Faint, fmt.Sprintf("and %s more", Plural(more, "device")))))
	}
	return lines
}

// A device is one GPU, or an instance of one, as it is drawn.
type device struct {
	theme  *theme.Theme
	info   gpu.Info
	now    gpu.Reading
	series *gpu.Series
}

// line is the device in one line: its name, a trend, its use by this run and
// by others.
func (d device) line(w int) string {
	t := d.theme
	row := draw.Row{Left: []draw.Span{draw.S(t.Strong, d.info.ID+" "), draw.S(t.Muted, shortName(d.info.Name)+" ")}}
	if d.now.Err != "" {
		row.Left = append(row.Left, draw.S(t.Tone(theme.Bad), theme.Warning+" "+Clean(d.now.Err)))
		return row.Render(w)
	}
	share := d.now.Share(d.info.MemoryTotal)
	text := share.UtilizationText()
	if w < 44 {
		text, _, _ = strings.Cut(text, ", others")
	}
	if w < 36 {
		text = strings.Replace(text, "this run", "run", 1)
	}
	if room := min(w-draw.Width(d.info.ID)-draw.Width(shortName(d.info.Name))-draw.Width(text)-4, 24); room >= 4 {
		row.Left = append(row.Left, draw.S(d.tone(), spark(d.utilization(), room, 100)+" "))
	}
	row.Left = append(row.Left, draw.S(t.Text, text))
	return row.Render(w)
}

// second is the line below: memory, power, temperature, and what is wrong.
func (d device) second(w int) string {
	t := d.theme
	row := draw.Row{Left: []draw.Span{draw.S(t.Text, "  "+d.now.Share(d.info.MemoryTotal).MemoryText())}}
	if trouble := d.trouble(); trouble != "" {
		row.Left = append(row.Left, draw.S(t.Tone(theme.Warn), "  "+theme.Warning+" "+trouble))
	}
	var right []string
	if d.now.PowerW != nil {
		right = append(right, fmt.Sprintf("%d W", *d.now.PowerW))
	}
	if d.now.Temperature != nil {
		right = append(right, fmt.Sprintf("%d °C", *d.now.Temperature))
	}
	if w >= 44 {
		row.Right = []draw.Span{draw.S(t.Muted, strings.Join(right, "  "))}
	}
	return row.Render(w)
}

// charted is the device with a chart of its use over the run's whole working
// time; marks below it say where actions began.
func (d device) charted(f Frame, w, h int) []string {
	lines := []string{d.line(w), d.second(w)}
	p := plot{w: w, h: h - 3, low: 0, high: 100, until: max(f.Work.Seconds(), 1)}
	p.cells = make([]plotCell, p.w*p.h)
	if d.series != nil {
		for _, at := range d.series.Points() {
			p.column(at.Work-at.Seconds, at.Work, at.Utilization, d.theme.Muted)
			p.column(at.Work-at.Seconds, at.Work, at.Run, d.tone())
		}
	}
	for y := range p.h {
		lines = append(lines, draw.Line(w, p.row(nil, y)...))
	}
	return append(lines, d.actions(f, w, p.until))
}

// column fills what lies below a value over a stretch of time.
func (p *plot) column(from, to, value float64, style theme.Style) {
	if value <= 0 {
		return
	}
	for x := p.dotX(from); x <= p.dotX(to); x++ {
		for y := p.dotY(value); y < 4*p.h; y++ {
			p.set(x, y, style)
		}
	}
}

// actions marks where actions began, as far as they can be told apart.
func (d device) actions(f Frame, w int, until float64) string {
	axis := []rune(strings.Repeat("─", w))
	for _, a := range f.State.Actions {
		axis[min(int(a.Work/until*float64(w)), w-1)] = '┴'
	}
	return draw.Line(w, draw.S(d.theme.Faint, string(axis)))
}

// utilization is the newest samples, of the run where they can be told apart.
func (d device) utilization() []float64 {
	if d.series == nil {
		return nil
	}
	points := d.series.Recent()
	if len(points) == 0 {
		points = d.series.Points()
	}
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = max(p.Utilization, 0)
	}
	return values
}

// tone says at a glance whether the device works.
func (d device) tone() theme.Style {
	if d.now.Utilization != nil && *d.now.Utilization < 5 {
		return d.theme.Muted
	}
	return d.theme.Tone(theme.Good)
}

func (d device) trouble() string {
	switch {
	case d.now.Xid != 0:
		return fmt.Sprintf("Xid %d", d.now.Xid)
	case d.now.Uncorrected > 0:
		return fmt.Sprintf("%d uncorrected ECC errors", d.now.Uncorrected)
	case len(d.now.Throttle) > 0:
		return strings.ReplaceAll(d.now.Throttle[0], "_", " ")
	}
	return ""
}

// shortName leaves out of a device's name what all of them begin with.
func shortName(name string) string {
	name = strings.TrimPrefix(Clean(name), "NVIDIA ")
	return draw.Cut(name, 14)
}
