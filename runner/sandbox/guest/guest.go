// Package guest is the process that a sandbox runs on its inside: the
// program itself, executed once more with a hidden argument.
//
// In a pid namespace it is process 1; elsewhere a warden, which the
// sandboxed programs cannot reach, stands between it and the outside and
// survives it. The guest restricts itself (rlimits, Landlock, seccomp)
// before its first command, starts commands for the outside, reaps
// everything, and stops, continues or kills all of it at once. It ends, and
// everything with it, when the outside is gone.
package guest

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"proctor/runner/sandbox/wire"
)

// Command is the hidden first argument by which a program recognises that it
// is to call [Main] and nothing else, before it looks at its flags.
const Command = "sandbox-guest"

// Roles, the first of Main's arguments.
const (
	RoleInit   = "init"   // process 1 of a pid namespace
	RoleGuest  = "guest"  // below a warden
	RoleWarden = "warden" // starts a guest and outlives it
)

// ControlFD is the descriptor of the control socket. A warden has the line
// on which it notices the outside's end there, and the control socket that
// it hands to its guest at the next one.
const ControlFD = 3

// Main runs until the outside is gone and ends the program, or returns an
// exit status. args is what follows [Command] on the command line.
func Main(args []string) int {
	if len(args) == 0 {
		fmt.Fprintf(os.Stderr, "%s: it is started by a sandbox, not by hand\n", Command)
		return 2
	}
	// Nothing that a sandboxed program can send ends the guest: what it
	// catches and drops is not fatal, also for process 1. SIGKILL and
	// SIGSTOP from inside do not reach process 1 at all.
	signal.Notify(make(chan os.Signal, 1))
	runtime.GOMAXPROCS(2) // it mostly waits, beside programs that do not
	reserveThreads(8)
	keep()
	var err error
	switch args[0] {
	case RoleInit, RoleGuest:
		err = serve(args[0])
	case RoleWarden:
		err = warden(args[1:])
	default:
		err = fmt.Errorf("no role %q", args[0])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", Command, args[0], err)
		return 1
	}
	// Without the second that the race detector gives a program at its end:
	// the outside waits for this.
	syscall.Exit(0)
	return 0
}

// reserveThreads has the Go runtime start threads that it keeps. When the
// sandbox's programs have used up its processes, it could not start any, and
// a runtime that cannot gives up.
func reserveThreads(n int) {
	var there, gone sync.WaitGroup
	there.Add(n)
	for range n {
		gone.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			there.Done()
			there.Wait() // so that each needs one of its own
		})
	}
	gone.Wait()
}

// serve answers the outside's requests one after the other, on one thread.
// Before version 8, Landlock gives each thread a domain of its own, and one
// may not signal, or look into, a process that another has started.
func serve(role string) error {
	runtime.LockOSThread()
	conn, err := wire.Open(os.NewFile(ControlFD, "control"))
	if err != nil {
		return err
	}
	defer conn.Close()
	s := &server{conn: conn, live: map[int]int{}, commands: map[int]int{}}
	if role == RoleInit {
		s.reach = everyone{}
	} else {
		s.reach = &tree{warden: os.Getppid()}
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	go s.reap(children)
	if conn.Send(wire.Reply{Hello: os.Getpid()}) != nil {
		return nil // whoever started us has thought better of it
	}
	for {
		var req wire.Request
		m, err := conn.Receive(&req)
		if err != nil {
			// The outside is gone. Process 1 takes its namespace with it.
			if role != RoleInit {
				s.kill()
			}
			return nil
		}
		s.handle(req, m.Files)
	}
}
