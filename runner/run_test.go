package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"proctor/agents"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/sandbox"
	"proctor/runner/sandbox/kinds"
	"proctor/tasks"
)

// A script is an agent that a test writes as a function.
type script func(ctx context.Context, s *agents.Session) error

func (f script) Run(ctx context.Context, s *agents.Session) error { return f(ctx, s) }

// A live run has its supervisor in the test's own process.
type live struct {
	testing.TB
	rundir.Dir
	parts Parts
	set   Settings
	done  chan error
	box   chan sandbox.Sandbox // the agent's, when it has been opened
}

// numberGrader takes the number in out.txt for the score.
type numberGrader struct{}

func (numberGrader) Grade(_ context.Context, s tasks.Submission, _ tasks.Bench) (*tasks.Verdict, error) {
	v := &tasks.Verdict{Status: tasks.NoSubmission, Metric: "accuracy", HigherIsBetter: true}
	data, err := os.ReadFile(filepath.Join(s.Dir, "out.txt"))
	if err != nil {
		return v, nil
	}
	score, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	if err != nil {
		v.Status, v.Reason = tasks.InvalidSubmission, err.Error()
		return v, nil
	}
	v.Status, v.Score, v.Valid = tasks.Graded, &score, true
	return v, nil
}

// begin starts a run of an agent; the options change what is asked for.
func begin(t testing.TB, agent script, options ...func(*rundir.Request, *tasks.Task, *Settings)) *live {
	t.Helper()
	task := &tasks.Task{
		Ref: "test/task", Name: "task", Outputs: []string{"out.txt"}, Grader: numberGrader{},
		Metric: tasks.Metric{Name: "accuracy", HigherIsBetter: true, Pattern: regexp.MustCompile(`acc ([0-9.]+)`)},
	}
	req := rundir.Request{ID: "20261121-000000-task-script-0001", Task: task.Ref, Agent: "script", Sandbox: "auto", Soft: 0.8, OnSoft: "continue", GPUs: "none"}
	l := &live{
		TB: t, done: make(chan error, 1), box: make(chan sandbox.Sandbox, 1),
		set: Settings{
			Cols: 100, Rows: 30, RecordingLimit: 64 << 20, ObservationHead: 6 << 10, ObservationTail: 6 << 10,
			Sample: 100 * time.Millisecond, StopGrace: 5 * time.Second, GraderTime: time.Minute,
			OutputBytes: 1 << 20, OutputFiles: 100,
		},
	}
	for _, change := range options {
		change(&req, task, &l.set)
	}
	l.parts = Parts{
		OpenTask: func(context.Context, string) (*tasks.Task, error) { return task, nil },
		FindAgent: func(string) (agents.Kind, agents.Options, error) {
			return agents.Kind{
				Name: "script", NoModel: true,
				Check: func(context.Context, *tasks.Task, agents.Options) []string { return nil },
				New:   func(agents.Options) (agents.Agent, error) { return agent, nil },
			}, agents.Options{}, nil
		},
		PickSandbox: l.pick,
	}
	var err error
	if l.Dir, err = rundir.NewStore(t.TempDir()).Create(req); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { l.done <- Supervise(ctx, l.Dir, l.parts, l.set) })
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	return l
}

// pick takes the best sandbox that works here and keeps the first that is
// opened: the agent's.
func (l *live) pick(ctx context.Context, name string) (sandbox.Kind, error) {
	kind, err := kinds.Pick(ctx, name)
	if err != nil {
		kind, err = kinds.Pick(ctx, kinds.None)
	}
	open := kind.Open
	kind.Open = func(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
		box, err := open(ctx, s)
		if err == nil {
			select {
			case l.box <- box:
			default:
			}
		}
		return box, err
	}
	return kind, err
}

// ends waits for the supervisor and returns the final state.
func (l *live) ends() event.State {
	l.Helper()
	select {
	case err := <-l.done:
		if err != nil {
			l.Fatal(err)
		}
	case <-time.After(time.Minute):
		l.Fatal("the run does not end")
	}
	return l.state()
}

