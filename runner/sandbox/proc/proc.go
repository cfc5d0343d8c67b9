// Package proc reads the table of processes and answers the one question a
// sandbox keeps asking it: what did this process start, directly or not?
package proc

import "time"

// A Process is one row of the table at the moment it was read.
type Process struct {
	PID, PPID     int
	PGID, Session int
	State         byte          // as ps(1) prints it: R, S, D, T, t, Z, X, I
	CPU           time.Duration // its own and its waited-for children's
	RSS           int64         // bytes
}

// Stopped says whether the process runs no instruction of its own now: it
// is stopped, traced, or dead.
func (p Process) Stopped() bool {
	switch p.State {
	case 'T', 't', 'Z', 'X':
		return true
	}
	return false
}

// Dead says whether only its exit status is left.
func (p Process) Dead() bool { return p.State == 'Z' || p.State == 'X' }

// Descendants returns every process that root started, directly or not,
// without root itself. all is what [List] returned.
func Descendants(all []Process, root int) []Process {
	children := make(map[int][]int, len(all))
	for i, p := range all {
		children[p.PPID] = append(children[p.PPID], i)
	}
	var found []Process
	next := []int{root}
	for len(next) > 0 {
		pid := next[0]
		next = next[1:]
		for _, i := range children[pid] {
			if all[i].PID != root {
				found = append(found, all[i])
				next = append(next, all[i].PID)
			}
		}
		delete(children, pid)
	}
	return found
}
