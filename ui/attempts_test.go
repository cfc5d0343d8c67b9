package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"proctor/runner/rundir"
	"proctor/tasks"
	"proctor/ui/screen"
)

// sixAttempts are a group of which half got a medal, and one that has begun.
func sixAttempts() []rundir.Summary {
	var list []rundir.Summary
	for i, score := range []float64{0.9861, 0.9417, 0.9694, 0.9583, 0.8972, 0.9611} {
		v := tasks.Verdict{Status: tasks.Graded, Score: &score, HigherIsBetter: true, Metric: "accuracy", Thresholds: thresholds, Medal: []string{"gold", "", "silver", "", "", "bronze"}[i]}
		list = append(list, rundir.Summary{
			ID: fmt.Sprintf("a%d", i+1), Task: "builtin/digits", Agent: "search", Phase: "done", Seed: int64(i + 1), Work: 80 + float64(3*i), Assisted: i == 4,
			Created: epoch.Add(time.Duration(90+2*i) * time.Minute), Verdict: &v,
			Attempt: &rundir.Attempt{Group: "20261121-120000-digits-search-x6-cded", Number: i + 1, Of: 6},
		})
	}
	for i, phase := range []string{"done", "running"} {
		s := rundir.Summary{
			ID: fmt.Sprintf("b%d", i+1), Task: "mle-bench/spaceship-titanic", Agent: "tree", Model: "local", Phase: phase, Alive: phase == "running", Seed: int64(i + 1), Work: 3800,
			Created: epoch.Add(time.Duration(100+i) * time.Minute), Best: ptr(0.8094),
			Attempt: &rundir.Attempt{Group: "20261121-121000-spaceship_titanic-tree-x3-77aa", Number: i + 1, Of: 3},
		}
		if phase == "done" {
			v := gold()
			v.Score, v.Medal, v.Entered = ptr(0.8061), "bronze", &tasks.Entry{By: "ada", At: epoch}
			s.Verdict = &v
		}
		list = append(list, s)
	}
	return list
}

func (s *stage) attempts() {
	s.m.show(screen.Runs)
	s.now = epoch.Add(3 * time.Hour)
	list, err := newFake().Runs(s.m.ctx)
	s.send(runsMsg{append(list, sixAttempts()...), err})
}

func enteredByHand() tasks.Verdict {
	v := gold()
	v.Medal, v.Score, v.Grader = "silver", ptr(0.9722), "a person: ada"
	v.Entered = &tasks.Entry{By: "ada", At: epoch, Note: "lm_eval on two GPUs", Instead: tasks.GraderUnavailable}
	return v
}

// Opening a group shows its attempts, opening one of them opens its run, and
// closing it from there selects the group.
func TestAttemptsFold(t *testing.T) {
	s := newStage(t, First{}, 120, 40)
	s.attempts()
	shown := func() string { s.m.stale = true; return cells(s.m.View().Content, 120, 40) }
	if text := shown(); strings.Contains(text, "attempt 1 of 6") || !strings.Contains(text, "pass@1 0.50 ± 0.22 · best 0.9861 · 3/6 medals") {
		t.Errorf("folded at first:\n%s", text)
	}
	s.keys("/", "x", "6", "-", "c", "enter")
	if text := shown(); strings.Contains(text, "diabetes") {
		t.Errorf("the filter keeps others:\n%s", text)
	}
	s.keys(" ")
	if text := shown(); !strings.Contains(text, "attempt 6 of 6") || !strings.Contains(text, "seed 6") {
		t.Errorf("opened:\n%s", text)
	}
	s.keys("j", "j", " ")
	if text := shown(); strings.Contains(text, "attempt 1 of 6") {
		t.Errorf("closed from an attempt:\n%s", text)
	}
	s.keys("enter", "j", "enter")
	if s.m.at != screen.Console || s.m.view.run != "a1" {
		t.Errorf("at %s of run %q, want the console of the first attempt", s.m.at, s.m.view.run)
	}
}
