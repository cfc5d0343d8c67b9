package runner

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"proctor/runner/event"
	"proctor/tasks"
)

func TestScanner(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          []float64
	}{
		{`acc ([0-9.]+)`, "epoch 1 acc 0.5\nepoch 2 acc 0.75\n", []float64{0.5, 0.75}},
		{`acc ([0-9.]+)`, "acc 0.1\racc 0.2\racc 0.3", []float64{0.1, 0.2, 0.3}},
		{`acc ([0-9.]+)`, "\x1b[32macc\x1b[0m 0.5\r\n", []float64{0.5}},
		{`acc ([0-9.]+)`, "acc 0.1 acc 0.2\n", []float64{0.1, 0.2}},
		{`acc ([0-9.]+)`, "acc 1.2.3\nacc .\nno\n", nil},
		{`loss (\S+)`, "loss nan\nloss inf\nloss -3e-2\n", []float64{-0.03}},
		{`(?i)score: (\S+)`, "SCORE: 4\n", []float64{4}},
		{`acc ([0-9.]+)`, strings.Repeat("x", longestLine) + "acc 0.9\nacc 0.5\n", []float64{0.5}},
		{``, "acc 0.5\n", nil},
	} {
		m := tasks.Metric{}
		if tc.pattern != "" {
			m.Pattern = regexp.MustCompile(tc.pattern)
		}
		for _, piece := range []int{1, 3, 7, 1 << 20} {
			s := newScanner(m)
			var got []float64
			for part := range slices.Chunk([]byte(tc.text), piece) {
				got = append(got, s.scan(part)...)
			}
			if got = append(got, s.rest()...); !slices.Equal(got, tc.want) {
				t.Errorf("%q in pieces of %d: %v, want %v", tc.text, piece, got, tc.want)
			}
		}
	}
}

// Cutting the output elsewhere finds the same, and never what is no number.
func FuzzScanner(f *testing.F) {
	f.Add([]byte("acc 0.5\r\nacc 1e308\n\x1b[1macc 2"), 3)
	m := tasks.Metric{Pattern: regexp.MustCompile(`acc (\S+)`)}
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		whole := newScanner(m)
		want := append(whole.scan(data), whole.rest()...)
		at = min(max(at, 0), len(data))
		cut := newScanner(m)
		got := append(cut.scan(data[:at]), cut.scan(data[at:])...)
		if got = append(got, cut.rest()...); !slices.Equal(got, want) {
			t.Errorf("%q cut at %d: %v, want %v", data, at, got, want)
		}
		for _, v := range want {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q: %v", data, v)
			}
		}
	})
}

func TestPickOption(t *testing.T) {
	options := []string{choiceContinue, choiceExtend, choiceGrade, choiceStop}
	for choice, want := range map[string]string{"stop": choiceStop, "g": choiceGrade, "carry on": choiceContinue, "": "", "x": "", "stopp": ""} {
		if got, err := pickOption(options, choice); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", choice, got, err, want)
		}
	}
	if got, err := pickOption([]string{"deny", "deny all"}, "den"); err == nil {
		t.Errorf("an ambiguous beginning: %q", got)
	}
	if got, err := pickOption(nil, "anything at all"); err != nil || got != "anything at all" {
		t.Errorf("free text: %q, %v", got, err)
	}
}

func TestExtension(t *testing.T) {
	for _, tc := range []struct {
		dimension, text string
		limit           float64
		want            tasks.Budget
	}{
		{event.Time, "10m", 60, tasks.Budget{Time: 600e9}},
		{event.Time, "90", 60, tasks.Budget{Time: 90e9}},
		{event.Time, "", 60, tasks.Budget{Time: 30e9}},
		{event.Time, "-5m", 60, tasks.Budget{Time: 1e9}},
		{event.Steps, "7", 10, tasks.Budget{Steps: 7}},
		{event.Steps, "soon", 10, tasks.Budget{Steps: 5}},
	} {
		if got := extension(event.Budget{Dimension: tc.dimension, Limit: tc.limit}, tc.text); got != tc.want {
			t.Errorf("%s by %q: %+v, want %+v", tc.dimension, tc.text, got, tc.want)
		}
	}
}
