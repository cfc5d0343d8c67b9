package search

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"proctor/agents"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// trainer is a task around testdata/train.sh with the given models.
func trainer(t testing.TB, models ...string) *tasks.Task {
	t.Helper()
	script, err := filepath.Abs("testdata/train.sh")
	if err != nil {
		t.Fatal(err)
	}
	return &tasks.Task{
		Ref:     "test/trainer",
		Outputs: []string{"submission.txt"},
		Starter: "sh " + script,
		Metric: tasks.Metric{
			Name: "val_accuracy", HigherIsBetter: true,
			Pattern: regexp.MustCompile(`val_accuracy ([0-9.]+|nan)`),
		},
		Knobs: []tasks.Knob{
			{Name: "lr", Type: tasks.KnobFloat, Min: 1e-4, Max: 1, Log: true, Default: "0.1", When: map[string][]string{"model": {"linear", "mlp"}}},
			{Name: "model", Type: tasks.KnobChoice, Values: models, Default: models[0]},
			{Name: "k", Type: tasks.KnobInt, Min: 1, Max: 15, Default: "3", When: map[string][]string{"model": {"knn"}}},
			{Name: "epochs", Type: tasks.KnobInt, Min: 2, Max: 18, Default: "6", Fidelity: true, When: map[string][]string{"model": {"linear", "mlp"}}},
		},
	}
}

func runSearch(t testing.TB, h *agentstest.Host, seed int64) error {
	t.Helper()
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return agent.Run(ctx, h.Session(seed))
}

// byFormula measures what train.sh would print, and takes seconds that grow
// with the epochs, without any process.
func byFormula(a agents.Action) agents.Observation {
	flags := map[string]string{"model": "linear", "lr": "0.1", "k": "3", "epochs": "6"}
	words := strings.Fields(a.Shell)
	for i, w := range words {
		if name, ok := strings.CutPrefix(w, "--"); ok {
			flags[name] = words[i+1]
		}
	}
	n := func(name string) float64 { v, _ := strconv.ParseFloat(flags[name], 64); return v }
	d := math.Log10(n("lr")) + 2
	value, seconds := 0.93-0.03*d*d-0.2/n("epochs"), n("epochs")/10
	switch flags["model"] {
	case "mlp":
		value += 0.04
		seconds *= 2
	case "knn":
		value, seconds = 0.95-0.004*math.Pow(n("k")-5, 2), 0.5
	}
	if limit := a.Timeout.Seconds(); limit > 0 && seconds > limit {
		return agents.Observation{ExitCode: 137, TimedOut: true, Seconds: limit}
	}
	return agents.Observation{Text: fmt.Sprintf("val_accuracy %.4f\n", value), Seconds: seconds}
}

// TestRealTrials searches with real processes.
func TestRealTrials(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "mlp", "knn"))
	h.Steps = 40
	if err := runSearch(t, h, 7); err != nil {
		t.Fatal(err)
	}
	if first := h.Commands()[0]; first != h.Task.Starter {
		t.Errorf("the first trial is %q, want the starter as it is", first)
	}
	if got := h.Actions[0].Metrics; len(got) != 2 || got[1].Value != 0.8667 {
		t.Errorf("the starter measured %v, want 0.8667 last", got)
	}
	best, command := 0.0, ""
	for _, a := range h.Actions {
		if v := a.Metrics[len(a.Metrics)-1].Value; v > best {
			best, command = v, a.Action.Shell
		}
	}
	if best < 0.94 {
		t.Errorf("the best of %d trials is %v, want at least 0.94", len(h.Actions), best)
	}
	var model string
	fmt.Sscanf(command[strings.Index(command, "--model"):], "--model %s", &model)
	got, err := os.ReadFile(filepath.Join(h.Dir, "submission.txt"))
	if err != nil || !strings.HasPrefix(string(got), model+" ") {
		t.Errorf("the submission is %q (%v), want that of %q", got, err, command)
	}
	last := h.Checkpoints[len(h.Checkpoints)-1]
	if len(h.Restored) != 1 || h.Restored[0] != last.ID {
		t.Errorf("restored %v, want the best checkpoint %v", h.Restored, last)
	}
	for _, c := range h.Checkpoints {
		if !c.Standing {
			t.Errorf("checkpoint %v does not stand", c)
		}
	}
	for _, e := range h.Plans[len(h.Plans)-1] {
		if e.Status != agents.Completed {
			t.Errorf("at the end the plan has %q %s", e.Content, e.Status)
		}
	}
	if left := h.Remaining(); *left.Steps > 1 {
		t.Errorf("%d steps are left unused", *left.Steps)
	}
}

