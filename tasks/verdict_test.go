package tasks

import "testing"

func TestPassed(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	yes, no := true, false
	bronze := Thresholds{Bronze: f(0.6)}
	for name, tc := range map[string]struct {
		v      Verdict
		passed bool
		by     string
	}{
		"a suite's own success":       {Verdict{Success: &yes, Thresholds: bronze}, true, "success"},
		"a suite's own failure":       {Verdict{Success: &no, Medal: "gold", Thresholds: bronze}, false, "success"},
		"a medal":                     {Verdict{Medal: "bronze", Thresholds: bronze, Improvement: f(-1)}, true, "any medal"},
		"no medal":                    {Verdict{Thresholds: bronze, Improvement: f(1)}, false, "any medal"},
		"nothing handed in":           {Verdict{Status: NoSubmission, Thresholds: bronze}, false, "any medal"},
		"a median alone is no medal":  {Verdict{Thresholds: Thresholds{Median: f(1)}, Improvement: f(0.01)}, true, "better than the baseline"},
		"as good as the baseline":     {Verdict{Improvement: f(0)}, false, "better than the baseline"},
		"a full reward":               {Verdict{Rewards: map[string]float64{"reward": 1}}, true, "reward 1"},
		"half a reward":               {Verdict{Rewards: map[string]float64{"reward": 0.5}}, false, "reward 1"},
		"a number that says nothing":  {Verdict{Rewards: map[string]float64{"accuracy": 1}}, false, ""},
		"a verdict that says nothing": {Verdict{}, false, ""},
	} {
		if passed, by := tc.v.Passed(); passed != tc.passed || by != tc.by {
			t.Errorf("%s: %v by %q, want %v by %q", name, passed, by, tc.passed, tc.by)
		}
	}
}
