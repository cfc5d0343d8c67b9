//go:build unix

package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/scripted"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

// host is a test host with a person and the record's inputs.
type host struct {
	*agentstest.Host
	answer *agents.Answer
	asked  []agents.Question
	inputs []json.RawMessage
	deny   func(agents.Action) string
}

func (h *host) Ask(ctx context.Context, q agents.Question) (agents.Answer, error) {
	h.asked = append(h.asked, q)
	if h.answer != nil {
		return *h.answer, nil
	}
	return h.Host.Ask(ctx, q)
}

func (h *host) Run(ctx context.Context, a agents.Action) (agents.Observation, error) {
	h.inputs = append(h.inputs, a.Input)
	if h.deny != nil {
		if why := h.deny(a); why != "" {
			return agents.Observation{Denied: true, Text: why}, nil
		}
	}
	return h.Host.Run(ctx, a)
}

func newHost(t *testing.T) *host {
	return &host{Host: agentstest.New(t, &tasks.Task{
		Ref: "test/lines", Instruction: "Make the score as large as you can.", Workdir: "/workspace",
		Metric: tasks.Metric{Name: "score", HigherIsBetter: true},
	})}
}

func (h *host) file(t *testing.T, name, content string) {
	t.Helper()
	if err := h.WriteFile(name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func (h *host) content(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(h.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// try runs the agent against a script.
func try(t *testing.T, h *host, settings string, script scripted.Script) (*scripted.Server, error) {
	t.Helper()
	s := scripted.Start(t, script)
	return s, tryModel(t, h, settings, llm.Model{Provider: llm.Compatible, BaseURL: s.URL + "/v1", Name: "any"})
}

func tryModel(t *testing.T, h *host, settings string, m llm.Model) error {
	t.Helper()
	client, err := llm.New(m, llm.Options{Backoff: time.Millisecond, Retries: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	agent, err := Kind().New(agents.Options{Extra: json.RawMessage(settings)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return agent.Run(ctx, &agents.Session{Task: h.Task, Model: client, Host: h})
}

// doing is a reply with an action and its input.
func doing(action, input string) scripted.Turn {
	return scripted.Turn{Text: "Thought: go on\nAction: " + action + "\nAction Input: " + input, Chunk: 4096}
}

var answered = doing("Final Answer", `{"final_answer": "It is done."}`)

const whole = `Reflection: Nothing has been observed yet.
Research Plan and Status:
1. Run the script as it is. **Status: in progress**
2. Raise the number. Status: pending
Fact Check:
- train.py prints a score: guessed, I have not read it.
- The workspace has train.py: confirmed by the problem.
Thought: The baseline comes first.
Action: Execute Script
Action Input: {"script_name": "train.py"}`

func TestWholeRun(t *testing.T) {
	h := newHost(t)
	h.Task.Outputs = []string{"score.txt"}
	h.Steps = 10
	h.file(t, "train.sh", "n=1\necho score: $n\necho $n > score.txt\n")
	s, err := try(t, h, "", scripted.Turns(
		scripted.Turn{Text: strings.ReplaceAll(whole, "train.py", "train.sh")},
		doing("Edit Script (AI)", `{"script_name": "train.sh", "edit_instruction": "set n to 7", "save_name": "train.sh"}`),
		scripted.Turn{Text: "Here it is:\n```sh\nn=7\necho score: $n\necho $n > score.txt\n```\n"},
		scripted.Turn{Text: "Reflection: The edit is as I wanted.\nResearch Plan and Status:\n1. Run the script as it is. Status: done, score 1\n2. Raise the number. Status: in progress\n" +
			"Thought: measure\nAction: Execute Script\nAction Input: {\"script_name\": \"train.sh\"}"},
		answered,
	))
	if err != nil {
		t.Fatal(err)
	}
	if got := h.content(t, "score.txt"); got != "7\n" {
		t.Errorf("score.txt has %q", got)
	}
	if want := "completed   Run the script as it is. Status: done, score 1\nin_progress Raise the number. Status: in progress\n"; h.LastPlan() != want {
		t.Errorf("the plan is\n%swant\n%s", h.LastPlan(), want)
	}
	if want := "? guessed: train.sh prints a score: guessed, I have not read it.\n✓ confirmed: The workspace has train.sh: confirmed by the problem."; !strings.Contains(strings.Join(h.Thoughts, "\n"), want) {
		t.Errorf("the thoughts lack the checked facts:\n%s", strings.Join(h.Thoughts, "\n"))
	}
	if len(h.Messages) != 1 || h.Messages[0] != "It is done." {
		t.Errorf("messages %q", h.Messages)
	}
	log := h.content(t, logFile)
	for _, want := range []string{"## Step 1: Execute Script", "score: 1", "- Reflection: The edit is as I wanted.", "score: 7", "## Step 4: Final Answer"} {
		if !strings.Contains(log, want) {
			t.Errorf("the research log lacks %q:\n%s", want, log)
		}
	}
	requests := s.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, want := range []string{"[remaining budget: 10 actions]", "score: 1\n[remaining budget: 9 actions]", "n=1", "-n=1\n+n=7", "score: 7\n[remaining budget: 7 actions]"} {
		if !requests[i].Contains(want) {
			t.Errorf("request %d lacks %q:\n%s", i+1, want, requests[i].Body)
		}
		if len(requests[i].Tools) > 0 {
			t.Errorf("request %d offers tools", i+1)
		}
	}
	// The edit is on record so that it can be done again.
	path, content, ok := agents.DecodeEdit(h.inputs[1])
	if !ok || path != "train.sh" || !strings.HasPrefix(string(content), "n=7") {
		t.Errorf("the edit's input is %s", h.inputs[1])
	}
}

func TestMalformedReplies(t *testing.T) {
	for _, test := range []struct{ name, text, told string }{
		{"empty", "", "Your reply was empty"},
		{"prose", "I would rather talk about it.", `no line that begins with \"Action:\"`},
		{"unknown action", "Action: Fly\nAction Input: {}", `There is no action \"Fly\"`},
		{"no input", "Action: Execute Script", "The input of Execute Script is missing"},
		{"half of a JSON", `Action: Write File` + "\n" + `Action Input: {"file_name": "a", "content": "x`, "not a valid JSON object"},
		{"lacks an argument", `Action: Write File` + "\n" + `Action Input: {"file_name": "a"}`, `lacks \"content\"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHost(t)
			s, err := try(t, h, "", scripted.Turns(scripted.Turn{Text: test.text}, answered))
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "retry 1 of 5") {
				t.Errorf("notes %q", h.Notes)
			}
			if body := string(s.Requests()[1].Body); !strings.Contains(body, test.told) {
				t.Errorf("the model was not told %q:\n%s", test.told, body)
			}
		})
	}
}

func TestMalformedRepliesEndTheRun(t *testing.T) {
	h := newHost(t)
	s, err := try(t, h, "", func(int, scripted.Request) scripted.Turn { return scripted.Turn{Text: "Hm."} })
	if err == nil || !strings.Contains(err.Error(), "6 replies in a row that cannot be read") {
		t.Errorf("ended with %v", err)
	}
	if n := len(s.Requests()); n != 6 || len(h.Actions) > 0 {
		t.Errorf("%d requests, %d actions", n, len(h.Actions))
	}
}

func TestHugeReply(t *testing.T) {
	h := newHost(t)
	if _, err := try(t, h, "", scripted.Turns(
		scripted.Turn{Text: "Thought: " + strings.Repeat("so ", 10<<20/3), Chunk: 1 << 16}, answered)); err != nil {
		t.Fatal(err)
	}
	if len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "far too long") {
		t.Errorf("notes %q", h.Notes)
	}
}

func TestProviderErrors(t *testing.T) {
	h := newHost(t)
	_, err := try(t, h, "", scripted.Turns(scripted.Turn{Status: 500}, scripted.Turn{Text: "x", Cut: true}, answered))
	if err != nil || len(h.Notes) != 2 {
		t.Errorf("%v, notes %q: want two retries and no error", err, h.Notes)
	}
	_, err = try(t, newHost(t), "", scripted.Turns(scripted.Turn{Status: 401}))
	if !errors.Is(err, llm.Unauthorized) {
		t.Errorf("with a refused key: %v", err)
	}
	err = (&Agent{}).Run(t.Context(), &agents.Session{Task: h.Task, Host: h})
	if err == nil || !strings.Contains(err.Error(), "--model") {
		t.Errorf("without a model: %v", err)
	}
}

func TestNeverAnswers(t *testing.T) {
	h := newHost(t)
	h.Steps = 3
	s, err := try(t, h, "", func(int, scripted.Request) scripted.Turn { return doing("List Files", `{"dir_path": "."}`) })
	if err == nil || !strings.Contains(err.Error(), "budget is spent") {
		t.Errorf("ended with %v", err)
	}
	if n := len(s.Requests()); n != 3 || len(h.Actions) != 3 {
		t.Errorf("%d calls and %d actions within a budget of 3", n, len(h.Actions))
	}
}

func TestHint(t *testing.T) {
	h := newHost(t)
	h.Before = func(n int, _ agents.Action) {
		if n == 1 {
			h.Hint("h1", "try the cabin numbers")
		}
	}
	s, err := try(t, h, "", scripted.Turns(doing("List Files", `{"dir_path": "."}`), answered))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Requests()[1].Contains("try the cabin numbers") {
		t.Errorf("the hint is not in the next request:\n%s", s.Requests()[1].Body)
	}
	if len(h.Replies) != 1 || h.Replies[0] != (agentstest.Reply{ID: "h1", How: agents.Injected}) {
		t.Errorf("deliveries %+v", h.Replies)
	}
}

func TestInterrupt(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns []scripted.Turn // the last of which hangs
	}{
		{"a step", []scripted.Turn{{Text: "Thought: I am"}}},
		{"an edit", []scripted.Turn{
			doing("Edit Script (AI)", `{"script_name": "a.py", "edit_instruction": "write it", "save_name": "a.py"}`), {Text: "```python"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHost(t)
			hang := len(test.turns) - 1
			test.turns[hang].Gate = make(chan struct{})
			s, err := try(t, h, "", func(n int, _ scripted.Request) scripted.Turn {
				if n == hang {
					h.Interrupt("h1", "stop that")
				}
				if n < len(test.turns) {
					return test.turns[n]
				}
				return answered
			})
			if err != nil {
				t.Fatal(err)
			}
			requests := s.Requests()
			if last := requests[len(requests)-1]; len(requests) != hang+2 || !last.Contains("stop that") {
				t.Errorf("%d requests, the last is\n%s", len(requests), last.Body)
			}
			if len(h.Replies) != 1 || h.Replies[0].ID != "h1" {
				t.Errorf("deliveries %+v", h.Replies)
			}
			if hang == 0 && h.Replies[0].How != agents.Interrupted {
				t.Errorf("delivered as %s", h.Replies[0].How)
			}
		})
	}
}

func TestOlderStepsAreInTheLog(t *testing.T) {
	h := newHost(t)
	s, err := try(t, h, `{"steps_in_context": 2}`, func(n int, _ scripted.Request) scripted.Turn {
		if n == 4 {
			return answered
		}
		return doing("Python REPL", fmt.Sprintf(`{"command": "print('out' + 'put %d')"}`, n+1))
	})
	if err != nil {
		t.Fatal(err)
	}
	last := s.Requests()[4]
	for n, full := range []bool{false, false, true, true} {
		if got := last.Contains(fmt.Sprintf("## Step %d: Python REPL", n+1)); got == full {
			t.Errorf("step %d: in the log %v, in full %v", n+1, got, full)
		}
		if !last.Contains(fmt.Sprintf("output %d", n+1)) {
			t.Errorf("the request lacks the output of step %d", n+1)
		}
	}
}

func TestLongLogIsCondensed(t *testing.T) {
	h := newHost(t)
	condensed := 0
	s, err := try(t, h, `{"steps_in_context": 1}`, func(n int, r scripted.Request) scripted.Turn {
		switch {
		case r.Contains("Condense it"):
			condensed++
			return scripted.Turn{Text: "The first ones gave 12."}
		case n < 12:
			return doing("Python REPL", `{"command": "print('`+strings.Repeat("long ", 400)+`')"}`)
		}
		return answered
	})
	if err != nil {
		t.Fatal(err)
	}
	requests := s.Requests()
	if condensed == 0 || !requests[len(requests)-1].Contains("(condensed) The first ones gave 12.") {
		t.Errorf("condensed %d times; the last request is\n%s", condensed, requests[len(requests)-1].Body)
	}
	if len(h.Notes) != condensed || !strings.Contains(h.Notes[0], "is condensed from") {
		t.Errorf("notes %q", h.Notes)
	}
	if log := h.content(t, logFile); !strings.Contains(log, "## Step 1:") {
		t.Error("the file has lost the first step")
	}
}

func TestContextOverflow(t *testing.T) {
	turn := func(n int) scripted.Turn {
		if n >= 4 {
			return answered
		}
		return doing("Python REPL", `{"command": "print('`+strings.Repeat("wide ", 900)+`')"}`)
	}
	t.Run("known", func(t *testing.T) {
		h := newHost(t)
		s := scripted.Start(t, func(n int, _ scripted.Request) scripted.Turn { return turn(n) })
		err := tryModel(t, h, "", llm.Model{Provider: llm.Compatible, BaseURL: s.URL + "/v1", Name: "any", Context: 6000})
		if err != nil || !strings.Contains(strings.Join(h.Notes, "\n"), "is compacted to about") {
			t.Errorf("%v, notes %q", err, h.Notes)
		}
	})
	t.Run("found out", func(t *testing.T) {
		h := newHost(t)
		_, err := try(t, h, "", func(n int, r scripted.Request) scripted.Turn {
			if len(r.Body) > 22_000 {
				return scripted.Turn{Status: 400, Message: "maximum context length exceeded"}
			}
			return turn(n)
		})
		if err != nil || !strings.Contains(strings.Join(h.Notes, "\n"), "too long for the model") {
			t.Errorf("%v, notes %q", err, h.Notes)
		}
	})
}

func TestSettings(t *testing.T) {
	for _, extra := range []string{`{"steps_in_context": 0}`, `{"retries": -1}`, `{"action_seconds": 0}`,
		`{"observation_characters": 1}`, `{"python": ""}`, `{"pithon": "x"}`, `[]`} {
		o := agents.Options{Extra: json.RawMessage(extra)}
		if _, err := Kind().New(o); err == nil {
			t.Errorf("%s is taken", extra)
		}
		if len(Kind().Check(t.Context(), nil, o)) != 1 {
			t.Errorf("%s is not reported", extra)
		}
	}
	if missing := Kind().Check(t.Context(), nil, agents.Options{}); len(missing) > 0 {
		t.Errorf("missing without settings: %q", missing)
	}
}
