package grade

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

func at(x float64) *float64 { return &x }

func yes(b bool) *bool { return &b }

var (
	up   = tasks.Metric{Name: "accuracy", HigherIsBetter: true}
	down = tasks.Metric{Name: "rmse", Unit: "s"}
)

func TestApply(t *testing.T) {
	digits := tasks.Standing{
		Baseline:   at(0.80),
		TopHuman:   at(1.0),
		Thresholds: tasks.Thresholds{Gold: at(0.98), Silver: at(0.95), Bronze: at(0.90), Median: at(0.85)},
		References: []tasks.Reference{{Name: "a", Score: 0.97}, {Name: "b", Score: 0.90}},
	}
	diabetes := tasks.Standing{
		Baseline:   at(60),
		Thresholds: tasks.Thresholds{Gold: at(50), Silver: at(54), Bronze: at(57), Median: at(60)},
		Board:      []float64{49, 50, 55, 70},
	}
	for name, tc := range map[string]struct {
		standing tasks.Standing
		metric   tasks.Metric
		score    float64
		want     tasks.Verdict
	}{
		"at the gold threshold": {digits, up, 0.98, tasks.Verdict{
			Medal: Gold, AboveMedian: yes(true), Rank: 1, Of: 3, Improvement: at(0.225), MarginClosed: at(0.9)}},
		"a tie shares the better rank": {digits, up, 0.90, tasks.Verdict{
			Medal: Bronze, AboveMedian: yes(true), Rank: 2, Of: 3, Improvement: at(0.125), MarginClosed: at(0.5)}},
		"the median itself is not above it": {digits, up, 0.85, tasks.Verdict{
			AboveMedian: yes(false), Rank: 3, Of: 3, Improvement: at(0.0625), MarginClosed: at(0.25)}},
		"worse than the baseline": {digits, up, 0.6, tasks.Verdict{
			AboveMedian: yes(false), Rank: 3, Of: 3, Improvement: at(-0.25), MarginClosed: at(-1)}},
		"lower is better": {diabetes, down, 54, tasks.Verdict{
			Medal: Silver, AboveMedian: yes(true), Rank: 3, Of: 5, Improvement: at(0.1)}},
		"lower is better, bad score": {diabetes, down, 90, tasks.Verdict{
			AboveMedian: yes(false), Rank: 5, Of: 5, Improvement: at(-0.5)}},
		"nothing to compare with": {tasks.Standing{}, up, 1, tasks.Verdict{}},
		"negative baseline":       {tasks.Standing{Baseline: at(-2)}, up, -1, tasks.Verdict{Improvement: at(0.5)}},
		"zero baseline":           {tasks.Standing{Baseline: at(0)}, up, 5, tasks.Verdict{}},
		"overflowing improvement": {tasks.Standing{Baseline: at(5e-324)}, up, 1e300, tasks.Verdict{}},
		"top human no better than the baseline": {tasks.Standing{Baseline: at(1), TopHuman: at(1)}, up, 2,
			tasks.Verdict{Improvement: at(1)}},
		"margin closed downwards": {tasks.Standing{Baseline: at(10), TopHuman: at(2)}, down, 6,
			tasks.Verdict{Improvement: at(0.4), MarginClosed: at(0.5)}},
	} {
		t.Run(name, func(t *testing.T) {
			want := tc.want
			want.Status, want.Valid, want.Score = tasks.Graded, true, at(tc.score)
			want.Metric, want.Unit, want.HigherIsBetter = tc.metric.Name, tc.metric.Unit, tc.metric.HigherIsBetter
			want.Baseline, want.Reference, want.Thresholds = tc.standing.Baseline, tc.standing.References, tc.standing.Thresholds
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
			if diff := cmp.Diff(&want, Apply(tc.standing, tc.metric, tc.score), near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestApplyRefusesScoresThatAreNoNumbers(t *testing.T) {
	for _, score := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		v := Apply(tasks.Standing{}, up, score)
		if v.Status != tasks.GraderFailed || v.Score != nil || v.Valid || v.Reason == "" {
			t.Errorf("%v: %+v", score, v)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
	}
}

func TestApplyDropsTheSignOfZero(t *testing.T) {
	v := Apply(tasks.Standing{}, up, math.Copysign(0, -1))
	if v.Status != tasks.Graded || math.Signbit(*v.Score) {
		t.Errorf("got %v, %v", v.Status, *v.Score)
	}
}

func TestMedalWithAbsentThresholds(t *testing.T) {
	only := tasks.Thresholds{Silver: at(1)}
	if got := Medal(only, up, 1); got != Silver {
		t.Errorf("got %q", got)
	}
	if got := Medal(only, up, 0.9); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestFormat(t *testing.T) {
	for _, tc := range []struct {
		x    float64
		unit string
		want string
	}{
		{0, "", "0"},
		{math.Copysign(0, -1), "", "0"},
		{1, "", "1"},
		{0.5, "", "0.5"},
		{0.9732142857, "", "0.97321"},
		{-0.9732142857, "", "-0.97321"},
		{0.00012345, "", "0.00012"},
		{0.000012345, "", "1.234e-05"},
		{53.4187654, "", "53.4188"},
		{999999.6, "s", "1000000 s"},
		{1234567, "", "1234567"},
		{123456789012, "", "123456789012"},
		{1e12, "", "1e+12"},
		{12.5, "%", "12.5 %"},
		{math.NaN(), "", "NaN"},
		{math.Inf(1), "", "infinity"},
		{math.Inf(-1), "", "-infinity"},
	} {
		if got := Format(tc.x, tc.unit); got != tc.want {
			t.Errorf("Format(%v, %q) = %q, want %q", tc.x, tc.unit, got, tc.want)
		}
	}
}
