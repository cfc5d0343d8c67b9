package local

import (
	"context"
	"fmt"
	"slices"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/proc"
	"proctor/runner/sandbox/wire"
)

// Freeze implements [sandbox.Sandbox].
func (s *Sandbox) Freeze(ctx context.Context) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.frozen {
		return nil
	}
	var err error
	if s.isolation.Freezer == "init" {
		if _, err = s.call(ctx, wire.Request{Op: wire.OpStop}); err != nil {
			s.call(context.WithoutCancel(ctx), wire.Request{Op: wire.OpCont})
		}
	} else {
		err = s.group.Freeze(ctx)
	}
	if err != nil {
		return fmt.Errorf("freeze sandbox %q: %w", s.plan.Spec.Name, err)
	}
	s.frozen = true
	return nil
}

// Thaw implements [sandbox.Sandbox].
func (s *Sandbox) Thaw(ctx context.Context) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if !s.frozen {
		return nil
	}
	var err error
	if s.isolation.Freezer == "init" {
		_, err = s.call(ctx, wire.Request{Op: wire.OpCont})
	} else {
		err = s.group.Thaw()
	}
	if err != nil {
		return fmt.Errorf("thaw sandbox %q: %w", s.plan.Spec.Name, err)
	}
	s.frozen = false
	close(s.thawed)
	s.thawed = make(chan struct{})
	return nil
}

// running returns when the sandbox is not frozen, with the gate held for
// reading.
func (s *Sandbox) running(ctx context.Context) error {
	for {
		s.gate.RLock()
		if !s.frozen {
			return nil
		}
		thawed := s.thawed
		s.gate.RUnlock()
		select {
		case <-thawed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done:
			return errEnded
		}
	}
}

// Pids implements [sandbox.Sandbox].
func (s *Sandbox) Pids() ([]int, error) {
	if pids, err := s.group.Pids(); err == nil {
		return slices.DeleteFunc(pids, func(pid int) bool { return pid == s.guest.pid || pid == s.cmd.Process.Pid }), nil
	}
	inside, err := s.inside()
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(inside))
	for _, p := range inside {
		if p.PID != s.guest.pid && !p.Dead() {
			pids = append(pids, p.PID)
		}
	}
	return pids, nil
}

// inside returns the sandbox's processes, the guest among them.
func (s *Sandbox) inside() ([]proc.Process, error) {
	select {
	case <-s.exited: // its number may be another's by now
		return nil, errEnded
	default:
	}
	all, err := proc.List()
	if err != nil {
		return nil, err
	}
	// The first process is bwrap's outer one, or the warden: not inside.
	return proc.Descendants(all, s.cmd.Process.Pid), nil
}

// Usage implements [sandbox.Sandbox].
func (s *Sandbox) Usage() (sandbox.Usage, error) {
	g := s.group.Usage()
	u := sandbox.Usage{CPUSeconds: g.CPUSeconds, MemoryBytes: g.MemoryBytes, Pids: g.Pids,
		ReadBytes: g.ReadBytes, WriteBytes: g.WriteBytes}
	if u.Pids > 0 {
		u.Pids-- // the guest
		if s.inGroup {
			u.Pids--
		}
	}
	if u.CPUSeconds >= 0 && u.MemoryBytes >= 0 && u.Pids >= 0 {
		return u, nil
	}
	inside, err := s.inside()
	if err != nil {
		return u, err
	}
	return s.sum(u, inside), nil
}

// sum fills in what no control group counts. Processor time of the dead is
// in that of whoever waited for them; shared memory is counted for each.
func (s *Sandbox) sum(u sandbox.Usage, inside []proc.Process) sandbox.Usage {
	var cpu float64
	var rss, read, written int64
	pids, known := 0, false
	for _, p := range inside {
		cpu += p.CPU.Seconds()
		rss += p.RSS
		if p.PID == s.guest.pid || p.Dead() {
			continue
		}
		pids++
		if r, w, err := proc.IO(p.PID); err == nil {
			read, written, known = read+r, written+w, true
		}
	}
	if u.CPUSeconds < 0 {
		u.CPUSeconds = cpu
	}
	if u.MemoryBytes < 0 {
		u.MemoryBytes = rss
	}
	if u.Pids < 0 {
		u.Pids = pids
	}
	if u.ReadBytes < 0 && known {
		u.ReadBytes, u.WriteBytes = read, written
	}
	return u
}