// TestSequence holds the search to its recorded sequence of trials, plans
// and words: the same seed and the same measurements give the same search.
func TestSequence(t *testing.T) {
	for _, seed := range []int64{1, 2} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			task := trainer(t, "linear", "mlp", "knn")
			task.Starter = "train"
			record := func() string {
				h := agentstest.New(t, task)
				h.Exec = byFormula
				h.Time = 60 * time.Second
				h.Before = func(n int, a agents.Action) {
					if n == 9 && seed == 2 {
						h.Hint("h1", "model=mlp, lr<0.1")
					}
				}
				if err := runSearch(t, h, seed); err != nil {
					t.Fatal(err)
				}
				text := strings.Join(h.Commands(), "\n") + "\n\n" + h.LastPlan() + "\n"
				for _, reply := range h.Replies {
					text += fmt.Sprintf("%s %s: %s\n", reply.ID, reply.How, reply.Text)
				}
				return text + strings.Join(h.Thoughts, "\n") + "\n" + strings.Join(h.Messages, "\n") + "\n"
			}
			got := record()
			if again := record(); again != got {
				t.Fatalf("a second search differs:\n%s", again)
			}
			golden(t, fmt.Sprintf("testdata/sequence-%d.golden", seed), got)
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("differs from %s (run with -update to accept):\n%s", path, got)
	}
}

// TestWithinTime checks on many budgets that the search ends by itself before
// the limit, and uses what it has.
func TestWithinTime(t *testing.T) {
	for _, seconds := range []int{3, 5, 10, 20, 60, 120} {
		t.Run(fmt.Sprint(seconds), func(t *testing.T) {
			h := agentstest.New(t, trainer(t, "linear", "mlp", "knn"))
			h.Exec = byFormula
			h.Time = time.Duration(seconds) * time.Second
			if err := runSearch(t, h, 3); err != nil {
				t.Fatal(err)
			}
			left := *h.Remaining().Time
			if left < margin(h.Time) {
				t.Errorf("%v left after %d trials, want the margin of %v", left, len(h.Actions), margin(h.Time))
			}
			if left > margin(h.Time)+5*time.Second && !strings.Contains(h.Messages[0], "not bettered") {
				t.Errorf("%v of %v left unused: %s", left, h.Time, h.Messages[0])
			}
		})
	}
}

// TestSlowTrial checks that a setting that takes far too long is cut short
// and does not end the search.
func TestSlowTrial(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "mlp", "knn"))
	h.Time = 40 * time.Second
	h.Exec = func(a agents.Action) agents.Observation {
		if strings.Contains(a.Shell, "knn") {
			return agents.Observation{ExitCode: 137, TimedOut: true, Seconds: a.Timeout.Seconds()}
		}
		return byFormula(a)
	}
	if err := runSearch(t, h, 1); err != nil {
		t.Fatal(err)
	}
	if len(h.Notes) == 0 || !strings.Contains(h.Notes[0], "stopped after") {
		t.Errorf("notes: %q, want one about a stopped trial", h.Notes)
	}
	if len(h.Actions) < 10 {
		t.Errorf("only %d trials ran", len(h.Actions))
	}
	if left := *h.Remaining().Time; left < margin(h.Time) {
		t.Errorf("%v left", left)
	}
}

func TestSteps(t *testing.T) {
	for steps := 1; steps <= 15; steps++ {
		h := agentstest.New(t, trainer(t, "linear", "mlp", "knn"))
		h.Exec, h.Steps = byFormula, steps
		if err := runSearch(t, h, 5); err != nil {
			t.Fatalf("%d steps: %v", steps, err)
		}
		if len(h.Actions) != steps {
			t.Errorf("%d trials with %d steps", len(h.Actions), steps)
		}
	}
}

// TestFailures runs real trials that fail in the ways trials do.
func TestFailures(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "broken", "mute"))
	h.Steps = 25
	if err := runSearch(t, h, 4); err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(h.Notes, "\n")
	for _, want := range []string{"exit code 3", "no val_accuracy in its output"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q:\n%s", want, notes)
		}
	}

	h = agentstest.New(t, trainer(t, "broken"))
	h.Task.Knobs[0].When = nil
	h.Task.Starter += " --model broken"
	err := runSearch(t, h, 4)
	if err == nil || !strings.Contains(err.Error(), "10 trials in a row failed, the last with exit code 3") {
		t.Errorf("a trainer that always fails: %v", err)
	}
	if len(h.Actions) != 10 {
		t.Errorf("%d trials, want 10", len(h.Actions))
	}

	h = agentstest.New(t, trainer(t, "linear"))
	h.Exec = func(a agents.Action) agents.Observation {
		obs := byFormula(a)
		if len(h.Actions) > 3 {
			obs.Text = "val_accuracy nan"
		}
		return obs
	}
	if err := runSearch(t, h, 4); err != nil {
		t.Errorf("ten failures after a result: %v", err)
	}
	if !strings.Contains(h.Messages[0], "10 trials in a row failed, the last with its val_accuracy is NaN") || len(h.Restored) != 1 {
		t.Errorf("message %q, restored %v", h.Messages, h.Restored)
	}
}

