package local

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"proctor/runner/sandbox/proc"
	"proctor/runner/sandbox/wire"
)

const (
	memoryEvery = 500 * time.Millisecond
	diskEvery   = 2 * time.Second
	// diskShare bounds the part of one core spent on measuring a workspace
	// with very many files.
	diskShare = 20
)

// watch enforces the limits that nothing else does, and says so when the
// kernel enforced one.
func (s *Sandbox) watch(ctx context.Context) {
	limits := s.plan.Spec.Limits
	watchMemory := limits.MemoryBytes > 0 && !slices.Contains(s.isolation.Limits, "memory")
	if limits.DiskBytes > 0 {
		s.beside.Go(func() { s.watchDisk(ctx, limits.DiskBytes) })
	}
	kills := 0
	for tick := time.NewTicker(memoryEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		if watchMemory {
			s.shedMemory(limits.MemoryBytes)
		} else if n := s.group.Usage().OOMKills; n > kills {
			s.log.printf("out of memory: the kernel ended %d processes at the limit of %d MiB", n-kills, limits.MemoryBytes>>20)
			kills = n
		}
	}
}

// shedMemory kills the largest process when all together hold too much, as
// the kernel does where it may count for itself.
func (s *Sandbox) shedMemory(limit int64) {
	inside, err := s.inside()
	if err != nil {
		return
	}
	inside = slices.DeleteFunc(inside, func(p proc.Process) bool { return p.PID == s.guest.pid })
	var total int64
	for _, p := range inside {
		total += p.RSS
	}
	if total <= limit {
		return
	}
	largest := slices.MaxFunc(inside, func(a, b proc.Process) int { return int(a.RSS - b.RSS) })
	s.log.printf("out of memory: ended process %d with %d MiB, at the limit of %d MiB", largest.PID, largest.RSS>>20, limit>>20)
	syscall.Kill(largest.PID, syscall.SIGKILL)
}

// watchDisk ends every command when the workspace has grown too much.
func (s *Sandbox) watchDisk(ctx context.Context, limit int64) {
	began := time.Now()
	before := diskUse(ctx, s.plan.Spec.Workspace)
	for {
		pause := max(diskEvery, diskShare*time.Since(began))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began = time.Now()
		grown := diskUse(ctx, s.plan.Spec.Workspace) - before
		if grown <= limit || ctx.Err() != nil {
			continue
		}
		s.log.printf("disk full: the workspace grew by %d MiB, over the limit of %d MiB; every command was ended", grown>>20, limit>>20)
		if _, err := s.call(ctx, wire.Request{Op: wire.OpKill}); err != nil && ctx.Err() == nil {
			s.log.printf("end the commands: %v", err)
		}
		select { // until somebody makes room, each new command gets a while
		case <-ctx.Done():
			return
		case <-time.After(diskEvery):
		}
	}
}

// diskUse returns the bytes of storage that a tree holds.
func diskUse(ctx context.Context, dir string) int64 {
	var sum int64
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // removed meanwhile
		}
		if fi, err := d.Info(); err == nil {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				sum += int64(st.Blocks) * 512
			}
		}
		return nil
	})
	return sum
}