func (l *live) state() event.State {
	l.Helper()
	s, err := Summary(l.Dir)
	if err != nil {
		l.Fatal(err)
	}
	return s
}

// until waits until the record says something.
func (l *live) until(what string, holds func(event.State) bool) event.State {
	l.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if s, err := Summary(l.Dir); err == nil && holds(s) {
			return s
		}
		if time.Now().After(deadline) {
			l.Fatalf("never happened: %s", what)
		}
	}
}

func (l *live) phase(p event.Phase) event.State {
	l.Helper()
	return l.until("the run is "+string(p), func(s event.State) bool { return s.Phase == p })
}

// do sends a command as a viewer does.
func (l *live) do(c control.Command) (control.Reply, error) {
	l.Helper()
	socket, err := l.Socket()
	if err != nil {
		l.Fatal(err)
	}
	c.Author = "tester"
	return control.Do(context.Background(), socket, c)
}

func (l *live) must(c control.Command) control.Reply {
	l.Helper()
	reply, err := l.do(c)
	if err != nil {
		l.Fatal(err)
	}
	return reply
}

func (l *live) refused(c control.Command, why string) {
	l.Helper()
	if _, err := l.do(c); err == nil || !strings.Contains(err.Error(), why) {
		l.Errorf("%s: %v, want it refused with %q", c.Cmd, err, why)
	}
}

// notes are the texts of a kind of event.
func payloads[T any](t testing.TB, d rundir.Dir, kind event.Type) []T {
	t.Helper()
	file, err := os.Open(d.Events())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []T
	for r := event.NewReader(file, 0); ; {
		e, err := r.Next()
		if err != nil {
			return all
		}
		if e.Type != kind {
			continue
		}
		v, err := event.Decode[T](e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

func shell(line string) agents.Action {
	return agents.Action{Kind: agents.Execute, Title: line, Shell: line}
}

// score is an agent's whole work.
func score(ctx context.Context, s *agents.Session, value string) error {
	_, err := s.Run(ctx, shell("echo acc "+value+"; echo "+value+" >out.txt"))
	return err
}

func TestRunFromStartToVerdict(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		s.Plan([]agents.PlanEntry{{Content: "try", Priority: "high", Status: agents.InProgress}})
		s.Thought("hm \x1b[2J")
		s.Metric(agents.Metric{Name: "accuracy", Value: 0.99, Source: agents.Claimed})
		if err := s.WriteFile("dir/note.txt", []byte("kept")); err != nil {
			return err
		}
		o, err := s.Run(ctx, agents.Action{Kind: agents.Execute, Title: "look", Argv: []string{"cat", "note.txt"}, Dir: "dir", Env: []string{"X=1"}})
		if err != nil || strings.TrimSpace(o.Text) != "kept" || o.ExitCode != 0 {
			return errorf("cat: %+v, %v", o, err)
		}
		if data, err := s.ReadFile("dir/note.txt", 2); err != nil || string(data) != "ke" {
			return errorf("read %q, %v", data, err)
		}
		o, err = s.Run(ctx, shell("exit 7"))
		if err != nil || o.ExitCode != 7 {
			return errorf("exit 7: %+v, %v", o, err)
		}
		return score(ctx, s, "0.5")
	})
	s := l.ends()
	if s.Phase != event.Done || *s.Verdict.Score != 0.5 || s.Verdict.Steps != 3 || s.Ended.Status != string(tasks.Graded) {
		t.Errorf("the run is %s (%s), verdict %+v", s.Phase, s.Reason, s.Verdict)
	}
	if notes := payloads[event.Note](t, l.Dir, event.TypeNote); len(notes) > 0 {
		t.Errorf("the agent complains: %+v", notes)
	}
	if *s.Best != 0.99 || s.Plan[0].Content != "try" {
		t.Errorf("best %v, plan %+v", *s.Best, s.Plan)
	}
	var k event.Keyframe
	data, err := os.ReadFile(l.Keyframe())
	if err != nil || json.Unmarshal(data, &k) != nil || k.State == nil || k.State.Phase != event.Done {
		t.Errorf("the last keyframe: %v", err)
	}
}

// A limit on steps holds whatever the agent thinks of it.
func TestHardLimitOnSteps(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		for {
			if err := score(ctx, s, "0.5"); err != nil {
				return err
			}
		}
	}, func(r *rundir.Request, _ *tasks.Task, _ *Settings) { r.Budget.Steps = 3 })
	s := l.ends()
	if s.Steps != 3 || s.Phase != event.Done || *s.Verdict.Score != 0.5 {
		t.Errorf("%d steps, the run is %s, verdict %+v", s.Steps, s.Phase, s.Verdict)
	}
	last := s.Fired[len(s.Fired)-1]
	if last.Dimension != event.Steps || last.What != "hard" || last.Used != 3 || last.Limit != 3 {
		t.Errorf("limits %+v", s.Fired)
	}
	if changes := payloads[event.StateChange](t, l.Dir, event.TypeState); !strings.Contains(changes[1].Reason, "steps budget") {
		t.Errorf("it ended because %q", changes[1].Reason)
	}
}

