//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/scripted"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

func testTask() *tasks.Task {
	return &tasks.Task{
		Ref: "test/one", Instruction: "Write yes into out.txt.", Workdir: "/workspace", Outputs: []string{"out.txt"},
		Metric: tasks.Metric{Name: "accuracy", HigherIsBetter: true, Pattern: regexp.MustCompile(`acc=([0-9.]+)`)},
	}
}

// A trial is one run of the agent against a scripted server.
type trial struct {
	*agentstest.Host
	server *scripted.Server
	model  llm.Model
	extra  string // configuration, as JSON
	steps  agents.Host
}

func newTrial(t *testing.T, script scripted.Script) *trial {
	t.Helper()
	s := scripted.Start(t, script)
	h := agentstest.New(t, testTask())
	return &trial{Host: h, server: s, steps: h,
		model: llm.Model{Provider: llm.Compatible, BaseURL: s.URL + "/v1", Name: "any", Context: 32768}}
}

// run runs the agent to its end.
func (tr *trial) run(t *testing.T) error {
	t.Helper()
	c, err := llm.New(tr.model, llm.Options{Backoff: time.Millisecond, MaxReply: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	agent, err := Kind().New(agents.Options{Extra: json.RawMessage(tr.extra)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return agent.Run(ctx, &agents.Session{Task: tr.Task, Model: c, Host: tr.steps})
}

// ok runs the agent to a submission.
func (tr *trial) ok(t *testing.T) {
	t.Helper()
	if err := tr.run(t); err != nil {
		t.Fatalf("the run ended with %v", err)
	}
}

// told reports whether the n-th request has a text in it.
func (tr *trial) told(t *testing.T, n int, text string) {
	t.Helper()
	requests := tr.server.Requests()
	if n >= len(requests) {
		t.Fatalf("there were only %d requests", len(requests))
	}
	if !requests[n].Contains(text) {
		t.Errorf("request %d does not say %q:\n%s", n, text, requests[n].Body)
	}
}

func call(name string, args any) scripted.Call {
	text, ok := args.(string)
	if !ok {
		text = string(must(json.Marshal(args)))
	}
	return scripted.Call{Name: name, Args: text}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

type m = map[string]any

func shell(command string) scripted.Turn {
	return scripted.Turn{Calls: []scripted.Call{call("bash", m{"command": command})}}
}

var (
	write  = shell("echo yes >out.txt")
	finish = scripted.Turn{Calls: []scripted.Call{call("submit", m{"path": "out.txt"})}}
)

func TestRun(t *testing.T) {
	for _, p := range []llm.Provider{llm.Compatible, llm.OpenAI, llm.Anthropic} {
		t.Run(string(p), func(t *testing.T) {
			tr := newTrial(t, scripted.Turns(
				scripted.Turn{Reasoning: "What is there?", Text: "I will look first.", Calls: []scripted.Call{
					{ID: "p", Name: "plan", Args: `{"entries":[{"content":"look","status":"in_progress","priority":"high"},"write"]}`},
					{ID: "l", Name: "bash", Args: `{"command":"echo acc=0.5; echo $PAGER; exit 3"}`},
				}},
				write, finish))
			tr.model.Provider = p
			tr.Time = time.Hour
			tr.Host.Steps = 10
			tr.ok(t)
			if diff := cmp.Diff([]string{"echo acc=0.5; echo $PAGER; exit 3", "echo yes >out.txt"}, tr.Commands()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if got, want := tr.LastPlan(), "in_progress look\npending     write\n"; got != want {
				t.Errorf("plan %q, want %q", got, want)
			}
			if len(tr.Thoughts) != 1 || tr.Thoughts[0] != "What is there?" || len(tr.Messages) != 1 || tr.Messages[0] != "I will look first." {
				t.Errorf("thoughts %q, messages %q", tr.Thoughts, tr.Messages)
			}
			if len(tr.Checkpoints) != 1 || tr.Checkpoints[0].Label != "submitted" || !tr.Checkpoints[0].Standing {
				t.Errorf("checkpoints %+v", tr.Checkpoints)
			}
			tr.told(t, 0, "Write yes into out.txt.")
			tr.told(t, 0, "accuracy; higher is better")
			tr.told(t, 0, "1h0m0s of working time, 10 actions")
			tr.told(t, 1, "[exit code 3, ")
			tr.told(t, 1, "acc=0.5\ncat\n[left: ")
			tr.told(t, 1, ", 9 actions]")
			tr.told(t, 2, ", 8 actions]")
		})
	}
}

// The beginning of each request is the whole of the one before, so that a
// provider's cache hits.
func TestHistoryOnlyGrows(t *testing.T) {
	tr := newTrial(t, scripted.Turns(shell("date +%s%N"), shell("echo two"), scripted.Turn{Text: "well"}, write, finish))
	tr.Time = time.Hour
	tr.ok(t)
	var before []json.RawMessage
	for i, r := range tr.server.Requests() {
		var body struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Messages) <= len(before) {
			t.Fatalf("request %d has %d messages after %d", i, len(body.Messages), len(before))
		}
		for j := range before {
			if string(before[j]) != string(body.Messages[j]) {
				t.Errorf("request %d changed message %d from %s to %s", i, j, before[j], body.Messages[j])
			}
		}
		before = body.Messages
	}
}

// Whatever a run cost before, its first request is the same.
func TestPrefixIsTheSameInEveryRun(t *testing.T) {
	var first [2]string
	for i := range first {
		tr := newTrial(t, scripted.Turns(write, finish))
		tr.ok(t)
		first[i] = string(tr.server.Requests()[0].Body)
	}
	if first[0] != first[1] {
		t.Errorf("first requests differ:\n%s\n%s", first[0], first[1])
	}
}

func TestParallelCallsRunInOrder(t *testing.T) {
	tr := newTrial(t, scripted.Turns(scripted.Turn{NoIDs: true, Calls: []scripted.Call{
		call("bash", m{"command": "sleep 0.1; echo a >>log"}), call("nothing", m{}), call("bash", m{"command": "echo b >>log; cat log"}),
		call("bash", m{"command": "echo yes >out.txt"}), call("submit", m{}), call("bash", m{"command": "echo too late >out.txt"}),
	}}))
	tr.ok(t)
	if log := string(must(os.ReadFile(filepath.Join(tr.Dir, "log")))); log != "a\nb\n" {
		t.Errorf("the log has %q", log)
	}
	if out := string(must(os.ReadFile(filepath.Join(tr.Dir, "out.txt")))); out != "yes\n" {
		t.Errorf("the output has %q: commands went on after the submission", out)
	}
}

func TestTextMode(t *testing.T) {
	block := func(word, body string) scripted.Turn {
		return scripted.Turn{Text: "Here:\n```" + word + "\n" + body + "\n```\n"}
	}
	tr := newTrial(t, func(n int, r scripted.Request) scripted.Turn {
		if len(r.Tools) > 0 {
			return scripted.Turn{Status: 400, Message: "any does not support tools"}
		}
		return []scripted.Turn{{}, block("bash", "echo acc=0.25\necho yes >out.txt"), block("plan", `{"entries":["go"]}`), {Text: "fine"}, block("submit", "{}")}[n]
	})
	tr.ok(t)
	if got := tr.Commands(); len(got) != 1 || got[0] != "echo acc=0.25\necho yes >out.txt" {
		t.Errorf("commands %q", got)
	}
	if len(tr.Notes) != 1 || !strings.Contains(tr.Notes[0], "no tool calling") {
		t.Errorf("notes %q", tr.Notes)
	}
	if diff := cmp.Diff([]string{"Here:", "Here:", "fine", "Here:"}, tr.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	tr.told(t, 2, "Result of bash:\n[exit code 0, ")
	tr.told(t, 4, "called no tool")
}

func TestUsageMissing(t *testing.T) {
	tr := newTrial(t, scripted.Turns(shell("seq 20000"), shell("seq 20000"), write, finish))
	tr.model.Context = 16000
	tr.ok(t)
	if len(tr.Notes) == 0 || !strings.HasPrefix(tr.Notes[0], "compacted ") {
		t.Errorf("without usage the conversation was not compacted: notes %q", tr.Notes)
	}
}

func TestOptions(t *testing.T) {
	for extra, want := range map[string]string{
		``:                                "",
		`{"malformed":1,"timeout":"90s"}`: "",
		`{"malformed":0}`:                 "malformed = 0",
		`{"idle":-1}`:                     "idle = -1",
		`{"timeout":"1ms"}`:               "timeout = \"1ms\"",
		`{"timeout":30}`:                  "timeout is a number, expected a value like \"30m0s\"",
		`{"share":0}`:                     "share = 0",
		`{"share":1.5}`:                   "share = 1.5",
		`{"temper":1}`:                    "its keys are idle, malformed, share, timeout",
		`[]`:                              "reading [agents.bash] of the settings",
	} {
		_, err := Kind().New(agents.Options{Extra: json.RawMessage(extra)})
		missing := Kind().Check(t.Context(), nil, agents.Options{Extra: json.RawMessage(extra)})
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) || len(missing) != min(1, len(want)) {
			t.Errorf("%s: %v, check %q; want %q", extra, err, missing, want)
		}
	}
	if err := (&Agent{}).Run(t.Context(), &agents.Session{Task: testTask()}); err == nil || !strings.Contains(err.Error(), "--model") {
		t.Errorf("without a model: %v", err)
	}
}

func TestLimit(t *testing.T) {
	tests := []struct {
		left  time.Duration // 0 is no limit
		asked seconds
		want  time.Duration
	}{
		{0, 0, 30 * time.Minute},
		{time.Hour, 0, 15 * time.Minute},
		{10 * time.Hour, 0, 30 * time.Minute},
		{2 * time.Second, 0, time.Second},
		{time.Hour, 45, 45 * time.Second},
		{time.Hour, 0.5, 500 * time.Millisecond},
		{time.Hour, 1e30, time.Hour},
		{0, 7200, 2 * time.Hour},
	}
	for _, test := range tests {
		h := agentstest.New(t, testTask())
		h.Time = test.left
		o, err := readOptions(agents.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := &loop{Session: h.Session(1), options: o}
		if got := l.limit(test.asked); got != test.want {
			t.Errorf("with %s left and %v asked: %s, want %s", test.left, test.asked, got, test.want)
		}
	}
}

func TestTimeoutAndBackground(t *testing.T) {
	tr := newTrial(t, scripted.Turns(
		scripted.Turn{Calls: []scripted.Call{call("bash", m{"command": "echo begun; sleep 60", "timeout_s": "0.3"})}},
		scripted.Turn{Calls: []scripted.Call{call("bash", m{"command": "echo \"it's up\"\nwhile [ ! -e go ]; do sleep 0.02; done\nexit 7 # done", "background": true})}},
		shell("touch go; while [ ! -s .proctor-bg/1.exit ]; do sleep 0.02; done; cat .proctor-bg/1.log .proctor-bg/1.exit"),
		scripted.Turn{Calls: []scripted.Call{call("bash", m{"command": "sleep 600", "background": true})}},
		shell("pid=$(cat .proctor-bg/2.pid); kill -- -$pid; while kill -0 $pid 2>/dev/null; do sleep 0.02; done; echo it ended"),
		write, finish))
	tr.ok(t)
	tr.told(t, 1, "[killed after its time limit of 300ms, ")
	tr.told(t, 1, "begun")
	tr.told(t, 2, "tail -n 50 .proctor-bg/1.log")
	tr.told(t, 3, "it's up\n7")
	tr.told(t, 5, "it ended")
}

func TestSubmit(t *testing.T) {
	submit := func(path string) scripted.Turn {
		return scripted.Turn{Calls: []scripted.Call{call("submit", m{"path": path})}}
	}
	t.Run("copied into place", func(t *testing.T) {
		tr := newTrial(t, scripted.Turns(shell("mkdir r; echo 'no' >'r/a b.csv'"), submit("/workspace/r/a b.csv")))
		tr.Task.Outputs = []string{"sub/out.csv"}
		tr.ok(t)
		if got := string(must(os.ReadFile(filepath.Join(tr.Dir, "sub/out.csv")))); got != "no\n" {
			t.Errorf("the output has %q", got)
		}
	})
	t.Run("not there", func(t *testing.T) {
		tr := newTrial(t, scripted.Turns(submit("x.csv"), submit(""), submit(""), write, finish))
		tr.ok(t)
		tr.told(t, 1, `"x.csv" could not be copied to "out.txt"`)
		tr.told(t, 2, "Not submitted: the workspace has no out.txt.")
		tr.told(t, 3, "Not submitted: open ")
	})
	t.Run("one of several", func(t *testing.T) {
		tr := newTrial(t, scripted.Turns(write, submit("z"), submit("out.txt"), shell("echo >b.txt"), submit("./b.txt")))
		tr.Task.Outputs = []string{"out.txt", "b.txt"}
		tr.ok(t)
		tr.told(t, 2, `"z" is none of the task's outputs, which are out.txt, b.txt`)
		tr.told(t, 3, "the workspace has no b.txt.")
	})
	t.Run("a directory", func(t *testing.T) {
		l := &loop{Session: agentstest.New(t, testTask()).Session(1)}
		l.Task.Outputs = []string{"sub", "*.csv"}
		for _, name := range []string{"sub/x", "sub/", "./sub", "a.csv", "."} {
			if o, err := l.place(t.Context(), name); err != nil || o.text != "" {
				t.Errorf("%q: %+v, %v", name, o, err)
			}
		}
	})
}
