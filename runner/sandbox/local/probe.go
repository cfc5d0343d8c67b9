package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"proctor/runner/sandbox"
)

// Probe finds out whether a kind works by using it: a sandbox over an empty
// workspace, one command on a terminal, and the end.
func Probe(ctx context.Context, open func(context.Context, sandbox.Spec) (sandbox.Sandbox, error)) sandbox.Probe {
	iso, err := try(ctx, open)
	if err != nil {
		return sandbox.Probe{Reason: err.Error()}
	}
	return sandbox.Probe{OK: true, Isolation: iso}
}

func try(ctx context.Context, open func(context.Context, sandbox.Spec) (sandbox.Sandbox, error)) (sandbox.Isolation, error) {
	workspace, err := os.MkdirTemp("", "proctor-probe-")
	if err != nil {
		return sandbox.Isolation{}, err
	}
	defer os.RemoveAll(workspace)
	name := fmt.Sprintf("probe-%d-%d", os.Getpid(), time.Now().UnixNano())
	s, err := open(ctx, sandbox.Spec{
		Name: name, Workspace: workspace, Workdir: "/workspace",
		// So wide that they bind nothing: which of them can be had?
		Limits: sandbox.Limits{MemoryBytes: 1 << 50, CPUs: float64(runtime.NumCPU()), Pids: 1 << 15, FileBytes: 1 << 50},
	})
	if err != nil { // of which the sandbox's name is no news
		return sandbox.Isolation{}, errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("open sandbox %q: ", name)))
	}
	iso := s.Isolation()
	err = probeCommand(ctx, s)
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return iso, err
}

func probeCommand(ctx context.Context, s sandbox.Sandbox) error {
	ctx, cancel := context.WithTimeout(ctx, guestWithin)
	defer cancel()
	p, err := s.Start(ctx, sandbox.Command{Argv: []string{"sh", "-c", "echo it works >it && cat it"}, TTY: true})
	if err != nil {
		return err
	}
	out, err := io.ReadAll(p)
	if err != nil {
		return err
	}
	exit, err := p.Wait()
	if err == nil && (exit.Code != 0 || strings.TrimSpace(string(out)) != "it works") {
		err = fmt.Errorf("a command in it ended with status %d and %q", exit.Code, out)
	}
	return err
}
