package pane

import (
	"fmt"

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

// Body draws a line for each resource.
func (p *Machine) Body(f Frame, w, h int, _ bool) []string {
	t, r := f.Theme, f.State.Resources
	lines := []string{draw.Line(w, draw.S(t.Muted, "no GPU found"))}
	devices := len(f.State.GPU.Readings) > 0
	if devices {
		own := min(4, h/3) // lines for the sandbox's own figures
		lines = gpuBody(f, w, h-max(1, min(own, h-len(f.State.GPU.Readings))))
	}
	cpu, memory, pids, disk := "unknown", Bytes(r.Memory), "unknown", Bytes(r.Disk)
	if r.CPU >= 0 {
		cpu = fmt.Sprintf("%.2f cores", r.CPU)
	}
	if r.Pids >= 0 {
		pids = fmt.Sprint(r.Pids)
	}
	if r == (event.Resources{}) { // nothing was measured yet
		cpu, memory, pids, disk = "–", "–", "–", "–"
	}
	line := func(name, value, trend string, style theme.Style) {
		row := draw.Row{Left: []draw.Span{draw.S(t.Muted, fmt.Sprintf("%-8s", name)), draw.S(t.Text, fmt.Sprintf("%-11s", value))}}
		if trend != "" {
			row.Left = append(row.Left, draw.S(style, " "+trend))
		}
		lines = append(lines, row.Render(w))
	}
	spaced := !devices && h >= 9 && (len(f.State.Run.Isolation) == 0 || h >= 14)
	gap := func() {
		if spaced {
			lines = append(lines, draw.Spaces(w))
		}
	}
	room := min(w-21, 60)
	gap()
	line("cpu", cpu, spark(p.cpu, room, 1), t.Tone(theme.Good))
	gap()
	line("memory", memory, spark(p.memory, room, 0), t.Tone(theme.Info))
	gap()
	line("procs", pids, "", t.Text)
	line("disk", disk, "", t.Text)
	lines = append(lines, p.gaps(f, w, h-len(lines))...)
	return lines[:min(len(lines), h)]
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
