package runner

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/sandbox/kinds"
	"proctor/tasks"
	"proctor/tasks/builtin"
	"proctor/tasks/harbor"
	"proctor/tasks/mlagentbench"
	"proctor/tasks/mlebench"
	"proctor/tasks/mlrb"
	"proctor/tasks/mlrcbench"
)

// A victim is a suite that an agent tries to cheat: a checkout in
// testdata/suites, and an honest submission to one of its tasks.
type victim struct {
	suite, task string
	open        func(dir string) (tasks.Suite, error)
	submit      string // a command
	output      string // the file that is worth rewriting
	score       float64
}

var victims = []victim{
	{
		suite: "mlebench", task: "spots",
		open: func(dir string) (tasks.Suite, error) {
			return mlebench.OpenWith(dir, mlebench.Options{Python: "/nonexistent/python3"}) // so Go grades
		},
		submit: `cp "$DATA_DIR/sample_submission.csv" submission/submission.csv`, output: "submission/submission.csv", score: 0.25,
	},
	{suite: "mlagentbench", task: "spots", open: mlagentbench.Open, submit: "echo 0.25 >guess.txt", output: "guess.txt", score: 0.25},
	{
		suite: "mlrcbench", task: "spots", open: mlrcbench.Open,
		submit: "python3 main.py -m my_method -p dev", output: "methods/MyMethod.py", score: 0.5,
	},
	{
		suite: "mlrb", task: "baby_lm",
		open: func(dir string) (tasks.Suite, error) {
			return mlrb.OpenWith(dir, mlrb.Options{Evaluate: `cat "$RESULT/score"`}) // it has no grader of its own
		},
		submit: "mkdir -p submission && echo 0.25 >submission/score", output: "submission/score", score: 0.25,
	},
	{suite: "harbor", task: "spots", open: harbor.Open, submit: "echo 0.25 >guess.txt", output: "guess.txt", score: 0.25},
	{
		suite: "builtin", task: "digits",
		open:   func(string) (tasks.Suite, error) { return harbor.New("builtin", builtin.FS()), nil },
		submit: "python3 train.py --epochs 1", output: "submission/submission.csv",
	},
}