// What an agent does to itself costs it its run, not the record.
func TestAgentsThatFail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func() error
		says string
	}{
		"error": {func() error { return errorf("out of ideas") }, "out of ideas"},
		"panic": {func() error { panic("index out of range") }, "index out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, func(ctx context.Context, s *agents.Session) error {
				if err := score(ctx, s, "0.25"); err != nil {
					return err
				}
				return tc.end()
			})
			s := l.ends()
			if s.Phase != event.Done || *s.Verdict.Score != 0.25 {
				t.Errorf("the run is %s, verdict %+v", s.Phase, s.Verdict)
			}
			if notes := payloads[event.Note](t, l.Dir, event.TypeNote); len(notes) != 1 || notes[0].Level != "error" || !strings.Contains(notes[0].Text, tc.says) {
				t.Errorf("notes %+v", notes)
			}
		})
	}
}

// An agent that does not notice its end is left behind: the run ends without
// it, and what it says later is not on record.
func TestAgentThatDoesNotLetGo(t *testing.T) {
	t.Parallel()
	release, late := make(chan struct{}), make(chan error, 1)
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		if err := score(ctx, s, "0.5"); err != nil {
			return err
		}
		<-release
		s.Message("am I late?")
		_, err := s.Run(context.Background(), shell("echo 0.9 >out.txt"))
		late <- err
		return nil
	}, func(r *rundir.Request, _ *tasks.Task, set *Settings) {
		r.Budget.Time, set.StopGrace = 300*time.Millisecond, 50*time.Millisecond
	})
	s := l.ends()
	before, err := os.ReadFile(l.Events())
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := <-late; err == nil {
		t.Error("an agent could act after its run was over")
	}
	after, err := os.ReadFile(l.Events())
	if err != nil || string(after) != string(before) {
		t.Errorf("it is on record: %q, %v", after[len(before):], err)
	}
	if *s.Verdict.Score != 0.5 {
		t.Errorf("verdict %+v", s.Verdict)
	}
}

// When the sandbox ends by itself so does the run, and says why.
func TestSandboxThatEnds(t *testing.T) {
	t.Parallel()
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		_, err := s.Run(ctx, shell("sleep 60"))
		return err
	})
	l.until("an action goes on", func(s event.State) bool { return s.Steps == 1 })
	killBox(t, <-l.box)
	s := l.ends()
	if s.Phase != event.Failed || !strings.Contains(s.Reason, "sandbox ended") || s.Verdict != nil {
		t.Errorf("the run is %s: %s", s.Phase, s.Reason)
	}
	if err := Grade(context.Background(), l.Dir, l.parts, l.set); err != nil {
		t.Fatal(err)
	}
	if s := l.state(); s.Phase != event.Done || s.Verdict.Status != tasks.NoSubmission {
		t.Errorf("graded, the run is %s, verdict %+v", s.Phase, s.Verdict)
	}
	if err := Grade(context.Background(), l.Dir, l.parts, l.set); err != ErrGraded {
		t.Errorf("grading again: %v", err)
	}
}

