// Package benchtest is a tasks.Bench for tests: it runs a grader's jobs as
// plain processes, where nothing can be mounted, and serves the protocol of
// the inner sandbox with plain processes too.
package benchtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"proctor/tasks"
)

// A Bench runs jobs in temporary directories of a test.
type Bench struct {
	t      testing.TB
	python string // directory whose python3 comes first
	// Jobs are those that were run, in order.
	Jobs []tasks.Job
	// Fail, when set, is what Run returns.
	Fail error
}

// New returns a bench whose python3 has the given modules. Where there is no
// such Python the test is skipped, or fails if PROCTOR_TEST_REQUIRE is 1.
func New(t testing.TB, modules ...string) *Bench {
	t.Helper()
	script := "import sys"
	for _, m := range modules {
		script += ", " + m
	}
	for _, name := range []string{"python3", "/usr/bin/python3", "/usr/local/bin/python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", script).Run() == nil {
			return &Bench{t: t, python: filepath.Dir(path)}
		}
	}
	why := "there is no python3"
	if len(modules) > 0 {
		why += " with " + strings.Join(modules, ", ")
	}
	if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
	return nil
}

// Mounts implements tasks.Bench.
func (b *Bench) Mounts() bool { return false }

// Stage implements tasks.Bench.
func (b *Bench) Stage(name string, files fs.FS) (string, error) {
	dir := filepath.Join(b.t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.CopyFS(dir, files)
}

// Run implements tasks.Bench.
func (b *Bench) Run(ctx context.Context, j tasks.Job) (tasks.JobResult, error) {
	b.Jobs = append(b.Jobs, j)
	if b.Fail != nil {
		return tasks.JobResult{}, b.Fail
	}
	limited, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	verdict, write, err := os.Pipe()
	if err != nil {
		return tasks.JobResult{}, err
	}
	defer verdict.Close()
	files, env := []*os.File{write}, append(b.environ(j.Mounts), "PROCTOR_VERDICT_FD=3")
	var serving sync.WaitGroup
	if j.Inner {
		ours, theirs, err := socketpair()
		if err != nil {
			write.Close()
			return tasks.JobResult{}, err
		}
		serving.Go(func() { b.serve(limited, ours) })
		defer serving.Wait()
		defer ours.Close()
		files, env = append(files, theirs), append(env, "PROCTOR_INNER_FD=4")
	}
	var output bytes.Buffer
	cmd := b.command(limited, j.Argv, b.inside(j.Mounts, j.Dir), append(env, j.Env...))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &output, &output, files
	start := time.Now()
	err = cmd.Start()
	for _, f := range files {
		f.Close()
	}
	if err != nil {
		return tasks.JobResult{ExitCode: 127, Output: err.Error()}, nil
	}
	said := make(chan []byte, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(verdict, 1<<20))
		said <- data
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && limited.Err() == nil {
		return tasks.JobResult{}, err
	}
	r := tasks.JobResult{
		ExitCode: cmd.ProcessState.ExitCode(), Seconds: time.Since(start).Seconds(), Output: output.String(),
		TimedOut: limited.Err() != nil && ctx.Err() == nil, Verdict: bytes.TrimSpace(<-said),
		Collected: map[string][]byte{},
	}
	for _, file := range j.Collect {
		if data, err := os.ReadFile(b.inside(j.Mounts, file)); err == nil {
			r.Collected[file] = data
		}
	}
	return r, ctx.Err()
}

// command is a process in a group of its own, killed as a group.
func (b *Bench) command(ctx context.Context, argv []string, dir string, env []string) *exec.Cmd {
	program := argv[0]
	if program == "python3" {
		program = filepath.Join(b.python, program)
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// inside translates a path inside the sandbox to one on this machine.
func (b *Bench) inside(mounts []tasks.Mount, path string) string {
	for _, m := range mounts {
		if path == m.Target || strings.HasPrefix(path, m.Target+"/") {
			return m.Source + strings.TrimPrefix(path, m.Target)
		}
	}
	b.t.Errorf("%q is on no mount", path)
	return path
}

func (b *Bench) environ(mounts []tasks.Mount) []string {
	env := []string{"PATH=" + b.python + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + b.t.TempDir()}
	for _, m := range mounts {
		if m.Env != "" {
			env = append(env, m.Env+"="+m.Source)
		}
	}
	return env
}

func socketpair() (ours net.Conn, theirs *os.File, err error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	mine := os.NewFile(uintptr(pair[0]), "inner")
	defer mine.Close()
	theirs = os.NewFile(uintptr(pair[1]), "inner")
	if ours, err = net.FileConn(mine); err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}

type request struct {
	Argv    []string          `json:"argv"`
	Files   map[string]string `json:"files"`
	Stdin   string            `json:"stdin"`
	Timeout float64           `json:"timeout_s"`
}

type answer struct {
	ExitCode int     `json:"exit_code"`
	Seconds  float64 `json:"seconds"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Error    string  `json:"error"`
}

// serve answers a grader's requests for submitted code to be run.
func (b *Bench) serve(ctx context.Context, conn net.Conn) {
	in := bufio.NewScanner(conn)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(conn)
	for in.Scan() {
		var q request
		a := answer{ExitCode: -1}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			a.Error = err.Error()
		} else {
			a = b.inner(ctx, q)
		}
		if out.Encode(a) != nil {
			return
		}
	}
}

func (b *Bench) inner(ctx context.Context, q request) answer {
	dir, err := os.MkdirTemp(b.t.TempDir(), "inner")
	if err != nil {
		return answer{ExitCode: -1, Error: err.Error()}
	}
	for name, text := range q.Files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return answer{ExitCode: -1, Error: err.Error()}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(q.Timeout*float64(time.Second)))
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := b.command(ctx, q.Argv, dir, b.environ(nil))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(q.Stdin), &stdout, &stderr
	start := time.Now()
	err = cmd.Run()
	a := answer{Seconds: time.Since(start).Seconds(), Stdout: stdout.String(), Stderr: stderr.String()}
	if cmd.ProcessState != nil {
		a.ExitCode = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		a.Error = "stopped"
	case err != nil && !errors.As(err, &exit):
		a.Error = err.Error()
	}
	return a
}
