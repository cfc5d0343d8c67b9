package e2e

import (
	"strings"
	"testing"

	"proctor/agents"
	"proctor/agents/llm/scripted"
	"proctor/runner/event"
)

// hears waits for the n-th model call, from 1, and checks that it tells the
// model something.
func hears(u *user, server *scripted.Server, n int, text string) {
	u.Helper()
	poll(u, "a model call", func() bool { return len(server.Requests()) >= n })
	if !server.Requests()[n-1].Contains(text) {
		u.Errorf("model call %d does not say %q:\n%s", n, text, server.Requests()[n-1].Body)
	}
}

// A person goes along with a model in the console in every way there is, and
// the model hears of each.
func TestSteerAModelInTheConsole(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	thinking, byHand := make(chan struct{}), make(chan struct{})
	server := u.withModel(func(n int, _ scripted.Request) scripted.Turn {
		turns := []scripted.Turn{
			bashCall("echo one"),
			bashCall("rm -rf data"),
			{Text: "I could go on like this for a long time.", Chunk: 4, Gate: thinking}, // for ever
			bashCall("echo 0.9 >out.txt; echo acc 0.9"),
			bashCall("echo two"),
			{Calls: []scripted.Call{{Name: "submit", Args: `{"path":"out.txt"}`}}},
		}
		if n == 4 {
			turns[n].Gate = byHand
		}
		return turns[n]
	})
	c := u.console("run", u.task(task{}), "--agent", "bash", "--model", "scripted", "--sandbox", u.anyBox(), "--approve")
	// A question that opens by itself takes no keys at first.
	asks := func(command string) {
		c.shows(command)
		c.shows("waiting")
	}
	c.shows("approve mode")
	asks("echo one")
	c.press("e")
	c.shows("run it")
	c.press(" # edited\r")
	hears(u, server, 2, "the person had this run instead of your command: echo one # edited")

	asks("rm -rf data")
	c.press("d")
	c.shows("why not")
	c.press("keep the data\r")
	hears(u, server, 3, "The person did not allow this: keep the data")

	c.press("h")
	c.shows("what should it know?")
	c.press("mind the clock\x18")
	hears(u, server, 4, "mind the clock")

	asks("echo 0.9")
	c.press("A")
	hears(u, server, 5, "acc 0.9")

	c.press("t")
	c.shows("you have the terminal")
	c.press("echo by $((40+2)) hands\r")
	c.shows("by 42 hands")
	c.press("\x1d")
	c.shows("t take over")
	close(byHand)
	hears(u, server, 6, "by 42 hands")

	c.shows("GRADED")
	s := u.newest().ends()
	if v := verdict(t, s); !v.Assisted || v.Hints != 1 || v.Takeovers != 1 || *v.Score != 0.9 {
		t.Errorf("verdict %+v", v)
	}
	if server.Dropped() != 1 || s.Hints[0].How != agents.Interrupted {
		t.Errorf("%d replies given up, hints %+v", server.Dropped(), s.Hints)
	}
	c.press("q")
	c.quits()
}

// In step mode every action waits for a word.
func TestStepThroughAModelsActions(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	server := u.withModel(scripted.Turns(bashCall("echo one"), bashCall("echo 0.9 >out.txt"),
		scripted.Turn{Calls: []scripted.Call{{Name: "submit", Args: `{}`}}}))
	c := u.console("run", u.task(task{}), "--agent", "bash", "--model", "scripted", "--sandbox", u.anyBox(), "--step")
	c.shows("one step done")
	r := u.newest()
	pausedAfter := func(steps int) {
		poll(u, "the run is paused", func() bool { s := r.state(); return s.Phase == event.Paused && s.Steps == steps })
	}
	pausedAfter(1)
	u.must("hint", r.ID(), "mind the step")
	c.press("p")
	pausedAfter(2)
	hears(u, server, 2, "mind the step")
	u.must("resume", r.ID())
	c.shows("GRADED")
	c.press("q")
	c.quits()
}

// What a model says while the run is frozen waits and arrives whole.
func TestFreezeDuringAStreamedReply(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const saying = "One two three four five six seven eight nine ten."
	gate := make(chan struct{})
	begun, sent := make(chan struct{}, 100), make(chan struct{})
	u.withModel(func(n int, _ scripted.Request) scripted.Turn {
		if n > 0 {
			return scripted.Turn{Calls: []scripted.Call{{Name: "submit", Args: `{}`}}}
		}
		turn := bashCall("echo 0.9 >out.txt")
		turn.Text, turn.Chunk, turn.Gate = saying, 4, gate
		turn.Sent = func(e string) {
			begun <- struct{}{}
			if strings.Contains(e, "[DONE]") {
				close(sent)
			}
		}
		return turn
	})
	r := u.run(u.task(task{}), "--agent", "bash", "--model", "scripted")
	for range 3 {
		gate <- struct{}{}
		<-begun
	}
	u.must("freeze", r.ID())
	close(gate)
	<-sent
	if got := only[event.Text](t, r.events(), event.TypeMessage); len(got) != 0 {
		t.Errorf("frozen, the run hears %v", got)
	}
	if s := r.state(); s.Phase != event.Paused || !s.Frozen {
		t.Errorf("the run is %s", s.Phase)
	}
	u.must("resume", r.ID())
	s := r.ends()
	if got := only[event.Text](t, r.events(), event.TypeMessage); len(got) == 0 || got[0].Text != saying {
		t.Errorf("the model said %q, the run heard %v", saying, got)
	}
	if v := verdict(t, s); *v.Score != 0.9 {
		t.Errorf("verdict %+v", v)
	}
}
