package launch

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// limits is the part in which time, steps and the seed are set: by typing, or
// with the arrows.
type limits struct {
	task   tasks.Budget // the task's own
	fields [fieldCount]field
	picked int
}

const (
	fieldTime = iota
	fieldSteps
	fieldSeed
	fieldCount
)

// A field is a value as it was typed; empty means the default.
type field struct{ text string }

var fieldNames = [fieldCount]string{"time", "steps", "seed"}

// The values that the arrows go through.
var (
	timeSteps = []string{"30s", "1m", "2m", "5m", "10m", "20m", "30m", "1h", "2h", "4h", "8h", "24h", "none"}
	stepSteps = []string{"5", "10", "20", "50", "100", "200", "500", "1000", "none"}
)

func (l *limits) move(n int) { l.picked = min(max(l.picked+n, 0), fieldCount-1) }

// accepts reports whether a character belongs into the picked field.
func (l *limits) accepts(s string) bool {
	if len(s) != 1 {
		return false
	}
	return s[0] >= '0' && s[0] <= '9' || l.picked == fieldTime && strings.Contains("hms", s)
}

func (l *limits) typed(s string) {
	f := &l.fields[l.picked]
	if f.text == "none" {
		f.text = ""
	}
	if len(f.text) < 12 {
		f.text += s
	}
}

func (l *limits) erase() {
	f := &l.fields[l.picked]
	if f.text == "none" {
		f.text = ""
	}
	f.text = f.text[:max(len(f.text)-1, 0)]
}

// turn goes to the next or the previous of the usual values.
func (l *limits) turn(n int) {
	f := &l.fields[l.picked]
	switch l.picked {
	case fieldSeed:
		seed, _ := strconv.ParseInt(f.text, 10, 64) // what cannot be read starts at 0
		f.text = strconv.FormatInt(max(seed+int64(n), 0), 10)
	case fieldTime:
		current := l.task.Time
		if d, err := parseTime(f.text); err == nil && f.text != "" {
			current = d
		}
		f.text = nearest(timeSteps, n, func(s string) float64 {
			d, _ := parseTime(s) // the table is ours
			return float64(d)
		}, float64(current))
	case fieldSteps:
		current := l.task.Steps
		if v, err := parseCount(f.text); err == nil && f.text != "" {
			current = int(v)
		}
		f.text = nearest(stepSteps, n, func(s string) float64 {
			v, _ := parseCount(s) // the table is ours
			return float64(v)
		}, float64(current))
	}
}

// nearest returns the next larger or smaller value of a list that ends in
// "none", which stands for a limit of 0.
func nearest(list []string, n int, value func(string) float64, current float64) string {
	at := len(list) - 1
	if current > 0 {
		at = 0
		for at < len(list)-1 && value(list[at]) < current {
			at++
		}
		if n > 0 && (at == len(list)-1 || value(list[at]) > current) {
			at--
		}
	}
	return list[min(max(at+n, 0), len(list)-1)]
}

// parseTime reads 90s, 2m, 1h30m; a bare number is minutes; none is 0.
func parseTime(s string) (time.Duration, error) {
	if s == "none" {
		return 0, nil
	}
	if n, err := strconv.Atoi(s); err == nil {
		s = fmt.Sprint(n, "m")
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a time; write 90s, 2m or 1h30m", s)
	}
	return d, nil
}

func parseCount(s string) (int64, error) {
	if s == "none" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0, fmt.Errorf("%q is not a number of steps", s)
	}
	return n, nil
}

// budget is the budget as set, with the task's own where nothing is.
func (l *limits) budget() (tasks.Budget, error) {
	b := l.task
	if s := l.fields[fieldTime].text; s != "" {
		d, err := parseTime(s)
		if err != nil {
			return b, err
		}
		b.Time = d
	}
	if s := l.fields[fieldSteps].text; s != "" {
		n, err := parseCount(s)
		if err != nil {
			return b, err
		}
		b.Steps = int(n)
	}
	return b, nil
}

// seed is the seed as set.
func (l *limits) seed() (int64, error) {
	if s := l.fields[fieldSeed].text; s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a seed", s)
		}
		return n, nil
	}
	return 0, nil
}

func (l *limits) draw(t *theme.Theme, w, h int, focused bool) []string {
	var lines []string
	b, err := l.budget()
	for i, name := range fieldNames {
		mark, style, base := "  ", t.Text, theme.Plain
		if i == l.picked && focused {
			mark, style, base = theme.Arrow+" ", t.Strong, t.Select
		}
		value, note := l.fields[i].text, ""
		if value == "" {
			value, note = l.standard(i), "default"
		}
		switch {
		case i == fieldTime && err == nil && b.Time > 0 && l.fields[i].text != "":
			note = pane.Clock(b.Time)
		case i == fieldTime && err == nil && b.Time == 0, i == fieldSteps && err == nil && b.Steps == 0:
			value, note = "none", "no limit"
		}
		row := draw.Row{Base: base, Left: []draw.Span{
			draw.S(t.Tone(theme.Accent), mark), draw.S(t.Muted, fmt.Sprintf("%-7s", name)), draw.S(style, value),
		}, Right: []draw.Span{draw.S(t.Faint, note+" ")}}
		if i == l.picked && focused {
			row.Right = append(row.Right, draw.S(t.Tone(theme.Accent), "←/→ "))
		}
		lines = append(lines, row.Render(w))
	}
	if err != nil {
		lines = append(lines, wrapped(t, theme.Bad, theme.Cross, err.Error(), w)...)
	}
	return lines[:min(len(lines), h)]
}

func (l *limits) standard(i int) string {
	switch {
	case i == fieldTime && l.task.Time > 0:
		return short(l.task.Time)
	case i == fieldSteps && l.task.Steps > 0:
		return strconv.Itoa(l.task.Steps)
	case i == fieldSeed:
		return "0"
	}
	return "none"
}

// short writes a duration without zero parts: 2m, 1h30m.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
