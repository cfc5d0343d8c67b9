package landlock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/local"
	"proctor/runner/sandbox/system"
	"proctor/runner/sandbox/wire"
)

const name = "landlock"

// The versions of Landlock's interface that matter here.
const (
	abiUsable  = 2 // files can be moved between directories
	abiTCP     = 4
	abiScopes  = 6 // signals and abstract unix sockets
	abiSockets = 9 // unix sockets in the file system
)

// Kind returns the kind.
func Kind() sandbox.Kind {
	view := sync.OnceValue(func() system.View { return system.Find(context.Background()) })
	open := func(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) { return start(ctx, s, view()) }
	return sandbox.Kind{
		Name:    name,
		Summary: "files by Landlock, system calls by seccomp; shares processes and names of files",
		Open:    open,
		Probe:   func(ctx context.Context) sandbox.Probe { return local.Probe(ctx, open) },
	}
}

func start(ctx context.Context, spec sandbox.Spec, view system.View) (sandbox.Sandbox, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return nil, errors.New("this kernel has no Landlock, or it is not among the security modules it was booted with")
	}
	if abi < abiUsable {
		return nil, fmt.Errorf("this kernel's Landlock has version %d; at least version %d is needed (Linux 5.19)", abi, abiUsable)
	}
	if spec, err = local.Validate(name, spec); err != nil {
		return nil, err
	}
	unforwarded := withoutForwards(&spec, abi)
	dirs, err := local.NewUnmounted(spec)
	if err != nil {
		return nil, err
	}
	listeners, env, err := local.Loopback(spec.Network)
	if err != nil {
		dirs.Close()
		return nil, err
	}
	s, err := local.Open(ctx, local.Plan{
		Spec: spec,
		Setup: wire.Setup{
			Env:      append(local.Environment(dirs.Home, dirs.Tmp, view.PATH(), spec), env...),
			Landlock: rules(spec, view, dirs, listeners),
			Seccomp:  &wire.Seccomp{Debugger: spec.Debugger, Sockets: sockets(spec.Network)},
		},
		DropCapabilities: true,
		Listeners:        listeners,
		Paths:            dirs.Paths,
		Cleanup:          dirs.Close,
		Isolation:        isolation(spec, abi, unforwarded, view.Program()),
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// sockets says which may be opened: seccomp closes what Landlock does not
// know, such as UDP.
func sockets(n sandbox.Network) string {
	switch {
	case n.Policy == local.NetworkFull:
		return ""
	case n.Policy == local.NetworkModel || len(n.Forwards) > 0:
		return "stream"
	}
	return "unix"
}

// withoutForwards drops the forwards where they would open more than their
// ports, and reports whether there were any: without rules for TCP a socket
// reaches whatever it likes, and without a network none may be had.
func withoutForwards(spec *sandbox.Spec, abi int) bool {
	if spec.Network.Policy != local.NetworkNone || abi >= abiTCP || len(spec.Network.Forwards) == 0 {
		return false
	}
	spec.Network.Forwards = nil
	return true
}

func rules(spec sandbox.Spec, view system.View, dirs *local.Unmounted, listeners []net.Listener) *wire.Landlock {
	l := &wire.Landlock{
		ReadOnly: []string{"/proc", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf"},
		// Shared, but semaphores live there.
		ReadWrite: []string{spec.Workspace, dirs.Home, dirs.Tmp, "/dev/shm"},
		Devices:   []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"},
		TCP:       spec.Network.Policy != local.NetworkFull,
	}
	l.ReadOnly = append(l.ReadOnly, view.Dirs...)
	l.ReadOnly = append(l.ReadOnly, view.Etc...)
	l.ReadOnly = append(l.ReadOnly, view.Sys...)
	l.Devices = append(l.Devices, spec.Devices...)
	if len(spec.Devices) > 0 {
		l.ReadOnly = append(l.ReadOnly, "/sys")
	}
	for _, m := range spec.Mounts {
		if m.Writable {
			l.ReadWrite = append(l.ReadWrite, m.Source)
		} else {
			l.ReadOnly = append(l.ReadOnly, m.Source)
		}
	}
	for _, listener := range listeners {
		l.Connect = append(l.Connect, listener.Addr().(*net.TCPAddr).Port)
	}
	return l
}

// isolation says plainly what is left open.
func isolation(spec sandbox.Spec, abi int, unforwarded bool, program string) sandbox.Isolation {
	iso := sandbox.Isolation{Mounts: true, Syscalls: !spec.Debugger, Network: true}
	gap := func(when bool, text string) {
		if when {
			iso.Gaps = append(iso.Gaps, text)
		}
	}
	gap(true, "names, sizes and dates of all files can be seen, not their contents")
	gap(true, "permissions and dates of files of the same user can be changed (chmod, touch)")
	gap(true, "other processes and their command lines can be seen")
	gap(true, "/dev/shm is shared with other programs of the same user")
	gap(os.Geteuid() == 0, "it runs as root, though without root's capabilities: files that only root may read are kept by Landlock alone")
	gap(abi < abiScopes, "other processes of the same user can be signalled, and abstract unix sockets connected to")
	gap(abi < abiSockets, "unix sockets of services on this machine can be connected to")
	gap(len(spec.ReadOnly) > 0, "read-only paths of the workspace are kept by file modes, which commands can change")
	gap(program != "", "this program can be read at "+program+", and with it the answers of the tasks that are built in")
	gap(spec.Debugger, "ptrace is allowed inside")
	gap(unforwarded, "the task's local services cannot be reached: this kernel's Landlock knows no rules for TCP (Linux 6.7)")
	gap(len(spec.Network.Forwards) > 0 && spec.Network.Policy != local.NetworkFull, "the ports of the task's local services can be connected to on any machine")
	switch spec.Network.Policy {
	case local.NetworkFull:
		gap(true, "the network is this machine's own, loopback services included")
	case local.NetworkModel:
		iso.Network = abi >= abiTCP
		gap(abi < abiTCP, "any TCP port on any machine can be connected to")
		gap(abi >= abiTCP, "the model endpoint's port can be connected to on any machine")
	}
	return iso
}
