package pane

import (
	"fmt"
	"strings"

	"proctor/runner/gpu"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// How a device is drawn depends on the lines and the columns that it gets.
const (
	chartsWidth  = 70 // columns from which figures and a chart fit beside each other
	bothWidth    = 100
	tallDevice   = 12 // lines from which charts take the whole width
	lineOfDevice = 36 // below it, words are left out
)

// gpuBody draws the devices in at most h lines: a line each, two, charts
// beside the figures, or charts across the whole width, as room allows. All
// charts have the run's working time as their axis, with its actions marked.
func gpuBody(f Frame, w, h int) []string {
	devices := devicesOf(f)
	var lines []string
	if why := f.State.GPU.Err; why != "" && h > len(devices) {
		lines = append(lines, draw.Line(w, draw.S(f.Theme.Tone(theme.Warn), theme.Warning+" "+Clean(why))))
		h--
	}
	if len(devices) > h {
		shown := devices[:max(0, h-1)]
		more := draw.Line(w, draw.S(f.Theme.Faint, fmt.Sprintf("and %s more", Plural(len(devices)-len(shown), "device"))))
		for _, d := range shown {
			lines = append(lines, d.line(w))
		}
		return append(lines, more)
	}
	each := h / max(len(devices), 1)
	switch {
	case each >= tallDevice || len(devices) == 1 && each >= 6:
		return append(lines, tall(f, devices, w, h)...)
	case each >= 2 && w >= chartsWidth && (h-2)/len(devices) >= 2:
		return append(lines, beside(f, devices, w, h)...)
	}
	for _, d := range devices {
		lines = append(lines, d.line(w))
		if each >= 2 {
			lines = append(lines, d.second(w))
		}
	}
	return lines
}

// devicesOf returns the devices as they are now, or as they were when the
// driver still answered.
func devicesOf(f Frame) []device {
	s := &f.State.GPU
	readings := s.Readings
	if len(readings) == 0 {
		for _, i := range s.Inventory {
			readings = append(readings, gpu.Reading{ID: i.ID})
		}
	}
	devices := make([]device, len(readings))
	for i, r := range readings {
		devices[i] = device{theme: f.Theme, info: s.Info(r.ID), now: r, series: s.Series[r.ID]}
	}
	longest := 0
	for _, r := range readings {
		longest = max(longest, draw.Width(r.ID))
	}
	for i := range devices {
		devices[i].column = longest
	}
	return devices
}

// A device is one GPU, or an instance of one, as it is drawn.
type device struct {
	theme  *theme.Theme
	info   gpu.Info
	now    gpu.Reading
	series *gpu.Series
	column int // cells that the longest number takes among the devices
}

// title is the device's number and name.
func (d device) title() []draw.Span {
	return []draw.Span{draw.S(d.theme.Strong, draw.Fit(d.info.ID, d.column)+" "), draw.S(d.theme.Muted, shortName(d.info.Name)+" ")}
}

// use says what share of the device's time the run takes, or why that cannot
// be said.
func (d device) use() draw.Span {
	switch {
	case d.now.Err != "":
		return draw.S(d.theme.Tone(theme.Bad), theme.Warning+" "+Clean(d.now.Err))
	case d.info.MIGEnabled:
		return draw.S(d.theme.Muted, "divided into instances")
	}
	return draw.S(d.theme.Text, d.share().UtilizationText())
}

func (d device) share() gpu.Share { return d.now.Share(d.info.MemoryTotal) }

// memory says how much of the device's memory is taken, and by the run.
func (d device) memory() draw.Span { return draw.S(d.theme.Text, d.share().MemoryText()) }

// line is the device in one line: its name, a trend, its use by this run and
// by others, and where there is room its memory. On a wide screen the trend is
// of the whole run.
func (d device) line(w int) string {
	row := draw.Row{Left: d.title()}
	use := d.use()
	if d.now.Err != "" || d.info.MIGEnabled {
		row.Left = append(row.Left, use)
		return row.Render(w)
	}
	use.Text = shorten(use.Text, w)
	memory := ""
	if d.now.Memory != nil && w >= 60 {
		memory = strings.Replace(strings.Replace(d.share().MemoryText(), " of ", "/", 1), "this run", "run", 1)
	}
	if w < chartsWidth {
		memory, _, _ = strings.Cut(memory, ",")
	}
	if w >= bothWidth {
		use.Text, memory = draw.Fit(use.Text, 34), draw.Fit(memory, 20)
	}
	room := w - spansWidth(row.Left) - draw.Width(use.Text) - draw.Width(memory) - 3
	switch {
	case w >= bothWidth:
		row.Left = append(row.Left, use, draw.S(d.theme.Muted, memory+" "), draw.S(d.tone(), spark(d.wholeRun(room), room, 100)))
		return row.Render(w)
	case min(room, 24) >= 4 && d.now.Utilization != nil:
		row.Left = append(row.Left, draw.S(d.tone(), spark(d.utilization(), min(room, 24), 100)+" "))
	}
	row.Left = append(row.Left, use)
	if memory != "" {
		row.Right = []draw.Span{draw.S(d.theme.Muted, memory)}
	}
	return row.Render(w)
}

// shorten leaves out of a device's use what has no room beside its name.
func shorten(use string, w int) string {
	if w < 44 {
		use, _, _ = strings.Cut(use, ", others")
	}
	if w < lineOfDevice {
		use = strings.Replace(use, "this run", "run", 1)
	}
	return use
}

// second is the line below: memory, power, temperature, and what is wrong.
func (d device) second(w int) string {
	row := draw.Row{Left: []draw.Span{draw.S(d.theme.Text, "  "), d.memory()}}
	if trouble := d.trouble(); trouble != "" {
		row.Left = append(row.Left, draw.S(d.theme.Tone(theme.Warn), "  "+theme.Warning+" "+trouble))
	}
	if w >= 44 {
		row.Right = []draw.Span{draw.S(d.theme.Muted, d.physics(w >= 120))}
	}
	return row.Render(w)
}

// headline stands above the chart of the device's use, memoryLine above the
// one of its memory.
func (d device) headline(w int) string {
	use := d.use()
	use.Text, use.Style = shorten(use.Text, w), d.theme.Strong.And(use.Style)
	row := draw.Row{Left: append(d.title(), draw.S(d.theme.Text, " "), use)}
	if physics := d.physics(w >= bothWidth); spansWidth(row.Left)+2+draw.Width(physics) <= w {
		row.Right = []draw.Span{draw.S(d.theme.Muted, physics)}
	}
	return row.Render(w)
}

func (d device) memoryLine(w int) string {
	row := draw.Row{Left: []draw.Span{draw.S(d.theme.Text, draw.Spaces(spansWidth(d.title())+1))}}
	if d.now.Err == "" {
		row.Left = append(row.Left, d.memory())
	}
	if trouble := d.trouble(); trouble != "" {
		row.Right = []draw.Span{draw.S(d.theme.Tone(theme.Warn), theme.Warning+" "+trouble)}
	}
	return row.Render(w)
}

// figures is the column beside the device's charts: the most telling first.
func (d device) figures(w, h int) []string {
	t := d.theme
	lines := []string{draw.Line(w, append(d.title(), d.use())...)}
	add := func(style theme.Style, text string) {
		if text != "" {
			lines = append(lines, draw.Line(w, draw.S(style, "  "+text)))
		}
	}
	if d.now.Err == "" {
		add(t.Text, d.share().MemoryText())
	}
	if trouble := d.trouble(); trouble != "" {
		add(t.Tone(theme.Warn), theme.Warning+" "+trouble)
	}
	add(t.Muted, d.physics(false))
	add(t.Faint, Clean(d.now.DeviceWide))
	return draw.Fill(lines[:min(len(lines), h)], w, h)
}

// physics is power, temperature and clock, as far as they are known.
func (d device) physics(clock bool) string {
	var parts []string
	if d.now.PowerW != nil {
		power := fmt.Sprintf("%d W", *d.now.PowerW)
		if clock && d.info.PowerLimitW > 0 {
			power = fmt.Sprintf("%d of %.0f W", *d.now.PowerW, d.info.PowerLimitW)
		}
		parts = append(parts, power)
	}
	if d.now.Temperature != nil {
		parts = append(parts, fmt.Sprintf("%d °C", *d.now.Temperature))
	}
	if clock && d.now.ClockMHz != nil {
		parts = append(parts, fmt.Sprintf("%d MHz", *d.now.ClockMHz))
	}
	return strings.Join(parts, "  ")
}

// wholeRun is the device's use over all of the run, in n values.
func (d device) wholeRun(n int) []float64 {
	if d.series == nil || n <= 0 {
		return nil
	}
	points := d.series.Points()
	if len(points) == 0 {
		return nil
	}
	values, until := make([]float64, n), points[len(points)-1].Work
	for _, p := range points {
		for i := int((p.Work - p.Seconds) / until * float64(n)); i < n && float64(i) < p.Work/until*float64(n); i++ {
			values[i] = max(values[i], p.Utilization)
		}
	}
	return values
}

// utilization is the newest samples.
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

// tone says at a glance whether the device works for the run.
func (d device) tone() theme.Style {
	switch {
	case d.now.Utilization == nil || *d.now.Utilization < 5, d.now.Run != nil && 2**d.now.Run < *d.now.Utilization:
		return d.theme.Muted
	}
	return d.theme.Tone(theme.Good)
}

func (d device) trouble() string {
	switch {
	case d.now.Xid != 0:
		return fmt.Sprintf("Xid %d", d.now.Xid)
	case d.now.Uncorrected > 0:
		return Plural(int(d.now.Uncorrected), "uncorrected ECC error")
	case len(d.now.Throttle) > 0:
		return strings.ReplaceAll(d.now.Throttle[0], "_", " ")
	}
	return ""
}

// shortName leaves out of a device's name what all of them begin with.
func shortName(name string) string {
	name = strings.TrimPrefix(Clean(name), "NVIDIA ")
	if i := strings.Index(name, "MIG "); i > 0 { // its GPU is named above it
		name = name[i:]
	}
	return draw.Cut(name, 14)
}
