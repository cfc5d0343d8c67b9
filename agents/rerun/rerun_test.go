package rerun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

var task = &tasks.Task{
	Ref:     "test/again",
	Outputs: []string{"out.txt"},
	Metric:  tasks.Metric{Name: "val_accuracy", HigherIsBetter: true, Pattern: regexp.MustCompile(`val_accuracy (\S+)`)},
}

// again runs the log in a fresh workspace.
func again(t *testing.T, log []agents.RecordedAction) *agentstest.Host {
	t.Helper()
	h := agentstest.New(t, task)
	h.Hint("h1", "do better")
	agent, err := Kind().New(agents.Options{Arg: "r1", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Run(context.Background(), h.Session(1)); err != nil {
		t.Fatal(err)
	}
	return h
}

func command(line string, exit int, text string, metrics ...float64) agents.RecordedAction {
	r := agents.RecordedAction{
		Action: agents.Action{
			Kind: agents.Execute, Title: line,
			Input: agents.EncodeCommand(agents.Action{Shell: line}),
		},
		Observation: agents.Observation{ExitCode: exit, Text: text},
	}
	for _, v := range metrics {
		r.Metrics = append(r.Metrics, agents.Metric{Name: "val_accuracy", Value: v, Source: agents.Measured})
	}
	return r
}

// TestAgain does a run, and then does its record again.
func TestAgain(t *testing.T) {
	first := agentstest.New(t, task)
	script := []agents.Action{
		{Kind: agents.Execute, Title: "train", Shell: "echo took $$ s; echo val_accuracy 0.9612; echo good > out.txt"},
		{Kind: agents.Execute, Title: "argv", Argv: []string{"sh", "-c", "pwd | sed 's,.*/,,'; exit 4"}, Dir: "sub"},
		{Kind: agents.Execute, Title: "worse", Shell: "echo val_accuracy 0.5; echo bad > out.txt"},
	}
	if err := first.WriteFile("sub/x", nil); err != nil {
		t.Fatal(err)
	}
	edit := agents.Action{Kind: agents.Edit, Title: "write sub/x", Input: agents.EncodeEdit("sub/x", []byte("hello\n"))}
	_, err := first.Act(context.Background(), edit, func(context.Context) (agents.Observation, error) {
		return agents.Observation{Text: "ok"}, first.WriteFile("sub/x", []byte("hello\n"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range script {
		if _, err := first.Run(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := first.Checkpoint("best", true); err != nil {
				t.Fatal(err)
			}
		}
	}

	h := again(t, first.Actions)
	want := `completed   1 write sub/x · same exit code 0
completed   2 train · same exit code 0, val_accuracy 0.9612 = 0.9612
completed   3 argv · same exit code 4
completed   4 worse · same exit code 0, val_accuracy 0.5 = 0.5
`
	if diff := cmp.Diff(want, h.LastPlan()); diff != "" {
		t.Errorf("plan (-want +got)\n%s", diff)
	}
	if h.Messages[0] != "4 actions of run r1: 4 the same." || len(h.Notes) != 0 {
		t.Errorf("messages %q, notes %q", h.Messages, h.Notes)
	}
	if got, err := os.ReadFile(filepath.Join(h.Dir, "out.txt")); err != nil || string(got) != "good\n" {
		t.Errorf("the outputs left are %q (%v), want those that the first run kept", got, err)
	}
	if got, _ := os.ReadFile(filepath.Join(h.Dir, "sub/x")); string(got) != "hello\n" {
		t.Errorf("the edit left %q", got)
	}
	if len(h.Replies) != 1 {
		t.Errorf("replies: %+v", h.Replies)
	}
}

// TestDifferences runs records that do not hold any more.
func TestDifferences(t *testing.T) {
	interactive := command("bash -i", 0, "")
	interactive.Action.Input = agents.EncodeCommand(agents.Action{Shell: "bash -i", Interactive: true})
	h := again(t, []agents.RecordedAction{
		command("exit 3", 0, ""),
		command("echo val_accuracy 0.9501", 0, "val_accuracy 0.9612\n", 0.3, 0.9612),
		command("echo val_accuracy 0.9610", 0, "val_accuracy 0.9612\n", 0.9612),
		command("echo no metric", 0, "val_accuracy 0.9612\n", 0.9612),
		command("echo val_accuracy 1", 0, "nothing\n"),
		command("echo a; echo b; echo c", 0, "x\ny\nc\n"),
		command("echo took 12.5 s, pid 77", 0, "took 3 s, pid 9\n"),
		interactive,
		{Action: agents.Action{Kind: agents.Edit, Title: "patch", Input: []byte(`{"path":"a","diff":"…"}`)}},
		{Action: agents.Action{Kind: agents.Think, Title: "think"}},
		{Action: agents.Action{Kind: agents.Edit, Title: "outside", Input: agents.EncodeEdit("out.txt/x/\x00", nil)}},
	})
	want := `completed   1 exit 3 · DIFFERS: exit code 0 then, exit code 3 now
completed   2 echo val_accuracy 0.9501 · DIFFERS: same exit code 0, val_accuracy 0.9612 ≠ 0.9501
completed   3 echo val_accuracy 0.9610 · same exit code 0, val_accuracy 0.9612 ≈ 0.961
completed   4 echo no metric · DIFFERS: same exit code 0, val_accuracy 0.9612 then, none now
completed   5 echo val_accuracy 1 · DIFFERS: same exit code 0, val_accuracy none then, 1 now, 0 % of the output's lines are alike
completed   6 echo a; echo b; echo c · DIFFERS: same exit code 0, 33 % of the output's lines are alike
completed   7 echo took 12.5 s, pid 77 · same exit code 0
completed   8 bash -i · not done again: a person typed in it, and the keys are not on record
completed   9 patch · not done again: the record of this edit does not hold what was written
completed   10 think · not done again: the record of this think action holds no command
completed   11 outside · DIFFERS: exit code 0 then, exit code 1 now
`
	if diff := cmp.Diff(want, h.LastPlan()); diff != "" {
		t.Errorf("plan (-want +got)\n%s", diff)
	}
	if len(h.Notes) != 9 || !strings.HasPrefix(h.Messages[0], "11 actions of run r1: 2 the same, 6 differ, 3 not done again.\n1 exit 3 · ") {
		t.Errorf("%d notes, message %s", len(h.Notes), h.Messages[0])
	}
}

// TestLongRun checks that the plan of a long run stays short.
func TestLongRun(t *testing.T) {
	log := make([]agents.RecordedAction, 200)
	p := newProgress(log)
	for i := range log {
		p.titles[i] = fmt.Sprint("step ", i+1)
		p.start()
		if n := len(p.entries()); n > shownDiffers+shownLast+shownNext+2 {
			t.Fatalf("%d entries at action %d", n, i+1)
		}
		p.finish(i, verdict{outcome(i % 3), "…"})
	}
	entries := p.entries()
	if got, want := entries[0].Content, "actions 1 to 195: 65 the same, 65 differ, 65 not done again"; got != want {
		t.Errorf("first entry %q, want %q", got, want)
	}
	if last := entries[len(entries)-1]; last.Content != "200 step 200 · DIFFERS: …" || last.Status != agents.Completed {
		t.Errorf("last entry %+v", last)
	}
}

func TestMetricsCompared(t *testing.T) {
	tests := []struct {
		then, now, tolerance float64
		equal                bool
		sign                 string
	}{
		{0.5, 0.5, 0, true, "="},
		{0.5, 0.5001, 0, false, "≠"},
		{100, 101, 0.01, true, "≈"},
		{100, 98.9, 0.01, false, "≠"},
		{-2, -2.01, 0.01, true, "≈"},
		{0, 0.001, 0.01, false, "≠"},
	}
	for _, test := range tests {
		if equal, sign := near(test.then, test.now, test.tolerance); equal != test.equal || sign != test.sign {
			t.Errorf("near(%v, %v, %v) = %v %s", test.then, test.now, test.tolerance, equal, sign)
		}
	}
	then := agents.RecordedAction{Metrics: []agents.Metric{{Name: "x", Value: 1, Source: agents.Claimed}}}
	if v := compare(then, agents.Observation{}, 0); v.kind != same {
		t.Errorf("a claimed metric was held against the action: %+v", v)
	}
}

func TestNew(t *testing.T) {
	for _, o := range []agents.Options{
		{},
		{Arg: "r1"},
		{Arg: "r1", Log: make([]agents.RecordedAction, 1), Extra: []byte(`{"tolerance":2}`)},
		{Arg: "r1", Log: make([]agents.RecordedAction, 1), Extra: []byte(`{"tolerence":0.1}`)},
	} {
		if _, err := Kind().New(o); err == nil {
			t.Errorf("New(%+v) gave no error", o)
		}
	}
	if got := Kind().Check(context.Background(), nil, agents.Options{Arg: "r1"}); len(got) != 1 {
		t.Errorf("Check of a run without actions: %q", got)
	}
	if got := Kind().Check(context.Background(), nil, agents.Options{}); got != nil {
		t.Errorf("a general Check: %q", got)
	}
}
