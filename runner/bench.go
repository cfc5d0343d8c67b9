package runner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/outputs"
	"proctor/runner/terminal"
	"proctor/tasks"
)

// bench implements tasks.Bench: each job gets a fresh sandbox of the kind
// that the run had. It is safe for concurrent use.
type bench struct {
	run    *Run
	name   string // tells its sandboxes and directories from another bench's
	dir    string // private; removed at the end
	mounts bool
	jobs   atomic.Int64
}

func newBench(r *Run, name string) *bench {
	return &bench{run: r, name: name, dir: filepath.Join(r.dir.Scratch(), name), mounts: r.isolation.Targets}
}

func (b *bench) close() error { return os.RemoveAll(b.dir) }

// Mounts implements tasks.Bench.
func (b *bench) Mounts() bool { return b.mounts }

// Stage implements tasks.Bench.
func (b *bench) Stage(name string, files fs.FS) (string, error) {
	dir := filepath.Join(b.dir, "stage", name)
	if err := seed([]tasks.Seed{{From: files, To: "."}}, dir); err != nil {
		return "", fmt.Errorf("laying out %s for the grader: %w", name, err)
	}
	return dir, nil
}

// How much of a grader is kept. A verdict longer than its limit is kept one
// byte longer, so that whoever reads it knows.
const (
	mostVerdict = 1 << 20
	mostOutput  = 64 << 10
)

// Run implements tasks.Bench.
func (b *bench) Run(ctx context.Context, j tasks.Job) (tasks.JobResult, error) {
	id := b.jobs.Add(1)
	home := filepath.Join(b.dir, fmt.Sprintf("job%d", id))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return tasks.JobResult{}, fmt.Errorf("making a place for the grader: %w", err)
	}
	defer os.RemoveAll(home)
	spec, err := b.spec(ctx, j, home)
	if err != nil {
		return tasks.JobResult{}, err
	}
	spec.Name = fmt.Sprintf("%s-%s%d", b.run.dir.ID(), b.name, id)
	box, err := b.run.kind.Open(ctx, spec)
	if err != nil {
		return tasks.JobResult{}, fmt.Errorf("starting a sandbox for the grader: %w", err)
	}
	defer box.Close()
	if j.Timeout <= 0 {
		j.Timeout = b.run.set.GraderTime
	}
	limited, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	result, err := b.inside(limited, box, j)
	if err != nil {
		return result, err
	}
	result.TimedOut = limited.Err() != nil && ctx.Err() == nil
	if err := box.Close(); err != nil {
		return result, fmt.Errorf("ending the grader's sandbox: %w", err)
	}
	result.Collected = collected(j)
	return result, ctx.Err()
}

func (b *bench) spec(ctx context.Context, j tasks.Job, home string) (sandbox.Spec, error) {
	spec := sandbox.Spec{
		Workspace: home, Workdir: graderHome,
		Env: slices.Clone(b.run.set.Env), Network: sandbox.Network{Policy: "none"}, Limits: b.run.set.Limits, Log: os.Stderr,
	}
	if j.Network {
		spec.Network.Policy = "full"
	}
	for _, m := range j.Mounts {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: m.Source, Target: m.Target, Writable: m.Writable})
	}
	if j.GPUs {
		if err := b.run.lendGPUs(ctx, &spec); err != nil {
			return spec, err
		}
	}
	return spec, nil
}

// graderHome is the grader's own empty working directory, apart from the
// mounts that a job asks for.
const graderHome = "/grader"

// inside runs the job's program. The verdict comes through a pipe that was
// opened here, out of reach of anything that the submission could write.
func (b *bench) inside(ctx context.Context, box sandbox.Sandbox, j tasks.Job) (tasks.JobResult, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return tasks.JobResult{}, fmt.Errorf("opening a pipe for the verdict: %w", err)
	}
	defer read.Close()
	files := []*os.File{write}
	env := append(mountEnv(box, j), "PROCTOR_VERDICT_FD=3")
	if j.Inner {
		inner, err := b.offerInner(ctx)
		if err != nil {
			write.Close()
			return tasks.JobResult{}, err
		}
		defer inner.close()
		files, env = append(files, inner.theirs), append(env, "PROCTOR_INNER_FD=4")
	}
	observer := terminal.NewObserver(200, mostOutput/2, mostOutput/2)
	started := time.Now()
	proc, err := box.Start(ctx, sandbox.Command{
		Argv: j.Argv, Dir: box.Path(orHome(j.Dir)), Env: append(env, j.Env...), TTY: true, Cols: 200, Rows: 50, Files: files,
	})
	write.Close()
	if err != nil {
		return tasks.JobResult{ExitCode: 127, Output: err.Error()}, nil
	}
	stop := context.AfterFunc(ctx, func() { _ = proc.Kill() })
	defer stop()
	verdict := make(chan []byte, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(read, mostVerdict+1))
		verdict <- data
		_, _ = io.Copy(io.Discard, read)
	}()
	_, _ = io.Copy(observer, proc)
	exit, err := proc.Wait()
	if err != nil && ctx.Err() == nil {
		return tasks.JobResult{}, fmt.Errorf("running the grader: %w", err)
	}
	result := tasks.JobResult{ExitCode: exit.Code, Seconds: time.Since(started).Seconds()}
	if exit.Signal != 0 {
		result.Signal = exit.Signal.String()
	}
	// What the grader left running may hold the pipe open; its end does not.
	if err := box.Close(); err != nil {
		return result, fmt.Errorf("ending the grader's sandbox: %w", err)
	}
	result.Output, _ = observer.Result()
	if result.Verdict = <-verdict; len(result.Verdict) <= mostVerdict {
		result.Verdict = bytes.TrimSpace(result.Verdict)
	}
	return result, nil
}

func orHome(dir string) string {
	if dir == "" {
		return graderHome
	}
	return dir
}

// mountEnv names where each mount is found.
func mountEnv(box sandbox.Sandbox, j tasks.Job) []string {
	var env []string
	for _, m := range j.Mounts {
		if m.Env != "" {
			env = append(env, m.Env+"="+box.Path(m.Target))
		}
	}
	return env
}

// collected reads back the files that a job asked for, from the host side of
// the mounts they lie in, following no links.
func collected(j tasks.Job) map[string][]byte {
	found := map[string][]byte{}
	for _, want := range j.Collect {
		for _, m := range j.Mounts {
			rel, inside := strings.CutPrefix(path.Clean(want), strings.TrimSuffix(m.Target, "/")+"/")
			if !inside || !m.Writable {
				continue
			}
			if data, err := outputs.ReadFile(m.Source, rel, mostVerdict+1); err == nil {
				found[want] = data
			}
		}
	}
	return found
}
