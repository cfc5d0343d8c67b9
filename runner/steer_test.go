package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"proctor/agents"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
)

func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

func attended(r *rundir.Request, _ *tasks.Task, _ *Settings) { r.Attended = true }

// thinking begins a run whose agent does nothing until thought is closed, and
// then hands in 0.5.
func thinking(t *testing.T) (l *live, thought chan struct{}) {
	thought = make(chan struct{})
	l = begin(t, func(ctx context.Context, s *agents.Session) error {
		<-thought
		return score(ctx, s, "0.5")
	}, attended)
	l.phase(event.Running)
	return l, thought
}

func TestQuestionToThePerson(t *testing.T) {
	t.Parallel()
	question := agents.Question{Kind: "approve", Text: "may I delete it?", Detail: "rm -rf data", Options: []string{"approve", "deny", "edit"}, Default: "deny"}
	got := make(chan agents.Answer, 2)
	ask := func(ctx context.Context, s *agents.Session) error {
		a, err := s.Ask(ctx, question)
		got <- a
		if err != nil {
			return err
		}
		return score(ctx, s, "0.5")
	}
	t.Run("attended", func(t *testing.T) {
		l := begin(t, ask, attended)
		s := l.until("it asks", func(s event.State) bool { return s.Ask != nil })
		if s.Phase != event.Waiting || s.Ask.Text != question.Text || s.Ask.Detail != question.Detail {
			t.Errorf("the run is %s and asks %+v", s.Phase, s.Ask)
		}
		l.refused(control.Command{Cmd: control.Answer, Ask: "q7", Choice: "deny"}, "q1")
		l.refused(control.Command{Cmd: control.Answer, Choice: "x"}, "choose one of")
		l.refused(control.Command{Cmd: control.Answer}, "empty")
		l.refused(control.Command{Cmd: control.Resume}, "q1")
		l.refused(control.Command{Cmd: control.Takeover}, "answer it first")
		time.Sleep(300 * time.Millisecond)
		l.must(control.Command{Cmd: control.Answer, Choice: "ed", Text: "rm data/old"})
		if a := <-got; a.Choice != "edit" || a.Text != "rm data/old" || a.Author != "tester" || a.Auto {
			t.Errorf("answer %+v", a)
		}
		if s := l.ends(); !s.Verdict.Assisted || s.Verdict.WorkingSeconds > s.Verdict.WallSeconds-0.25 {
			t.Errorf("verdict %+v", s.Verdict)
		}
	})
	t.Run("unattended", func(t *testing.T) {
		l := begin(t, ask)
		if a := <-got; a.Choice != "deny" || !a.Auto {
			t.Errorf("answer %+v", a)
		}
		if s := l.ends(); s.Ask != nil || s.Phase != event.Done {
			t.Errorf("the run is %s, asks %+v", s.Phase, s.Ask)
		}
	})
	t.Run("stopped meanwhile", func(t *testing.T) {
		l := begin(t, ask, attended)
		l.until("it asks", func(s event.State) bool { return s.Ask != nil })
		l.must(control.Command{Cmd: control.Stop})
		if s := l.ends(); s.Phase != event.Failed {
			t.Errorf("the run is %s", s.Phase)
		}
		<-got
	})
}

// With nothing going on a pause holds at once, and the clock with it.
func TestPauseBetweenActions(t *testing.T) {
	t.Parallel()
	thought := make(chan struct{})
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		<-thought
		return score(ctx, s, "0.5")
	})
	l.phase(event.Running)
	l.must(control.Command{Cmd: control.Pause})
	paused := l.state()
	if paused.Phase != event.Paused || paused.Frozen {
		t.Errorf("the run is %s, frozen: %v", paused.Phase, paused.Frozen)
	}
	close(thought)
	time.Sleep(300 * time.Millisecond)
	if s := l.state(); s.Steps != 0 || s.Work != paused.Work {
		t.Errorf("paused, %d steps, from %.3f to %.3f s", s.Steps, paused.Work, s.Work)
	}
	l.must(control.Command{Cmd: control.Resume})
	if s := l.ends(); *s.Verdict.Score != 0.5 || s.Verdict.Assisted {
		t.Errorf("verdict %+v", s.Verdict)
	}
}

