package pane

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Clock writes a duration as a clock shows it: 1:42 or 3:12:04. A negative
// one is 0:00.
func Clock(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Left writes what is left of a limit, rounded up, so that 0:00 means none.
func Left(d time.Duration) string { return Clock(d + time.Second - 1) }

// Took writes how long something took in few characters: 0.4s, 12s, 3m05s.
func Took(seconds float64) string {
	switch {
	case seconds < 0 || math.IsNaN(seconds):
		return "–"
	case seconds < 9.95:
		return fmt.Sprintf("%.1fs", seconds)
	case seconds < 59.5:
		return fmt.Sprintf("%.0fs", seconds)
	}
	s := int64(seconds + 0.5)
	if s < 3600 {
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

// Ago writes how long ago something was, roughly.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0)/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	}
	return fmt.Sprintf("%dd", int(d/(24*time.Hour)))
}

// Value writes a score with as many digits as help to compare it.
func Value(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Sprint(v)
	case a >= 1e6 || (a < 1e-3 && a > 0):
		return fmt.Sprintf("%.3g", v)
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 10:
		return fmt.Sprintf("%.2f", v)
	case a >= 2:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// Unit writes a score with its unit.
func Unit(v float64, unit string) string {
	if unit == "" {
		return Value(v)
	}
	return Value(v) + " " + Clean(unit)
}

// Bytes writes a size in binary units.
func Bytes(n int64) string {
	switch {
	case n < 0:
		return "unknown"
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	case n < 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n < 1<<30:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	case n < 10<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
}

// Count writes a whole number with thin groups: 12,345,678.
func Count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes a count with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Short writes a duration as it is typed, without zero parts: 2m, 1h30m.
func Short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Dollars writes an amount of US dollars to the cent, and of less than ten
// cents to a tenth of one.
func Dollars(v float64) string {
	if v > 0 && v < 0.0995 {
		return fmt.Sprintf("$%.3f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}
