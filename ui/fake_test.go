package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"proctor/runner/control"
	"proctor/runner/rundir"
	"proctor/runner/watch"
	"proctor/tasks"
)

const instruction = `# Handwritten digits

Classify **8×8 grey images** of handwritten digits. The training set is in
` + "`data/train.csv`" + `, one image a line: 64 pixels from 0 to 16, then the label.

## What to hand in

A file ` + "`predictions.csv`" + ` with one label a line, in the order of
` + "`data/test.csv`" + `.

- only python3's standard library is there
- one core, two minutes

` + "```sh\npython3 train.py --model softmax --epochs 5\n```" + `

The grader compares with labels that you do not see. *Good luck.*
`

var allTasks = []*tasks.Task{
	{
		Ref: "builtin/diabetes", Suite: "builtin", Name: "diabetes", Title: "Disease progression", Summary: "Predict how far diabetes goes in a year from ten measurements.",
		Instruction: "# Disease progression\n\nPredict.", Metric: tasks.Metric{Name: "RMSE"}, Budget: tasks.Budget{Time: 2 * time.Minute},
	},
	{
		Ref: "builtin/digits", Suite: "builtin", Name: "digits", Title: "Handwritten digits", Summary: "Classify small grey images of digits from 0 to 9.",
		Instruction: instruction, Metric: tasks.Metric{Name: "accuracy", HigherIsBetter: true}, Budget: tasks.Budget{Time: 2 * time.Minute, Steps: 40},
		Outputs: []string{"predictions.csv"}, Needs: tasks.Needs{CPUs: 1, MemoryBytes: 512 << 20},
		Standing: tasks.Standing{Baseline: ptr(0.8972), Thresholds: thresholds, References: standings},
	},
	{
		Ref: "builtin/speedup", Suite: "builtin", Name: "speedup", Title: "Make it fast", Summary: "Make a slow training step fast with equal results.",
		Instruction: "# Make it fast", Metric: tasks.Metric{Name: "seconds", Unit: "s"}, Budget: tasks.Budget{Time: 5 * time.Minute},
	},
	{
		Ref: "mle-bench/spaceship-titanic", Suite: "mle-bench", Name: "spaceship-titanic", Title: "Spaceship Titanic", Summary: "Who was transported?",
		Instruction: "# Spaceship Titanic", Metric: tasks.Metric{Name: "accuracy", HigherIsBetter: true}, Budget: tasks.Budget{Time: 24 * time.Hour},
		Missing: []string{"the competition's data: accept its rules and fetch it first"}, Warnings: []string{"the test labels have leaked"},
	},
}

func all() []*tasks.Task { return []*tasks.Task{allTasks[1], allTasks[0], allTasks[2], allTasks[3]} }

// fake is a Backend without a world: it answers from memory and remembers
// what was asked of it.
type fake struct {
	mu       sync.Mutex
	commands []control.Command
	started  []Start
	refuse   error
	source   *feed
}

func newFake() *fake { return &fake{source: newFeed()} }

func (f *fake) Tasks(context.Context) ([]*tasks.Task, []tasks.Problem) {
	return all(), []tasks.Problem{{Ref: "mine/broken", Err: errors.New("task.toml:3: a time must be a number")}}
}

func (f *fake) Agents(_ context.Context, t *tasks.Task) []AgentChoice {
	return []AgentChoice{
		{Name: "search", Summary: "random search with halving", NoModel: true},
		{Name: "baseline", Summary: "the starter code, unchanged", NoModel: true},
		{Name: "human", Summary: "you, in the terminal", NoModel: true},
		{Name: "bash", Summary: "a model with a shell", Missing: []string{"no model is configured"}},
		{Name: "rerun", Summary: "repeats a recorded run", NoModel: true, Missing: []string{"needs a run: --agent rerun:RUN"}},
	}
}

func (f *fake) Sandboxes(context.Context) []SandboxChoice {
	return []SandboxChoice{
		{Name: "bwrap", Summary: "bubblewrap", OK: true, Gaps: []string{"memory and processor are not capped: no cgroup can be made here"}},
		{Name: "landlock", Summary: "files only", OK: true, Gaps: []string{"processes", "names of files"}},
		{Name: "none", Summary: "no isolation", OK: true, Gaps: []string{"everything: the agent can do what you can"}},
	}
}

func (f *fake) Models(context.Context) []ModelChoice { return nil }

func (f *fake) CommandLine(s Start) string {
	b := []string{"proctor run", s.Task, "--agent", s.Agent, "--sandbox", s.Sandbox, "--time", s.Budget.Time.String()}
	if s.Budget.Steps > 0 {
		b = append(b, fmt.Sprint("--steps ", s.Budget.Steps))
	}
	return strings.Join(append(b, fmt.Sprint("--seed ", s.Seed)), " ")
}

func (f *fake) Start(_ context.Context, s Start) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return "", f.refuse
	}
	f.started = append(f.started, s)
	return runID, nil
}

func (f *fake) Runs(context.Context) ([]rundir.Summary, error) {
	v := gold()
	bad := tasks.Verdict{Status: tasks.InvalidSubmission, Reason: "predictions.csv has 359 rows, expected 360"}
	at := func(h, m int) time.Time { return epoch.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute) }
	return []rundir.Summary{
		{ID: "r1", Task: "builtin/digits", Agent: "search", Phase: "done", Created: at(0, 10), Work: 88, Steps: 15, Verdict: &v, Assisted: true},
		{ID: runID, Dir: "/home/ada/.local/state/proctor/runs/" + runID, Task: "builtin/digits", Agent: "search", Phase: "running", Alive: true, Created: at(2, 58), Work: 71, Best: ptr(0.9639)},
		{ID: "r3", Task: "builtin/diabetes", Agent: "baseline", Phase: "done", Created: at(1, 2), Work: 4, Verdict: &bad},
		{ID: "r4", Task: "mle-bench/spaceship-titanic", Agent: "bash", Phase: "running", Created: at(-30, 0), Work: 5040, Best: ptr(0.8094)},
		{ID: "r5", Task: "builtin/speedup", Agent: "human", Phase: "paused", Alive: true, Created: at(2, 20), Work: 640},
		{ID: "r6", Task: "builtin/speedup", Agent: "human", Phase: "failed", Created: at(-3, 20), Reason: "the sandbox could not be started"},
	}, nil
}

func (f *fake) Watch(context.Context, string) (watch.Source, error) { return f.source, nil }

func (f *fake) Replay(context.Context, string, float64) (watch.Player, error) { return f.source, nil }

func (f *fake) Do(_ context.Context, _ string, c control.Command) (control.Reply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = append(f.commands, c)
	return control.Reply{OK: true}, nil
}

// sent returns the commands that have come.
func (f *fake) sent() []control.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]control.Command(nil), f.commands...)
}

// feed is a source that a test fills; it can play the player too.
type feed struct {
	batches chan watch.Batch
	mu      sync.Mutex
	speeds  []float64
	halts   int
	closed  bool
}

func newFeed() *feed { return &feed{batches: make(chan watch.Batch, 64)} }

func (f *feed) Next(ctx context.Context) (watch.Batch, error) {
	select {
	case b, ok := <-f.batches:
		if !ok {
			return b, io.EOF
		}
		return b, nil
	case <-ctx.Done():
		return watch.Batch{}, ctx.Err()
	}
}

func (f *feed) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func (f *feed) SetSpeed(s float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.speeds = append(f.speeds, s)
}

func (f *feed) TogglePause() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.halts++
}
