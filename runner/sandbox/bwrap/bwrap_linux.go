package bwrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/guest"
	"proctor/runner/sandbox/local"
	"proctor/runner/sandbox/system"
	"proctor/runner/sandbox/wire"
)

const name = "bwrap"

// Kind returns the kind. It looks at the machine once, when first used.
func Kind() sandbox.Kind {
	machine := sync.OnceValues(look)
	open := func(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
		m, err := machine()
		if err != nil {
			return nil, err
		}
		return m.open(ctx, s)
	}
	return sandbox.Kind{
		Name:    name,
		Summary: "namespaces by bubblewrap: own files, processes and network",
		Open:    open,
		Probe: func(ctx context.Context) sandbox.Probe {
			p := local.Probe(ctx, open)
			if !p.OK {
				p.Reason += hint(p.Reason)
			}
			return p
		},
	}
}

// A machine is what does not change between sandboxes.
type machine struct {
	bwrap   string
	options string // bwrap's own description of what it knows
	view    system.View
	program string // this program, where the view would show it
	memory  int64  // bytes of RAM
}

func look() (machine, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return machine{}, errors.New(`bwrap is not installed: install the package "bubblewrap"`)
	}
	help, err := exec.Command(path, "--help").CombinedOutput()
	if err != nil {
		return machine{}, fmt.Errorf("run %q: %w", path, err)
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return machine{}, fmt.Errorf("ask for the size of memory: %w", err)
	}
	view := system.Find(context.Background())
	return machine{bwrap: path, options: string(help), view: view, program: view.Program(),
		memory: int64(info.Totalram) * int64(info.Unit)}, nil
}

func (m machine) open(ctx context.Context, spec sandbox.Spec) (_ sandbox.Sandbox, err error) {
	spec, err = local.Validate(name, spec)
	if err != nil {
		return nil, err
	}
	// The program is handed over as a descriptor: its path may be gone, and
	// is nothing that a sandbox should show.
	self, err := os.Open(local.Self())
	if err != nil {
		return nil, fmt.Errorf("open sandbox %q: %w", spec.Name, err)
	}
	files := []*os.File{self}
	fail := func(err error) (sandbox.Sandbox, error) {
		for _, f := range files {
			f.Close()
		}
		return nil, fmt.Errorf("open sandbox %q: %w", spec.Name, err)
	}
	const selfFD, argsFD, firstData = guest.ControlFD + 1, guest.ControlFD + 2, guest.ControlFD + 3
	args, contents := m.arguments(spec, firstData)
	list, err := memfile("arguments", strings.Join(args, "\x00")+"\x00")
	if err != nil {
		return fail(err)
	}
	files = append(files, list)
	for _, c := range contents {
		f, err := memfile("data", c)
		if err != nil {
			return fail(err)
		}
		files = append(files, f)
	}
	plan := local.Plan{
		Spec:      spec,
		Namespace: true,
		// Only this is seen in /proc/1/cmdline.
		Argv: []string{m.bwrap, "--args", fmt.Sprint(argsFD), "--",
			fmt.Sprintf("/proc/self/fd/%d", selfFD), guest.Command, guest.RoleInit},
		Files: files,
		Setup: wire.Setup{
			Env:      local.Environment(homeOf(spec), "/tmp", m.view.PATH(), spec),
			Landlock: secondLayer(spec),
			Seccomp:  &wire.Seccomp{Debugger: spec.Debugger},
			OwnPTY:   true,
		},
		Isolation: isolation(spec),
	}
	s, err := local.Open(ctx, plan)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func isolation(spec sandbox.Spec) sandbox.Isolation {
	iso := sandbox.Isolation{Mounts: true, Targets: true, Processes: true, Network: true, Syscalls: !spec.Debugger}
	if spec.Network.Policy == local.NetworkFull {
		iso.Gaps = append(iso.Gaps, "the network is this machine's own, loopback services included")
	}
	if spec.Debugger {
		iso.Gaps = append(iso.Gaps, "ptrace is allowed inside")
	}
	return iso
}

// secondLayer repeats by Landlock what the mounts say, and scopes signals
// and abstract sockets, which a shared network would let out.
func secondLayer(spec sandbox.Spec) *wire.Landlock {
	l := &wire.Landlock{
		ReadOnly:  []string{"/"},
		ReadWrite: []string{spec.Workdir, "/tmp", homeOf(spec), "/dev/shm"},
		Devices:   []string{"/dev"},
	}
	for _, m := range spec.Mounts {
		if m.Writable {
			l.ReadWrite = append(l.ReadWrite, m.Target)
		}
	}
	return l
}

// memfile returns an unnamed file with the given content, to be read from
// its beginning.
func memfile(name, content string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make an unnamed file: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.WriteString(content); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("make an unnamed file: %w", err)
	}
	return f, nil
}

// hint adds to a failure what usually lies behind it.
func hint(reason string) string {
	sysctl := func(path string) string {
		b, _ := os.ReadFile("/proc/sys/" + path)
		return strings.TrimSpace(string(b))
	}
	switch {
	case !strings.Contains(reason, "bwrap: "):
		return ""
	case sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "; AppArmor keeps unprivileged programs from user namespaces: give bwrap a profile with \"userns,\" or set the sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		return "; set the sysctl kernel.unprivileged_userns_clone=1"
	case sysctl("user/max_user_namespaces") == "0":
		return "; set the sysctl user.max_user_namespaces to more than 0"
	case strings.Contains(reason, "ermission denied"), strings.Contains(reason, "not permitted"):
		return "; in a container, allow it user namespaces and an unmasked /proc"
	}
	return ""
}
