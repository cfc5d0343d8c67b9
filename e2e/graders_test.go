package e2e

import (
	"os"
	"strings"
	"testing"

	"proctor/tasks"
)

// What a grader may do wrong ends in a verdict that says so, exit status 4.
func TestBadGraders(t *testing.T) {
	t.Parallel()
	const fd = `>&"$PROCTOR_VERDICT_FD"`
	for name, tc := range map[string]struct{ grader, says string }{
		"exits at once":       {"exit 0", "without writing a reward"},
		"crashes":             {"echo oh no; kill -SEGV $$", "oh no"},
		"fails":               {"echo the model has no weights; exit 3", "the model has no weights"},
		"garbage":             {"head -c 300 /dev/urandom " + fd, "no reward"},
		"garbage in a file":   {"echo 'Score: high' >/logs/verifier/reward.txt", "Score: high"},
		"NaN":                 {`echo '{"accuracy": NaN}' ` + fd, "NaN"},
		"infinity in a file":  {"echo inf >/logs/verifier/reward.txt", "inf"},
		"empty":               {": " + fd + " ; : >/logs/verifier/reward.json", "empty"},
		"empty object":        {"echo '{}' " + fd, "without any number"},
		"a list":              {"echo '[0.8]' " + fd, "expected a JSON object"},
		"another name":        {`echo '{"loss": 1, "error_rate": 2}' ` + fd, "accuracy"},
		"half":                {`printf '{"accuracy": 0.' ` + fd, "ends too early"},
		"too long":            {`head -c 10000000 /dev/zero | tr '\0' 7 ` + fd, "more than"},
		"too long in a file":  {`head -c 10000000 /dev/zero | tr '\0' 7 >/logs/verifier/reward.txt`, "more than"},
		"links to its reward": {`echo 1.0 >/tmp/x; ln -s /tmp/x /logs/verifier/reward.txt`, "without writing a reward"},
		"a FIFO":              {`mkfifo /logs/verifier/reward.txt`, "without writing a reward"},
		"escape sequences":    {`printf '\033]0;owned\007\033[2Jbroken pipe\n'; exit 1`, "broken pipe"},
		"floods":              {`yes broken | head -c 3000000; echo the end of it; exit 1`, "the end of it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox("bwrap")
			res, events := u.headless(u.task(task{grader: tc.grader}), "--sandbox", "bwrap")
			v := verdict(t, fold(events))
			if res.code != 4 || v.Status != tasks.GraderFailed || v.Score != nil || v.Medal != "" || v.Valid {
				t.Errorf("exit status %d, verdict %+v", res.code, v)
			}
			said := v.Reason + v.Grader
			contains(t, said, tc.says)
			if strings.ContainsAny(said, "\x1b\x07") || len(said) > 100_000 {
				t.Errorf("the grader's words come in %d bytes: %.300q", len(said), said)
			}
			if !strings.HasPrefix(u.must("show"), "run ") {
				t.Error("show does not say how the run stands")
			}
		})
	}
}

// A grader that hangs is ended, with all that it started.
func TestGraderThatHangs(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	res, events := u.headless(u.task(task{limit: 1, grader: `echo '{"accuracy": 1}' >&"$PROCTOR_VERDICT_FD"
setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' &
trap "" TERM HUP; while :; do sleep 1; done`}), "--sandbox", "bwrap")
	v := verdict(t, fold(events))
	if res.code != 4 || v.Status != tasks.GraderFailed || v.Score != nil || v.GraderSeconds < 1 || v.GraderSeconds > 20 {
		t.Errorf("exit status %d, verdict %+v", res.code, v)
	}
	contains(t, v.Reason, "1s")
}

// A grader that leaves something running with the pipe in its hands has
// still given its verdict.
func TestGraderThatLeavesProcesses(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	res, events := u.headless(u.task(task{grader: "setsid sleep 600 &\n" + gradeNumber}), "--sandbox", "bwrap")
	if v := verdict(t, fold(events)); res.code != 0 || *v.Score != 0.8 || v.GraderSeconds > 20 {
		t.Errorf("exit status %d, verdict %+v", res.code, v)
	}
}

// Harbor's own ways to hand a reward over work as well.
func TestRewardFiles(t *testing.T) {
	t.Parallel()
	for name, grader := range map[string]string{
		"text": "cat /workspace/out.txt >/logs/verifier/reward.txt",
		"json": `echo "{\"accuracy\": $(cat /workspace/out.txt), \"other\": 2}" >/logs/verifier/reward.json`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox("bwrap")
			res, events := u.headless(u.task(task{grader: grader}), "--sandbox", "bwrap")
			if v := verdict(t, fold(events)); res.code != 0 || *v.Score != 0.8 {
				t.Errorf("exit status %d, verdict %+v", res.code, v)
			}
		})
	}
}

