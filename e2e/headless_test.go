package e2e

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
)

func TestHeadlessJSONIsTheLog(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	res, events := u.headless(u.task(task{}), "--seed", "7", "--steps", "9", "--time", "3m")
	if res.code != 0 || res.err != "" {
		t.Errorf("exit status %d, %q on stderr", res.code, res.err)
	}
	r := u.newest()
	if logged := r.events(); !reflect.DeepEqual(events, logged) {
		t.Errorf("printed %d events that are not the %d of the log", len(events), len(logged))
	}
	kinds := types(events)
	if n := len(kinds); kinds[0] != event.TypeRunStarted || !slices.Equal(kinds[n-2:], []event.Type{event.TypeVerdict, event.TypeRunEnded}) {
		t.Errorf("events %q, want them to begin with run.started and end with verdict, run.ended", kinds)
	}
	var phases []event.Phase
	for _, c := range only[event.StateChange](t, events, event.TypeState) {
		phases = append(phases, c.To)
	}
	if want := []event.Phase{event.Running, event.Finishing, event.Grading, event.Done}; !slices.Equal(phases, want) {
		t.Errorf("phases %q, want %q", phases, want)
	}
	s := fold(events)
	if s.Run.Seed != 7 || s.Limits.Steps != 9 || s.Limits.Time.Minutes() != 3 || s.Run.ID != r.ID() {
		t.Errorf("started as %+v", s.Run)
	}
	v := verdict(t, s)
	if v.Status != tasks.Graded || *v.Score != 0.8 || v.Medal != "silver" || v.Assisted || v.SubmissionSHA256 == "" || v.Steps != 1 {
		t.Errorf("verdict %+v", v)
	}
	if *s.Best != 0.8 || s.Submission.Files != 1 {
		t.Errorf("best %v, submission %+v", s.Best, s.Submission)
	}
	var saved tasks.Verdict
	if err := json.Unmarshal([]byte(read(r.Verdict())), &saved); err != nil || !reflect.DeepEqual(saved, v) {
		t.Errorf("verdict.json has %+v, %v", saved, err)
	}
	contains(t, read(r.Cast()), `"version":3`, "sh train.sh", "acc 0.8", `"m", "action: sh train.sh"`, `"m", "verdict: graded"`, `"x", "0"`)
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	failing := task{starter: "echo no; exit 1\n"}
	for name, tc := range map[string]struct {
		task task
		args []string
		code int
		end  string // the status in run.ended
	}{
		"graded":             {task{}, nil, 0, "graded"},
		"nothing handed in":  {failing, nil, 3, "no_submission"},
		"refused":            {task{grader: `echo '{"error":"three columns, not two","kind":"invalid_submission"}' >&$PROCTOR_VERDICT_FD`}, nil, 3, "invalid_submission"},
		"grader fails":       {task{grader: "exit 7"}, nil, 4, "grader_failed"},
		"limit, then graded": {task{starter: writeNumber + "sleep 60\n"}, []string{"--time", "1s"}, 0, "graded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			res, events := u.headless(u.task(tc.task), tc.args...)
			ended := only[event.RunEnded](t, events, event.TypeRunEnded)
			if res.code != tc.code || len(ended) != 1 || ended[0].Status != tc.end {
				t.Errorf("exit status %d, ended %+v; want %d, %q\n%s", res.code, ended, tc.code, tc.end, res.err)
			}
			// Attaching to it later says the same.
			if again := u.proctor("attach", "--json"); again.code != tc.code || again.out != res.out {
				t.Errorf("attach: exit status %d, %d bytes; the run itself printed %d", again.code, len(again.out), len(res.out))
			}
		})
	}
}

func TestExitStatusOfAStoppedRun(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(u *user, j *job, r run){
		"by the command": func(u *user, _ *job, r run) { u.must("stop", r.ID()) },
		"by Ctrl-C":      func(_ *user, j *job, _ run) { j.cmd.Process.Signal(syscall.SIGINT) },
		"by SIGTERM":     func(_ *user, j *job, _ run) { j.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			j := u.start(append([]string{"run", u.task(task{starter: "echo up >up; sleep 60\n"}), "--agent", "baseline", "--headless", "--json"}, u.withBox(nil)...)...)
			poll(t, "the run has started", func() bool { dirs, _ := u.store().Alive(); return len(dirs) == 1 })
			r := u.newest()
			r.wrote("up")
			stop(u, j, r)
			res := j.wait()
			events := parseEvents(t, res.out)
			last := events[len(events)-1]
			if res.code != 5 || last.Type != event.TypeRunEnded {
				t.Errorf("exit status %d, last event %s %s; %s", res.code, last.Type, last.Data, res.err)
			}
			if r.Alive() {
				t.Error("the run goes on")
			}
			contains(t, res.err, "was not graded")
			// What it left can still be graded, which is then on the same record.
			write(t, r.Workspace()+"/out.txt", "0.61\n")
			contains(t, u.must("grade", r.ID()), "graded, accuracy 0.61", "bronze")
		})
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	good := u.task(task{})
	for _, tc := range []struct{ args, says string }{
		{"run", "arg"},
		{"run nothing-of-the-kind", "nothing-of-the-kind"},
		{"run digit --agent baseline", "digits"},
		{"run " + good + " --agent serch", "search"},
		{"run " + good + " --agent baseline --sandbox bwarp", "bwrap"},
		{"run " + good + " --time -5m", "negative"},
		{"run " + good + " --time soon", "soon"},
		{"run " + good + " --headless --detach", "headless"},
		{"run " + good + " --agent human --headless", "terminal"},
		{"run " + good + " --agent rerun", "RUN"},
		{"show nobody", "nobody"},
		{"pause", "no run is alive"},
		{"hint", "arg"},
		{"answer x", "arg"},
		{"run " + good, "knobs"}, // the agent search needs some
		{"extend", "no run is alive"},
		{"fly", "fly"},
		{"runs --jsno", "jsno"},
		{"--config " + u.path("missing.toml") + " runs", "missing.toml"},
		{"", "terminal"},
	} {
		res := u.proctor(strings.Fields(tc.args)...)
		if res.code != 2 || res.out != "" {
			t.Errorf("proctor %s: exit status %d, stdout %q", tc.args, res.code, res.out)
		}
		contains(t, res.err, tc.says)
		if strings.Contains(res.err, "\x1b") || strings.Contains(res.err, "goroutine") {
			t.Errorf("proctor %s: %q", tc.args, res.err)
		}
	}
	if ids, _ := u.store().IDs(); len(ids) != 0 {
		t.Errorf("wrong usage left runs behind: %q", ids)
	}
}

