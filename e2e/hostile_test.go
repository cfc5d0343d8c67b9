package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"proctor/runner/event"
	"proctor/tasks"
)

// resident is a process's memory, in KiB.
func resident(t testing.TB, pid int) int {
	t.Helper()
	for line := range strings.Lines(read(fmt.Sprintf("/proc/%d/status", pid))) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatalf("process %d has no VmRSS", pid)
	return 0
}

// An agent that floods its terminal is held up by nothing, and neither the
// supervisor nor who watches remembers it all.
func TestFloodStaysOutOfMemory(t *testing.T) {
	t.Parallel()
	small, large := 10, 64
	switch {
	case os.Getenv("PROCTOR_TEST_LARGE") == "1":
		large = 1024
	case raceDetector: // which is twenty times as slow
		small, large = 3, 20
	}
	u := newUser(t)
	u.configure("[terminal]\nrecording_limit = \"8M\"\n")
	dir := u.task(task{starter: fmt.Sprintf(`line=$(printf 'loss 0.%%064d\033[3%%dm' 7 1)
yes "$line" | head -c %dM
touch small; while [ ! -e on ]; do sleep 0.05; done
yes "$line" | head -c %dM
touch large; while [ ! -e go ]; do sleep 0.05; done
`+writeNumber, small, large)})
	r := u.run(dir)
	console := u.console("attach")
	console.shows("RUNNING")
	measure := func(mark string) (super, viewer int) {
		path := filepath.Join(r.Workspace(), mark)
		poll(t, mark+" is written", func() bool { _, err := os.Stat(path); return err == nil })
		u.must("hint", "is it answering?")
		return resident(t, supervisor(r.Dir)), resident(t, console.cmd.Process.Pid)
	}
	superSmall, viewerSmall := measure("small")
	write(t, filepath.Join(r.Workspace(), "on"), "")
	superLarge, viewerLarge := measure("large")
	t.Logf("supervisor %d KiB after %d MB, %d KiB after %d MB; console %d and %d KiB", superSmall, small, superLarge, large, viewerSmall, viewerLarge)
	// The garbage collector makes both figures wander, under the race
	// detector the more so; a process that kept the output would grow by it.
	if superLarge > 2*superSmall+20<<10 || viewerLarge > 2*viewerSmall+20<<10 {
		t.Errorf("supervisor %d KiB, then %d KiB; console %d, then %d KiB", superSmall, superLarge, viewerSmall, viewerLarge)
	}
	write(t, filepath.Join(r.Workspace(), "go"), "")
	s := r.ends()
	if v := verdict(t, s); v.Status != tasks.Graded {
		t.Errorf("verdict %+v", v)
	}
	o := s.Actions[0].Finished
	if !o.Truncated || len(o.Text) > 64<<10 || !strings.HasSuffix(o.Text, "acc 0.8") {
		t.Errorf("the observation has %d bytes, truncated: %v", len(o.Text), o.Truncated)
	}
	if info, err := os.Stat(r.Cast()); err != nil || info.Size() > 16<<20 {
		t.Errorf("the recording has %d bytes, %v", info.Size(), err)
	}
	if strings.Count(castOutput(t, read(r.Cast())), "not recorded: the recording is at its limit") == 0 {
		t.Error("the recording does not say what is missing")
	}
	if info, err := os.Stat(r.Events()); err != nil || info.Size() > 1<<20 {
		t.Errorf("the log has %d bytes, %v", info.Size(), err)
	}
}

// A metric printed thousands of times a second does not flood the log.
func TestFloodOfMetrics(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	_, events := u.headless(u.task(task{starter: "yes 'acc 0.25' | head -n 50000; echo acc 0.75; " + writeNumber}))
	s := fold(events)
	if n := len(only[event.Note](t, events, event.TypeMetric)); n > 2000 || *s.Best != 0.8 {
		t.Errorf("%d metrics on record, best %v", n, *s.Best)
	}
}

