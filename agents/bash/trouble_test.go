//go:build unix

package bash

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/scripted"
)

// What a model may say wrongly: it is told, and goes on.
func TestBadReplies(t *testing.T) {
	calls := func(c ...scripted.Call) scripted.Turn { return scripted.Turn{Calls: c} }
	tests := []struct {
		name string
		turn scripted.Turn
		told string
	}{
		{"half-valid JSON", calls(call("bash", `{"command":"ls`)), "the arguments of bash are not a JSON object"},
		{"JSON of another shape", calls(call("bash", `["ls"]`)), "the arguments of bash are not a JSON object"},
		{"wrong type", calls(call("bash", `{"command":7}`)), "the arguments of bash do not fit"},
		{"empty command", calls(call("bash", `{"command":" "}`)), "the command is empty"},
		{"zero byte", calls(call("bash", `{"command":"a\u0000b"}`)), "a zero byte"},
		{"long command", scripted.Turn{Chunk: 1 << 14, Calls: []scripted.Call{call("bash", m{"command": strings.Repeat("x", 150_000)})}}, "no more than 100000"},
		{"negative time limit", calls(call("bash", `{"command":"ls","timeout_s":-1}`)), "is not a number of seconds"},
		{"unknown tool", calls(call("python", `{"code":"1"}`)), `there is no tool \"python\"; there are bash, plan and submit`},
		{"tool without a name", calls(call("", `{}`)), `there is no tool \"\"`},
		{"empty plan", calls(call("plan", `{}`)), "a plan has from 1 to 100 entries"},
		{"plan with a status of its own", calls(call("plan", `{"entries":[{"content":"x","status":"failed"}]}`)), `entry 1 has the status \"failed\"`},
		{"plan with a priority of its own", calls(call("plan", `{"entries":[{"content":"x","priority":"p0"}]}`)), `the priority \"p0\"`},
		{"plan without content", calls(call("plan", `{"entries":[{"status":"pending"}]}`)), "entry 1 has no content"},
		{"submit with a number", calls(call("submit", `{"path":1}`)), "the arguments of submit do not fit"},
		{"text alone", scripted.Turn{Text: "I am done."}, "Your reply called no tool"},
		{"empty", scripted.Turn{}, "Your reply was empty"},
		{"ten megabytes", scripted.Turn{Text: strings.Repeat("word ", 2<<20), Chunk: 1 << 16}, "Your reply was too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tr := newTrial(t, scripted.Turns(test.turn, write, finish))
			tr.ok(t)
			tr.told(t, 1, strings.ReplaceAll(test.told, `\"`, `"`))
			if got := tr.Commands(); len(got) != 1 {
				t.Errorf("commands %q", got)
			}
			if n := len(tr.server.Requests()[2].Body); n > 1<<20 {
				t.Errorf("the conversation carries on with %d bytes", n)
			}
		})
	}
}

func always(turn scripted.Turn) scripted.Script {
	return func(int, scripted.Request) scripted.Turn { return turn }
}

// What ends a run.
func TestRunsThatEnd(t *testing.T) {
	tests := []struct {
		name     string
		script   scripted.Script
		extra    string
		steps    int
		err      string
		requests int
	}{
		{"malformed replies", always(scripted.Turn{Calls: []scripted.Call{call("bash", `{"command`)}}), "", 0,
			"bash: the model gave 5 replies in a row with which nothing could be done; it was told last: Not executed: the arguments of bash", 5},
		{"as few as configured", always(scripted.Turn{}), `{"malformed":2}`, 0, "2 replies in a row", 2},
		{"never submits", always(scripted.Turn{Text: "It is done."}), "", 0, "it was told last: Your reply called no tool", 5},
		{"only plans", always(scripted.Turn{Calls: []scripted.Call{call("plan", `{"entries":["x"]}`)}}), "", 0,
			"10 replies in a row without running a command or submitting", 10},
		{"steps", always(shell("true")), "", 4, "bash: the step budget is spent", 4},
		{"steps within one reply", always(scripted.Turn{Calls: []scripted.Call{
			call("bash", m{"command": "true"}), call("bash", m{"command": "true"}), call("bash", m{"command": "true"})}}), "", 2,
			"bash: the step budget is spent", 1},
		{"key refused", always(scripted.Turn{Status: 401, Message: "no such key"}), "", 0, "refuses the key", 1},
		{"budget of the gateway", always(scripted.Turn{Status: 402, Body: `{"error":{"type":"budget_spent","code":"budget_spent","message":"spent"}}`}), "", 0, "budget is spent", 1},
		{"server down", always(scripted.Turn{Status: 500, Message: "broken"}), "", 0, "(6 attempts)", 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tr := newTrial(t, test.script)
			tr.extra, tr.Host.Steps = test.extra, test.steps
			err := tr.run(t)
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("the run ended with %v, want %q", err, test.err)
			}
			if got := len(tr.server.Requests()); got != test.requests {
				t.Errorf("%d requests, want %d", got, test.requests)
			}
		})
	}
}