// Each sandbox grades, also where a task's files cannot be mounted.
func TestEverySandboxGrades(t *testing.T) {
	t.Parallel()
	for _, box := range []string{"bwrap", "landlock", "none"} {
		t.Run(box, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox(box)
			res, events := u.headless(u.task(task{}), "--sandbox", box)
			if v := verdict(t, fold(events)); res.code != 0 || *v.Score != 0.8 {
				t.Errorf("exit status %d, verdict %+v", res.code, v)
			}
			if box == "bwrap" {
				return
			}
			// A script that knows only Harbor's paths cannot be honoured there.
			res, events = u.headless(u.task(task{grader: "cat /workspace/out.txt >/logs/verifier/reward.txt"}), "--sandbox", box)
			v := verdict(t, fold(events))
			if res.code != 4 || v.Status != tasks.GraderUnavailable || v.Remedy == "" {
				t.Errorf("exit status %d, verdict %+v", res.code, v)
			}
			contains(t, v.Reason, "/tests")
		})
	}
}

// A task whose files are wrong is refused before a run is made for it.
func TestBadTaskDirectories(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	good := func(files map[string]string) string { return u.task(task{files: files}) }
	for name, tc := range map[string]struct {
		make func() string
		says []string
	}{
		"no such directory": {func() string { return u.path("tasks", "nowhere") }, []string{"nowhere"}},
		"empty":             {func() string { dir := u.path("tasks", "empty"); os.Mkdir(dir, 0o755); return dir }, []string{"empty"}},
		"no instruction":    {func() string { d := good(nil); os.Remove(d + "/instruction.md"); return d }, []string{"instruction.md", "missing"}},
		"no grader":         {func() string { d := good(nil); os.Remove(d + "/tests/test.sh"); return d }, []string{"tests/test.sh", "missing"}},
		"no environment":    {func() string { d := good(nil); os.RemoveAll(d + "/environment"); return d }, []string{"environment", "missing"}},
		"a directory for a file": {func() string {
			d := good(nil)
			os.Remove(d + "/instruction.md")
			os.Mkdir(d+"/instruction.md", 0o755)
			return d
		}, []string{"instruction.md", "cannot be read"}},
		"not TOML":     {func() string { return good(map[string]string{"task.toml": "schema_version = \n"}) }, []string{"task.toml", "1"}},
		"a wrong type": {func() string { return u.task(task{own: "[metadata.proctor.budget]\nsteps = \"many\""}) }, []string{"task.toml", "budget.steps", "many"}},
		"a wrong key":  {func() string { return u.task(task{own: "statrer = \"x\""}) }, []string{"statrer", "starter"}},
		"not UTF-8":    {func() string { return good(map[string]string{"instruction.md": "\xff\xfe\x00"}) }, []string{"instruction.md", "UTF-8"}},
		"windows": {func() string {
			return good(map[string]string{"task.toml": strings.Replace(read(good(nil)+"/task.toml"), "[verifier]", "[environment]\nos = \"windows\"\n[verifier]", 1)})
		}, []string{"windows"}},
		"compose": {func() string { return good(map[string]string{"environment/docker-compose.yaml": "services: {}\n"}) }, []string{"compose"}},
		"several steps": {func() string {
			return good(map[string]string{"task.toml": read(good(nil)+"/task.toml") + "[[steps]]\nname = \"a\"\n"})
		}, []string{"steps"}},
	} {
		dir := tc.make()
		res := u.proctor("run", dir, "--agent", "baseline", "--headless", "--sandbox", "none")
		if res.code != 2 || res.out != "" {
			t.Errorf("%s: exit status %d %s", name, res.code, res.out)
		}
		contains(t, res.err, tc.says...)
		if n := strings.Count(res.err, "\n"); n > 4 || strings.Contains(res.err, "goroutine") {
			t.Errorf("%s: %d lines: %s", name, n, res.err)
		}
	}
	if ids, _ := u.store().IDs(); len(ids) > 0 {
		t.Errorf("%d runs were made", len(ids))
	}
	// In a list, what cannot be read does not hide the rest.
	u.configure("[tasks]\nroots = [\"" + u.path("tasks") + "\"]\n")
	contains(t, u.must("tasks"), "builtin/digits", "cannot be read")
}

// A file that may not be read is named. Root may read everything.
func TestUnreadableTaskFile(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	u := newUser(t)
	dir := u.task(task{})
	if err := os.Chmod(dir+"/tests/test.sh", 0); err != nil {
		t.Fatal(err)
	}
	res := u.proctor("run", dir, "--agent", "baseline", "--headless")
	if res.code != 2 {
		t.Errorf("exit status %d", res.code)
	}
	contains(t, res.err, "tests/test.sh", "permission denied")
}
