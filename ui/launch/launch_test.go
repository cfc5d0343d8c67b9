package launch

import (
	"testing"
	"time"

	"proctor/tasks"
)

func TestLimits(t *testing.T) {
	own := tasks.Budget{Time: 2 * time.Minute, Steps: 40}
	for _, tc := range []struct {
		time, steps string
		want        tasks.Budget
		wrong       bool
	}{
		{"", "", own, false},
		{"90s", "", tasks.Budget{Time: 90 * time.Second, Steps: 40}, false},
		{"15", "7", tasks.Budget{Time: 15 * time.Minute, Steps: 7}, false},
		{"1h30m", "none", tasks.Budget{Time: 90 * time.Minute}, false},
		{"none", "", tasks.Budget{Steps: 40}, false},
		{"5x", "", own, true},
		{"0", "", own, true},
		{"", "99999999999999999999", own, true},
	} {
		l := limits{task: own}
		l.set("time", tc.time)
		l.set("steps", tc.steps)
		got, err := l.budget()
		if (err != nil) != tc.wrong || err == nil && got != tc.want {
			t.Errorf("%q %q: %+v, %v", tc.time, tc.steps, got, err)
		}
	}
}

func TestTurning(t *testing.T) {
	l := limits{task: tasks.Budget{Time: 3 * time.Minute}}
	for _, tc := range []struct {
		n    int
		want string
	}{{1, "5m"}, {1, "10m"}, {-1, "5m"}, {-1, "2m"}, {-1, "1m"}, {-1, "30s"}, {-1, "30s"}} {
		l.turn(tc.n)
		if got := l.typed["time"]; got != tc.want {
			t.Fatalf("turned to %q, want %q", got, tc.want)
		}
	}
	l.pick(1)
	l.turn(-1)
	if got := l.typed["steps"]; got != "1000" {
		t.Errorf("one below no limit is %q", got)
	}
	l.turn(1)
	if got := l.typed["steps"]; got != "none" {
		t.Errorf("one above the most is %q", got)
	}
}

func TestAModelCostsTokens(t *testing.T) {
	l := limits{task: tasks.Budget{Time: time.Minute}}
	if got := len(l.lines()); got != 2 {
		t.Errorf("%d lines without a model", got)
	}
	l.thinks = true
	l.pick(2)
	for _, key := range []string{"5", "0", "k", ".", "x"} {
		if l.accepts(key) {
			l.write(key)
		}
	}
	l.pick(3)
	l.turn(-1)
	l.turn(-1)
	want := tasks.Budget{Time: time.Minute, Tokens: 50_000, Cost: 50}
	if got, err := l.budget(); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	l.erase()
	l.write("x")
	if _, err := l.budget(); err == nil {
		t.Error("5x is an amount of money")
	}
	l.pick(9)
	l.turn(1)
	if got, err := l.seed(); got != 2 || err != nil {
		t.Errorf("one above the default, the seed is %d, %v", got, err)
	}
}