func TestPlainLines(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.task(task{starter: "printf '\\033[31macc 0.8\\033[0m\\n'; echo 0.8 >out.txt\n"})
	for _, how := range []string{"--plain", "--headless"} {
		res := u.proctor("run", dir, "--agent", "baseline", how, "--sandbox", u.anyBox())
		if res.code != 0 {
			t.Errorf("%s: exit status %d %s", how, res.code, res.err)
		}
		contains(t, res.out, "by baseline in "+u.anyBox(), "running", "action 1: sh train.sh", "accuracy 0.8 (measured)",
			"action 1: exit 0", "submission: 1 files", "verdict: graded, accuracy 0.8, silver medal, baseline 0.5", "run ended: graded")
		if i := strings.IndexFunc(res.out, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
			t.Errorf("%s: control character at %d of %q", how, i, res.out)
		}
		// Attached to later, it reads the same.
		if again := u.proctor("attach", "--plain"); again.out != res.out {
			t.Errorf("%s: attach --plain differs:\n%s\nfrom\n%s", how, again.out, res.out)
		}
	}
}

func TestDetachThenAttach(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: "while [ ! -e go ]; do sleep 0.05; done; " + writeNumber}))
	r.reaches(event.Running)
	live := u.start("attach", "--json") // without RUN: the one that is alive
	plain := u.start("attach", r.ID()[:15], "--plain")
	poll(t, "both viewers have seen the action", func() bool {
		return strings.Contains(live.printed(), "action.started") && strings.Contains(plain.printed(), "action 1")
	})
	write(t, filepath.Join(r.Workspace(), "go"), "")
	first, second := live.wait(), plain.wait()
	if first.code != 0 || second.code != 0 {
		t.Errorf("exit statuses %d, %d: %s%s", first.code, second.code, first.err, second.err)
	}
	if got, want := parseEvents(t, first.out), r.events(); !reflect.DeepEqual(got, want) {
		t.Errorf("a live attach printed %d events, the log has %d", len(got), len(want))
	}
	contains(t, second.out, "run ended: graded")
	if words := u.must("run", u.task(task{}), "--agent", "baseline", "--detach", "--sandbox", u.anyBox()); !strings.Contains(words, "proctor attach "+u.newest().ID()) {
		t.Errorf("--detach says %q", words)
	}
	u.newest().ends()
}

// A viewer that is interrupted says how to come back and leaves the run be.
func TestInterruptedViewerLeavesTheRun(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: "while [ ! -e go ]; do sleep 0.05; done; " + writeNumber}))
	j := u.start("attach", "--plain")
	poll(t, "the viewer sees the run", func() bool { return strings.Contains(j.printed(), "action 1") })
	j.cmd.Process.Signal(syscall.SIGINT)
	res := j.wait()
	if res.code != 5 || !strings.Contains(res.err, "proctor attach "+r.ID()) || !r.Alive() {
		t.Errorf("exit status %d, %q, run alive: %v", res.code, res.err, r.Alive())
	}
	write(t, filepath.Join(r.Workspace(), "go"), "")
	if v := verdict(t, r.ends()); v.Status != tasks.Graded || v.Assisted {
		t.Errorf("verdict %+v", v)
	}
}

// The exit statuses are part of the help.
func TestHelpDocumentsExitStatuses(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"attach", "--help"}} {
		contains(t, u.must(args...), "graded", "wrong usage", "invalid", "grader failed", "interrupted")
	}
	contains(t, u.must("completion", "bash"), "proctor")
}

// Three runs at once do not get into each other's way.
func TestRunsAtOnce(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	scores := []string{"0.61", "0.71", "0.91"}
	var jobs []*job
	for _, score := range scores {
		dir := u.task(task{starter: "for i in 1 2 3 4 5; do echo acc 0.$i; sleep 0.05; done; echo " + score + " >out.txt\n"})
		jobs = append(jobs, u.start(append([]string{"run", dir, "--agent", "baseline", "--headless", "--json"}, u.withBox(nil)...)...))
	}
	seen := map[rundir.Dir]bool{}
	for i, j := range jobs {
		res := j.wait()
		s := fold(parseEvents(t, res.out))
		if v := verdict(t, s); res.code != 0 || v.Status != tasks.Graded || grade(*v.Score) != scores[i] {
			t.Errorf("run %d: exit status %d, verdict %+v", i, res.code, v)
		}
		seen[rundir.At(s.Run.ID)] = true
	}
	if list := parse[[]rundir.Summary](t, u.must("runs", "--json")); len(list) != 3 || len(seen) != 3 {
		t.Errorf("%d runs are listed, %d were started", len(list), len(seen))
	}
}

func grade(x float64) string {
	data, _ := json.Marshal(x)
	return string(data)
}