// killBox ends what keeps a sandbox going: the child of ours from which its
// processes come.
func killBox(t *testing.T, box sandbox.Sandbox) {
	t.Helper()
	var pids []int
	for deadline := time.Now().Add(10 * time.Second); len(pids) == 0; time.Sleep(time.Millisecond) {
		var err error
		if pids, err = box.Pids(); err != nil || time.Now().After(deadline) {
			t.Fatalf("the sandbox has no processes: %v", err)
		}
	}
	for pid := pids[0]; ; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Skipf("parents of processes cannot be found here: %v", err)
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		parent, err := strconv.Atoi(fields[1])
		if err != nil || parent < 2 {
			t.Fatalf("process %d is not below us", pids[0])
		}
		if parent == os.Getpid() {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
		pid = parent
	}
}

// Of a run that is cut off the standing checkpoint is graded; one whose agent
// finished is graded by what lies in the workspace.
func TestWhichOutputsAreGraded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		steps int
		want  float64
		from  string
	}{"cut off": {2, 0.5, "c2"}, "finished": {0, 0.1, ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, func(ctx context.Context, s *agents.Session) error {
				if _, err := s.Checkpoint("nothing yet", true); err == nil || !strings.Contains(err.Error(), "out.txt") {
					return errorf("a checkpoint of nothing: %v", err)
				}
				if err := score(ctx, s, "0.5"); err != nil {
					return err
				}
				if _, err := s.Checkpoint("the best", true); err != nil {
					return err
				}
				if err := score(ctx, s, "0.1"); err != nil {
					return err
				}
				_, err := s.Run(ctx, shell("true"))
				return err
			}, func(r *rundir.Request, _ *tasks.Task, _ *Settings) { r.Budget.Steps = tc.steps })
			s := l.ends()
			if s.Verdict == nil || *s.Verdict.Score != tc.want || s.Submission.From != tc.from {
				t.Errorf("verdict %+v of %+v; %s", s.Verdict, s.Submission, s.Reason)
			}
		})
	}
}

// What a task lacks is said before its agent starts.
func TestTaskThatCannotRun(t *testing.T) {
	t.Parallel()
	l := begin(t, func(context.Context, *agents.Session) error { t.Error("the agent ran"); return nil },
		func(_ *rundir.Request, task *tasks.Task, _ *Settings) {
			task.Missing = []string{"train.csv: download it"}
		})
	s := l.ends()
	if s.Phase != event.Failed || s.Ended.Status != string(tasks.DataMissing) || !strings.Contains(s.Reason, "train.csv: download it") {
		t.Errorf("the run is %s, ended %+v: %s", s.Phase, s.Ended, s.Reason)
	}
}

// A run has one supervisor at a time.
func TestSecondSupervisor(t *testing.T) {
	t.Parallel()
	go1 := make(chan struct{})
	l := begin(t, func(ctx context.Context, s *agents.Session) error { <-go1; return score(ctx, s, "0.5") })
	l.phase(event.Running)
	before, _ := os.ReadFile(l.Events())
	for name, err := range map[string]error{
		"Supervise": Supervise(context.Background(), l.Dir, l.parts, l.set),
		"Grade":     Grade(context.Background(), l.Dir, l.parts, l.set),
	} {
		if err != rundir.ErrLocked {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, _ := os.ReadFile(l.Events()); !strings.HasPrefix(string(after), string(before)) || strings.Count(string(after), `"run.started"`) != 1 {
		t.Error("the second one wrote into the log")
	}
	close(go1)
	l.ends()
}
