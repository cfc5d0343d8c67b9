package search

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

func TestHalving(t *testing.T) {
	var start []setting
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		start = append(start, setting{"x": name})
	}
	values := map[string]float64{"a": 3, "b": 9, "c": 9, "d": 1, "e": 2, "f": 8, "g": 10, "h": 0, "i": 4}
	never := func(setting) bool { return false }
	climbers := func(higher bool, flat func(setting) bool, fails string) [][]string {
		m := tasks.Metric{HigherIsBetter: higher}
		b := newBracket(1, []int{2, 1, 0}, start)
		var rungs [][]string
		for {
			var rung []string
			for set, ok := b.next(); ok; set, ok = b.next() {
				rung = append(rung, set["x"])
				if set["x"] != fails {
					b.rung().done = append(b.rung().done, result{set, values[set["x"]]})
				}
			}
			rungs = append(rungs, rung)
			if !b.promote(m, 3, flat) {
				return rungs[1:]
			}
		}
	}
	tests := []struct {
		name string
		got  [][]string
		want [][]string
	}{
		{"highest", climbers(true, never, ""), [][]string{{"g", "b", "c"}, {"g"}}},
		{"lowest", climbers(false, never, ""), [][]string{{"h", "d", "e"}, {"h"}}},
		{"one fails", climbers(true, never, "g"), [][]string{{"b", "c", "f"}, {"b"}}},
		{"flat ones stay", climbers(true, func(s setting) bool { return s["x"] == "g" }, ""), [][]string{{"b", "c", "f"}, {"b"}}},
		{"all flat", climbers(true, func(setting) bool { return true }, ""), [][]string{}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
}

func TestFit(t *testing.T) {
	cost := func(level int) float64 { return 9 * math.Pow(3, -float64(level)) } // 9, 3, 1 seconds
	tests := []struct {
		name    string
		depth   int
		seconds float64 // negative: no limit
		trials  int     // negative: no limit
		want    shape
		ok      bool
	}{
		{"no limits", 2, -1, -1, shape{9, []int{2, 1, 0}}, true},
		{"just enough", 2, 27, 13, shape{9, []int{2, 1, 0}}, true},
		{"one trial short", 2, -1, 12, shape{3, []int{1, 0}}, true},
		{"a second short", 2, 26, -1, shape{3, []int{1, 0}}, true},
		{"one at the top", 2, 10, -1, shape{1, []int{0}}, true},
		{"not the top", 2, 8, -1, shape{3, []int{2, 1}}, true},
		{"only the bottom", 2, 1, -1, shape{1, []int{2}}, true},
		{"nothing", 2, 0.5, -1, shape{}, false},
		{"no trial left", 2, -1, 0, shape{}, false},
		{"no fidelity", 0, -1, -1, shape{9, []int{0}}, true},
		{"no fidelity, little time", 0, 40, -1, shape{4, []int{0}}, true},
		{"no fidelity, no time", 0, 4, -1, shape{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var l limit
			if test.seconds >= 0 {
				l.seconds = &test.seconds
			}
			if test.trials >= 0 {
				l.trials = &test.trials
			}
			got, ok := fit(test.depth, 3, cost, l)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(shape{})); diff != "" || ok != test.ok {
				t.Errorf("ok %v (-want +got)\n%s", ok, diff)
			}
		})
	}
}

func TestPace(t *testing.T) {
	var p pace
	if p.known() || p.trial(work{key: "x", load: 1}) != 0 {
		t.Error("an empty pace knows something")
	}
	p.add(duration{work{"a", "mlp", 0.5, false}, 4})
	p.add(duration{work{"b", "knn", 1, true}, 30})
	p.add(duration{work{"c", "svm", 0.5, false}, 6})
	tests := []struct {
		name string
		work work
		want float64
	}{
		{"the same setting, scaled", work{"a", "mlp", 1, false}, 8},
		{"its group", work{"z", "knn", 1, true}, 30},
		{"its group, scaled", work{"z", "svm", 0.25, false}, 3},
		{"the same load", work{"z", "new", 0.5, false}, 5},
		{"anything", work{"z", "new", 1, false}, 12},
	}
	for _, test := range tests {
		if got := p.trial(test.work); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestMargin(t *testing.T) {
	for total, want := range map[time.Duration]time.Duration{
		5 * time.Second: time.Second, 30 * time.Second: 2 * time.Second, 10 * time.Minute: 18 * time.Second,
	} {
		if got := margin(total); got != want {
			t.Errorf("margin(%v) = %v, want %v", total, got, want)
		}
	}
}
