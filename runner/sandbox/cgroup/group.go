package cgroup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Group holds the processes of one sandbox. Nil is a group that nothing
// can be done with.
type Group struct {
	v2 string            // its directory, "" if there is none
	v1 map[string]string // its directories by controller
}

// Dir returns the directory of version 2's group, in which a process can be
// started at once; "" where there is none.
func (g *Group) Dir() string {
	if g == nil {
		return ""
	}
	return g.v2
}

// Add moves a process, with all its threads, into the group. What it starts
// is in it too. started says that it was started in version 2's.
func (g *Group) Add(pid int, started bool) error {
	for _, dir := range g.dirs() {
		if started && dir == g.v2 {
			continue
		}
		if err := write(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("move process %d into a cgroup: %w", pid, err)
		}
	}
	return nil
}

// dirs returns every directory of the group once: v1 controllers may share
// one.
func (g *Group) dirs() []string {
	if g == nil {
		return nil
	}
	var dirs []string
	if g.v2 != "" {
		dirs = append(dirs, g.v2)
	}
	for _, dir := range g.v1 {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// has returns the directory and version at which a controller is found.
func (g *Group) has(controller string) (dir string, version int) {
	if g == nil {
		return "", 0
	}
	if dir := g.v1[controller]; dir != "" {
		return dir, 1
	}
	if g.v2 != "" && slices.Contains(have(g.v2, "cgroup.controllers"), controller) {
		return g.v2, 2
	}
	return "", 0
}

// Limit caps memory in bytes, processor time in cores, and the number of
// threads; zero is no cap. It returns the names of those in force, as in
// sandbox.Isolation.
func (g *Group) Limit(memory int64, cpus float64, pids int) []string {
	var applied []string
	if memory > 0 && g.limitMemory(memory) == nil {
		applied = append(applied, "memory")
	}
	if cpus > 0 && g.limitCPU(cpus) == nil {
		applied = append(applied, "cpu")
	}
	if dir, _ := g.has("pids"); pids > 0 && dir != "" && write(dir, "pids.max", strconv.Itoa(pids)) == nil {
		applied = append(applied, "pids")
	}
	return applied
}

// Limits returns the names of what could be capped.
func (g *Group) Limits() []string {
	var names []string
	for _, c := range []string{"memory", "cpu", "pids"} {
		if dir, _ := g.has(c); dir != "" {
			names = append(names, c)
		}
	}
	return names
}

var errNoController = errors.New("the controller is not to be had")

func (g *Group) limitMemory(bytes int64) error {
	dir, version := g.has("memory")
	value := strconv.FormatInt(bytes, 10)
	switch version {
	case 1:
		err := write(dir, "memory.limit_in_bytes", value)
		// Without swap accounting there is no such file; then swap is not
		// capped, as nothing could.
		write(dir, "memory.memsw.limit_in_bytes", value)
		return err
	case 2:
		err := write(dir, "memory.max", value)
		write(dir, "memory.swap.max", "0")
		return err
	}
	return errNoController
}

func (g *Group) limitCPU(cores float64) error {
	const period = 100_000 // µs
	quota := strconv.Itoa(max(1000, int(math.Round(cores*period))))
	dir, version := g.has("cpu")
	switch version {
	case 1:
		return write(dir, "cpu.cfs_quota_us", quota) // the period is 100 ms by default
	case 2:
		return write(dir, "cpu.max", quota+" "+strconv.Itoa(period))
	}
	return errNoController
}

// Freezer says which freezer the group has: "cgroup v2", "cgroup v1" or "".
func (g *Group) Freezer() string {
	if g == nil {
		return ""
	}
	if g.v2 != "" {
		if _, err := os.Stat(filepath.Join(g.v2, "cgroup.freeze")); err == nil {
			return "cgroup v2"
		}
	}
	if g.v1["freezer"] != "" {
		return "cgroup v1"
	}
	return ""
}

// FreezerState is the file that thaws a v1 freezer, "" if there is none.
func (g *Group) FreezerState() string {
	if g.Freezer() != "cgroup v1" {
		return ""
	}
	return filepath.Join(g.v1["freezer"], "freezer.state")
}

// Freeze stops every process and returns when all have. When ctx ends
// before, it lets them go on.
func (g *Group) Freeze(ctx context.Context) error {
	var frozen func() bool
	var err error
	switch g.Freezer() {
	case "cgroup v2":
		err = write(g.v2, "cgroup.freeze", "1")
		frozen = func() bool { return number(g.v2, "cgroup.events", "frozen") == 1 }
	case "cgroup v1":
		dir := g.v1["freezer"]
		err = write(dir, "freezer.state", "FROZEN")
		frozen = func() bool {
			b, err := os.ReadFile(filepath.Join(dir, "freezer.state"))
			return err == nil && strings.TrimSpace(string(b)) == "FROZEN"
		}
	default:
		err = errNoController
	}
	if err == nil {
		err = poll(ctx, frozen)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("freeze the cgroup: %w", err), g.Thaw())
	}
	return nil
}

// Thaw lets the frozen go on.
func (g *Group) Thaw() error {
	switch g.Freezer() {
	case "cgroup v2":
		return write(g.v2, "cgroup.freeze", "0")
	case "cgroup v1":
		return write(g.v1["freezer"], "freezer.state", "THAWED")
	}
	return nil
}

// Kill ends every process, frozen or not, and returns when none is left.
func (g *Group) Kill(ctx context.Context) error {
	if g == nil {
		return nil
	}
	return poll(ctx, func() bool {
		if g.v2 == "" || write(g.v2, "cgroup.kill", "1") != nil { // since Linux 5.14
			g.killEach(ctx)
		}
		pids, err := g.Pids()
		return err != nil || len(pids) == 0
	})
}

// killEach kills one process after the other, frozen meanwhile, so that
// none forks out of reach. What a v1 freezer holds dies when thawed.
func (g *Group) killEach(ctx context.Context) {
	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	g.Freeze(short) // not all may freeze; kill those that do
	pids, _ := g.Pids()
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	g.Thaw()
}

// Pids returns the processes in the group.
func (g *Group) Pids() ([]int, error) {
	dirs := g.dirs()
	if len(dirs) == 0 {
		return nil, errNoController
	}
	b, err := os.ReadFile(filepath.Join(dirs[0], "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for line := range strings.Lines(string(b)) {
		// 0 is a process of another pid namespace.
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Remove removes the group, whose processes must have ended.
func (g *Group) Remove(ctx context.Context) error {
	for _, dir := range g.dirs() {
		var last error
		err := poll(ctx, func() bool {
			last = os.Remove(dir) // busy until the last zombie is reaped
			return last == nil || errors.Is(last, os.ErrNotExist)
		})
		if err != nil {
			return fmt.Errorf("remove a cgroup: %w", last)
		}
	}
	return nil
}

// poll repeats done, soon at first, until it holds or ctx ends.
func poll(ctx context.Context, done func() bool) error {
	for wait := 100 * time.Microsecond; !done(); wait = min(2*wait, 10*time.Millisecond) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	return nil
}
