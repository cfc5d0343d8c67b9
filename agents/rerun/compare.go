package rerun

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"proctor/agents"
)

// A verdict is what a comparison came to.
type verdict struct {
	kind outcome
	text string
}

type outcome int

const (
	same outcome = iota
	differs
	skipped
)

// compare sets what came of an action now beside what came of it then.
func compare(then agents.RecordedAction, now agents.Observation, tolerance float64) verdict {
	v := verdict{kind: same}
	var parts []string
	add := func(equal bool, text string) {
		if !equal {
			v.kind = differs
		}
		parts = append(parts, text)
	}
	switch before, after := ending(then.Observation), ending(now); before {
	case after:
		add(true, "same "+before)
	default:
		add(false, before+" then, "+after+" now")
	}
	metrics := lastMetrics(then.Metrics)
	measured := lastMetrics(now.Metrics)
	for _, m := range metrics {
		got, ok := find(measured, m.Name)
		if !ok {
			add(false, fmt.Sprintf("%s %s then, none now", m.Name, digits(m.Value)))
			continue
		}
		equal, sign := near(m.Value, got.Value, tolerance)
		add(equal, fmt.Sprintf("%s %s %s %s", m.Name, digits(m.Value), sign, digits(got.Value)))
	}
	for _, m := range measured {
		if _, ok := find(metrics, m.Name); !ok {
			add(false, fmt.Sprintf("%s none then, %s now", m.Name, digits(m.Value)))
		}
	}
	// Where metrics speak, the words around them may change; times and
	// addresses always do.
	if share := alike(then.Observation.Text, now.Text); len(metrics) == 0 && share < 0.5 {
		add(false, fmt.Sprintf("%.0f %% of the output's lines are alike", 100*share))
	}
	v.text = strings.Join(parts, ", ")
	return v
}

// ending says how an action ended.
func ending(o agents.Observation) string {
	if o.TimedOut {
		return "time-out"
	}
	return fmt.Sprintf("exit code %d", o.ExitCode)
}

// lastMetrics returns the last measured value of each name, in the order in
// which the names first came.
func lastMetrics(all []agents.Metric) []agents.Metric {
	var last []agents.Metric
	for _, m := range all {
		if m.Source != agents.Measured {
			continue
		}
		known := false
		for i := range last {
			if last[i].Name == m.Name {
				last[i], known = m, true
			}
		}
		if !known {
			last = append(last, m)
		}
	}
	return last
}

func find(metrics []agents.Metric, name string) (agents.Metric, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m, true
		}
	}
	return agents.Metric{}, false
}

// near compares two values and returns the sign to write between them.
func near(then, now, tolerance float64) (equal bool, sign string) {
	switch {
	case then == now || math.IsNaN(then) && math.IsNaN(now):
		return true, "="
	case math.Abs(then-now) <= tolerance*math.Abs(then):
		return true, "≈"
	}
	return false, "≠"
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// alike returns the share of lines that two outputs have in common, from 0
// to 1, taking all numbers as equal.
func alike(a, b string) float64 {
	before, after := maskedLines(a), maskedLines(b)
	longest := max(len(before), len(after))
	if longest == 0 {
		return 1
	}
	counts := map[string]int{}
	for _, line := range before {
		counts[line]++
	}
	shared := 0
	for _, line := range after {
		if counts[line] > 0 {
			counts[line]--
			shared++
		}
	}
	return float64(shared) / float64(longest)
}

// maskedLines returns the lines that hold anything, with every run of digits
// as one sign.
func maskedLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		var b strings.Builder
		number := false
		for _, r := range strings.TrimSpace(line) {
			if digit := unicode.IsDigit(r) || number && r == '.'; digit {
				if !number {
					b.WriteByte('#')
				}
				number = true
				continue
			}
			number = false
			b.WriteRune(r)
		}
		if b.Len() > 0 {
			lines = append(lines, b.String())
		}
	}
	return lines
}
