package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"proctor/runner/rundir"
)

// A user is somebody with a home of their own, in which nothing of this
// machine's real user is seen.
type user struct {
	testing.TB
	root string // short: the path of a unix socket has little room
}

func newUser(t testing.TB) *user {
	t.Helper()
	root, err := os.MkdirTemp("", "pe")
	if err != nil {
		t.Fatal(err)
	}
	u := &user{t, root}
	for _, dir := range []string{"home", "state", "config", "run", "tasks"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(u.leave)
	return u
}

// endAll ends what the test left running.
func (u *user) endAll() {
	dirs, err := u.store().Alive()
	if err != nil {
		u.Error(err)
	}
	for _, d := range dirs {
		if pid := supervisor(d); pid > 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		poll(u, "the supervisor ends", func() bool { return !d.Alive() })
	}
}

// leave clears up after the test, and fails it if the race detector or the
// runtime had something to say about a supervisor.
func (u *user) leave() {
	u.endAll()
	logs, _ := filepath.Glob(filepath.Join(u.store().Root(), "*", "supervisor.log"))
	for _, log := range logs {
		text := read(log)
		for _, bad := range []string{"DATA RACE", "panic: ", "fatal error: "} {
			if strings.Contains(text, bad) {
				u.Errorf("%s: %s", log, text)
			}
		}
	}
	// Submissions and tasks may hold what cannot be removed as it is.
	_ = filepath.Walk(u.root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(u.root); err != nil {
		u.Logf("clearing up: %v", err)
	}
}

func (u *user) path(parts ...string) string {
	return filepath.Join(append([]string{u.root}, parts...)...)
}

func (u *user) store() rundir.Store { return rundir.NewStore(u.path("state", "proctor", "runs")) }

func (u *user) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "E2E_MODEL_KEY=" + modelKey, "HOME=" + u.path("home"), "TERM=xterm-256color", "LANG=C.UTF-8",
		"XDG_STATE_HOME=" + u.path("state"), "XDG_CONFIG_HOME=" + u.path("config"), "XDG_RUNTIME_DIR=" + u.path("run"),
		"GORACE=atexit_sleep_ms=0",
	}
}

// configure writes the user's settings.
func (u *user) configure(text string) { write(u, u.path("config", "proctor", "config.toml"), text) }

// A result is how a command ended.
type result struct {
	out, err string
	code     int
}

// limit is the longest that one command may take.
const limit = 90 * time.Second

// proctor runs a command to its end.
func (u *user) proctor(args ...string) result {
	u.Helper()
	return u.start(args...).wait()
}

// must is proctor for commands that have to succeed; it returns what they
// printed.
func (u *user) must(args ...string) string {
	u.Helper()
	r := u.proctor(args...)
	if r.code != 0 {
		u.Fatalf("proctor %q: exit status %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// A job is a command that goes on.
type job struct {
	u        *user
	cmd      *exec.Cmd
	args     []string
	out, err bytes.Buffer
	mu       sync.Mutex
}

// start starts a command.
func (u *user) start(args ...string) *job { return u.startFile(program, args...) }

func (u *user) startFile(file string, args ...string) *job {
	u.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	j := &job{u: u, args: args, cmd: exec.CommandContext(ctx, file, args...)}
	j.cmd.Env, j.cmd.Dir = u.env(), u.path("home")
	j.cmd.Stdout, j.cmd.Stderr = locked{j, &j.out}, locked{j, &j.err}
	j.cmd.WaitDelay = 5 * time.Second
	if err := j.cmd.Start(); err != nil {
		cancel()
		u.Fatal(err)
	}
	u.Cleanup(cancel)
	return j
}

// locked lets a test read what a job prints while it goes on.
type locked struct {
	j   *job
	buf *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	return l.buf.Write(p)
}

func (j *job) printed() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.String()
}

func (j *job) wait() result {
	j.u.Helper()
	err := j.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		j.u.Fatalf("proctor %q: %v", j.args, err)
	}
	if j.cmd.ProcessState.ExitCode() == -1 && j.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		j.u.Logf("proctor %q was killed, by the test or by its limit", j.args)
	}
	return result{j.out.String(), j.err.String(), j.cmd.ProcessState.ExitCode()}
}

// poll waits until ok holds.
func poll(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(3 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// supervisor returns the process id of a run's supervisor, 0 if it has none.
func supervisor(d rundir.Dir) int {
	return processWith(func(argv []string) bool {
		return len(argv) > 2 && argv[0] == "proctor" && argv[1] == "supervise" && argv[len(argv)-1] == d.Path()
	})
}

// processWith returns a process whose command line is as wanted, 0 if there
// is none.
func processWith(wanted func(argv []string) bool) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line := strings.TrimSuffix(read(filepath.Join(dir, "cmdline")), "\x00")
		if line != "" && wanted(strings.Split(line, "\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			return pid
		}
	}
	return 0
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns a file's text, "" if it cannot be read.
func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

// parse reads JSON strictly.
func parse[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, text)
	}
	if dec.More() {
		t.Fatalf("more than one JSON value:\n%s", text)
	}
	return v
}

func contains(t testing.TB, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want it to contain %q", text, want)
		}
	}
}

// processesIn returns the processes that have a word in their command line
// and work in a directory. A sandbox may see that under another name, so it
// is known by its device and number.
func processesIn(dir, word string) []int {
	want, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	var pids []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range dirs {
		if !strings.Contains(read(filepath.Join(proc, "cmdline")), word) {
			continue
		}
		if got, err := os.Stat(filepath.Join(proc, "cwd")); err == nil && os.SameFile(got, want) {
			pid, _ := strconv.Atoi(filepath.Base(proc))
			pids = append(pids, pid)
		}
	}
	return pids
}
