package e2e

import (
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
)

// kill -9 of whoever looks at a run is not noticed by the run, and whoever
// attaches next sees the same.
func TestKilledViewer(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: steps}))
	r.wrote("counter")
	viewer := u.start("attach", "--json")
	console := u.console("attach")
	console.shows("RUNNING")
	poll(t, "the viewer sees the run", func() bool { return viewer.printed() != "" })
	viewer.cmd.Process.Kill()
	viewer.wait()
	console.kill()
	r.moving([]string{"counter"})
	u.must("hint", "still there?")
	write(t, filepath.Join(r.Workspace(), "go"), "")
	s := r.ends()
	if v := verdict(t, s); v.Status != tasks.Graded || *v.Score != 0.8 {
		t.Errorf("verdict %+v", v)
	}
	res := u.proctor("attach", "--json")
	if got := parseEvents(t, res.out); res.code != 0 || !reflect.DeepEqual(got, r.events()) {
		t.Errorf("attach: exit status %d, %d events of %d", res.code, len(got), len(r.events()))
	}
}

// kill -9 of the supervisor leaves no process of the sandbox, a record that
// can be read, and a run that can be graded.
func TestKilledSupervisor(t *testing.T) {
	t.Parallel()
	for _, box := range []string{"bwrap", "landlock", "none"} {
		t.Run(box, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox(box)
			r := u.run(u.task(task{starter: "echo 0.7 >out.txt\n" + tickers}), "--sandbox", box)
			viewer := u.start("attach", "--json")
			r.moving(shapes)
			if len(r.processes("train.sh")) < 3 {
				t.Fatalf("processes %v", r.processes("train.sh"))
			}
			r.kill()
			if !within(2*time.Second, func() bool { return len(r.processes("")) == 0 }) {
				t.Errorf("processes %v are left", r.processes(""))
			}
			if err := r.standing(shapes, 200*time.Millisecond); err != nil {
				t.Error(err)
			}
			if res := viewer.wait(); res.code != 5 || len(parseEvents(t, res.out)) != len(r.events()) {
				t.Errorf("the viewer: exit status %d, %s", res.code, res.err)
			}
			contains(t, u.must("runs"), "interrupted", "the supervisor died")
			list := parse[[]rundir.Summary](t, u.must("runs", "--json"))
			if list[0].Phase != string(event.Interrupted) || list[0].Alive {
				t.Errorf("the run is listed as %+v", list[0])
			}
			if res := u.proctor("pause", r.ID()); res.code != 5 {
				t.Errorf("pausing it: exit status %d, %s", res.code, res.err)
			}
			before := r.events()
			contains(t, u.must("grade", r.ID()), "graded, accuracy 0.7", "bronze")
			after := r.events()
			if !reflect.DeepEqual(before, after[:len(before)]) {
				t.Error("grading changed what was on record")
			}
			s := fold(after)
			if s.Phase != event.Done || after[len(before)].Type != event.TypeState {
				t.Errorf("graded, the run is %s: %s", s.Phase, s.Reason)
			}
			if more := verdict(t, s).WorkingSeconds - before[len(before)-1].Work; more < -1e-6 || more > 1 {
				t.Errorf("%g s were worked after the end of the log", more)
			}
			if res := u.proctor("attach", "--json"); res.code != 0 {
				t.Errorf("attach: exit status %d", res.code)
			}
		})
	}
}

// A frozen run whose supervisor is killed does not stay behind frozen.
func TestKilledSupervisorOfAFrozenRun(t *testing.T) {
	t.Parallel()
	for _, box := range []string{"bwrap", "landlock", "none"} {
		t.Run(box, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox(box)
			r := u.run(u.task(task{starter: tickers}), "--sandbox", box)
			r.moving(shapes)
			u.must("freeze")
			r.kill()
			if !within(2*time.Second, func() bool { return len(r.processes("")) == 0 }) {
				t.Errorf("processes %v are left", r.processes(""))
			}
		})
	}
}

