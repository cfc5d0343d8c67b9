package pane

import (
	"fmt"
	"strings"
	"time"

	"proctor/runner/event"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// tall draws each device as two charts across the whole width, its use above
// its memory, and the run's actions once, below the last of them.
func tall(f Frame, devices []device, w, h int) []string {
	l := newTimeline(f, w, 9)
	foot := 1 // the axis; with room the times, and then the actions by name
	if h >= 8*len(devices) {
		foot = 2
	}
	if h >= 14*len(devices) {
		foot = 3
	}
	var lines []string
	for i, d := range devices {
		room := (h - foot) / len(devices)
		if i < (h-foot)%len(devices) {
			room++
		}
		lines = append(lines, d.headline(w))
		room--
		memory := max((room-1)/3, 0)
		if memory < 2 {
			memory = 0
		}
		use := room - memory - 1
		if use < 2 {
			use = room
		}
		lines = append(lines, l.chart(d.useOverTime(), use)...)
		if use < room {
			lines = append(lines, d.memoryLine(w))
		}
		lines = append(lines, l.chart(d.memoryOverTime(), memory)...)
	}
	lines = append(lines, l.axis())
	if foot >= 3 {
		lines = append(lines, l.lane())
	}
	if foot >= 2 {
		lines = append(lines, l.times())
	}
	return lines
}

// beside draws each device as a column of figures with its charts at the
// right of it: its use, and where there is room its memory.
func beside(f Frame, devices []device, w, h int) []string {
	charts, gap := 1, 2
	if w >= bothWidth {
		charts = 2
	}
	figureWidth := figureColumn(devices, w/2)
	width := (w - figureWidth - (charts-1)*gap) / charts
	gap = w - figureWidth - charts*width
	l := newTimeline(f, width, 0)
	column := [][]string{{draw.Spaces(figureWidth)}, {l.head("utilisation, %")}}
	if charts == 2 {
		column = append(column, []string{draw.Spaces(gap)}, []string{l.head("memory, GiB")})
	} else {
		column[1][0] = l.head("utilisation, memory")
	}
	for i, d := range devices {
		each := (h - 2) / len(devices)
		if i < (h-2)%len(devices) {
			each++
		}
		each = min(each, tallDevice)
		high := each // of the charts, which keep apart where they can
		if each >= 3 && i < len(devices)-1 {
			high--
		}
		column[0] = append(column[0], d.figures(figureWidth, each)...)
		if charts == 2 {
			column[1] = append(column[1], draw.Fill(l.chart(d.useOverTime(), high), width, each)...)
			column[2] = append(column[2], draw.Blank(gap, each)...)
			column[3] = append(column[3], draw.Fill(l.chart(d.memoryOverTime(), high), width, each)...)
			continue
		}
		below := 0
		if high >= 4 {
			below = high / 3
		}
		both := append(l.chart(d.useOverTime(), high-below), l.chart(d.memoryOverTime(), below)...)
		column[1] = append(column[1], draw.Fill(both, width, each)...)
	}
	column[0] = append(column[0], draw.Line(figureWidth, draw.S(f.Theme.Faint, strings.Repeat(" ", figureWidth-7)+"actions")))
	column[1] = append(column[1], l.axis())
	if charts == 2 {
		column[2] = append(column[2], draw.Spaces(gap))
		column[3] = append(column[3], l.axis())
	}
	return draw.Beside(column...)
}

// figureColumn is how wide the figures beside the charts are.
func figureColumn(devices []device, most int) int {
	width := 34 // of the memory's text, mostly
	for _, d := range devices {
		if d.now.Err == "" { // an error may be long, and is cut
			width = max(width, spansWidth(d.title())+draw.Width(d.use().Text)+2)
		}
	}
	return min(width, most)
}

// A track is one figure of a device over the run's time: what the run takes
// of it before what everybody takes.
type track struct {
	high      float64
	low, top  string // labels of the scale
	all, run  []span
	tone      theme.Style // of the run's
	strangers theme.Style // of what is not the run's, or nobody can tell whose
}

// A span is a value over a stretch of working time, in seconds.
type span struct{ from, to, value float64 }

func (d device) useOverTime() track {
	t := track{high: 100, low: "0 ", top: "100 % ", tone: d.theme.Tone(theme.Good), strangers: d.theme.Muted}
	if d.series == nil {
		return t
	}
	for _, p := range d.series.Points() {
		t.all = append(t.all, span{p.Work - p.Seconds, p.Work, p.Utilization})
		t.run = append(t.run, span{p.Work - p.Seconds, p.Work, p.Run})
	}
	return t
}

func (d device) memoryOverTime() track {
	total := float64(d.info.MemoryTotal) / (1 << 20)
	t := track{high: total, low: "0 ", tone: d.theme.Tone(theme.Info), strangers: d.theme.Muted}
	if d.series == nil {
		return t
	}
	for _, p := range d.series.Points() {
		t.all = append(t.all, span{p.Work - p.Seconds, p.Work, p.Memory})
		t.run = append(t.run, span{p.Work - p.Seconds, p.Work, p.RunMemory})
		t.high = max(t.high, p.Memory)
	}
	t.top = fmt.Sprintf("%.0f GiB ", t.high/(1<<10))
	return t
}

// A timeline is the run's working time across w cells, after a gutter for the
// labels of what is drawn over it.
type timeline struct {
	f         Frame
	w, gutter int
	until     float64
}

// newTimeline leaves the gutter out where it would take too much.
func newTimeline(f Frame, w, gutter int) timeline {
	if w < 4*gutter {
		gutter = 0
	}
	return timeline{f: f, w: w - gutter, gutter: gutter, until: max(f.Work.Seconds(), 1)}
}

func (l timeline) cell(work float64) int {
	return min(max(int(work/l.until*float64(l.w)), 0), l.w-1)
}

// chart draws a track in h lines.
func (l timeline) chart(t track, h int) []string {
	if h <= 0 || l.w <= 0 {
		return nil
	}
	p := plot{w: l.w, h: h, low: 0, high: t.high, until: l.until}
	if p.high <= 0 {
		p.high = 1
	}
	p.cells = make([]plotCell, p.w*p.h)
	for _, s := range t.all {
		p.column(s.from, s.to, s.value, t.strangers)
	}
	for _, s := range t.run {
		p.column(s.from, s.to, s.value, t.tone)
	}
	lines := make([]string, h)
	for y := range h {
		label, tick := "", "│"
		switch y {
		case 0:
			label, tick = t.top, "┤"
		case h - 1:
			label = t.low
		}
		var spans []draw.Span
		if l.gutter > 0 {
			label = draw.Cut(label, l.gutter-1)
			spans = []draw.Span{draw.S(l.f.Theme.Faint, draw.Spaces(l.gutter-1-draw.Width(label))+label+tick)}
		}
		lines[y] = draw.Line(l.w+l.gutter, p.row(spans, y)...)
	}
	return lines
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

// A mark is one cell of the axis.
type mark struct {
	symbol string
	style  theme.Style
}

// axis marks where actions began, as far as they can be told apart, and where
// a person had a say.
func (l timeline) axis() string {
	t := l.f.Theme
	marks := make([]mark, l.w)
	for i := range marks {
		marks[i] = mark{"─", t.Faint}
	}
	for i := range l.f.State.Actions {
		a := &l.f.State.Actions[i]
		marks[l.cell(a.Work)] = mark{"┴", l.tone(a)}
	}
	for _, m := range l.f.State.Marks {
		if a, ok := axisMark(t, m); ok {
			marks[l.cell(m.Work)] = mark{a.Symbol, a.Style}
		}
	}
	corner := ""
	if l.gutter > 0 {
		corner = draw.Spaces(l.gutter-1) + "└"
	}
	spans := []draw.Span{draw.S(t.Faint, corner)}
	for _, m := range marks {
		if last := &spans[len(spans)-1]; last.Style == m.style {
			last.Text += m.symbol
			continue
		}
		spans = append(spans, draw.S(m.style, m.symbol))
	}
	return draw.Line(l.w+l.gutter, spans...)
}

// tone says what came of an action.
func (l timeline) tone(a *event.ActionState) theme.Style {
	t := l.f.Theme
	switch {
	case a.Finished == nil && a.Error == "" && !l.f.State.Phase.Over():
		return t.Tone(theme.Accent).Bold()
	case a.Error != "" || a.Finished != nil && (a.Finished.ExitCode != 0 || a.Finished.TimedOut):
		return t.Tone(theme.Bad)
	}
	return t.Text
}

// lane names the actions below the time that they took.
func (l timeline) lane() string {
	t := l.f.Theme
	spans := []draw.Span{draw.S(t.Faint, draw.Fit("actions", l.gutter))}
	at := 0
	for i := range l.f.State.Actions {
		a := &l.f.State.Actions[i]
		from, to := l.cell(a.Work), l.w
		if a.Finished != nil {
			to = l.cell(a.Work+a.Finished.Seconds) + 1
		}
		if i+1 < len(l.f.State.Actions) {
			to = min(to, l.cell(l.f.State.Actions[i+1].Work))
		}
		if from < at || to <= from {
			continue
		}
		spans = append(spans, draw.S(t.Faint, draw.Spaces(from-at)), draw.S(l.tone(a), draw.Fit(laneLabel(a, to-from-1), to-from)))
		at = to
	}
	return draw.Line(l.w+l.gutter, spans...)
}

// laneLabel names an action in few cells: by its number, with its use of the
// GPUs, and by its title where that fits.
func laneLabel(a *event.ActionState, room int) string {
	label := fmt.Sprint(a.Step)
	if a.GPU != nil {
		if p, ok := a.GPU.Percent(); ok && draw.Width(label)+7 <= room {
			label += fmt.Sprintf(" %d %%", p)
		}
	}
	if room >= draw.Width(label)+8 {
		label += " " + draw.Cut(Clean(a.Title), room-draw.Width(label)-1)
	}
	return draw.Cut(label, max(room, 0))
}

// times labels both ends of the axis.
func (l timeline) times() string {
	return draw.Row{
		Left:  []draw.Span{draw.S(l.f.Theme.Faint, draw.Spaces(l.gutter)+"0:00")},
		Right: []draw.Span{draw.S(l.f.Theme.Faint, Clock(time.Duration(l.until*1e9)))},
	}.Render(l.w + l.gutter)
}

// head names a column of charts, with the time that they cover.
func (l timeline) head(name string) string {
	return draw.Row{
		Left:  []draw.Span{draw.S(l.f.Theme.Faint, name)},
		Right: []draw.Span{draw.S(l.f.Theme.Faint, "0:00 – "+Clock(time.Duration(l.until*1e9)))},
	}.Render(l.w)
}
