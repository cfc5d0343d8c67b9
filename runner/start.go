package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"proctor/runner/event"
	"proctor/runner/gpu"
	"proctor/runner/rundir"
	"proctor/runner/sandbox"
	"proctor/tasks"
)

// Start makes a run's directory and starts its supervisor: this program
// again, with the given arguments and the directory after them, as a process
// that nobody's end takes along. It returns once the run is on record.
func Start(ctx context.Context, store rundir.Store, req rundir.Request, args []string) (rundir.Dir, error) {
	dir, err := store.Create(req)
	if err != nil {
		return dir, err
	}
	log, err := os.OpenFile(dir.SupervisorLog(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return dir, fmt.Errorf("making the supervisor's log: %w", err)
	}
	defer log.Close()
	self, err := selfPath()
	if err != nil {
		return dir, err
	}
	cmd := exec.Command(self, append(args, dir.Path())...)
	cmd.Args[0] = "proctor"
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return dir, fmt.Errorf("starting the run's supervisor: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return dir, onRecord(ctx, dir, ended)
}

// selfPath names this program in a way that works after its file is gone, as
// when go run has removed what it built.
func selfPath() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// onRecord waits until the log has its first event.
func onRecord(ctx context.Context, dir rundir.Dir, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		if info, err := os.Stat(dir.Events()); err == nil && info.Size() > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the run's supervisor did not come up: see %q", dir.SupervisorLog())
		case <-ended:
			if info, err := os.Stat(dir.Events()); err == nil && info.Size() > 0 {
				return nil
			}
			return fmt.Errorf("the run's supervisor ended at once: %s", lastLine(dir.SupervisorLog()))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func lastLine(path string) string {
	data, err := os.ReadFile(path)
	text := strings.TrimSpace(string(data))
	if err != nil || text == "" {
		return fmt.Sprintf("see %q", path)
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// startedEvent says what the run is.
func (r *Run) startedEvent() event.RunStarted {
	host, _ := os.Hostname()
	e := event.RunStarted{
		ID: r.dir.ID(), Task: event.TaskInfo{Ref: r.req.Task, Title: r.req.Task},
		Agent: r.req.Agent, Model: r.req.Model, Sandbox: r.kind.Name, Isolation: r.isolation.Gaps, Network: r.reach(),
		Budget: r.req.Budget, Soft: r.req.Soft, Seed: r.req.Seed, Mode: r.req.Mode, Patterns: r.req.Patterns, Version: r.set.Version, Host: host,
	}
	if t := r.task; t != nil {
		e.Task = event.TaskInfo{
			Ref: t.Ref, Suite: t.Suite, Title: t.Title, Metric: t.Metric.Name, Unit: t.Metric.Unit,
			HigherIsBetter: t.Metric.HigherIsBetter, Baseline: t.Standing.Baseline,
			Thresholds: t.Standing.Thresholds, References: t.Standing.References,
		}
	}
	return e
}

// reach says what the sandbox's processes may reach over the network.
func (r *Run) reach() string {
	switch {
	case r.task == nil:
		return ""
	case r.task.Needs.Network || !r.isolation.Network:
		return "open"
	case r.thinker != nil:
		return "model"
	}
	return "none"
}

// boxSpec says what the agent's sandbox is.
func (r *Run) boxSpec() sandbox.Spec {
	t := r.task
	spec := sandbox.Spec{
		Name: r.dir.ID(), Workspace: r.dir.Workspace(), Workdir: r.workdir(), ReadOnly: t.ReadOnly,
		Env: append(append([]string(nil), r.set.Env...), t.Env...), Network: sandbox.Network{Policy: "none"},
		Limits: r.set.Limits, Debugger: t.Needs.Debugger, Log: os.Stderr,
	}
	if r.thinker != nil {
		spec.Network = sandbox.Network{Policy: "model", Socket: r.thinker.socket}
	}
	if t.Needs.Network {
		spec.Network.Policy = "full"
	}
	if spec.Limits.MemoryBytes == 0 {
		spec.Limits.MemoryBytes = t.Needs.MemoryBytes
	}
	for _, m := range t.Mounts {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: m.Source, Target: m.Target, Writable: m.Writable})
		if m.Env != "" {
			spec.Env = append(spec.Env, m.Env+"="+r.where(m))
		}
	}
	if r.services != nil {
		spec.Network.Forwards = r.services.forwards
	}
	if r.gpus != nil {
		r.gpus.lend(&spec, r.isolation.Mounts)
	} else { // none, also where the sandbox does not hide their device nodes
		spec.Env = append(spec.Env, gpu.Grant{}.Env(r.isolation.Mounts)...)
	}
	return spec
}

func (r *Run) workdir() string {
	if r.task.Workdir == "" {
		return tasks.DefaultWorkdir
	}
	return r.task.Workdir
}

// inWorkspace returns where a directory of the workspace is found inside.
func (r *Run) inWorkspace(dir string) string {
	root := r.box.Path(r.workdir())
	if dir == "" {
		return root
	}
	return path.Join(root, dir)
}

// seed lays files into a directory that is made for them. They become the
// agent's own: writable, whatever they were.
func seed(seeds []tasks.Seed, dir string) error {
	for _, s := range seeds {
		to := filepath.Join(dir, filepath.FromSlash(s.To))
		if err := os.MkdirAll(to, 0o755); err != nil {
			return fmt.Errorf("laying out the task's files: %w", err)
		}
		if err := copyTree(s.From, to); err != nil {
			return fmt.Errorf("laying out the task's files: %w", err)
		}
	}
	return nil
}

func copyTree(from fs.FS, to string) error {
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(name))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%q is neither a file nor a directory", name)
		}
		return copyFile(from, name, target)
	})
}

// copyFile copies one file, however long.
func copyFile(from fs.FS, name, target string) (err error) {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	head := make([]byte, 2)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") || string(head[:n]) == "#!" {
		mode = 0o755 // an embedded file has lost its mode
	}
	// A new file, not one that is written over: it has this mode, and whoever
	// has the old one open keeps that.
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := out.Write(head[:n]); err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return err
}

// readState folds what an earlier supervisor wrote, if there was one.
func readState(dir rundir.Dir) (event.State, error) {
	s, err := Summary(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return event.State{}, nil
	}
	return s, err
}
