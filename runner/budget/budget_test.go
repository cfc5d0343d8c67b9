package budget

import (
	"testing"
	"time"

	"proctor/tasks"
)

func TestReached(t *testing.T) {
	limits := tasks.Budget{Time: time.Minute, Steps: 10, Cost: 2}
	for _, c := range []struct {
		name     string
		used     Used
		fraction float64
		want     string
	}{
		{"nothing", Used{}, 1, ""},
		{"under", Used{Time: 59 * time.Second, Steps: 9}, 1, ""},
		{"time", Used{Time: time.Minute, Steps: 9}, 1, "time"},
		{"the one used furthest", Used{Time: time.Minute, Steps: 12}, 1, "steps"},
		{"soft", Used{Steps: 8}, 0.8, "steps"},
		{"no limit on tokens", Used{Tokens: 1 << 40}, 1, ""},
		{"cost", Used{Cost: 2.01}, 1, "cost"},
	} {
		hit, ok := Reached(limits, c.used, c.fraction)
		if ok != (c.want != "") || hit.Dimension != c.want {
			t.Errorf("%s: reached %q %v, want %q", c.name, hit.Dimension, ok, c.want)
		}
	}
}

func TestExtendAddsOnlyToLimitsThatAreSet(t *testing.T) {
	b := tasks.Budget{Time: time.Minute}
	changed := Extend(&b, Used{Time: 50 * time.Second}, tasks.Budget{Time: 30 * time.Second, Steps: 5})
	if b.Time != 90*time.Second || b.Steps != 0 {
		t.Errorf("extended to %+v", b)
	}
	if len(changed) != 1 || changed[0].Dimension != "time" || changed[0].Limit != 90 || changed[0].Used != 50 {
		t.Errorf("changed %+v", changed)
	}
}

func TestRemainingIsNeverNegative(t *testing.T) {
	r := Remaining(tasks.Budget{Time: time.Second, Steps: 3}, Used{Time: time.Hour, Steps: 1})
	if *r.Time != 0 || *r.Steps != 2 || r.Tokens != nil || r.Cost != nil || r.GPUHours != nil {
		t.Errorf("remaining %+v", r)
	}
}
