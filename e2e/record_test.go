package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"proctor/runner/cast"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
)

// A run is one that a test looks at from outside.
type run struct {
	*user
	rundir.Dir
}

// run starts a run that goes on by itself.
func (u *user) run(taskDir string, args ...string) run {
	u.Helper()
	args = append([]string{"run", taskDir, "--agent", "baseline", "--detach", "--json"}, u.withBox(args)...) // a later flag wins
	made := parse[struct{ ID, Dir string }](u, u.must(args...))
	return run{u, rundir.At(made.Dir)}
}

// headless runs a task to its end and returns how the command ended and the
// run's events as it printed them.
func (u *user) headless(taskDir string, args ...string) (result, []event.Event) {
	u.Helper()
	r := u.proctor(append([]string{"run", taskDir, "--agent", "baseline", "--headless", "--json"}, u.withBox(args)...)...)
	return r, parseEvents(u, r.out)
}

// withBox adds a sandbox to a command line that names none.
func (u *user) withBox(args []string) []string {
	for _, a := range args {
		if a == "--sandbox" {
			return args
		}
	}
	return append(args, "--sandbox", u.anyBox())
}

// newest is the run that was started last.
func (u *user) newest() run {
	u.Helper()
	ids, err := u.store().IDs()
	if err != nil || len(ids) == 0 {
		u.Fatalf("no run: %v", err)
	}
	return run{u, rundir.At(u.store().Root() + "/" + ids[0])}
}

// parseEvents reads lines of events and checks that their numbers have no
// gaps.
func parseEvents(t testing.TB, text string) []event.Event {
	t.Helper()
	var all []event.Event
	for line := range strings.Lines(text) {
		e := parse[event.Event](t, line)
		if want := uint64(len(all) + 1); e.Seq != want {
			t.Fatalf("event %d has the number %d: %s", want, e.Seq, line)
		}
		if e.At.IsZero() || e.Type == "" {
			t.Fatalf("an event without a time or a type: %s", line)
		}
		all = append(all, e)
	}
	return all
}

// events reads the log as it is now, without a torn last line.
func (r run) events() []event.Event {
	r.Helper()
	text := read(r.Events())
	return parseEvents(r, text[:strings.LastIndexByte(text, '\n')+1])
}

// state folds the log as it is now.
func (r run) state() *event.State {
	r.Helper()
	return fold(r.events())
}

func fold(events []event.Event) *event.State {
	s := new(event.State)
	for _, e := range events {
		s.Apply(e)
	}
	return s
}

// reaches waits until the run is in a phase.
func (r run) reaches(phase event.Phase) *event.State {
	r.Helper()
	var s *event.State
	poll(r, "the run is "+string(phase), func() bool {
		s = r.state()
		if s.Phase != phase && s.Phase.Over() {
			r.Fatalf("the run is %s: %s", s.Phase, s.Reason)
		}
		return s.Phase == phase
	})
	return s
}

// ends waits until the supervisor has ended and returns the final state.
func (r run) ends() *event.State {
	r.Helper()
	poll(r, "the run ends", func() bool { return !r.Alive() })
	return r.state()
}

// kill ends the supervisor the hard way and returns once it is gone.
func (r run) kill() {
	r.Helper()
	pid := supervisor(r.Dir)
	if pid == 0 {
		r.Fatal("the run has no supervisor to be killed")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		r.Fatal(err)
	}
	poll(r, "the killed supervisor is gone", func() bool { return !r.Alive() })
}

// wrote waits until a file of the workspace has some text and returns it.
func (r run) wrote(name string) string {
	r.Helper()
	path := r.Workspace() + "/" + name
	poll(r, name+" has been written", func() bool { return read(path) != "" })
	return read(path)
}

// verdict returns a finished run's verdict.
func verdict(t testing.TB, s *event.State) tasks.Verdict {
	t.Helper()
	if s.Verdict == nil {
		t.Fatalf("no verdict: the run is %s, %s", s.Phase, s.Reason)
	}
	return *s.Verdict
}

// types lists what kinds of events there are, in order.
func types(events []event.Event) []event.Type {
	var all []event.Type
	for _, e := range events {
		all = append(all, e.Type)
	}
	return all
}

// only returns the payloads of one type of event.
func only[T any](t testing.TB, events []event.Event, kind event.Type) []T {
	t.Helper()
	var all []T
	for _, e := range events {
		if e.Type != kind {
			continue
		}
		v, err := event.Decode[T](e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// probeBoxes asks the program which sandboxes work.
func probeBoxes() (map[string]string, error) {
	home, err := os.MkdirTemp("", "pe")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	cmd := exec.Command(program, "doctor", "--json")
	cmd.Env = (&user{root: home}).env()
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var findings []struct {
		What, Say string
		OK        bool
	}
	if err := json.Unmarshal(out, &findings); err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for _, f := range findings {
		if name, ok := strings.CutPrefix(f.What, "sandbox "); ok {
			if reasons[name] = f.Say; f.OK {
				reasons[name] = ""
			}
		}
	}
	return reasons, nil
}

// within reports whether something holds before a time has passed.
func within(d time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(d); ; time.Sleep(3 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// processes returns those of this machine that belong to the run's
// sandbox: those whose command line has a word, and whose working directory
// is the run's workspace however that is seen inside.
func (r run) processes(word string) []int {
	r.Helper()
	return processesIn(r.Workspace(), word)
}

// castOutput returns everything that a recording says was shown.
func castOutput(t testing.TB, text string) string {
	t.Helper()
	header, rest, _ := strings.Cut(text, "\n")
	if h, err := cast.ParseHeader([]byte(header)); err != nil || h.Term.Cols == 0 {
		t.Fatalf("header %+v, %v", h, err)
	}
	var out strings.Builder
	for line := range strings.Lines(rest) {
		e, ok := cast.ParseEvent([]byte(line))
		if !ok {
			t.Fatalf("not an event of a recording: %.200q", line)
		}
		if e.Code == cast.CodeOutput {
			out.WriteString(e.Data)
		}
	}
	return out.String()
}