// Several actions at once all finish before a pause.
func TestPauseWaitsForEveryAction(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() { s.Run(ctx, shell(fmt.Sprintf("while [ ! -e go%d ]; do sleep 0.02; done", i))) })
		}
		all.Wait()
		return score(ctx, s, "0.5")
	})
	l.until("three actions go on", func(s event.State) bool { return s.Steps == 3 })
	l.must(control.Command{Cmd: control.Pause})
	for i := range 3 {
		if s := l.state(); s.Phase != event.Running || !s.PausePending {
			t.Fatalf("with %d actions left the run is %s", 3-i, s.Phase)
		}
		if err := os.WriteFile(filepath.Join(l.Workspace(), fmt.Sprintf("go%d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		l.until("one has finished", func(s event.State) bool {
			done := 0
			for _, a := range s.Actions {
				if a.Finished != nil {
					done++
				}
			}
			return done == i+1
		})
	}
	l.phase(event.Paused)
	l.must(control.Command{Cmd: control.Resume})
	l.ends()
}

// An action's own time-out is in working time and no error.
func TestActionTimeout(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		a := shell("while :; do sleep 0.02; done")
		a.Timeout = 800 * time.Millisecond
		o, err := s.Run(ctx, a)
		if err != nil || !o.TimedOut || o.Seconds < 0.79 || o.Seconds > 20 {
			return errorf("out of time: %+v, %v", o, err)
		}
		return score(ctx, s, "0.5")
	})
	l.until("the action goes on", func(s event.State) bool { return s.Steps == 1 })
	l.must(control.Command{Cmd: control.Freeze})
	time.Sleep(time.Second)
	if s := l.state(); s.Actions[0].Finished != nil {
		t.Errorf("it ran out of time frozen: %+v", s.Actions[0].Finished)
	}
	l.must(control.Command{Cmd: control.Resume})
	s := l.ends()
	if notes := payloads[event.Note](t, l.Dir, event.TypeNote); len(notes) > 0 || *s.Verdict.Score != 0.5 {
		t.Errorf("notes %+v, verdict %+v", notes, s.Verdict)
	}
}

// A person may take the terminal: with nothing running they get a shell, and
// the agent waits.
func TestTakeover(t *testing.T) {
	t.Parallel()
	l, thought := thinking(t)
	l.refused(control.Command{Cmd: control.Input, Data: []byte("x")}, "take the terminal over")
	l.refused(control.Command{Cmd: control.Handback}, "not taken over")
	l.must(control.Command{Cmd: control.Takeover})
	l.must(control.Command{Cmd: control.Takeover}) // somebody else attached shares it
	close(thought)
	l.must(control.Command{Cmd: control.Resize, Cols: 91, Rows: 17})
	l.must(control.Command{Cmd: control.Input, Data: []byte("stty size >size; echo mine >by_hand\r")})
	l.wrote("by_hand")
	if size := l.wrote("size"); strings.TrimSpace(size) != "17 91" {
		t.Errorf("the terminal's size is %q", size)
	}
	if s := l.state(); s.Steps != 0 || !s.TakenOver {
		t.Errorf("%d steps, taken over: %v", s.Steps, s.TakenOver)
	}
	l.must(control.Command{Cmd: control.Handback})
	s := l.ends()
	if s.Verdict.Takeovers != 1 || !s.Verdict.Assisted || *s.Verdict.Score != 0.5 {
		t.Errorf("verdict %+v", s.Verdict)
	}
	cast, err := os.ReadFile(l.Cast())
	if err != nil || !strings.Contains(string(cast), `"r", "91x17"`) || !strings.Contains(string(cast), "by_hand") {
		t.Errorf("the recording lacks what was typed, %v", err)
	}
	for _, c := range []control.Command{{Cmd: control.Resize, Cols: -1, Rows: 3}, {Cmd: control.Resize, Cols: 5, Rows: 100000}} {
		if err := (&Run{}).resize(c.Cols, c.Rows); err == nil {
			t.Errorf("a terminal of %d×%d", c.Cols, c.Rows)
		}
	}
}

