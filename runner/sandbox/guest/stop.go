package guest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"proctor/runner/sandbox/proc"
	"proctor/runner/sandbox/wire"
)

// A reach is what belongs to the sandbox, and how a signal gets to all of
// it.
type reach interface {
	inside() ([]proc.Process, error)
	// send signals everything inside. A process born meanwhile may have
	// been missed: whoever needs certainty looks again.
	send(sig syscall.Signal) error
}

// everyone is the reach of a process 1, and of a guest whose Landlock domain
// keeps its signals inside: kill(-1) delivers to all under one lock, so that
// no fork slips through.
type everyone struct{ warden int }

func (e everyone) inside() ([]proc.Process, error) {
	all, err := proc.List()
	if e.warden != 0 {
		all = proc.Descendants(all, e.warden)
	}
	return slices.DeleteFunc(all, isSelf), err
}

func (everyone) send(sig syscall.Signal) error {
	if err := syscall.Kill(-1, sig); err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	return nil
}

// tree is the reach of a guest below a warden: everything that the warden
// started, found by walking the table of processes. Nothing that is orphaned
// leaves it, since the warden adopts it.
type tree struct{ warden int }

func (t *tree) inside() ([]proc.Process, error) {
	all, err := proc.List()
	return slices.DeleteFunc(proc.Descendants(all, t.warden), isSelf), err
}

func (t *tree) send(sig syscall.Signal) error {
	inside, err := t.inside()
	if err != nil {
		return err
	}
	own, groups := syscall.Getpgrp(), map[int]bool{}
	for _, p := range inside {
		// A whole group at once catches one that forks and exits faster
		// than it is found.
		if p.PGID > 1 && p.PGID != own && !groups[p.PGID] {
			groups[p.PGID] = true
			syscall.Kill(-p.PGID, sig)
		}
		syscall.Kill(p.PID, sig) // may be gone by now
	}
	return nil
}

func isSelf(p proc.Process) bool { return p.PID == os.Getpid() }

const (
	stopWithin = 2 * time.Second
	killWithin = 5 * time.Second
)

// settle repeats send until done holds for everything inside.
func (s *server) settle(within time.Duration, sig syscall.Signal, done func(proc.Process) bool) error {
	for deadline := time.Now().Add(within); ; {
		if err := s.reach.send(sig); err != nil {
			return err
		}
		for range 20 {
			inside, err := s.reach.inside()
			if err != nil {
				return err
			}
			i := slices.IndexFunc(inside, func(p proc.Process) bool { return !done(p) })
			if i < 0 {
				return nil
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d is still in state %c", inside[i].PID, inside[i].State)
			}
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// stop stops everything inside and returns when it has.
func (s *server) stop() error {
	before, err := s.reach.inside()
	if err != nil {
		return err
	}
	s.stopped = s.stopped[:0]
	for _, p := range before {
		if p.State == 'T' {
			s.stopped = append(s.stopped, p.PID)
		}
	}
	// One that waits in the kernel (D) has its stop pending and runs no
	// instruction before it; a parent in vfork waits so for a child that
	// we have just stopped.
	return s.settle(stopWithin, syscall.SIGSTOP, func(p proc.Process) bool {
		return p.Stopped() || p.State == 'D'
	})
}

// cont lets everything go on, except what had stopped by itself before.
func (s *server) cont() error {
	if len(s.stopped) == 0 {
		return s.reach.send(syscall.SIGCONT)
	}
	inside, err := s.reach.inside()
	if err != nil {
		return err
	}
	for _, p := range inside {
		if !slices.Contains(s.stopped, p.PID) {
			syscall.Kill(p.PID, syscall.SIGCONT)
		}
	}
	s.stopped = s.stopped[:0]
	return nil
}

// kill ends everything inside but the guest itself.
func (s *server) kill() error {
	return s.settle(killWithin, syscall.SIGKILL, proc.Process.Dead)
}

// signal sends to a command's session, or to all that it started.
func (s *server) signal(sig wire.Signal) error {
	n := syscall.Signal(sig.Signal)
	if !sig.All {
		members, err := s.members(sig.ID, false)
		for _, p := range members {
			syscall.Kill(p.PID, n)
		}
		return err
	}
	for deadline := time.Now().Add(killWithin); ; time.Sleep(time.Millisecond) {
		members, err := s.members(sig.ID, true)
		if err != nil {
			return err
		}
		members = slices.DeleteFunc(members, proc.Process.Dead)
		for _, p := range members {
			syscall.Kill(p.PID, n)
		}
		if len(members) == 0 || n != syscall.SIGKILL {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not end", members[0].PID)
		}
	}
}

// members returns what is still there of a command: the processes of its
// session, and with all, also its descendants and those that bear its mark.
func (s *server) members(id int, all bool) ([]proc.Process, error) {
	inside, err := s.reach.inside()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	pid, known := s.commands[id]
	_, live := s.live[pid]
	s.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("no command %d", id)
	}
	leader := -1
	if live { // else its number may be another's by now
		leader = pid
	}
	found := map[int]bool{}
	for _, p := range inside {
		if p.PID == leader || p.Session == leader || (all || !live) && s.marked(p.PID, id) {
			found[p.PID] = true
			if all {
				for _, child := range proc.Descendants(inside, p.PID) {
					found[child.PID] = true
				}
			}
		}
	}
	members := slices.DeleteFunc(inside, func(p proc.Process) bool { return !found[p.PID] })
	// The command itself first: its end is then its own, not of grief over
	// a child's.
	slices.SortStableFunc(members, func(a, b proc.Process) int {
		switch leader {
		case a.PID:
			return -1
		case b.PID:
			return 1
		}
		return 0
	})
	return members, nil
}

func (s *server) marked(pid, id int) bool {
	env := proc.Environ(pid)
	return slices.Contains(env, CommandVar+"="+strconv.Itoa(id)) &&
		slices.Contains(env, SandboxVar+"="+s.setup.Name)
}
