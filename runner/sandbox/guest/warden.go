package guest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"proctor/runner/sandbox/proc"
)

// DropCapabilities, a warden's argument, has its guest start without any.
const DropCapabilities = "drop-capabilities"

// warden starts a guest, adopts whatever it or its commands abandon, and
// kills all of it when the guest or the outside ends. An argument other
// than [DropCapabilities] is a freezer's state file: what is frozen there
// dies only when it is thawed.
func warden(args []string) error {
	hide()
	if err := adoptOrphans(); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	drop, freezer := false, ""
	for _, arg := range args {
		if arg == DropCapabilities {
			drop = true
		} else {
			freezer = arg
		}
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	guest, err := startGuest(drop)
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() { // until the program ends
		os.NewFile(ControlFD, "line").Read(make([]byte, 1))
		close(gone)
	}()
	for {
		select {
		case <-gone:
			return killTree(children, freezer)
		case <-children:
			if reapUntil(guest) {
				return killTree(children, freezer)
			}
		}
	}
}

// startGuest forks from a thread that has given up every capability it
// might have: what root executes gets back only what this set still holds.
func startGuest(drop bool) (int, error) {
	runtime.LockOSThread() // and never unlocked: the thread is spoilt
	if drop {
		if err := dropCapabilities(); err != nil {
			return 0, err
		}
	}
	control := uintptr(ControlFD + 1)
	pid, err := syscall.ForkExec(self(), []string{os.Args[0], Command, RoleGuest}, &syscall.ProcAttr{
		Env: []string{}, Files: []uintptr{0, 1, 2, control},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	syscall.Close(int(control)) // its end is to be seen when the guest ends
	if err != nil {
		return 0, fmt.Errorf("start the guest: %w", err)
	}
	return pid, nil
}

// reapUntil collects dead children and says whether guest was among them.
func reapUntil(guest int) bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return false
		}
		if pid == guest {
			return true
		}
	}
}

// killTree returns when nothing is left below the warden.
func killTree(children <-chan os.Signal, freezer string) error {
	for {
		all, err := proc.List()
		if err != nil {
			return err
		}
		for _, p := range proc.Descendants(all, os.Getpid()) {
			if p.PGID > 1 && p.PGID != syscall.Getpgrp() {
				syscall.Kill(-p.PGID, syscall.SIGKILL)
			}
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
		if freezer != "" {
			os.WriteFile(freezer, []byte("THAWED"), 0)
		}
		// Every orphan becomes our child, so that without children nothing
		// is left. WNOHANG, since one more may have been forked meanwhile.
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				return nil
			}
			if pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		select {
		case <-children:
		case <-time.After(time.Millisecond):
		}
	}
}