// A shell that the person leaves by itself hands the terminal back.
func TestTakeoverEndsWithItsShell(t *testing.T) {
	t.Parallel()
	l, thought := thinking(t)
	l.must(control.Command{Cmd: control.Pause})
	l.must(control.Command{Cmd: control.Takeover}) // ends the pause
	if s := l.state(); s.Phase != event.Running {
		t.Errorf("taken over, the run is %s", s.Phase)
	}
	close(thought)
	l.must(control.Command{Cmd: control.Input, Data: []byte("exit\r")})
	if s := l.ends(); *s.Verdict.Score != 0.5 || s.TakenOver {
		t.Errorf("verdict %+v", s.Verdict)
	}
}

// Handing the terminal back in a frozen run does not wait for the shell, which
// cannot end before the run is resumed.
func TestHandbackOfAFrozenRun(t *testing.T) {
	t.Parallel()
	l, thought := thinking(t)
	l.must(control.Command{Cmd: control.Takeover})
	l.must(control.Command{Cmd: control.Freeze})
	l.must(control.Command{Cmd: control.Handback})
	l.must(control.Command{Cmd: control.Resume})
	close(thought)
	if s := l.ends(); *s.Verdict.Score != 0.5 || s.TakenOver {
		t.Errorf("verdict %+v", s.Verdict)
	}
}

// The command that runs can be taken over too; what is typed reaches it.
func TestTakeoverOfACommand(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		_, err := s.Run(ctx, shell("echo ready >ready; read line; echo $line >out.txt"))
		return err
	}, attended)
	l.wrote("ready")
	for { // the command may be running a moment before it can be typed into
		_, err := l.do(control.Command{Cmd: control.Input, Data: []byte("0.9\r")})
		if err == nil {
			t.Fatal("the agent's terminal takes a person's keys")
		}
		if strings.Contains(err.Error(), "the agent's") {
			break
		}
	}
	l.must(control.Command{Cmd: control.Takeover})
	l.must(control.Command{Cmd: control.Input, Data: []byte("0.625\r")})
	l.do(control.Command{Cmd: control.Handback}) // the run may be over by now
	if s := l.ends(); *s.Verdict.Score != 0.625 || s.Verdict.Takeovers != 1 {
		t.Errorf("verdict %+v", s.Verdict)
	}
}

// Whatever comes over the socket, and whoever leaves it, the run goes on.
func TestCommandsAtOnce(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		for range 20 {
			if _, err := s.Run(ctx, shell("sleep 0.05")); err != nil {
				return err
			}
		}
		return score(ctx, s, "0.5")
	}, attended)
	l.phase(event.Running)
	socket, err := l.Socket()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, c := range []control.Command{
		{Cmd: control.Pause}, {Cmd: control.Freeze}, {Cmd: control.Resume}, {Cmd: control.Hint, Text: "x"}, {Cmd: "fly"},
		{Cmd: control.Takeover}, {Cmd: control.Handback}, {Cmd: control.Resize, Cols: 80, Rows: 24}, {Cmd: control.Input, Data: []byte("\r")},
		{Cmd: control.Extend, Budget: tasks.Budget{Steps: 1}}, {Cmd: control.Answer, Choice: "x"},
	} {
		all.Go(func() {
			for range 10 {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				reply, err := control.Do(ctx, socket, c)
				cancel()
				if err == nil == (reply.Error != "") {
					t.Errorf("%s: %+v, %v", c.Cmd, reply, err)
				}
			}
		})
	}
	all.Wait()
	for _, c := range []control.Name{control.Handback, control.Resume} {
		l.do(control.Command{Cmd: c}) // whichever of them is due
	}
	if s := l.ends(); s.Phase != event.Done || *s.Verdict.Score != 0.5 || len(s.Hints) != 10 || s.Unreadable != 0 {
		t.Errorf("the run is %s (%s), verdict %+v, %d hints", s.Phase, s.Reason, s.Verdict, len(s.Hints))
	}
}

// wrote waits until a file of the workspace has some text and returns it.
func (l *live) wrote(name string) string {
	l.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if data, err := os.ReadFile(filepath.Join(l.Workspace(), name)); err == nil && len(data) > 0 {
			return string(data)
		}
		if time.Now().After(deadline) {
			l.Fatalf("%s was never written", name)
		}
	}
}
