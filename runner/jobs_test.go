package runner

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/runner/gpu"
	"proctor/runner/rundir"
	"proctor/tasks"
)

// jobGrader runs its jobs one after the other and keeps their output.
type jobGrader struct {
	jobs   []tasks.Job
	output []string
}

func (g *jobGrader) Grade(ctx context.Context, _ tasks.Submission, b tasks.Bench) (*tasks.Verdict, error) {
	for _, j := range g.jobs {
		r, err := b.Run(ctx, j)
		if err != nil {
			r.Output = err.Error()
		}
		g.output = append(g.output, strings.TrimSpace(r.Output))
	}
	return &tasks.Verdict{Status: tasks.Graded}, nil
}

// A grader reaches the network, and has GPUs, only where its job says so.
func TestJobsHaveWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	needKind(t, "bwrap")
	outside, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	reach := []string{"python3", "-c", fmt.Sprintf(`import socket
try: socket.create_connection(("127.0.0.1", %d), 5); print("reached")
except OSError as e: print("not reached")`, outside.Addr().(*net.TCPAddr).Port)}
	g := &jobGrader{jobs: []tasks.Job{{Argv: reach}, {Argv: reach, Network: true}, {Argv: []string{"true"}, GPUs: true}}}
	l := begin(t, func(ctx context.Context, s *agents.Session) error { return score(ctx, s, "1") },
		func(req *rundir.Request, task *tasks.Task, _ *Settings) {
			req.ID, req.Sandbox, task.Grader = "20261121-000000-jobs", "bwrap", g
		})
	l.ends()
	want := []string{"not reached", "reached", "the grader needs a GPU, and the run was given none"}
	if !slices.Equal(g.output, want) {
		t.Errorf("%q, want %q", g.output, want)
	}
}

func TestJobsAreLentTheRunsGPUs(t *testing.T) {
	r := &Run{gpus: &gpus{granted: make([]gpu.Device, 1), grant: gpu.Grant{Nodes: []string{"/dev/null"}, Libraries: []string{"/etc/hostname"}}}}
	b := newBench(r, "grade")
	for _, asked := range []bool{false, true} {
		spec, err := b.spec(t.Context(), tasks.Job{GPUs: asked}, "/home")
		if lent := len(spec.Devices) == 1 && len(spec.Mounts) == 1; err != nil || lent != asked {
			t.Errorf("asked %v: devices %q, mounts %v, %v", asked, spec.Devices, spec.Mounts, err)
		}
	}
}

// A task may let its outputs be larger than the settings do, never smaller,
// and not where the settings set no limit.
func TestOutputBytes(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	if err := os.WriteFile(filepath.Join(workspace, "out.txt"), make([]byte, 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		settings, task int64
		taken          bool
	}{{1 << 20, 0, false}, {1 << 20, 4 << 20, true}, {4 << 20, 1 << 20, true}, {0, 1 << 20, true}} {
		r := &Run{task: &tasks.Task{Outputs: []string{"out.txt"}, OutputBytes: tc.task}, set: Settings{OutputBytes: tc.settings}}
		got, err := r.collectFrom(workspace, filepath.Join(t.TempDir(), "out"))
		if err != nil || (len(got.Files) == 1) != tc.taken || (len(got.Refused) == 1) == tc.taken {
			t.Errorf("%+v: %+v, %v", tc, got, err)
		}
	}
}

// A task's files are copied without being held in memory.
func TestSeedsAreStreamed(t *testing.T) {
	const size = 64 << 20
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	for name, data := range map[string][]byte{
		"large": bytes.Repeat([]byte("#x"), size/2), "run.sh": []byte("echo"), "tool": []byte("#!/bin/sh\n"), "one": []byte("#"), "none": nil,
	} {
		if err := os.WriteFile(filepath.Join(from, name), data, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 2 { // the second time over the first
		if err := seed([]tasks.Seed{{From: os.DirFS(from), To: "sub"}}, to); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > size/4 {
		t.Errorf("copying %d bytes took %d of memory", size, used)
	}
	for name, want := range map[string]struct {
		mode os.FileMode
		size int64
	}{"large": {0o644, size}, "run.sh": {0o755, 4}, "tool": {0o755, 10}, "one": {0o644, 1}, "none": {0o644, 0}} {
		info, err := os.Stat(filepath.Join(to, "sub", name))
		if err != nil || info.Mode().Perm()|0o022 != want.mode|0o022 || info.Size() != want.size {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
