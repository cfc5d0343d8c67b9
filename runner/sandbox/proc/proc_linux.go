package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is USER_HZ, which Linux fixes at 100 for every program.
const clockTick = time.Second / 100

// List returns every process that /proc shows. One that ends meanwhile is
// left out.
func List() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]Process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := Read(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// Read returns one process. The error is [os.ErrNotExist] or ESRCH when it
// is gone.
func Read(pid int) (Process, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, err
	}
	return parseStat(b)
}

var errStat = errors.New("malformed /proc/PID/stat")

// parseStat reads the line of proc_pid_stat(5). The command's name may hold
// spaces and parentheses, so fields are counted from its last one.
func parseStat(b []byte) (Process, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return Process{}, errStat
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:open])))
	if err != nil {
		return Process{}, errStat
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 22 || len(f[0]) != 1 {
		return Process{}, errStat
	}
	field := func(n int) int64 { // numbered as in the manual page
		v, e := strconv.ParseInt(f[n-3], 10, 64)
		if e != nil {
			err = errStat
		}
		return v
	}
	p := Process{
		PID: pid, PPID: int(field(4)), PGID: int(field(5)), Session: int(field(6)),
		State: f[0][0],
		CPU:   time.Duration(field(14)+field(15)+field(16)+field(17)) * clockTick,
		RSS:   field(24) * int64(os.Getpagesize()),
	}
	return p, err
}

// Environ returns a process's environment as it was when it started, nil
// when it may not be read.
func Environ(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
}

// StartTime returns when a process started, in ticks since boot: with its
// id, it names a process for good.
func StartTime(pid int) (uint64, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return 0, errStat
	}
	return strconv.ParseUint(f[19], 10, 64)
}

// IO returns the bytes a process had read from and written to storage.
func IO(pid int) (read, written int64, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "read_bytes":
			read = n
		case "write_bytes":
			written = n
		}
	}
	return read, written, nil
}
