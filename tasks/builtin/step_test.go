package builtin_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// starterAnd is the starter code with lines of the caller's behind it.
func starterAnd(t *testing.T, lines string) string {
	return string(readFile(t, "speedup/environment/starter.py")) + "\n\n" + lines
}

func submitStep(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "step.py"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The ways to look fast that are known from other benchmarks; each is refused
// with its reason. Those that begin with a smuggled import get past the list of
// permitted modules, so that what is behind it is tested too.
func TestCheatingStepsAreRefused(t *testing.T) {
	python3(t)
	const (
		honest  = "honest = step\n"
		smuggle = "import functools, operator\n" +
			"load = operator.attrgetter('__globals__')(functools.wraps)['__builtins__']['__import__']\n"
	)
	for _, test := range []struct {
		name, source, want string
	}{
		{"empty", "", "step.py is empty: expected the function step"},
		{"no function", "x = 1\n", "step.py has no function step"},
		{"not Python", "def step(:\n", "step.py is not valid Python: "},
		{"not text", "def step(): '\xff'\n", "step.py is not UTF-8 text: byte 13 cannot be read"},
		{"patched time", "import time\ntime.time = time.perf_counter = lambda: 0.0\n" + starterAnd(t, ""), "step.py, line 1: 'time' is imported, allowed are array"},
		{"native code", "from ctypes import *\n" + starterAnd(t, ""), "step.py, line 1: 'ctypes' is imported"},
		{"processes", "import os.path\n" + starterAnd(t, ""), "step.py, line 1: 'os.path' is imported"},
		{"relative import", "from . import runner\n" + starterAnd(t, ""), "step.py, line 1: '.' is imported"},
		{"hidden import", "__import__('time')\n" + starterAnd(t, ""), "step.py, line 1: __import__ is used"},
		{"hidden code", "exec('import time')\n" + starterAnd(t, ""), "step.py, line 1: exec is used"},
		{"way to the builtins", "x = ().__class__\n" + starterAnd(t, ""), "step.py, line 1: the attribute __class__ is used"},
		{"answers kept from the first time", starterAnd(t, honest+"kept = []\n"+`
def step(*args):
    if not kept:
        kept.append(honest(*args))
    return kept[0]
`), "model.w1[0][0] is "},
		{"answers known by heart", "def step(model, *rest):\n    return model, 2.302585092994046\n", "model.w1[0][0] is "},
		{"slightly wrong", starterAnd(t, honest+`
def step(*args):
    model, loss = honest(*args)
    model["w2"][0][0] *= 1.0001
    return model, loss
`), "model."},
		{"work left out", strings.Replace(starterAnd(t, ""), "+ decay * weights[i][j]", "", 1), "model.w1[0][0] is "},
		{"wrong loss", starterAnd(t, honest+"def step(*args):\n    return honest(*args)[0], 0.5\n"), "losses[0] is 0.5, expected "},
		{"NaN", starterAnd(t, honest+"def step(*args):\n    return honest(*args)[0], math.nan\n"), "losses[0] is nan, expected "},
		{"infinity", starterAnd(t, honest+"def step(*args):\n    return honest(*args)[0], -math.inf\n"), "losses[0] is -inf, expected "},
		{"huge integer", starterAnd(t, honest+"def step(*args):\n    return honest(*args)[0], 10 ** 400\n"), "losses[0] is inf, expected "},
		{"text", starterAnd(t, honest+"def step(*args):\n    model, loss = honest(*args)\n    return model, str(loss)\n"), "losses[0] is '"},
		{"truth", starterAnd(t, honest+"def step(*args):\n    return honest(*args)[0], True\n"), "losses[0] is True, expected a number"},
		{"equal to everything", starterAnd(t, `
class Yes:
    def __eq__(self, other):
        return True

def step(model, *rest):
    return model, Yes()
`), "step.py ended without a result (exit status 1): TypeError: Object of type Yes is not JSON serializable"},
		{"a float that lies", starterAnd(t, `
class Yes(float):
    def __eq__(self, other):
        return True
    def __repr__(self):
        return "2.302585092994046"

def step(model, *rest):
    return model, Yes(1)
`), "model.w1[0][0] is "},
		{"parts missing", starterAnd(t, honest+"def step(*args):\n    model, loss = honest(*args)\n    return dict(model, more=1), loss\n"), "model is an object with w1, "},
		{"rows missing", starterAnd(t, honest+"def step(*args):\n    model, loss = honest(*args)\n    return dict(model, b1=[]), loss\n"), "step.py ended without a result (exit status 1): IndexError: list index out of range"},
		{"early end", "raise SystemExit(0)\ndef step(): pass\n", "step.py ended without a result (exit status 0): it printed no error"},
		{"error", "def step(*args):\n    return 1 / 0\n", "step.py ended without a result (exit status 1): ZeroDivisionError: division by zero"},
		{"recursion", "def step(*args):\n    return step(*args)\n", "step.py ended without a result (exit status 1): RecursionError"},
		{"result written by hand", smuggle + `
load("os").write(1, b'{"model": {}, "losses": []}')
load("os")._exit(0)
def step(): pass
`, "step.py ended without a result (exit status 0)"},
		{"result forged past the runner", smuggle + `
for fd in range(3, 16):
    try:
        load("os").write(fd, b'{"model": {}, "losses": []}')
    except OSError:
        pass
load("os")._exit(0)
def step(): pass
`, "model is an object with no parts, expected the parts w1, "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			refused(t, quickly(t, submitStep(t, test.source)), "invalid_submission", test.want)
		})
	}
	t.Run("missing", func(t *testing.T) {
		refused(t, grade(t, "speedup", t.TempDir()), "no_submission", "step.py is missing: nothing was handed in")
	})
}

