package guest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"proctor/runner/sandbox/wire"
)

// keep keeps what was inherited from the commands.
func keep() {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		fds, _ := os.ReadDir("/proc/self/fd")
		for _, fd := range fds {
			if n, err := strconv.Atoi(fd.Name()); err == nil && n >= 3 {
				syscall.CloseOnExec(n)
			}
		}
	}
}

// hide keeps this process's memory, files and environment from processes of
// the same user.
func hide() { unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// restrict applies what has no way back. It fails where going on would run
// commands with less protection than the sandbox claims.
func (s *server) restrict(setup wire.Setup, ready *wire.Ready) error {
	if setup.Landlock != nil {
		if abi, err := ll.LandlockGetABIVersion(); err == nil {
			ready.Landlock = abi
		}
		if err := applyLandlock(*setup.Landlock); err != nil {
			return fmt.Errorf("apply Landlock: %w", err)
		}
		// A parent of ours outside the domain cannot be signalled any
		// more, where the kernel knows how to scope signals.
		ready.Scoped = errors.Is(syscall.Kill(os.Getppid(), 0), syscall.EPERM)
		if t, ok := s.reach.(*tree); ok && ready.Scoped {
			s.reach = everyone{warden: t.warden}
		}
	}
	if setup.Seccomp != nil {
		if err := applySeccomp(*setup.Seccomp); err != nil {
			return fmt.Errorf("apply seccomp: %w", err)
		}
	}
	return nil
}

// applyLandlock leaves only what l lists. On a kernel with less than the
// newest Landlock as much as it knows is applied.
func applyLandlock(l wire.Landlock) error {
	cfg := landlock.V11
	if !l.TCP {
		cfg.HandledAccessNet = 0
	} else {
		// UDP is refused by seccomp, which older kernels know too.
		cfg.HandledAccessNet &= ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	var rules []landlock.Rule
	for _, port := range l.Connect {
		rules = append(rules, landlock.ConnectTCP(uint16(port)))
	}
	// Unix sockets below a writable directory are the sandbox's own.
	rwDirs := func(paths ...string) landlock.FSRule {
		return landlock.RWDirs(paths...).WithRefer().WithResolveUnix()
	}
	ioctlDirs := func(paths ...string) landlock.FSRule { return landlock.RWDirs(paths...).WithIoctlDev() }
	ioctlFiles := func(paths ...string) landlock.FSRule { return landlock.RWFiles(paths...).WithIoctlDev() }
	rules = append(rules, pathRules(l.ReadOnly, landlock.RODirs, landlock.ROFiles)...)
	rules = append(rules, pathRules(l.ReadWrite, rwDirs, landlock.RWFiles)...)
	rules = append(rules, pathRules(l.Devices, ioctlDirs, ioctlFiles)...)
	return cfg.BestEffort().Restrict(rules...)
}

// pathRules picks rules by what each path is, since rights on directories
// are refused for a file, and leaves out what is not there.
func pathRules(paths []string, dirs, files func(...string) landlock.FSRule) []landlock.Rule {
	var rules []landlock.Rule
	for _, path := range paths {
		fi, err := os.Stat(path)
		switch {
		case err != nil:
		case fi.IsDir():
			rules = append(rules, dirs(path))
		default:
			rules = append(rules, files(path))
		}
	}
	return rules
}

// adoptOrphans makes this process the parent of all below it that lose
// theirs.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dropCapabilities takes every capability from what this thread executes,
// also from what root does.
func dropCapabilities() error {
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		switch {
		case errors.Is(err, unix.EINVAL): // the kernel knows no more
			return nil
		case errors.Is(err, unix.EPERM) && os.Geteuid() != 0: // has none to drop
			return nil
		case err != nil:
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
}

// self is this program, also after its file was removed.
func self() string { return "/proc/self/exe" }
