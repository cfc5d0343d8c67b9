package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/runner/attempts"
	"proctor/runner/event"
	"proctor/runner/export"
	"proctor/runner/rundir"
	"proctor/tasks"
)

const (
	handsIn = "echo acc 0.8; echo 0.8 >out.txt\n"
	grades  = `read -r score <"$PROCTOR_SUBMISSION/out.txt"; printf '{"accuracy": %s}' "$score" >&"$PROCTOR_VERDICT_FD"` + "\n"
)

func TestAttempts(t *testing.T) {
	d := newDesk(t)
	var out, said bytes.Buffer
	code := d.types(t.Context(), &out, &said, "run", d.task(handsIn, grades), "--agent", "baseline", "--sandbox", d.box, "--gpus", "none", "--attempts", "3", "--parallel", "2", "--seed", "5", "--json")
	var g attempts.Group
	if err := json.Unmarshal(out.Bytes(), &g); err != nil || code != 0 {
		t.Fatalf("exit status %d, %v\n%s%s", code, err, out.String(), said.String())
	}
	if g.Of != 3 || g.Counted != 3 || g.Passed != 3 || g.PassBy != "any medal" || g.PassAt[0].Value != 1 || *g.PassAt[0].SE != 0 || g.PassAt[2].SE != nil || g.Score.Value != 0.8 || g.Medals != 3 {
		t.Errorf("%+v", g)
	}
	for i, a := range g.Attempts {
		if a.Number != i+1 || a.Seed != int64(5+i) || a.Status != tasks.Graded || *a.Score != 0.8 || a.Medal != "silver" || !*a.Passed {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
		if !strings.Contains(said.String(), "started: "+a.Run) {
			t.Errorf("the start of %s was not said:\n%s", a.Run, said.String())
		}
	}
	if n := strings.Count(said.String(), "graded, accuracy 0.8, silver medal"); n != 3 {
		t.Errorf("%d ends were said:\n%s", n, said.String())
	}

	var again attempts.Group
	if text := d.does(&again, "runs", g.ID, "--json"); again.ID != g.ID || len(again.Attempts) != 3 {
		t.Errorf("runs GROUP: %s", text)
	}
	var runs []rundir.Summary
	d.does(&runs, "runs", "--json")
	if len(runs) != 3 || runs[0].Attempt == nil || runs[0].Attempt.Group != g.ID || runs[0].Attempt.Of != 3 {
		t.Errorf("runs: %+v", runs)
	}
	if text := d.does(nil, "runs"); strings.Count(text, "\n") != 2 || !strings.Contains(text, "pass@1 1.00 ± 0.00 · best 0.8 · 3/3 medals") {
		t.Errorf("runs:\n%s", text)
	}
	if text := d.does(nil, "show", g.Attempts[1].Run); !strings.Contains(text, "attempt   2 of 3, seed 6: proctor runs "+g.ID) {
		t.Errorf("show:\n%s", text)
	}

	var written export.Result
	dir := filepath.Join(t.TempDir(), "job")
	d.does(&written, "export", "--format", "harbor", g.ID, g.Attempts[0].Run, "--out", dir, "--json")
	if len(written.Runs) != 3 || written.Dir != dir {
		t.Errorf("%+v", written)
	}
	for _, name := range written.Files {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// The exit status is the worst attempt's, and a score that a person enters
// afterwards counts.
func TestAttemptsThatCannotBeGraded(t *testing.T) {
	d := newDesk(t)
	var out, said bytes.Buffer
	code := d.types(t.Context(), &out, &said, "run", d.task(handsIn, "exit 7\n"), "--agent", "baseline", "--sandbox", d.box, "--gpus", "none", "--attempts", "2")
	if code != exitNoVerdict || strings.Count(out.String(), "grader failed") != 4 {
		t.Errorf("exit status %d\n%s%s", code, out.String(), said.String())
	}
	var groups []attempts.Group
	d.does(&groups, "runs", "--groups", "--json")
	if len(groups) != 1 || groups[0].Counted != 0 || len(groups[0].Attempts) != 2 {
		t.Fatalf("%+v", groups)
	}
	run := groups[0].Attempts[0].Run
	if text := d.does(nil, "grade", run, "--score", "0.7", "--by", "ada", "--note", "by eye"); !strings.Contains(text, "accuracy 0.7, bronze medal") || !strings.Contains(text, "entered by ada on ") || !strings.Contains(text, "(by eye)") {
		t.Errorf("grade:\n%s", text)
	}
	d.does(&groups, "runs", "--groups", "--json")
	if g := groups[0]; g.Counted != 1 || g.Entered != 1 || g.Attempts[0].Entered.By != "ada" || *g.Best != 0.7 {
		t.Errorf("%+v", g)
	}
	if text := d.does(nil, "runs", groups[0].ID); !strings.Contains(text, "0.7, bronze, passed, entered by ada") || !strings.Contains(text, "1 of the scores were entered by a person") {
		t.Errorf("runs GROUP:\n%s", text)
	}
	for _, args := range [][]string{
		{"grade", run, "--score", "0.9", "--by", "bob"}, {"grade", run, "--score", "NaN", "--by", "bob"}, {"grade", "--score", "1", "--by", "bob"},
		{"grade", run, "--by", "bob"}, {"grade", groups[0].Attempts[1].Run, "--score", "1"},
	} {
		if code := d.types(t.Context(), &out, &said, args...); code != exitUsage {
			t.Errorf("%q: exit status %d", args, code)
		}
	}
}

// A cutter ends a context when something is said.
type cutter struct {
	bytes.Buffer
	at  string
	cut func()
}

func (c *cutter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.at)) {
		c.cut()
	}
	return c.Buffer.Write(p)
}

// Being interrupted starts no more attempts, and the one that goes on is
// graded all the same.
func TestAttemptsInterrupted(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said bytes.Buffer
	out := &cutter{at: "attempt 1/4 seed 1 started", cut: cancel}
	a := &app{out: out, err: &said}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	err := a.attempts(ctx, plan{
		task: d.task("sleep 0.5\n"+handsIn, grades), agent: "baseline", sandbox: d.box, gpus: "none", seed: 1,
		budget: func(own tasks.Budget) tasks.Budget { return own },
	}, 4, 1, false)
	if exit, ok := err.(exitError); !ok || exit.code != exitInterrupted || !strings.Contains(said.String(), "attempt 1 goes on by itself") || !strings.Contains(out.String(), "3 of 4 attempts were not started") {
		t.Errorf("%v\n%s%s", err, out.String(), said.String())
	}
	dirs, err := a.store.IDs()
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%q, %v", dirs, err)
	}
	dir, err := a.store.Find(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ended(t.Context(), dir); err != nil || s.Phase != event.Done || s.Verdict.Status != tasks.Graded {
		t.Errorf("it came to %+v, %v", s, err)
	}
}

func TestAttemptsRefused(t *testing.T) {
	d := newDesk(t)
	for args, want := range map[string]string{
		"--attempts 0":                   "from 1 to 1000",
		"--attempts 1001":                "from 1 to 1000",
		"--attempts -3":                  "from 1 to 1000",
		"--parallel 2":                   "give --attempts too",
		"--attempts 2 --parallel 0":      "at least 1",
		"--attempts 2 --detach":          "--detach cannot start attempts",
		"--attempts 2 --approve":         "--approve wants a person",
		"--attempts 2 --step":            "--step wants a person",
		"--attempts 2 --agent human":     "it is a person",
		"--attempts 2 --agent nobody":    `no agent "nobody"`,
		"--attempts 2 --sandbox nothing": "nothing",
	} {
		var out, said bytes.Buffer
		code := d.types(t.Context(), &out, &said, append([]string{"run", "digits"}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(said.String(), want) || out.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, want %q", args, code, out.String()+said.String(), want)
		}
	}
}