// Children in sessions of their own, abandoned and deaf to signals, are gone
// when the outputs are copied.
func TestChildrenAreGoneAtGrading(t *testing.T) {
	t.Parallel()
	for _, box := range []string{"bwrap", "landlock", "none"} {
		t.Run(box, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox(box)
			r := u.run(u.task(task{starter: writeNumber + `for i in 1 2 3 4 5; do
  (setsid sh -c '(trap "" HUP TERM INT QUIT; echo up >up'$i'; while :; do sleep 0.05; echo x >>noise'$i'; done) & ' &)
done
for i in 1 2 3 4 5; do while [ ! -e up$i ]; do sleep 0.05; done; done
`, grader: "sleep 1\n" + gradeNumber}), "--sandbox", box)
			r.reaches(event.Grading)
			if left := r.processes(""); len(left) > 0 {
				t.Errorf("while it is graded, processes %v are there", left)
			}
			if v := verdict(t, r.ends()); v.Status != tasks.Graded {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

func TestBadAgents(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		starter string
		outputs []string
		code    int
		status  tasks.Status
		reason  string
	}{
		"exits at once":          {starter: "exit 0", code: 3, status: tasks.NoSubmission, reason: "out.txt"},
		"is not there":           {starter: "exec /no/such/program", code: 3, status: tasks.NoSubmission, reason: "out.txt"},
		"kills itself":           {starter: "kill -9 $$", code: 3, status: tasks.NoSubmission, reason: "out.txt"},
		"deletes its workspace":  {starter: "rm -rf ./* .[a-z]* \"$PWD\"; mkdir x; exit 0", code: 3, status: tasks.NoSubmission, reason: "out.txt"},
		"one output of two":      {starter: writeNumber, outputs: []string{"out.txt", "model.bin"}, code: 3, status: tasks.InvalidSubmission, reason: "model.bin"},
		"a directory for a file": {starter: "mkdir out.txt", code: 3, status: tasks.NoSubmission, reason: "out.txt"},
		"locks its files":        {starter: writeNumber + "mkdir locked; echo x >locked/x; chmod 0 locked out.txt .", code: 0, status: tasks.Graded},
		"deep directories":       {starter: writeNumber + "i=0; while [ $i -lt 300 ]; do mkdir -p d$i; cd d$i; i=$((i+1)); done", outputs: []string{"out.txt"}, code: 0, status: tasks.Graded},
		"closes its terminal":    {starter: "exec >&- 2>&- <&-; sleep 0.2; echo 0.8 >out.txt", code: 0, status: tasks.Graded},
		"reads its terminal":     {starter: "(sleep 0.3; kill -9 $$) & cat; " + writeNumber, code: 3, status: tasks.NoSubmission, reason: "out.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox("bwrap")
			res, events := u.headless(u.task(task{starter: tc.starter + "\n", outputs: tc.outputs}), "--sandbox", "bwrap")
			v := verdict(t, fold(events))
			if res.code != tc.code || v.Status != tc.status || !strings.Contains(v.Reason, tc.reason) {
				t.Errorf("exit status %d, verdict %+v", res.code, v)
			}
			if v.Status != tasks.Graded && (v.SubmissionSHA256 != "" && v.Status == tasks.NoSubmission || v.Score != nil) {
				t.Errorf("nothing was handed in, yet the verdict is %+v", v)
			}
		})
	}
}

// Too much is refused with the sizes, and nothing of it is kept.
func TestOutputsTooLarge(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure("[grader]\noutput_size = \"1M\"\noutput_files = 5\n")
	for starter, says := range map[string]string{
		"head -c 2M /dev/zero >out.txt":                                            "1048576",
		"mkdir d; for i in 1 2 3 4 5 6 7; do echo $i >d/$i; done; echo 1 >out.txt": "5 files",
	} {
		res, events := u.headless(u.task(task{starter: starter + "\n", outputs: []string{"d", "out.txt"}}))
		if v := verdict(t, fold(events)); res.code != 3 || v.Status != tasks.InvalidSubmission || !strings.Contains(v.Reason, says) {
			t.Errorf("%s: exit status %d, verdict %+v", starter, res.code, v)
		}
	}
}

// Bytes that are no text go through the terminal, the log and the printers.
func TestOutputThatIsNoText(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	res, events := u.headless(u.task(task{starter: `printf 'caf\351 \377\376\000 \303\251 \360\237\246'; printf '\212 acc 0.7\n'
head -c 100000 /dev/urandom; printf '\033c\033[0m\nacc 0.8\n'; echo 0.8 >out.txt
`}))
	if res.code != 0 || !utf8.ValidString(res.out) {
		t.Errorf("exit status %d, valid UTF-8: %v", res.code, utf8.ValidString(res.out))
	}
	if s := fold(events); *s.Best != 0.8 || !utf8.ValidString(s.Actions[0].Finished.Text) {
		t.Errorf("best %v, observation %q", *s.Best, s.Actions[0].Finished.Text)
	}
	if out := castOutput(t, read(u.newest().Cast())); !strings.Contains(out, "é 🦊") {
		t.Errorf("a character cut in two is not whole in the recording: %.100q", out)
	}
}

// The hard limit ends what goes on, grades what is there, and the log says
// which limit it was. Nobody is asked in a headless run.
func TestHardLimit(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	res, events := u.headless(u.task(task{starter: writeNumber + tickers}), "--time", "1s")
	s := fold(events)
	if len(s.Fired) != 2 || s.Fired[0].What != "soft" || s.Fired[1].What != "hard" || s.Fired[1].Dimension != event.Time || s.Fired[1].Used < 1 {
		t.Errorf("limits %+v", s.Fired)
	}
	if v := verdict(t, s); res.code != 0 || *v.Score != 0.8 || v.Assisted {
		t.Errorf("exit status %d, verdict %+v", res.code, v)
	}
	if asked := only[event.Ask](t, events, event.TypeAsk); len(asked) > 0 {
		t.Errorf("a headless run asks %+v", asked)
	}
	if left := u.newest().processes(""); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	contains(t, u.proctor("attach", "--plain").out, "budget: time soft limit reached", "budget: time limit reached", "finishing: the time budget is spent")
}

// With somebody at the terminal, the soft limit stops everything and asks.
func TestSoftLimitAsks(t *testing.T) {
	t.Parallel()
	for answer, then := range map[string]func(t *testing.T, r run){
		"carry on": func(t *testing.T, r run) {
			s := r.ends()
			if last := s.Fired[len(s.Fired)-1]; last.What != "hard" {
				t.Errorf("limits %+v", s.Fired)
			}
		},
		"extend": func(t *testing.T, r run) {
			if s := r.state(); s.Limits.Time != 61*time.Second || s.Extensions != 1 {
				t.Errorf("limits %+v, %d extensions", s.Limits, s.Extensions)
			}
			r.moving(shapes)
			write(t, filepath.Join(r.Workspace(), "go"), "")
			if s := r.ends(); !verdict(t, s).Assisted {
				t.Error("an extension does not count as assistance")
			}
		},
		"grade now": func(t *testing.T, r run) {
			if s := r.ends(); *verdict(t, s).Score != 0.8 {
				t.Errorf("verdict %+v", s.Verdict)
			}
		},
		"stop": func(t *testing.T, r run) {
			if s := r.ends(); s.Phase != event.Failed || s.Verdict != nil {
				t.Errorf("the run is %s, verdict %+v", s.Phase, s.Verdict)
			}
		},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			console := u.console(append([]string{"run", u.task(task{starter: writeNumber + tickers}), "--agent", "baseline", "--time", "1s"}, u.withBox(nil)...)...)
			poll(t, "the run has started", func() bool { dirs, _ := u.store().Alive(); return len(dirs) == 1 })
			r := u.newest()
			s := r.reaches(event.Waiting)
			poll(t, "it asks", func() bool { s = r.state(); return s.Ask != nil })
			if b := s.Fired[0]; b.What != "soft" || b.Dimension != event.Time || s.Work < 0.8 || s.Work > 1 {
				t.Errorf("limit %+v at %.2f s", b, s.Work)
			}
			console.shows(s.Ask.Text)
			if err := r.standing(shapes, 300*time.Millisecond); err != nil {
				t.Errorf("while it asks, %v", err)
			}
			if res := u.proctor("resume"); res.code != 5 || !strings.Contains(res.err, s.Ask.ID) {
				t.Errorf("resuming it: exit status %d %s", res.code, res.err)
			}
			if res := u.proctor("answer", r.ID(), s.Ask.ID, "perhaps"); res.code != 5 || !strings.Contains(res.err, "grade now") {
				t.Errorf("another answer: exit status %d %s", res.code, res.err)
			}
			contains(t, u.must("show"), s.Ask.ID+": "+s.Ask.Text)
			args := []string{"answer", r.ID(), s.Ask.ID, answer}
			if answer == "extend" {
				args = append(args, "1m")
			}
			u.must(args...)
			then(t, r)
		})
	}
}
