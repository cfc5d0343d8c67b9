package local

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/guest"
	"proctor/runner/sandbox/proc"
)

// endWithin is how long the kernel may take to end everything before what
// is left is named in Close's error.
const endWithin = 15 * time.Second

// Close implements [sandbox.Sandbox].
func (s *Sandbox) Close() error {
	s.end()
	<-s.done
	return s.endErr
}

// end ends the sandbox, whoever notices first that it is over: Close, the
// guest's process, or its line. It returns at once to all but the first.
func (s *Sandbox) end() {
	s.ending.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), endWithin)
		defer cancel()
		s.mu.Lock()
		s.lost = true // whatever ends from here on ends with the sandbox
		s.mu.Unlock()
		s.endErr = s.killAll(ctx)
		s.stop()
		if s.conn != nil {
			s.conn.Close()
		}
		if s.line != nil {
			s.line.Close()
		}
		s.abandon()
		s.beside.Wait()
		s.endErr = errors.Join(s.endErr, s.group.Remove(ctx))
		s.guest.close()
		closeListeners(s.plan.Listeners)
		closeFiles(s.plan.Files)
		if s.plan.Cleanup != nil {
			s.plan.Cleanup()
		}
		close(s.done)
	})
}

// killAll returns when no process of the sandbox is left.
func (s *Sandbox) killAll(ctx context.Context) error {
	err := s.group.Kill(ctx)
	switch {
	case s.cmd == nil || s.cmd.Process == nil: // never started
		return err
	case s.plan.Namespace && s.guest.pid != 0:
		// Process 1 takes its namespace with it, and bwrap ends when the
		// last one in it is gone.
		s.guest.kill()
	case s.plan.Namespace:
		s.killUnborn()
	default:
		s.line.Close() // the warden kills everything below itself
	}
	select {
	case <-s.exited:
	case <-time.After(endWithin / 3):
		s.cmd.Process.Kill()
		<-s.exited
	}
	if !s.plan.Namespace {
		err = errors.Join(err, killMarked(ctx, s.plan.Spec.Name))
	}
	return err
}

// killUnborn ends a process that never became a guest. bwrap's child waits
// for its parent, for ever if that is killed: stopped, so that it starts no
// more, the parent goes last.
func (s *Sandbox) killUnborn() {
	s.cmd.Process.Signal(syscall.SIGSTOP)
	if all, err := proc.List(); err == nil {
		for _, p := range proc.Descendants(all, s.cmd.Process.Pid) {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	s.cmd.Process.Kill()
}

// killMarked ends what bears the sandbox's mark in its environment: what
// was left behind if somebody killed the warden.
func killMarked(ctx context.Context, name string) error {
	mark := guest.SandboxVar + "=" + name
	for {
		all, err := proc.List()
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(p proc.Process) bool {
			return p.Dead() || !slices.Contains(proc.Environ(p.PID), mark)
		})
		if len(all) == 0 {
			return nil
		}
		for _, p := range all {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// abandon tells everyone who waits for a command that it is over.
func (s *Sandbox) abandon() {
	s.mu.Lock()
	commands := s.commands
	s.commands = map[int]*process{}
	s.mu.Unlock()
	for _, p := range commands {
		p.ended(sandbox.Exit{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL}, errEnded)
	}
}

// kill ends the guest, never another process that got its number since.
func (p *guestProcess) kill() {
	if p.pidfd >= 0 {
		pidfdKill(p.pidfd)
	} else if p.pid > 1 {
		syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

func (p *guestProcess) close() {
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}
