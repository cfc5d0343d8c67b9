package pane

import (
	"fmt"
	"strings"

	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// history is how many samples a sparkline remembers.
const history = 240

// Machine shows what the run uses of the machine: its GPUs, and of the
// sandbox processors, memory, processes and disk, and what is not isolated.
type Machine struct {
	still
	cpu, memory []float64
}

// Clean makes text of an agent or a task fit for one line of the screen.
func Clean(s string) string { return draw.OneLine(terminal.Clean(s)) }

// Sample remembers a measurement for the sparklines.
func (p *Machine) Sample(r event.Resources) {
	p.cpu = push(p.cpu, r.CPU)
	p.memory = push(p.memory, float64(r.Memory))
}

func push(list []float64, v float64) []float64 {
	if len(list) >= history {
		list = append(list[:0], list[len(list)-history+1:]...)
	}
	return append(list, max(v, 0))
}

// Name names the pane.
func (p *Machine) Name() string { return "GPU" }

// Stamp tells when it changed.
func (p *Machine) Stamp(f Frame) Stamp { return Stamp{State: f.Version} }

// Note names the sandbox.
func (p *Machine) Note(f Frame) []draw.Span {
	name := f.State.Run.Sandbox
	if name == "" {
		return nil
	}
	if name == "none" {
		return []draw.Span{draw.S(f.Theme.Tone(theme.Bad).Bold(), theme.Warning+" no isolation")}
	}
	return []draw.Span{draw.S(f.Theme.Muted, Clean(name))}
}

// A figure is one of the sandbox's own.
type figure struct {
	name, value string
	trend       []float64
	top         float64 // of the trend; 0 is its highest
	style       theme.Style
}

// Body draws the devices and, below them, what the sandbox uses besides: a
// line for each figure where there is no GPU, else as few as do.
func (p *Machine) Body(f Frame, w, h int, _ bool) []string {
	figures := p.figures(f)
	if len(f.State.GPU.Readings)+len(f.State.GPU.Inventory) > 0 {
		own := packed(f.Theme, figures, w, max(1, min(h/5, h-len(f.State.GPU.Inventory))))
		lines := gpuBody(f, w, h-len(own))
		if gaps := p.gaps(f, w, h-len(own)-len(lines)); len(gaps) > 0 {
			return append(append(lines, own...), gaps...)
		}
		return append(draw.Fill(lines, w, h-len(own)), own...)
	}
	none := "no GPU found"
	if why := f.State.GPU.Err; why != "" && !strings.Contains(why, none) {
		none += ": " + Clean(why)
	}
	lines := []string{draw.Line(w, draw.S(f.Theme.Muted, none))}
	if w >= trendWidth && h >= trendHeight {
		return p.trends(f, figures, lines, w, h)
	}
	spaced := h >= 9 && (len(f.State.Run.Isolation) == 0 || h >= 14)
	for i, g := range figures {
		if spaced && i < 3 {
			lines = append(lines, draw.Spaces(w))
		}
		row := draw.Row{Left: []draw.Span{draw.S(f.Theme.Muted, fmt.Sprintf("%-8s", g.name)), draw.S(f.Theme.Text, fmt.Sprintf("%-11s", g.value))}}
		if trend := spark(g.trend, min(w-21, 60), g.top); trend != "" {
			row.Left = append(row.Left, draw.S(g.style, " "+trend))
		}
		lines = append(lines, row.Render(w))
	}
	lines = append(lines, p.gaps(f, w, h-len(lines))...)
	return lines[:min(len(lines), h)]
}

// From so many cells on there are charts of the processors and the memory.
const trendWidth, trendHeight = 60, 18

// trends draws what the sandbox used lately as charts, newest at the right.
func (p *Machine) trends(f Frame, figures []figure, lines []string, w, h int) []string {
	t := f.Theme
	gaps := p.gaps(f, w, h/3)
	each := (h - 4 - len(gaps)) / 2
	for i, g := range figures[:2] {
		high := max(g.top, 1e-9)
		for _, v := range g.trend {
			high = max(high, v)
		}
		tr := track{high: high, low: "0 ", top: Bytes(int64(high)) + " ", tone: g.style}
		if i == 0 {
			tr.top = fmt.Sprintf("%.1f ", high)
		}
		l := timeline{f: f, gutter: 9, w: w - 9}
		recent := g.trend[max(0, len(g.trend)-2*l.w):] // a cell has room for two
		l.until = float64(max(len(recent), 60))
		for n, v := range recent {
			at := l.until - float64(len(recent)-n)
			tr.run = append(tr.run, span{at, at + 0.9, v})
		}
		lines = append(lines, draw.Line(w, draw.S(t.Muted, draw.Fit(g.name, 9)), draw.S(t.Strong, g.value)))
		lines = append(lines, l.chart(tr, each)...)
	}
	lines = draw.Fill(append(lines, gaps...), w, h-1)
	return append(lines, packed(t, figures[2:], w, 1)...)
}

// figures lists what the sandbox uses.
func (p *Machine) figures(f Frame) []figure {
	t, r := f.Theme, f.State.Resources
	cpu, pids := "unknown", "unknown"
	if r.CPU >= 0 {
		cpu = fmt.Sprintf("%.2f cores", r.CPU)
	}
	if r.Pids >= 0 {
		pids = fmt.Sprint(r.Pids)
	}
	memory, disk := Bytes(r.Memory), Bytes(r.Disk)
	if r == (event.Resources{}) { // nothing was measured yet
		cpu, memory, pids, disk = "–", "–", "–", "–"
	}
	figures := []figure{
		{name: "cpu", value: cpu, trend: p.cpu, top: 1, style: t.Tone(theme.Good)},
		{name: "memory", value: memory, trend: p.memory, style: t.Tone(theme.Info)},
		{name: "procs", value: pids}, {name: "disk", value: disk},
	}
	if hours := f.State.GPU.GPUHours(); hours > 0 {
		figures = append(figures, figure{name: "gpu-hours", value: fmt.Sprintf("%.2f", hours)})
	}
	if n := f.State.Run.Network; n != "" {
		figures = append(figures, figure{name: "network", value: Clean(n)})
	}
	return figures
}

// packed writes figures in as few lines as hold them, at most so many; the
// first come first.
func packed(t *theme.Theme, figures []figure, w, most int) []string {
	var rows [][]draw.Span
	used := w
	for _, g := range figures {
		need := draw.Width(g.name) + 1 + draw.Width(g.value)
		if used+3+need > w {
			if len(rows) == most {
				break
			}
			rows, used = append(rows, nil), -3
		}
		last := &rows[len(rows)-1]
		if len(*last) > 0 {
			*last = append(*last, draw.S(t.Faint, "   "))
		}
		*last = append(*last, draw.S(t.Muted, g.name+" "), draw.S(t.Text, g.value))
		used += 3 + need
	}
	lines := make([]string, len(rows))
	for i, spans := range rows {
		lines[i] = draw.Line(w, spans...)
	}
	return lines
}

// gaps tells what is not isolated, as far as there is room.
func (p *Machine) gaps(f Frame, w, room int) []string {
	gaps := f.State.Run.Isolation
	if len(gaps) == 0 || room < 2 {
		return nil
	}
	t := f.Theme
	style := t.Tone(theme.Warn)
	if f.State.Run.Sandbox == "none" {
		style = t.Tone(theme.Bad)
	}
	lines := []string{draw.Line(w, draw.S(style.Bold(), theme.Warning+" not isolated"))}
	for i, gap := range gaps {
		wrapped := draw.Wrap(Clean(gap), w-2)
		if len(lines)+len(wrapped) > room {
			lines = append(lines[:min(len(lines), room-1)], draw.Line(w, draw.S(t.Faint, fmt.Sprintf("  and %d more", len(gaps)-i))))
			break
		}
		for _, l := range wrapped {
			lines = append(lines, draw.Line(w, draw.S(t.Muted, "  "+l)))
		}
	}
	return lines
}
