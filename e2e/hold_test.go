package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/runner/event"
	"proctor/tasks"
)

// tickers counts in several shapes of process: the command itself, a child, a
// background job, a child in a session of its own, and one that its parents
// have left.
const tickers = `tick() { n=0; while [ ! -e go ]; do n=$((n+1)); echo $n >$1; sleep 0.05; done; }
case "$1" in "") ;; *) tick $1; exit;; esac
sh ./train.sh child &
setsid sh ./train.sh session &
(setsid sh -c 'sh ./train.sh orphan & exit' &)
tick command
wait
` + writeNumber

var shapes = []string{"command", "child", "session", "orphan"}

// standing reports whether no counter moves over some time.
func (r run) standing(names []string, d time.Duration) error {
	before := map[string]string{}
	for _, name := range names {
		before[name] = read(filepath.Join(r.Workspace(), name))
	}
	time.Sleep(d)
	for _, name := range names {
		if now := read(filepath.Join(r.Workspace(), name)); now != before[name] {
			return fmt.Errorf("%s went from %q to %q", name, before[name], now)
		}
	}
	return nil
}

// moving waits until every counter moves.
func (r run) moving(names []string) {
	r.Helper()
	for _, name := range names {
		path := filepath.Join(r.Workspace(), name)
		before := read(path)
		poll(r, name+" goes on counting", func() bool { now := read(path); return now != "" && now != before })
	}
}

func TestFreezeStopsEveryProcess(t *testing.T) {
	t.Parallel()
	for _, box := range []string{"bwrap", "landlock", "none"} {
		t.Run(box, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox(box)
			r := u.run(u.task(task{starter: tickers}), "--sandbox", box, "--time", "10m")
			r.moving(shapes)

			u.must("freeze")
			frozen := r.state()
			if err := r.standing(shapes, 2*time.Second); err != nil {
				t.Errorf("frozen, yet %v", err)
			}
			u.must("resume")
			resumed := r.state()
			if cost := resumed.Work - frozen.Work; cost < 0 || cost > 0.2 {
				t.Errorf("two frozen seconds cost %.3f s of working time", cost)
			}
			if wall := resumed.At.Sub(frozen.At); wall < 2*time.Second {
				t.Fatalf("it was frozen for %s only", wall)
			}
			r.moving(shapes)
			write(t, filepath.Join(r.Workspace(), "go"), "")
			s := r.ends()
			if v := verdict(t, s); v.Status != tasks.Graded || v.Assisted || v.WallSeconds < v.WorkingSeconds+2 {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// A pause lets the action finish; then nothing of the sandbox goes on, what
// the action left behind included.
func TestPauseWaitsForTheAction(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{own: knobs, starter: "[ -e left ] || { echo 0 >left; setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n >left; sleep 0.05; done' & }\n" +
		"touch started; while [ ! -e go ]; do sleep 0.05; done; " + writeNumber}), "--agent", "search", "--time", "5m", "--steps", "4")
	poll(t, "the first action has started", func() bool { return r.state().Steps == 1 && read(r.Workspace()+"/left") != "" })
	u.must("pause")
	if s := r.state(); s.Phase != event.Running || !s.PausePending {
		t.Errorf("the run is %s (pending: %v)", s.Phase, s.PausePending)
	}
	write(t, filepath.Join(r.Workspace(), "go"), "")
	paused := r.reaches(event.Paused)
	if paused.Frozen || paused.PausePending || paused.Actions[0].Finished == nil {
		t.Errorf("paused with the action finished: %+v, frozen: %v", paused.Actions[0].Finished, paused.Frozen)
	}
	if err := r.standing([]string{"left"}, 500*time.Millisecond); err != nil {
		t.Errorf("paused, yet %v", err)
	}
	if s := r.state(); s.Steps != paused.Steps {
		t.Errorf("paused at step %d, now at %d", paused.Steps, s.Steps)
	}
	u.must("resume")
	if s := r.ends(); s.Phase != event.Done || s.Steps <= paused.Steps {
		t.Errorf("resumed at step %d, the run is %s at step %d", paused.Steps, s.Phase, s.Steps)
	}
}

// knobs is a search's space.
const knobs = `[[metadata.proctor.knobs]]
name = "width"
type = "int"
min = 1
max = 100
default = 3
`

func TestFreezeOvertakesAPause(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: steps}))
	r.moving([]string{"counter"})
	u.must("pause")
	u.must("freeze")
	s := r.reaches(event.Paused)
	if !s.Frozen || s.PausePending {
		t.Errorf("frozen: %v, a pause to come: %v", s.Frozen, s.PausePending)
	}
	if err := r.standing([]string{"counter"}, 300*time.Millisecond); err != nil {
		t.Error(err)
	}
	u.must("resume")
	r.moving([]string{"counter"}) // it does not pause once more
	write(t, filepath.Join(r.Workspace(), "go"), "")
	if s := r.ends(); s.Phase != event.Done {
		t.Errorf("the run is %s: %s", s.Phase, s.Reason)
	}
}

// A run can be ended however it stands.
func TestEndingAFrozenRun(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]event.Phase{"stop": event.Failed, "grade": event.Done} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			r := u.run(u.task(task{starter: writeNumber + tickers}))
			r.moving(shapes)
			pids := r.processes("train.sh")
			u.must("freeze")
			u.must(command)
			s := r.ends()
			if s.Phase != want {
				t.Errorf("the run is %s: %s", s.Phase, s.Reason)
			}
			if command == "grade" {
				if v := verdict(t, s); *v.Score != 0.8 {
					t.Errorf("verdict %+v", v)
				}
			}
			if left := r.processes("train.sh"); len(pids) == 0 || len(left) > 0 {
				t.Errorf("processes %v before, %v are left", pids, left)
			}
		})
	}
}

// Time stands still for the limits too.
func TestLimitDoesNotFireWhileFrozen(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: writeNumber + steps}), "--time", "2s")
	r.moving([]string{"counter"})
	u.must("freeze")
	time.Sleep(2500 * time.Millisecond)
	if s := r.state(); s.Phase != event.Paused || len(s.Fired) > 0 {
		t.Errorf("the run is %s, limits %+v", s.Phase, s.Fired)
	}
	u.must("resume")
	s := r.ends()
	if fired := s.Fired[len(s.Fired)-1]; fired.What != "hard" || fired.Dimension != event.Time {
		t.Errorf("limits %+v", s.Fired)
	}
	if v := verdict(t, s); v.WorkingSeconds < 2 || v.WorkingSeconds > 8 || v.WallSeconds < 4 {
		t.Errorf("worked %.2f s in %.2f s", v.WorkingSeconds, v.WallSeconds)
	}
}

// A time-out of the agent's own action runs on working time, and so does the
// action's length.
func TestActionsAreTimedInWorkingTime(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: steps}))
	r.moving([]string{"counter"})
	u.must("freeze")
	time.Sleep(1500 * time.Millisecond)
	u.must("resume")
	write(t, filepath.Join(r.Workspace(), "go"), "")
	s := r.ends()
	if a := s.Actions[0].Finished; a.Seconds > verdict(t, s).WallSeconds-1.4 {
		t.Errorf("the action took %.2f s of a run of %.2f s, frozen for 1.5 s", a.Seconds, verdict(t, s).WallSeconds)
	}
	var phases []string
	for _, c := range only[event.StateChange](t, r.events(), event.TypeState) {
		phases = append(phases, string(c.To))
	}
	contains(t, strings.Join(phases, " "), "running paused running finishing")
}
