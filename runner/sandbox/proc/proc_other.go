//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// List returns every process that ps(1) shows.
func List() ([]Process, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,pgid=,sess=,rss=,stat=,time=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes with ps: %w", err)
	}
	var all []Process
	for line := range strings.Lines(string(out)) {
		if p, ok := parsePS(line); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

func parsePS(line string) (Process, bool) {
	f := strings.Fields(line)
	if len(f) < 7 {
		return Process{}, false
	}
	var n [5]int
	for i := range n {
		// A session is printed as an address on some systems: unknown.
		n[i], _ = strconv.Atoi(f[i])
	}
	if n[0] == 0 {
		return Process{}, false
	}
	return Process{PID: n[0], PPID: n[1], PGID: n[2], Session: n[3],
		RSS: int64(n[4]) << 10, State: f[5][0], CPU: parseTime(f[6])}, true
}

// parseTime reads [[dd-]hh:]mm:ss[.cc].
func parseTime(s string) time.Duration {
	days, rest, ok := strings.Cut(s, "-")
	if !ok {
		days, rest = "0", s
	}
	d, _ := strconv.Atoi(days)
	var sec float64
	for part := range strings.SplitSeq(rest, ":") {
		v, _ := strconv.ParseFloat(part, 64)
		sec = sec*60 + v
	}
	return time.Duration(d)*24*time.Hour + time.Duration(sec*float64(time.Second))
}

// Read returns one process. The error is [os.ErrNotExist] when it is gone.
func Read(pid int) (Process, error) {
	all, err := List()
	if err != nil {
		return Process{}, err
	}
	for _, p := range all {
		if p.PID == pid {
			return p, nil
		}
	}
	return Process{}, os.ErrNotExist
}

// Environ returns nil: other processes' environments cannot be read here.
func Environ(int) []string { return nil }

var errNone = errors.New("not known on this system")

// StartTime is not known here.
func StartTime(int) (uint64, error) { return 0, errNone }

// IO is not known here.
func IO(int) (read, written int64, err error) { return 0, 0, errNone }