// A good reply between bad ones begins the count anew.
func TestBadRepliesInARowOnly(t *testing.T) {
	bad := scripted.Turn{Text: "Hm."}
	tr := newTrial(t, scripted.Turns(bad, shell("true"), bad, bad, shell("true"), write, bad, finish))
	tr.extra = `{"malformed":3}`
	tr.ok(t)
}

// What goes wrong on the way and away again is noted.
func TestRetries(t *testing.T) {
	tr := newTrial(t, scripted.Turns(
		scripted.Turn{Status: http.StatusTooManyRequests, RetryAfter: "0.01"},
		scripted.Turn{Text: "half a rep", Cut: true},
		scripted.Turn{Text: "now", Calls: write.Calls},
		scripted.Turn{Calls: []scripted.Call{call("bash", m{"command": "echo never >out.txt"})}, Cut: true, Chunk: 8},
		scripted.Turn{Text: "x", StreamError: "overloaded"},
		finish))
	tr.ok(t)
	if len(tr.Notes) != 4 || !strings.HasPrefix(tr.Notes[0], "attempt 1 of 6: ") || !strings.Contains(tr.Notes[0], "limits the rate; next in 10ms") {
		t.Errorf("notes %q", tr.Notes)
	}
	if len(tr.Messages) != 1 || tr.Messages[0] != "now" {
		t.Errorf("messages %q", tr.Messages)
	}
	if got := tr.Commands(); len(got) != 1 {
		t.Errorf("commands %q", got)
	}
}

func TestEndOfTheRunDuringACall(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("a person stopped the run")
	tr := newTrial(t, func(int, scripted.Request) scripted.Turn {
		cancel(over)
		return scripted.Turn{Text: "…", Gate: make(chan struct{})}
	})
	c, err := llm.New(tr.model, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Run(ctx, &agents.Session{Task: tr.Task, Model: c, Host: tr.Host}); !errors.Is(err, over) {
		t.Errorf("the run ended with %v", err)
	}
}

// deny is a host whose person refuses some commands.
type deny struct {
	agents.Host
	text string
}

func (d deny) Run(ctx context.Context, a agents.Action) (agents.Observation, error) {
	if strings.Contains(a.Shell, d.text) {
		return agents.Observation{Denied: true, Text: "the data must stay"}, nil
	}
	return d.Host.Run(ctx, a)
}

func TestDenied(t *testing.T) {
	tr := newTrial(t, scripted.Turns(
		scripted.Turn{Calls: []scripted.Call{call("bash", m{"command": "rm -r data"}), call("bash", m{"command": "touch gone"})}},
		write, finish))
	tr.steps = deny{tr.Host, "rm -r"}
	tr.ok(t)
	tr.told(t, 1, "The person did not allow this: the data must stay")
	tr.told(t, 1, "(not executed, since the person refused the call before it)")
	if got := tr.Commands(); len(got) != 1 {
		t.Errorf("commands %q", got)
	}
}

// broken is a host that cannot start some commands.
type broken struct{ agents.Host }

func (b broken) Run(ctx context.Context, a agents.Action) (agents.Observation, error) {
	if strings.Contains(a.Shell, "huge") {
		return agents.Observation{}, errors.New("starting \"huge\": argument list too long")
	}
	return b.Host.Run(ctx, a)
}

func TestCommandThatCannotStart(t *testing.T) {
	tr := newTrial(t, scripted.Turns(shell("huge"), write, finish))
	tr.steps = broken{tr.Host}
	tr.ok(t)
	tr.told(t, 1, "Not executed: starting \"huge\": argument list too long")
}

// A key that a model says is not in what the agent records: see package llm.
func TestKeyIsNotSaid(t *testing.T) {
	const key = "sk-test-abcdef0123456789"
	tr := newTrial(t, scripted.Turns(
		scripted.Turn{Reasoning: "It is " + key, Text: "My key is " + key, Calls: []scripted.Call{call("bash", m{"command": "echo " + key + " >k"})}},
		write, finish))
	c, err := llm.New(tr.model, llm.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := agent.Run(ctx, &agents.Session{Task: tr.Task, Model: c, Host: tr.Host}); err != nil {
		t.Fatal(err)
	}
	said := strings.Join(append(append(tr.Commands(), tr.Messages...), tr.Thoughts...), "\n")
	if strings.Contains(said, key) || len(tr.Messages) != 1 {
		t.Errorf("said: %s", said)
	}
}