// TestLostOutputs checks that a trial without its outputs cannot win.
func TestLostOutputs(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "knn"))
	h.Task.Outputs = []string{"elsewhere.txt"}
	h.Steps = 3
	err := runSearch(t, h, 1)
	if err == nil || !strings.Contains(h.Notes[0], "outputs that could not be kept") {
		t.Errorf("err %v, notes %q", err, h.Notes)
	}
}

// TestExhausted lets a search run out of settings: all are tried, and all of
// them at the highest fidelity.
func TestExhausted(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "mlp", "knn"))
	h.Exec = byFormula
	h.Task.Knobs[0] = tasks.Knob{Name: "lr", Type: tasks.KnobChoice, Values: []string{"1", "0.1"}, Default: "0.1", When: h.Task.Knobs[0].When}
	h.Task.Knobs[2].Max = 4
	if err := runSearch(t, h, 1); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(h.Messages[0], "every setting has been tried") {
		t.Errorf("message: %s", h.Messages)
	}
	seen := map[string]bool{}
	top := 0
	for _, c := range h.Commands() {
		if seen[c] {
			t.Errorf("%q was run twice", c)
		}
		seen[c] = true
		if strings.Contains(c, "knn") || strings.Contains(c, "--epochs 18") {
			top++
		}
	}
	if top != 8 {
		t.Errorf("%d of 8 settings were tried at the highest fidelity:\n%s", top, strings.Join(h.Commands(), "\n"))
	}
}

// TestHintsSteer checks the trials after a hint, and the answers.
func TestHintsSteer(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "mlp", "knn"))
	h.Exec, h.Steps = byFormula, 40
	h.Before = func(n int, _ agents.Action) {
		switch n {
		case 4:
			h.Hint("h1", "please use model in linear,mlp, lr<0.1")
		case 10:
			h.Hint("h2", "lr > 0.5")
		case 12:
			h.Hint("h3", "think harder")
		case 14:
			h.Hint("h4", "epochs=18 and model!=linear")
		}
	}
	if err := runSearch(t, h, 2); err != nil {
		t.Fatal(err)
	}
	for i, c := range h.Commands() {
		n := i + 1
		if n <= 4 {
			continue
		}
		var lr float64
		fmt.Sscanf(c[strings.Index(c, "--lr"):], "--lr %g", &lr)
		if strings.Contains(c, "knn") || lr >= 0.1 {
			t.Errorf("trial %d is %q after the first hint", n, c)
		}
		if n > 14 && (!strings.Contains(c, "--model mlp") || !strings.HasSuffix(c, "--epochs 18")) {
			t.Errorf("trial %d is %q after the last hint", n, c)
		}
	}
	want := []struct{ id, says string }{
		{"h1", "model is linear or mlp and lr below 0.1 where it applies; about "},
		{"h2", "not followed: lr above 0.5 where it applies leaves no value of lr, which is 0.0001 to below 0.1; the space is as before"},
		{"h3", `could not read "think harder": "think" is not a knob. I understand lr<0.0631, 0.001585<lr<0.0631, model=knn, model in linear,knn, model!=knn, several joined`},
		{"h4", "epochs is 18 where it applies and model is not linear; about "},
	}
	for i, w := range want {
		if i >= len(h.Replies) {
			t.Fatalf("%d replies, want %d", len(h.Replies), len(want))
		}
		if r := h.Replies[i]; r.ID != w.id || r.How != agents.Queued || !strings.HasPrefix(r.Text, w.says) {
			t.Errorf("reply %d is %+v, want %q", i, r, w)
		}
	}
}

func TestCancelled(t *testing.T) {
	h := agentstest.New(t, trainer(t, "linear", "mlp"))
	ctx, cancel := context.WithCancel(context.Background())
	h.Before = func(n int, _ agents.Action) {
		if n == 3 {
			cancel()
		}
	}
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Run(ctx, h.Session(1)); err == nil || ctx.Err() == nil {
		t.Errorf("a cancelled search returned %v", err)
	}
	if len(h.Actions) != 2 {
		t.Errorf("%d actions were finished, want 2", len(h.Actions))
	}
}

func TestCheck(t *testing.T) {
	full := trainer(t, "linear")
	if got := check(context.Background(), full, agents.Options{}); got != nil {
		t.Errorf("a complete task: %q", got)
	}
	if got := check(context.Background(), &tasks.Task{Ref: "a/b"}, agents.Options{Extra: []byte(`{"eta":1}`)}); len(got) != 4 {
		t.Errorf("an empty task and a wrong eta: %q", got)
	}
	for _, extra := range []string{`{"eta":1}`, `{"rungs":0}`, `{"failures":0}`, `{"etta":3}`, `[]`} {
		if _, err := Kind().New(agents.Options{Extra: []byte(extra)}); err == nil {
			t.Errorf("options %s were accepted", extra)
		}
	}
}
