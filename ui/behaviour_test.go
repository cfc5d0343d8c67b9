package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"proctor/agents"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/runner/watch"
)

// A user sits before the real program: what it writes goes to a terminal
// emulator, and what the user types comes back from there.
type user struct {
	t       *testing.T
	backend *fake
	screen  *glass
	ahead   atomic.Int64 // how far the clock has been moved on
	tape    *tape
	fed     int
	done    chan struct{}
	bye     string
	err     error
}

// A glass is the user's terminal: the emulator, and the line on which keys and
// the emulator's answers go to the program.
type glass struct {
	*terminal.Terminal
	line chan []byte
}

func (g *glass) Write(p []byte) (int, error) {
	n, err := g.Terminal.Write(p)
	if answer := g.Replies(); len(answer) > 0 {
		g.line <- answer
	}
	return n, err
}

func (g *glass) String() string {
	_, rows := g.Size()
	return strings.Join(g.Text(g.Lines()-rows, rows), "\n")
}

// sit starts the program before a user.
func sit(t *testing.T, first First, prepare ...func(*fake)) *user {
	const w, h = 120, 40
	u := &user{t: t, backend: newFake(), done: make(chan struct{})}
	for _, p := range prepare {
		p(u.backend)
	}
	// What is not a tty gets bare line feeds.
	u.screen = &glass{terminal.New(w, h, terminal.WithLineFeedNewLine()), make(chan []byte, 1024)}
	in, out := io.Pipe()
	go func() {
		for keys := range u.screen.line {
			if _, err := out.Write(keys); err != nil {
				return // the program has ended
			}
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	start := time.Now()
	clock := func() time.Time { return epoch.Add(time.Since(start) + time.Duration(u.ahead.Load())) }
	go func() {
		defer close(u.done)
		u.bye, u.err = Run(ctx, u.backend, first, WithClock(clock), WithProgram(
			tea.WithInput(in), tea.WithOutput(u.screen), tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.TrueColor),
			tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals(),
		))
	}()
	t.Cleanup(func() {
		cancel()
		in.Close()
		defer close(u.screen.line)
		select {
		case <-u.done:
		case <-time.After(20 * time.Second):
			t.Error("the program does not end")
		}
	})
	return u
}

// eventually waits until something is so.
func (u *user) eventually(what string, so func() bool) {
	u.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !so() {
		if time.Now().After(deadline) {
			u.t.Fatalf("never: %s\nthe screen:\n%s", what, u.screen.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (u *user) sees(text string) {
	u.t.Helper()
	u.eventually("sees "+text, func() bool { return strings.Contains(u.screen.String(), text) })
}

func (u *user) seesNoMore(text string) {
	u.t.Helper()
	u.eventually("sees no more "+text, func() bool { return !strings.Contains(u.screen.String(), text) })
}

func (u *user) types(keys string) { u.screen.line <- []byte(keys) }

// moves the clock on.
func (u *user) waits(d time.Duration) { u.ahead.Add(int64(d)) }

// plays hands the program what has happened in the run since the last time.
func (u *user) plays(p *tape) {
	b := watch.Batch{Alive: true}
	if u.tape != p {
		u.tape, u.fed = p, 0
		b.State = &event.State{}
	}
	b.Events = p.events[u.fed:]
	u.fed = len(p.events)
	u.backend.source.batches <- b
}

// commanded waits for a command and returns it.
func (u *user) commanded(name control.Name) control.Command {
	u.t.Helper()
	var found control.Command
	u.eventually("the command "+string(name), func() bool {
		for _, c := range u.backend.sent() {
			if c.Cmd == name {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

func (u *user) leaves() {
	u.t.Helper()
	select {
	case <-u.done:
	case <-time.After(20 * time.Second):
		u.t.Fatal("the program goes on")
	}
	if u.err != nil {
		u.t.Fatal(u.err)
	}
}

func TestPickATaskByAFewLettersAndStart(t *testing.T) {
	u := sit(t, First{})
	u.sees("Classify")
	u.types("/diab")
	u.sees("Disease progression")
	u.types("\r") // keeps the match
	u.sees("enter start")
	u.sees("--agent search")
	u.types("\r")
	u.sees("CONNECTING")
	u.plays(running(t))
	u.sees("RUNNING")
	u.sees("rung 3: the best 4")
	if s := u.backend.started[0]; s.Task != "builtin/diabetes" || s.Agent != "search" || s.Sandbox != "bwrap" || s.Budget.Time != 2*time.Minute {
		t.Errorf("started %+v", s)
	}
}

func TestTheBudgetIsTypedAndTurned(t *testing.T) {
	u := sit(t, First{})
	u.sees("--agent search")
	u.types("5")   // to the budget
	u.types("90s") // typed
	u.sees("--time 1m30s")
	u.types("\x1b[B\x1b[C") // steps, one more notch than 40
	u.sees("--steps 50")
	u.types("\r")
	u.sees("CONNECTING")
	if b := u.backend.started[0].Budget; b.Time != 90*time.Second || b.Steps != 50 {
		t.Errorf("started with %+v", b)
	}
}

func TestARefusedStartIsSaidWhereItBelongs(t *testing.T) {
	u := sit(t, First{}, func(f *fake) { f.refuse = errors.New("starting the run: no space left on device") })
	u.sees("--agent search")
	u.types("\r")
	u.sees("✗ starting the run: no space left on device")
}

func TestAnAgentThatCannotRunSaysWhy(t *testing.T) {
	u := sit(t, First{})
	u.sees("--agent search")
	u.types("3GG\r")
	u.sees("✗ rerun: needs a run")
	if len(u.backend.started) != 0 {
		t.Error("it was started all the same")
	}
}

func TestHint(t *testing.T) {
	u := sit(t, First{Run: runID})
	u.plays(running(t))
	u.sees("RUNNING")
	u.types("h")
	u.sees("⚑ Hint")
	u.types("try\x0alr<0.1")
	u.sees("lr<0.1")
	u.types("\r")
	if c := u.commanded(control.Hint); c.Text != "try\nlr<0.1" {
		t.Errorf("the hint is %q", c.Text)
	}
	u.sees("hint sent")
}

func TestAKeyInFlightDoesNotAnswerAQuestion(t *testing.T) {
	s := newStage(t, First{}, 120, 40)
	p := searched(t, 9).phase(event.Running, event.Waiting, event.StateChange{})
	p.emit(event.TypeAsk, event.Ask{ID: "q1", Kind: "approve", Text: "delete the checkpoints?", Options: []string{"approve", "deny"}, Default: "approve"})
	s.watch(p, "", true)
	for range 3 { // each within the quiet time of the one before
		s.now = s.now.Add(300 * time.Millisecond)
		s.keys("enter")
		if !strings.Contains(s.m.View().Content, "May it do this?") {
			t.Fatal("a key in flight answered the question")
		}
	}
	s.now = s.now.Add(500 * time.Millisecond)
	s.keys("right", "enter", "n", "o") // denied, and why
	_, cmd := s.m.Update(press("enter"))
	perform(cmd)
	if sent := s.m.backend.(*fake).sent(); len(sent) != 1 || sent[0].Choice != "deny" || sent[0].Text != "no" || sent[0].Ask != "q1" {
		t.Errorf("sent %+v", sent)
	}
}

func TestAnActionIsAnsweredByItsLetters(t *testing.T) {
	options := []string{"approve", "deny", "approve all", "edit"}
	for keys, want := range map[string]control.Command{
		"a":             {Choice: "approve"},
		"\r":            {Choice: "approve"},
		"A":             {Choice: "approve all"},
		"3":             {Choice: "approve all"},
		"d\r":           {Choice: "deny"},
		"dno\r":         {Choice: "deny", Text: "no"},
		"e -n\r":        {Choice: "edit", Text: "rm x -n"},
		"zz\x1b[C\ra\r": {Choice: "deny", Text: "a"},
	} {
		t.Run(keys, func(t *testing.T) {
			u := sit(t, First{Run: runID})
			p := running(t).phase(event.Running, event.Waiting, event.StateChange{})
			p.emit(event.TypeAsk, event.Ask{ID: "q1", Kind: "approve", Text: "may it?", Detail: "rm x", Options: options, Default: "deny"})
			u.plays(p)
			u.sees("May it do this?")
			u.ahead.Add(int64(3 * time.Second)) // no key is in flight any more
			u.types(keys)
			if c := u.commanded(control.Answer); c.Choice != want.Choice || c.Text != want.Text {
				t.Errorf("answered %q %q", c.Choice, c.Text)
			}
		})
	}
}

func TestAHintMayInterrupt(t *testing.T) {
	u := sit(t, First{Run: runID})
	p := running(t)
	started := p.state().Run
	started.Model = "sonnet"
	p.emit(event.TypeRunStarted, started).phase(event.Preparing, event.Running, event.StateChange{})
	u.plays(p)
	u.sees("sonnet")
	u.types("h")
	u.sees("interrupt it")
	u.types("stop\x18")
	if c := u.commanded(control.Hint); c.Text != "stop" || !c.Interrupt {
		t.Errorf("the hint is %+v", c)
	}
}

// perform runs a command and all that it is made of.
func perform(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if batch, ok := cmd().(tea.BatchMsg); ok {
		for _, c := range batch {
			perform(c)
		}
	}
}

func TestAQuestionThatWasAnsweredElsewhereGoesAway(t *testing.T) {
	u := sit(t, First{Run: runID})
	p := running(t).phase(event.Running, event.Waiting, event.StateChange{})
	p.emit(event.TypeAsk, event.Ask{ID: "q1", Kind: "question", Text: "which metric?", Options: []string{"a", "b"}})
	u.plays(p)
	u.sees("The agent asks")
	u.plays(p.emit(event.TypeAnswer, event.Answer{ID: "q1", Choice: "a"}).phase(event.Waiting, event.Running, event.StateChange{}))
	u.seesNoMore("The agent asks")
}

func TestTakeOverTypesEverythingInOrder(t *testing.T) {
	u := sit(t, First{Run: runID})
	p := running(t)
	u.plays(p)
	u.sees("RUNNING")
	u.types("t")
	u.commanded(control.Takeover)
	u.plays(p.emit(event.TypeTakeover, event.Takeover{On: true, Author: "ada"}))
	u.sees("you have the terminal")
	if c := u.commanded(control.Resize); c.Cols != 80 || c.Rows < 20 {
		t.Errorf("resized to %d×%d", c.Cols, c.Rows)
	}
	u.types("lS q\x1b[A\x03\r")
	u.types("\x1b[200~two\nlines\x1b[201~")
	u.eventually("everything typed", func() bool { return typed(u.backend) == "lS q\x1b[A\x03\rtwo\rlines" })
	u.types("\x1d")
	u.commanded(control.Handback)
	u.plays(p.emit(event.TypeTakeover, event.Takeover{Author: "ada"}))
	u.seesNoMore("you have the terminal")
}

func typed(f *fake) string {
	var b strings.Builder
	for _, c := range f.sent() {
		b.Write(c.Data)
	}
	return b.String()
}

func TestPauseFreezeAndResume(t *testing.T) {
	u := sit(t, First{Run: runID})
	p := running(t)
	u.plays(p)
	u.sees("RUNNING")
	u.types("P")
	u.commanded(control.Freeze)
	u.plays(p.phase(event.Running, event.Paused, event.StateChange{Frozen: true, Actor: "ada"}))
	u.sees("frozen by ada, holding 71 MiB of memory")
	u.types("P")
	u.commanded(control.Resume)
}

func TestStoppingAsksAndCancelIsPicked(t *testing.T) {
	u := sit(t, First{Run: runID})
	u.plays(running(t))
	u.sees("RUNNING")
	u.types("x")
	u.sees("Stop the run")
	u.types("\r")
	u.seesNoMore("Stop the run")
	if n := len(u.backend.sent()); n != 0 {
		t.Fatal("enter alone stopped the run")
	}
	u.types("xy")
	u.commanded(control.Stop)
}

func TestExtend(t *testing.T) {
	u := sit(t, First{Run: runID})
	u.plays(running(t))
	u.sees("RUNNING")
	u.types("e")
	u.sees("+10 min")
	u.types("2")
	if c := u.commanded(control.Extend); c.Budget.Time != 10*time.Minute {
		t.Errorf("extended by %+v", c.Budget)
	}
}

func TestLeavingSaysHowToComeBack(t *testing.T) {
	u := sit(t, First{Run: runID})
	u.plays(running(t))
	u.sees("RUNNING")
	u.types("q")
	u.leaves()
	if want := "run " + runID + " goes on; come back with: proctor attach " + runID; u.bye != want {
		t.Errorf("said %q, want %q", u.bye, want)
	}
	if !u.backend.source.closed {
		t.Error("the source was not closed")
	}
	if n := len(u.backend.sent()); n != 0 {
		t.Errorf("leaving sent %d commands to the run", n)
	}
}

func TestTheVerdictFollowsTheRun(t *testing.T) {
	u := sit(t, First{Run: runID})
	p := running(t)
	u.plays(p)
	u.sees("RUNNING")
	p.end("a12", 0, 4, "").emit(event.TypeVerdict, gold()).phase(event.Grading, event.Done, event.StateChange{})
	u.waits(time.Minute)
	u.plays(p)
	u.sees("the verdict is there")
	u.sees("Standing")
	u.types("v")
	u.sees("Actions")
	u.types("v")
	u.sees("rank 1 of 5")
	u.types("q")
	u.leaves()
	if !strings.Contains(u.bye, "gold") {
		t.Errorf("said %q", u.bye)
	}
}

func TestARunThatIsOverOpensOnItsVerdict(t *testing.T) {
	u := sit(t, First{Run: runID})
	u.plays(graded(t, gold()))
	u.sees("rank 1 of 5")
	u.types("n")
	u.sees("new run")
}

func TestReplayIsSteeredAndTheRunIsNot(t *testing.T) {
	u := sit(t, First{Run: runID, Replay: true})
	p := running(t)
	u.backend.source.batches <- watch.Batch{State: p.state(), Now: p.wall, Replay: &watch.Progress{At: 1, Total: 80, Speed: 1}}
	u.sees("replay  1×")
	u.types("++")
	u.eventually("a faster replay", func() bool {
		u.backend.source.mu.Lock()
		defer u.backend.source.mu.Unlock()
		speeds := u.backend.source.speeds
		return len(speeds) == 2 && speeds[0] == 2 && speeds[1] == 4
	})
	u.types(" ")
	u.eventually("a halted replay", func() bool {
		u.backend.source.mu.Lock()
		defer u.backend.source.mu.Unlock()
		return u.backend.source.halts == 1
	})
	u.types("x")
	u.sees("this is a replay: nothing can be steered")
	if n := len(u.backend.sent()); n != 0 {
		t.Errorf("%d commands were sent", n)
	}
}

func TestRunsAreListedAndOpened(t *testing.T) {
	u := sit(t, First{Runs: true})
	u.sees("invalid submission")
	u.types("/speed paused\r")
	u.sees("1 of 1")
	u.types("\r")
	u.plays(running(t))
	u.sees("RUNNING")
}

func TestADeadSupervisorIsSaidPlainly(t *testing.T) {
	u := sit(t, First{Run: runID})
	p := running(t)
	u.plays(p)
	u.sees("RUNNING")
	u.backend.source.batches <- watch.Batch{}
	u.sees("INTERRUPTED")
	u.sees("proctor grade " + runID)
}

func TestFindGoesToWhatIsLookedFor(t *testing.T) {
	u := sit(t, First{Run: runID})
	u.plays(running(t))
	u.sees("RUNNING")
	u.types("/mlp looks\r")
	u.sees("G follows")
	u.types("\r")
	u.sees("hint by ada")
	u.types("\x1b")
	u.seesNoMore("hint by ada")
	u.types("/nowhere\r")
	u.sees(`no "nowhere" in Actions`)
}

func TestWhatAnAgentSaysCannotReachTheTerminal(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;aGk=\x07\x1b[?1049lfine\r\n\t\u202eback\x9b31m\xff"
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {40, 12}} {
		s := newStage(t, First{}, size[0], size[1])
		p := newTape(t)
		p.emit(event.TypeRunStarted, event.RunStarted{
			ID: runID, Agent: evil, Model: evil, Sandbox: evil, Isolation: []string{evil, evil},
			Task: event.TaskInfo{Ref: evil, Title: evil, Metric: evil, Unit: evil},
		}).phase(event.Preparing, event.Running, event.StateChange{Reason: evil, Actor: evil})
		p.emit(event.TypePlan, event.Plan{Entries: []agents.PlanEntry{{Content: evil, Status: agents.InProgress}}})
		p.emit(event.TypeMessage, event.Text{Text: evil}).emit(event.TypeNote, event.Note{Level: "error", Text: evil})
		id := p.begin(evil, evil)
		p.end(id, 1, 1, evil).emit(event.TypeHint, event.Hint{ID: "h", Text: evil, Author: evil})
		p.emit(event.TypeHintDelivered, event.HintDelivered{ID: "h", How: evil, Reply: evil})
		p.phase(event.Running, event.Waiting, event.StateChange{})
		p.emit(event.TypeAsk, event.Ask{ID: "q", Text: evil, Detail: evil, Options: []string{evil, "edit"}})
		s.watch(p, evil, true)
		check := func() {
			t.Helper()
			s.m.stale = true
			v := s.m.View()
			wellFormed(t, v.Content, size[0], size[1])
			onlyColours(t, v.Content)
			onlyColours(t, v.WindowTitle)
		}
		check()
		s.now = s.now.Add(3 * time.Second)
		for _, key := range []string{"esc", "1", "2", "3", "4", "5", "6", "2", "k", "k", "enter"} {
			s.keys(key)
			check()
		}
		v := gold()
		v.Reason, v.Remedy, v.Flags, v.Metric, v.Unit, v.Medal, v.Grader, v.Status = evil, evil, []string{evil}, evil, evil, evil, evil, evil
		s.keys("esc")
		p.emit(event.TypeVerdict, v)
		s.batch(watch.Batch{Events: p.events[len(p.events)-1:], Alive: true})
		s.keys("v")
		check()
	}
}

// onlyColours fails on any control character but line feeds, and on any
// escape sequence but SGR.
func onlyColours(t testing.TB, text string) {
	t.Helper()
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\x1b':
			end := strings.IndexByte(text[i:], 'm')
			if end < 0 || strings.Trim(text[i+1:i+end], "[0123456789;:") != "" {
				t.Fatalf("an escape sequence got through: %q", text[i:min(i+20, len(text))])
			}
			i += end
		case c < 0x20 && c != '\n', c == 0x7f:
			t.Fatalf("a control character got through: %q", text[max(0, i-10):min(i+10, len(text))])
		}
	}
	if strings.ContainsAny(text, "\u202e\u009b\u0085") {
		t.Fatal("an invisible control got through")
	}
}
