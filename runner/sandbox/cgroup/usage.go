package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Usage is what a group's processes have used. A negative field is unknown.
type Usage struct {
	CPUSeconds            float64
	MemoryBytes           int64 // without file cache that the kernel could drop
	Pids                  int
	ReadBytes, WriteBytes int64
	OOMKills              int // processes that the kernel ended for want of memory
}

// Usage reads the group's counters.
func (g *Group) Usage() Usage {
	u := Usage{CPUSeconds: -1, MemoryBytes: -1, Pids: -1, ReadBytes: -1, WriteBytes: -1}
	if g == nil {
		return u
	}
	if g.v2 != "" { // counted with and without the controller
		if us := number(g.v2, "cpu.stat", "usage_usec"); us >= 0 {
			u.CPUSeconds = float64(us) / 1e6
		}
	}
	if dir, version := g.has("memory"); version == 1 {
		u.MemoryBytes = minus(number(dir, "memory.usage_in_bytes", ""), number(dir, "memory.stat", "total_inactive_file"))
		u.OOMKills = int(max(0, number(dir, "memory.oom_control", "oom_kill")))
	} else if version == 2 {
		u.MemoryBytes = minus(number(dir, "memory.current", ""), number(dir, "memory.stat", "inactive_file"))
		u.OOMKills = int(max(0, number(dir, "memory.events", "oom_kill")))
	}
	if pids, err := g.Pids(); err == nil {
		u.Pids = len(pids)
	}
	u.ReadBytes, u.WriteBytes = g.io()
	return u
}

func minus(total, cache int64) int64 {
	if total < 0 || cache < 0 {
		return total
	}
	return max(0, total-cache)
}

// io sums the bytes over all devices, each a line of name=value pairs.
// Version 1 is not asked: it misses what is written back later.
func (g *Group) io() (read, written int64) {
	dir, _ := g.has("io")
	b, err := os.ReadFile(filepath.Join(dir, "io.stat"))
	if dir == "" || err != nil {
		return -1, -1
	}
	for _, f := range strings.Fields(string(b)) {
		name, value, _ := strings.Cut(f, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "rbytes":
			read += n
		case "wbytes":
			written += n
		}
	}
	return read, written
}

// number reads a control file: its only number, or with a key the one on
// the line that begins with it. It is -1 when there is none.
func number(dir, file, key string) int64 {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if key == "" && len(f) == 1 || len(f) == 2 && f[0] == key {
			if n, err := strconv.ParseInt(f[len(f)-1], 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
