package harbor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
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

// A procBench runs jobs as plain processes in temporary directories. Without
// mounts a job finds its directories by their variables. With mounts each
// target appears below root, which jobs know as $ROOT: as near to a mount as
// a process without privileges comes.
type procBench struct {
	t      *testing.T
	mounts bool
	root   string
	fail   error // of the bench itself
	job    tasks.Job
}

func newBench(t *testing.T, mounts bool) *procBench {
	return &procBench{t: t, mounts: mounts, root: t.TempDir()}
}

func (b *procBench) Mounts() bool { return b.mounts }

func (b *procBench) Stage(name string, files fs.FS) (string, error) {
	dir := filepath.Join(b.t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.CopyFS(dir, files)
}

func (b *procBench) Run(ctx context.Context, j tasks.Job) (tasks.JobResult, error) {
	b.job = j
	if b.fail != nil {
		return tasks.JobResult{}, b.fail
	}
	if err := b.mount(j.Mounts); err != nil {
		return tasks.JobResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	verdictR, verdictW, err := os.Pipe()
	if err != nil {
		return tasks.JobResult{}, err
	}
	defer verdictR.Close()

	argv := append([]string(nil), j.Argv...)
	if b.mounts {
		argv[len(argv)-1] = b.root + argv[len(argv)-1]
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = b.inside(j, j.Dir)
	cmd.Env = append(b.environ(j), j.Env...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.ExtraFiles = []*os.File{verdictW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	start := time.Now()
	if err := cmd.Start(); err != nil {
		verdictW.Close()
		return tasks.JobResult{}, err
	}
	verdictW.Close()
	var verdict []byte
	var reading sync.WaitGroup
	reading.Go(func() { verdict, _ = io.ReadAll(io.LimitReader(verdictR, 1<<20)) })
	err = cmd.Wait()
	reading.Wait()

	r := tasks.JobResult{
		ExitCode:  cmd.ProcessState.ExitCode(),
		TimedOut:  errors.Is(ctx.Err(), context.DeadlineExceeded),
		Seconds:   time.Since(start).Seconds(),
		Output:    output.String(),
		Verdict:   verdict,
		Collected: map[string][]byte{},
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.Signal = ws.Signal().String()
	}
	for _, file := range j.Collect {
		path := b.inside(j, file)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			r.Collected[file], _ = os.ReadFile(path)
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return r, err
	}
	return r, nil
}

// mount makes the targets appear below root, and enforces read-only ones
// where the test is not run as root.
func (b *procBench) mount(mounts []tasks.Mount) error {
	for _, m := range mounts {
		if !b.mounts {
			continue
		}
		at := filepath.Join(b.root, m.Target)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(m.Source, at); err != nil {
			return err
		}
	}
	return nil
}

// inside translates a path inside the sandbox to one on this machine.
func (b *procBench) inside(j tasks.Job, path string) string {
	for _, m := range j.Mounts {
		if path == m.Target || strings.HasPrefix(path, m.Target+"/") {
			return m.Source + strings.TrimPrefix(path, m.Target)
		}
	}
	b.t.Errorf("%s is on no mount", path)
	return path
}

func (b *procBench) environ(j tasks.Job) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "ROOT=" + b.root, "PROCTOR_VERDICT_FD=3"}
	for _, m := range j.Mounts {
		where := m.Source
		if b.mounts {
			where = filepath.Join(b.root, m.Target)
		}
		env = append(env, m.Env+"="+where)
	}
	return env
}
