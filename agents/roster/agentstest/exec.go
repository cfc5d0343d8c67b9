//go:build unix

package agentstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"

	"proctor/agents"
)

// execute runs the action's command as a process group in the workspace and
// waits for it, or kills the group when its time is up.
func (h *Host) execute(ctx context.Context, a agents.Action) (agents.Observation, error) {
	timed := ctx
	if a.Timeout > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeout(ctx, a.Timeout)
		defer cancel()
	}
	argv := a.Argv
	if a.Shell != "" {
		argv = []string{"sh", "-c", a.Shell}
	}
	cmd := exec.CommandContext(timed, argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(h.Dir, a.Dir)
	cmd.Env = append(append(os.Environ(), "HOME="+h.Dir, "PS1=$ ", "TERM=dumb"), a.Env...)
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

	began := time.Now()
	var text string
	var err error
	if a.Interactive {
		text, err = h.attended(cmd)
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var out []byte
		out, err = cmd.CombinedOutput()
		text = string(out)
	}
	obs := agents.Observation{Text: text, Seconds: time.Since(began).Seconds()}
	if ctx.Err() != nil {
		return obs, ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case timed.Err() != nil:
		obs.TimedOut, obs.ExitCode = true, 137
	case errors.As(err, &exit):
		obs.ExitCode = exit.ExitCode()
	case errors.Is(err, exec.ErrNotFound):
		obs.ExitCode = 127
	case err != nil:
		return obs, fmt.Errorf("run %q: %w", argv, err)
	}
	return obs, nil
}

// attended runs cmd on a pty, with the host's keys typed into it.
func (h *Host) attended(cmd *exec.Cmd) (string, error) {
	tty, err := pty.Start(cmd)
	if err != nil {
		return "", err
	}
	defer tty.Close()
	if _, err := io.WriteString(tty, h.Keys); err != nil {
		return "", err
	}
	var out strings.Builder
	io.Copy(&out, tty) // on Linux the end of a pty reads as an error
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), cmd.Wait()
}
