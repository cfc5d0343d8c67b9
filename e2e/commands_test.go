package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
)

// steps is a starter that works in small steps until there is a file "go".
const steps = `n=0
while [ ! -e go ]; do n=$((n+1)); echo $n >counter; sleep 0.05; done
` + writeNumber

// Every command that steers a run has its words, its JSON and its trace in
// the log.
func TestSteering(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: steps}), "--time", "10m", "--steps", "5")
	r.wrote("counter")
	accepted := func(args ...string) control.Reply {
		t.Helper()
		reply := parse[control.Reply](t, u.must(append(args, "--json")...))
		if !reply.OK || reply.Error != "" {
			t.Errorf("proctor %q: %+v", args, reply)
		}
		return reply
	}
	refused := func(says string, args ...string) {
		t.Helper()
		res := u.proctor(append(args, "--json")...)
		reply := parse[control.Reply](t, res.out)
		if res.code != 5 || reply.OK || res.err != "" {
			t.Errorf("proctor %q: exit status %d, %+v, %q", args, res.code, reply, res.err)
		}
		contains(t, reply.Error, says)
		if words := u.proctor(args...); words.code != 5 || words.out != "" || !strings.Contains(words.err, says) {
			t.Errorf("proctor %q: exit status %d, %q, %q", args, words.code, words.out, words.err)
		}
	}

	id := r.ID()
	if hint := accepted("hint", id, "use a bigger model"); hint.ID != "h1" {
		t.Errorf("the hint's id is %q", hint.ID)
	}
	contains(t, u.must("hint", "and a smaller one"), "hint: done", id) // the one that is alive
	refused("empty", "hint", id, "")
	refused("not paused", "resume", id)
	refused("asks nothing", "answer", id, "q1", "approve")

	contains(t, u.must("freeze", id[:len(id)-2]), "freeze: done") // a unique beginning
	refused("stands still", "freeze", id)
	refused("stands still", "pause", id)
	if s := r.state(); s.Phase != event.Paused || !s.Frozen {
		t.Errorf("frozen, the run is %s (frozen: %v)", s.Phase, s.Frozen)
	}
	accepted("resume", id[len(id)-4:]) // its last four letters
	accepted("extend", "--time", "5m", "--steps", "2")
	if l := r.state().Limits; l.Time.Minutes() != 15 || l.Steps != 7 {
		t.Errorf("extended to %+v", l)
	}
	accepted("pause")
	if s := r.state(); s.Phase != event.Running || !s.PausePending {
		t.Errorf("with a pause to come the run is %s (pending: %v)", s.Phase, s.PausePending)
	}
	refused("freeze stops it at once", "pause")
	accepted("resume")
	accepted("grade")
	s := r.ends()
	if v := verdict(t, s); v.Status != tasks.NoSubmission || !v.Assisted || v.Hints != 2 || v.Extensions != 2 {
		t.Errorf("verdict %+v", v)
	}
	refused("not alive", "hint", id, "too late")
	for i, want := range []string{"use a bigger model", "and a smaller one"} {
		if h := s.Hints[i]; h.Text != want || h.Author == "" || h.Author == "someone" {
			t.Errorf("hint %d is %+v", i, h)
		}
	}
}

func TestHintReachesTheAgent(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: steps}))
	r.wrote("counter")
	u.must("hint", "try \x1b[2Jharder\x07")
	write(t, filepath.Join(r.Workspace(), "go"), "")
	s := r.ends()
	h := s.Hints[0]
	if strings.ContainsAny(h.Text, "\x1b\x07") || !strings.HasPrefix(h.Text, "try ") {
		t.Errorf("hint %q", h.Text)
	}
	if h.How != agents.Queued || !strings.Contains(h.Reply, "takes no hints") {
		t.Errorf("delivered %q, %q", h.How, h.Reply)
	}
	contains(t, u.must("show"), "takes no hints", "assisted")
}

func TestWhichRun(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.task(task{starter: steps})
	first, second := u.run(dir), u.run(dir)
	first.wrote("counter")
	second.wrote("counter")
	for _, args := range [][]string{{"pause"}, {"hint", "x"}, {"show"}, {"attach", "--plain"}} {
		res := u.proctor(args...)
		if res.code != 2 || !strings.Contains(res.err, "2 runs are alive") {
			t.Errorf("proctor %q: exit status %d %s", args, res.code, res.err)
		}
	}
	if res := u.proctor("stop", "2"); res.code != 2 || !strings.Contains(res.err, first.ID()) || !strings.Contains(res.err, second.ID()) {
		t.Errorf("an ambiguous beginning: exit status %d %s", res.code, res.err)
	}
	u.must("stop", second.ID())
	if s := second.ends(); s.Phase != event.Failed || s.Verdict != nil {
		t.Errorf("a stopped run is %s, verdict %v", s.Phase, s.Verdict)
	}
	u.must("stop")
	first.ends()
	contains(t, u.must("show"), "record    "+second.Path()) // none is alive: the newest
	contains(t, u.must("show", second.Path()), second.ID()) // a path will do
}

