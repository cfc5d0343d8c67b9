package tree

import (
	"regexp"
	"testing"
	"time"

	"proctor/agents"
)

func TestTimeLimit(t *testing.T) {
	left := func(d time.Duration) *time.Duration { return &d }
	for _, c := range []struct {
		left       *time.Duration
		most, want time.Duration
	}{
		{nil, time.Hour, time.Hour},
		{left(time.Hour), time.Hour, 15 * time.Minute},
		{left(24 * time.Hour), time.Hour, time.Hour},
		{left(0), time.Hour, time.Millisecond}, // 0 would be no limit
	} {
		if got := timeLimit(c.left, c.most); got != c.want {
			t.Errorf("with %v left and at most %v: %v, want %v", c.left, c.most, got, c.want)
		}
	}
}

func TestOver(t *testing.T) {
	duration := func(d time.Duration) *time.Duration { return &d }
	steps := func(n int) *int { return &n }
	tokens, cost := int64(0), 0.0
	minutes := []time.Duration{time.Minute, 3 * time.Minute, 9 * time.Minute}
	for _, c := range []struct {
		name   string
		left   agents.Remaining
		took   []time.Duration
		worked bool
		over   bool
	}{
		{"no limit", agents.Remaining{}, minutes, true, false},
		{"as long as the median", agents.Remaining{Time: duration(3 * time.Minute)}, minutes, true, false},
		{"less than the median", agents.Remaining{Time: duration(3*time.Minute - 1)}, minutes, true, true},
		{"nothing is known yet", agents.Remaining{Time: duration(time.Second)}, nil, true, false},
		{"no time at all", agents.Remaining{Time: duration(0)}, nil, true, true},
		{"steps for one more", agents.Remaining{Steps: steps(2)}, nil, true, false},
		{"steps for one more, but not for clearing up", agents.Remaining{Steps: steps(2)}, nil, false, true},
		{"one step", agents.Remaining{Steps: steps(1)}, nil, true, true},
		{"no tokens", agents.Remaining{Tokens: &tokens}, nil, true, true},
		{"no money", agents.Remaining{Cost: &cost}, nil, true, true},
		{"no GPU-hours", agents.Remaining{GPUHours: &cost}, nil, true, true},
	} {
		if got := over(c.left, c.took, c.worked); (got != "") != c.over {
			t.Errorf("%s: over says %q", c.name, got)
		}
	}
}

func TestExampleLine(t *testing.T) {
	for pattern, want := range map[string]string{
		`val_accuracy[=: ]+([0-9.]+)`: "val_accuracy: 0.5",
		`(?i)RMSE=([0-9.]+)`:          "rmse=0.5",
		`^score ([0-9.]+) of 1$`:      "",
	} {
		if got := exampleLine(regexp.MustCompile(pattern), "rmse"); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
