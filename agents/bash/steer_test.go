//go:build unix

package bash

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
	"proctor/agents/llm/scripted"
	"proctor/agents/roster/agentstest"
)

func TestHints(t *testing.T) {
	var tr *trial
	tr = newTrial(t, func(n int, _ scripted.Request) scripted.Turn {
		if n == 1 { // in the middle of a call
			tr.Hint("h2", "mind the leak")
		}
		return []scripted.Turn{shell("true"), shell("true"), write, finish}[n]
	})
	tr.Host.Hint("h1", "try the cabin")
	tr.Before = func(n int, _ agents.Action) {
		if n == 2 { // in the middle of an action
			tr.Hint("h3", "be quick")
		}
	}
	tr.ok(t)
	tr.told(t, 0, "A person who is watching says: try the cabin")
	for n, text := range map[int]string{1: "mind the leak", 0: "be quick"} {
		if tr.server.Requests()[n].Contains(text) {
			t.Errorf("request %d says %q already", n, text)
		}
	}
	tr.told(t, 2, "A person who is watching says: mind the leak\n\nA person who is watching says: be quick")
	want := []agentstest.Reply{{ID: "h1", How: agents.Injected}, {ID: "h2", How: agents.Injected}, {ID: "h3", How: agents.Injected}}
	if diff := cmp.Diff(want, tr.Replies); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestInterrupt(t *testing.T) {
	var tr *trial
	gate := make(chan struct{}, 100)
	for range 4 { // the role, and the first words
		gate <- struct{}{}
	}
	var once sync.Once
	tr = newTrial(t, func(n int, _ scripted.Request) scripted.Turn {
		if n > 0 {
			return []scripted.Turn{{}, write, finish}[n]
		}
		return scripted.Turn{Text: "I will try something that takes very long", Chunk: 6, Gate: gate,
			Calls: []scripted.Call{call("bash", m{"command": "sleep 600"})},
			Sent: func(event string) {
				if len(gate) == 0 {
					once.Do(func() {
						tr.Hint("h1", "also this")
						tr.Interrupt("h2", "rather write yes")
					})
				}
			}}
	})
	tr.ok(t)
	tr.told(t, 1, "A person who is watching says: also this\n\nA person who is watching interrupted you and says: rather write yes")
	want := []agentstest.Reply{{ID: "h1", How: agents.Injected}, {ID: "h2", How: agents.Interrupted}}
	if diff := cmp.Diff(want, tr.Replies); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
	if got := tr.Commands(); len(got) != 1 {
		t.Errorf("commands %q", got)
	}
	if got := len(tr.server.Requests()); got != 3 {
		t.Errorf("%d requests", got)
	}
}