func TestEndlessStepTimesOut(t *testing.T) {
	python3(t)
	dir := submitStep(t, "def step(*args):\n    while True:\n        pass\n")
	got := graded(t, lay(t, "speedup/tests"), dir, nil, "python3", "-I", "-S", "grade.py", "--timeout", "2")
	refused(t, got, "invalid_submission", "step.py did not finish: timed out after 2 s")
}

// A step that got hold of the clock after all gains nothing from it.
func TestPatchedClockGainsNothing(t *testing.T) {
	python3(t)
	dir := submitStep(t, `import functools, operator
time = operator.attrgetter('__globals__')(functools.wraps)['__builtins__']['__import__']('time')
time.time = time.perf_counter = time.monotonic = time.process_time = lambda: 0.0
`+starterAnd(t, ""))
	honest := func(score float64) bool { return score >= 0.5 }
	if got := judge(t, readSpec(t, "speedup"), "speedup", dir, honest); !honest(got) {
		t.Errorf("seconds %v, want about 1", got)
	}
}

// Given PROCTOR_INNER_FD, the grader runs submitted code there and nowhere
// else, and believes the clock behind it.
func TestStepsRunInTheInnerSandbox(t *testing.T) {
	python3(t)
	server, client := socketPair(t)
	var asked atomic.Int64
	done := make(chan error, 1)
	go func() { done <- serve(t, server, &asked) }()
	got := quickly(t, lay(t, "speedup/environment"), client)
	client.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if asked.Load() != 3*2+3*3 {
		t.Errorf("%d runs in the inner sandbox, want two for each odd shape and three a round", asked.Load())
	}
	if got := got.score(t, readSpec(t, "speedup")); got != 0.25 {
		t.Errorf("seconds %v, want 0.25: what the inner sandbox's clock said", got)
	}
}

// serve answers requests by running them, with made-up times: a second for
// what costs nothing, five for the starter, two for the submission.
func serve(t *testing.T, conn net.Conn, asked *atomic.Int64) error {
	defer conn.Close()
	lines := bufio.NewReader(conn)
	perRound := []float64{1, 5, 2, 1, 2, 5} // idle, then in alternating order
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the grader is gone
		}
		var request struct {
			Argv    []string
			Files   map[string]string
			Stdin   string
			Timeout float64 `json:"timeout_s"`
		}
		if err := json.Unmarshal(line, &request); err != nil {
			return err
		}
		if request.Timeout != 20 {
			return errors.New("the time limit did not come through")
		}
		dir := t.TempDir()
		for name, text := range request.Files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		cmd := exec.CommandContext(t.Context(), request.Argv[0], request.Argv[1:]...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(request.Stdin)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		seconds := 1.0
		if n := asked.Add(1) - 7; n >= 0 {
			seconds = perRound[n%6]
		}
		answer, err := json.Marshal(map[string]any{
			"exit_code": 0, "seconds": seconds, "stdout": string(out), "stderr": "", "error": "",
		})
		if err != nil {
			return err
		}
		if _, err := conn.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
}

// socketPair returns the two ends of a unix stream socket, the second as a
// file that a child process can inherit.
func socketPair(t *testing.T) (net.Conn, *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	file := os.NewFile(uintptr(fds[0]), "server")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		t.Fatal(err)
	}
	return conn, os.NewFile(uintptr(fds[1]), "client")
}
