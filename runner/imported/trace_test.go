package imported

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/watch"
	"proctor/tasks/benchtest"
)

const trace = `{
  "steps": [
    {"action": {"name": "List Files", "args": {"dir_path": "."}}, "observation": "data/\ntrain.py", "timestamp": 1700000010.5},
    {"action": {"name": "Execute Script", "args": {"script_name": "train.py"}}, "observation": "EnvError: no \u001b[31mred\u001b]0;title\u0007 file", "timestamp": 1700000070.5},
    {"action": {"name": "Final Answer", "args": "Done!"}, "observation": "end", "timestamp": 1700000060}
  ],
  "task_description": "Improve the model.\nMind the time."
}`

const thoughts = `{"history_steps": [
  {"step_idx": 0, "action": {"Reflection": "none yet", "Research Plan and Status": "1. Look around (done)\n2. Train", "Fact Check": "seen", "Thought": "look first", "Action": "List Files"}}
]}`

// record makes the run of a trace and returns it as it is replayed.
func record(t *testing.T, files map[string]string, path string) (*event.State, []event.Event, string) {
	t.Helper()
	dir, err := Trace(filepath.Join(benchtest.Lay(t, files), path), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	replay, err := watch.NewReplay(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer replay.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, all, screen := new(event.State), []event.Event(nil), ""
	for {
		b, err := replay.Next(ctx)
		if errors.Is(err, io.EOF) {
			return s, all, screen
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Events {
			s.Apply(e)
			all = append(all, e)
		}
		for _, o := range b.Output {
			screen += string(o.Data)
		}
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	s, all, screen := record(t, map[string]string{"env_log/trace.json": trace, "agent_log/agent_1_1.json": thoughts}, "")
	if s.Phase != event.Done || s.Run.Task.Title != "Improve the model." || len(s.Actions) != 3 || s.Steps != 3 {
		t.Fatalf("the run is %s with %d actions on %+v", s.Phase, len(s.Actions), s.Run.Task)
	}
	for i, want := range []struct {
		title   string
		kind    agents.ActionKind
		exit    int
		seconds float64
	}{
		{"List Files .", agents.Read, 0, 59.999},
		{"Execute Script train.py", agents.Execute, 1, 59.999},
		{"Final Answer", agents.Other, 0, 0}, // its time stamp lies before that of the one before
	} {
		a := s.Actions[i]
		if a.Title != want.title || a.Kind != want.kind || a.Finished.ExitCode != want.exit || a.Finished.Seconds != want.seconds {
			t.Errorf("action %d is %q (%s), exit %d after %v s", i, a.Title, a.Kind, a.Finished.ExitCode, a.Finished.Seconds)
		}
	}
	var ended []string
	for _, e := range all {
		if e.Type == event.TypeActionFinished {
			ended = append(ended, e.At.UTC().Format("15:04:05.999"))
		}
	}
	if got := strings.Join(ended, " "); got != "22:13:30.5 22:14:30.5 22:14:30.501" {
		t.Errorf("the actions ended at %s", got)
	}
	if string(s.Actions[1].Input) != `{"script_name":"train.py"}` && string(s.Actions[1].Input) != `{"script_name": "train.py"}` {
		t.Errorf("the input is %s", s.Actions[1].Input)
	}
	if string(s.Actions[2].Input) != `"Done!"` {
		t.Errorf("the answer is %s", s.Actions[2].Input)
	}
	if len(s.Plan) != 2 || s.Plan[0].Status != agents.Completed || s.Plan[1].Status != agents.InProgress {
		t.Errorf("the plan is %+v", s.Plan)
	}
	var said string
	for _, f := range s.Feed {
		said += f.Text + "\n"
	}
	for _, want := range []string{"Mind the time.", "Reflection: none yet", "Fact Check: seen", "Thought: look first"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not among what was said:\n%s", want, said)
		}
	}
	if !strings.Contains(screen, "Execute Script train.py\r\nEnvError: no red file\r\n") || strings.Contains(screen, "\x1b]") {
		t.Errorf("the terminal has %q", screen)
	}
}

func TestTraceThatBreaksOff(t *testing.T) {
	t.Parallel()
	s, _, _ := record(t, map[string]string{"trace.json": `{"steps": [{"action": {"name": "List Files", "args": null}, "observation": "x"}]}`}, "trace.json")
	if s.Phase != event.Interrupted || !strings.Contains(s.Reason, "without a final answer") {
		t.Errorf("the run is %s: %s", s.Phase, s.Reason)
	}
}

func TestNoTrace(t *testing.T) {
	t.Parallel()
	dir := benchtest.Lay(t, map[string]string{"none.json": `{"steps": []}`, "other.json": `{"events": []}`, "empty/x": ""})
	for name, says := range map[string]string{"none.json": "no steps", "other.json": `no "steps"`, "empty": "neither it nor its env_log has a trace.json", "gone": "no such file"} {
		parent := t.TempDir()
		if _, err := Trace(filepath.Join(dir, name), parent); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v, %v", name, left, err)
		}
	}
}