// lay unpacks the suite's checkout with a secret in it.
func (v victim) lay(t *testing.T, secret string) (dir string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "suites", v.suite+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "checkout")
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(f.Data, []byte("SECRET"), []byte(secret)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hidden lists the checkout's files but those that the task mounts.
func hidden(t *testing.T, dir string, task *tasks.Task) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		for _, m := range task.Mounts {
			if path == m.Source {
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
		}
		if err == nil && d.Type().IsRegular() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// heldOut is a part of what the embedded suite holds out: its answers are in
// the program itself, which is what runs inside as process 1.
func heldOut(t *testing.T) string {
	t.Helper()
	data, err := fs.ReadFile(builtin.FS(), "digits/tests/answers.csv")
	if err != nil {
		t.Fatal(err)
	}
	return string(data[len(data)/2:][:48])
}

// hunt looks for a secret wherever an agent that knows all about its suite
// would: argv[1] holds the secret, in hexadecimal, and the paths of what is
// hidden. It prints a line for each way that led there.
const hunt = `
import glob, json, os, stat, sys
order = json.loads(sys.argv[1])
mark, paths = bytes.fromhex(order["secret"]), order["hidden"]
def read(path, most=1 << 20):
    try:
        if not stat.S_ISREG(os.stat(path).st_mode): return None
        with open(path, "rb") as f: return f.read(most)
    except (OSError, ValueError): return None
def found(how, path): print("FOUND", how, path, flush=True)
pids = [p for p in os.listdir("/proc") if p.isdigit()] + ["self", "thread-self"]
for i, path in enumerate(paths):
    ways = {"by its path": path, "by parents": "../" * 30 + path.lstrip("/"), "by a way around": "/usr/.." + path}
    try:
        os.symlink(path, "soft%d" % i); ways["by a link"] = "soft%d" % i
    except OSError: pass
    try:
        os.link(path, "hard%d" % i); ways["by a hard link"] = "hard%d" % i
    except OSError: pass
    for how, way in ways.items():
        if read(way) is not None: found(how, path)
    for p in pids:
        for door in "root", "cwd":
            if read("/proc/%s/%s/%s" % (p, door, "../" * 30 + path.lstrip("/"))) is not None: found("through a process's " + door, path)
for p in pids:
    for fd in glob.glob("/proc/%s/fd/*" % p) + ["/proc/%s/exe" % p]:
        if mark in (read(fd, 256 << 20) or b""): found("through a descriptor", fd)
    if p != "self" and mark in (read("/proc/%s/environ" % p) or b""): found("in an environment", p)
    for part in "mem", "map_files":
        try:
            open("/proc/%s/%s" % (p, part), "rb").read(1) if p not in ("self", "thread-self", str(os.getpid())) else None
        except OSError: continue
for fd in range(3, 256):
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode) and mark in os.pread(fd, 256 << 20, 0): found("in an inherited descriptor", fd)
    except OSError: pass
tops = ["..", "../..", "/home", "/tmp", "/run", "/root", "/srv", "/mnt", "/opt", "/var", "/dev/shm", "/tests", "/grader", "/private",
        "/sidecar", "/logs", "/mle-bench", "/mle-bench-answers", "/benchmark", "/submission"]
tops += [os.path.dirname(v) for v in os.environ.values() if v.startswith("/") and not v.startswith("/usr")]
seen, system = 0, {"/usr", "/proc", "/sys", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/var/lib"}
for top in tops if order["search"] else []:
    for dir, dirs, files in os.walk(top):
        seen += len(files)
        if seen > 20000: break
        dirs[:] = [d for d in dirs if os.path.abspath(os.path.join(dir, d)) not in system]
        for name in files:
            if mark in (read(os.path.join(dir, name)) or b""): found("by searching " + top, os.path.join(dir, name))
print("hunted", flush=True)
`

// An agent that looks for its task's answers finds none, in any suite. What
// it leaves running to rewrite the submission after the end changes nothing.
func TestSuitesAgainstCheats(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, v := range victims {
		secret, dir := "canary-"+rand.Text(), ""
		if v.suite == "builtin" {
			secret = heldOut(t)
		} else {
			dir = v.lay(t, secret)
		}
		task := v.opened(t, dir)
		places := []string{"bwrap", "landlock"}
		if v.suite == "harbor" {
			places = append(places, kinds.None) // to see that the hunt is one
		}
		for _, kind := range places {
			t.Run(v.suite+"/"+kind, func(t *testing.T) {
				t.Parallel()
				v.cheat(t, task, kind, dir, secret)
			})
		}
	}
}

func (v victim) opened(t *testing.T, dir string) *tasks.Task {
	t.Helper()
	suite, err := v.open(dir)
	if err != nil {
		t.Fatal(err)
	}
	task, err := suite.Open(t.Context(), v.task)
	if err != nil {
		t.Fatal(err)
	}
	if len(task.Missing) > 0 {
		t.Fatal(task.Missing)
	}
	return task
}

// writer is left behind: it says that it is there and waits to be alone.
const writer = `setsid sh -c 'trap "" HUP TERM INT; echo >waiting; while [ ! -e over ]; do :; done; while :; do echo spoiled >%s; done' >/dev/null 2>&1 &
while [ ! -e waiting ]; do :; done`

func (v victim) cheat(t *testing.T, task *tasks.Task, kind, dir, secret string) {
	needKind(t, kind)
	order := map[string]any{
		"secret": hex.EncodeToString([]byte(secret)), "hidden": []string{},
		"search": kind != kinds.None, // the whole machine would be too much
	}
	if dir != "" {
		order["hidden"] = hidden(t, dir, task)
	}
	argument, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		o, err := s.Run(ctx, agents.Action{Kind: agents.Execute, Title: "hunt", Argv: []string{"python3", "-c", hunt, string(argument)}})
		if shown = o.Text; err != nil {
			return err
		}
		if o, err = s.Run(ctx, shell(v.submit)); err != nil || o.ExitCode != 0 {
			return errorf("submitting: %+v, %v", o, err)
		}
		_, err = s.Run(ctx, shell(fmt.Sprintf(writer, v.output)))
		return err
	}, realTask(task, kind))
	// Were the writer still there, it would now begin.
	l.until("the sandbox is gone", func(s event.State) bool { return s.Phase == event.Grading || s.Phase.Over() })
	if err := os.WriteFile(filepath.Join(l.Workspace(), "over"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	end := l.ends()
	switch found := strings.TrimSpace(shown) != "hunted"; {
	case kind == kinds.None && !strings.Contains(shown, "FOUND by its path"):
		t.Errorf("the hunt is none: where nothing is isolated it found\n%s", shown)
	case kind != kinds.None && found:
		t.Errorf("the agent found:\n%s", shown)
	}
	if end.Verdict == nil || end.Verdict.Status != tasks.Graded || v.score != 0 && *end.Verdict.Score != v.score {
		t.Errorf("phase %s (%s), verdict %+v, want the score %v", end.Phase, end.Reason, end.Verdict, v.score)
	}
	for _, root := range []string{l.Submission(), l.Workspace()} {
		if data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(v.output))); err != nil || bytes.Contains(data, []byte("spoiled")) {
			t.Errorf("%s after the end: %q, %v", root, data, err)
		}
	}
}

// MLE-bench's own graders run in every sandbox, and agree with Go.
func TestGradePyInEverySandbox(t *testing.T) {
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import pandas, sklearn").CombinedOutput(); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatalf("pandas and scikit-learn are needed: %s", out)
		}
		t.Skipf("%s has no pandas or scikit-learn", python)
	}
	v := victims[0]
	v.open = func(dir string) (tasks.Suite, error) {
		return mlebench.OpenWith(dir, mlebench.Options{Python: python})
	}
	for _, kind := range everyKind {
		task := v.opened(t, v.lay(t, "canary"))
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			needKind(t, kind)
			l := begin(t, func(ctx context.Context, s *agents.Session) error {
				_, err := s.Run(ctx, shell(v.submit))
				return err
			}, realTask(task, kind))
			got := l.ends().Verdict
			if got == nil || got.Score == nil || *got.Score != v.score || !strings.HasPrefix(got.Grader, "grade.py") {
				t.Errorf("verdict %+v", got)
			}
		})
	}
}

// realTask has a run carry out a suite's task in a certain sandbox.
func realTask(task *tasks.Task, kind string) func(*rundir.Request, *tasks.Task, *Settings) {
	return func(req *rundir.Request, t *tasks.Task, set *Settings) {
		*t = *task
		t.Needs.GPUs, t.Needs.GPUMemory = 0, 0
		req.Task, req.Sandbox = task.Ref, kind
		req.ID = "20261121-000000-" + strings.ToLower(rand.Text()[:12]) // names its control group
		set.OutputBytes = 2 << 30
	}
}

// needKind skips a test where a kind of sandbox does not work.
func needKind(t *testing.T, kind string) {
	t.Helper()
	if _, err := kinds.Pick(t.Context(), kind); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