// go run removes the program that it built as soon as it ends; the run goes
// on and is graded.
func TestProgramDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	copied := filepath.Join(u.path("home"), "proctor")
	if err := os.Link(program, copied); err != nil {
		data := read(program)
		write(t, copied, data)
		if err := os.Chmod(copied, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := u.task(task{starter: steps})
	res := u.startFile(copied, "run", dir, "--agent", "baseline", "--detach", "--sandbox", u.anyBox()).wait()
	if res.code != 0 {
		t.Fatalf("exit status %d %s", res.code, res.err)
	}
	r := u.newest()
	r.wrote("counter")
	if err := os.Remove(copied); err != nil {
		t.Fatal(err)
	}
	u.must("freeze")
	u.must("resume")
	write(t, filepath.Join(r.Workspace(), "go"), "")
	if v := verdict(t, r.ends()); v.Status != tasks.Graded {
		t.Errorf("verdict %+v", v)
	}
}

// A signal to end reaches the supervisor as it does a service: the run ends
// in good order and says so.
func TestTerminatedSupervisor(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: writeNumber + tickers}))
	r.moving(shapes)
	syscall.Kill(supervisor(r.Dir), syscall.SIGTERM)
	s := r.ends()
	if s.Phase != event.Failed || s.Ended == nil || len(r.processes("")) > 0 {
		t.Errorf("the run is %s, ended %+v, processes %v", s.Phase, s.Ended, r.processes(""))
	}
	contains(t, u.must("grade"), "accuracy 0.8")
}

// A last line that was not written whole is left out by readers and cut off
// by the next writer.
func TestTornLastLine(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: "echo 0.7 >out.txt; " + steps}))
	r.wrote("counter")
	r.kill()
	whole := r.events()
	for _, torn := range []string{`{"seq":99,"at":"2026-11-2`, `{"seq":99,"at":"2026-11-21T10:33:15Z","work":1,"type":"note","data":{}}`, "\x00\x00\x00\x00"} {
		f, err := os.OpenFile(r.Events(), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := f.Stat()
		f.WriteString(torn)
		f.Close()
		if res := u.proctor("attach", "--json"); len(parseEvents(t, res.out)) != len(whole) || res.code != 5 {
			t.Errorf("torn %q: exit status %d, %d events of %d", torn, res.code, len(parseEvents(t, res.out)), len(whole))
		}
		contains(t, u.must("runs"), "interrupted")
		contains(t, u.must("show"), "interrupted")
		if err := os.Truncate(r.Events(), before.Size()); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(r.Events(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"seq":99,"at":"20`)
	f.Close()
	contains(t, u.must("grade"), "graded, accuracy 0.7")
	if s := r.state(); s.Phase != event.Done || s.Verdict == nil {
		t.Errorf("the run is %s", s.Phase)
	}
}

// What else may be wrong with a run directory is said, and does not hide the
// other runs.
func TestDamagedRunDirectory(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.headless(u.task(task{}))
	good := u.newest()
	for name, damage := range map[string]func(dir string){
		"20990101-000000-no-log-0001":     func(string) {},
		"20990101-000000-empty-log-0002":  func(dir string) { write(t, dir+"/events.jsonl", "") },
		"20990101-000000-binary-log-0003": func(dir string) { write(t, dir+"/events.jsonl", "\x00\xff\n\n{}\nnull\n[1]\n") },
		"20990101-000000-request-0004": func(dir string) {
			write(t, dir+"/run.json", "{")
			write(t, dir+"/events.jsonl", read(good.Events()))
		},
		"20990101-000000-keyframe-0005": func(dir string) {
			write(t, dir+"/events.jsonl", read(good.Events()))
			write(t, dir+"/keyframe.json", `{"events":3,"cast":-4,"state":{"seq":"x"}}`)
		},
		"20990101-000000-cast-0006": func(dir string) {
			write(t, dir+"/events.jsonl", read(good.Events()))
			write(t, dir+"/terminal.cast", "\x00\n[[[\n")
		},
	} {
		dir := filepath.Join(u.store().Root(), name)
		write(t, dir+"/run.json", read(good.Path()+"/run.json"))
		damage(dir)
	}
	list := parse[[]rundir.Summary](t, u.must("runs", "--json"))
	if len(list) != 7 {
		t.Errorf("%d runs are listed", len(list))
	}
	for _, s := range list {
		switch s.ID[len(s.ID)-4:] {
		case "0004", "0005", "0006":
			if s.Phase != "done" || s.Verdict == nil {
				t.Errorf("%s is listed as %+v", s.ID, s)
			}
		}
		if res := u.proctor("show", s.ID); res.code != 0 && res.err == "" {
			t.Errorf("show %s: exit status %d without a word", s.ID, res.code)
		}
	}
	contains(t, u.must("runs"), good.ID())
}
