package baseline

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

func start(t *testing.T, starter string) (*agentstest.Host, error) {
	t.Helper()
	h := agentstest.New(t, &tasks.Task{
		Ref:     "test/one",
		Starter: starter,
		Outputs: []string{"out.txt"},
		Metric:  tasks.Metric{Name: "loss", Pattern: regexp.MustCompile(`loss (\S+)`)},
	})
	h.Hint("h1", "be better")
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h, agent.Run(context.Background(), h.Session(1))
}

func TestRun(t *testing.T) {
	h, err := start(t, "echo done > out.txt; echo loss 0.75; echo loss 0.5")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := os.ReadFile(filepath.Join(h.Dir, "out.txt")); err != nil || string(out) != "done\n" {
		t.Errorf("output %q, %v", out, err)
	}
	if len(h.Actions) != 1 || h.Commands()[0] != h.Task.Starter {
		t.Errorf("actions: %v, want the starter once", h.Commands())
	}
	want := "completed   run the starter code unchanged\ncompleted   submit what it wrote\n"
	if got := h.LastPlan(); got != want {
		t.Errorf("plan:\n%s", got)
	}
	if len(h.Messages) != 1 || !strings.HasSuffix(h.Messages[0], ": loss 0.5.") {
		t.Errorf("messages: %q", h.Messages)
	}
	if len(h.Replies) != 1 || !strings.Contains(h.Replies[0].Text, "takes no hints") {
		t.Errorf("replies: %+v", h.Replies)
	}
}

func TestFailingStarter(t *testing.T) {
	h, err := start(t, "echo part > out.txt; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("error: %v", err)
	}
	if strings.Contains(h.LastPlan(), "completed") {
		t.Errorf("plan of a failed run:\n%s", h.LastPlan())
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		task *tasks.Task
		want int
	}{{nil, 0}, {&tasks.Task{Starter: "x"}, 0}, {&tasks.Task{Ref: "a/b"}, 1}} {
		if got := Kind().Check(context.Background(), test.task, agents.Options{}); len(got) != test.want {
			t.Errorf("Check(%+v) = %q", test.task, got)
		}
	}
	if _, err := start(t, ""); err == nil {
		t.Error("a task without starter was run")
	}
	if _, err := Kind().New(agents.Options{Extra: []byte(`{"x":1}`)}); err == nil {
		t.Error("an unknown setting was accepted")
	}
}