func TestLists(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	contains(t, u.must("runs"), "no runs yet")
	if list := parse[[]rundir.Summary](t, u.must("runs", "--json")); len(list) != 0 {
		t.Errorf("runs %+v", list)
	}
	u.headless(u.task(task{}))
	r := u.newest()
	contains(t, u.must("runs"), r.ID(), "done", "baseline", "0.8", "silver")
	list := parse[[]rundir.Summary](t, u.must("runs", "--json"))
	if len(list) != 1 || list[0].ID != r.ID() || list[0].Phase != "done" || list[0].Alive || *list[0].Verdict.Score != 0.8 {
		t.Errorf("runs %+v", list)
	}
	if s := parse[event.State](t, u.must("show", "--json")); s.Verdict.Medal != "silver" || s.Steps != 1 {
		t.Errorf("show %+v", s)
	}
	contains(t, u.must("grade"), "verdict: graded, accuracy 0.8") // graded before: says so again

	contains(t, u.must("tasks"), "builtin/digits", "builtin/diabetes", "builtin/speedup")
	rows := parse[[]struct {
		Ref    string
		Metric string
	}](t, u.must("tasks", "--json"))
	if len(rows) < 3 || rows[0].Metric == "" {
		t.Errorf("tasks %+v", rows)
	}
	contains(t, u.must("agents"), "baseline", "search", "human", "rerun:RUN")
	kinds := parse[[]struct {
		Name    string
		NoModel bool `json:"no_model"`
	}](t, u.must("agents", "--json"))
	if len(kinds) < 4 || !kinds[0].NoModel {
		t.Errorf("agents %+v", kinds)
	}
	contains(t, u.must("doctor"), "sandbox bwrap", "sandbox none", "python3", u.path("state"))
	findings := parse[[]struct{ What, Say string }](t, u.must("doctor", "--json"))
	if len(findings) < 4 || findings[0].Say == "" {
		t.Errorf("doctor %+v", findings)
	}
}

// The settings of a user reach the runs; what is wrong in them is named.
func TestSettings(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure("[terminal]\ncols = 77\n[tasks]\nroots = [\"" + u.path("tasks") + "\"]\n[run]\nagent = \"baseline\"\n")
	dir := u.task(task{starter: "stty size; " + writeNumber})
	res := u.proctor("run", filepath.Base(dir), "--headless", "--json", "--sandbox", u.anyBox())
	if res.code != 0 {
		t.Fatalf("exit status %d %s", res.code, res.err)
	}
	done := only[event.ActionFinished](t, parseEvents(t, res.out), event.TypeActionFinished)
	contains(t, done[0].Text, " 77")
	u.configure("[terminal]\ncolls = 80\n")
	res = u.proctor("runs")
	if res.code != 2 {
		t.Errorf("a wrong key: exit status %d", res.code)
	}
	contains(t, res.err, "config.toml:2", "colls", "cols")
}

func TestReplay(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	res, _ := u.headless(u.task(task{starter: "sleep 1; " + writeNumber}))
	if again := u.must("replay", "--speed", "100", "--json"); again != res.out {
		t.Errorf("a replay printed %d bytes, the run %d", len(again), len(res.out))
	}
	contains(t, u.must("replay", "--speed", "1000"), "run ended: graded")
}

// A recorded run's actions are carried out again for real.
func TestRerun(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.task(task{})
	u.headless(dir)
	first := u.newest()
	res := u.proctor("run", dir, "--agent", "rerun:"+first.ID(), "--headless", "--json", "--sandbox", u.anyBox())
	events := parseEvents(t, res.out)
	if v := verdict(t, fold(events)); res.code != 0 || *v.Score != 0.8 {
		t.Errorf("exit status %d, verdict %+v", res.code, v)
	}
	if a := only[event.ActionStarted](t, events, event.TypeActionStarted); len(a) != 1 || a[0].Title != "sh train.sh" {
		t.Errorf("actions %+v", a)
	}
	if res := u.proctor("run", dir, "--agent", "rerun:nobody"); res.code != 2 || !strings.Contains(res.err, "nobody") {
		t.Errorf("a run that is not there: exit status %d %s", res.code, res.err)
	}
}
