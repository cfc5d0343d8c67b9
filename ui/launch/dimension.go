package launch

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/ui/pane"
)

// A dimension is a line of the budget: how it is typed, turned and written.
// A value of 0 is no limit, and is written "none".
type dimension struct {
	name  string
	model bool   // only agents with a model spend it
	keys  string // that belong into a value beside the digits
	// usual is the values that the arrows go through.
	usual []string
	parse func(string) (float64, error)
	write func(float64) string
	note  func(float64) string // beside a value that was set; nil is none
	get   func(tasks.Budget) float64
	set   func(*tasks.Budget, float64)
}

const noLimit = "none"

// The dimensions, in the order in which they stand on the screen.
var dimensions = []dimension{
	{
		name: "time", keys: "hms", parse: parseTime,
		usual: []string{"30s", "1m", "2m", "5m", "10m", "20m", "30m", "1h", "2h", "4h", "8h", "24h", noLimit},
		write: func(v float64) string { return pane.Short(time.Duration(v)) },
		note:  func(v float64) string { return pane.Clock(time.Duration(v)) },
		get:   func(b tasks.Budget) float64 { return float64(b.Time) },
		set:   func(b *tasks.Budget, v float64) { b.Time = time.Duration(v) },
	},
	{
		name: "steps", parse: parseCount("steps"),
		usual: []string{"5", "10", "20", "50", "100", "200", "500", "1000", noLimit},
		write: func(v float64) string { return strconv.FormatInt(int64(v), 10) },
		get:   func(b tasks.Budget) float64 { return float64(b.Steps) },
		set:   func(b *tasks.Budget, v float64) { b.Steps = int(v) },
	},
	{
		name: "tokens", model: true, keys: "kM", parse: parseCount("tokens"),
		usual: []string{"50k", "100k", "200k", "500k", "1M", "2M", "5M", "10M", noLimit},
		write: func(v float64) string { return pane.Count(int64(v)) },
		get:   func(b tasks.Budget) float64 { return float64(b.Tokens) },
		set:   func(b *tasks.Budget, v float64) { b.Tokens = int64(v) },
	},
	{
		name: "cost", model: true, keys: ".", parse: parseDollars,
		usual: []string{"0.5", "1", "2", "5", "10", "20", "50", "100", noLimit},
		write: func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) },
		note:  func(float64) string { return "US dollars" },
		get:   func(b tasks.Budget) float64 { return b.Cost },
		set:   func(b *tasks.Budget, v float64) { b.Cost = v },
	},
}

// read returns what a text stands for; an empty one stands for the task's own
// value.
func (d *dimension) read(text string, own tasks.Budget) (float64, error) {
	switch text {
	case "":
		return d.get(own), nil
	case noLimit:
		return 0, nil
	}
	return d.parse(text)
}

// words writes a value, and what is to be said beside it.
func (d *dimension) words(text string, own tasks.Budget) (value, note string) {
	v, err := d.read(text, own)
	switch {
	case err != nil:
		return text, ""
	case v == 0:
		return noLimit, "no limit"
	case text == "":
		return d.write(v), "default"
	case d.note != nil:
		note = d.note(v)
	}
	return text, note
}

// turn returns the next larger or smaller of the usual values.
func (d *dimension) turn(n int, current float64) string {
	value := func(i int) float64 {
		v, _ := d.read(d.usual[i], tasks.Budget{}) // the table is ours
		return v
	}
	last := len(d.usual) - 1
	at := last
	if current > 0 {
		for at = 0; at < last && value(at) < current; at++ {
		}
		if n > 0 && (at == last || value(at) > current) {
			at--
		}
	}
	return d.usual[min(max(at+n, 0), last)]
}

// parseTime reads 90s, 2m, 1h30m; a bare number is minutes.
func parseTime(s string) (float64, error) {
	if n, err := strconv.Atoi(s); err == nil {
		s = fmt.Sprint(n, "m")
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a time; write 90s, 2m or 1h30m", s)
	}
	return float64(d), nil
}

// parseCount reads 200, 50k, 2M.
func parseCount(what string) func(string) (float64, error) {
	return func(s string) (float64, error) {
		factor := int64(1)
		switch {
		case strings.HasSuffix(s, "k"):
			factor = 1e3
		case strings.HasSuffix(s, "M"):
			factor = 1e6
		}
		n, err := strconv.ParseInt(strings.TrimRight(s, "kM"), 10, 64)
		if err != nil || n < 0 || n > 1e9 {
			return 0, fmt.Errorf("%q is not a number of %s", s, what)
		}
		return float64(n * factor), nil
	}
}

func parseDollars(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0, fmt.Errorf("%q is not an amount of US dollars, such as 2.50", s)
	}
	return v, nil
}
