package mlebench

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

// A procBench runs jobs as plain processes, which find their directories by
// the variables that name them.
type procBench struct {
	dir  string
	fail error // of the bench itself

	mu   sync.Mutex
	jobs []tasks.Job
}

func newBench(t *testing.T) *procBench { return &procBench{dir: t.TempDir()} }

func (b *procBench) Mounts() bool { return false }

func (b *procBench) Stage(name string, files fs.FS) (string, error) {
	dir, err := os.MkdirTemp(b.dir, name)
	if err != nil {
		return "", err
	}
	return dir, os.CopyFS(dir, files)
}

func (b *procBench) Run(ctx context.Context, j tasks.Job) (tasks.JobResult, error) {
	b.mu.Lock()
	b.jobs = append(b.jobs, j)
	b.mu.Unlock()
	if b.fail != nil {
		return tasks.JobResult{}, b.fail
	}
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return tasks.JobResult{}, err
	}
	defer r.Close()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, j.Argv[0], j.Argv[1:]...)
	cmd.Dir = b.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "PROCTOR_VERDICT_FD=3"}, j.Env...)
	for _, m := range j.Mounts {
		if m.Env != "" {
			cmd.Env = append(cmd.Env, m.Env+"="+m.Source)
		}
	}
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	start := time.Now()
	err = cmd.Start()
	w.Close()
	if err != nil {
		return tasks.JobResult{}, err
	}
	var verdict []byte
	var reading sync.WaitGroup
	reading.Go(func() { verdict, _ = io.ReadAll(r) })
	err = cmd.Wait()
	reading.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return tasks.JobResult{}, err
	}
	return tasks.JobResult{
		ExitCode: cmd.ProcessState.ExitCode(),
		TimedOut: errors.Is(ctx.Err(), context.DeadlineExceeded),
		Seconds:  time.Since(start).Seconds(),
		Output:   output.String(),
		Verdict:  verdict,
	}, nil
}

// mounted lists where a job found its mounts.
func mounted(j tasks.Job) string {
	var all []string
	for _, m := range j.Mounts {
		all = append(all, filepath.Clean(m.Source))
	}
	return strings.Join(all, "\n")
}
