package guest

import (
	"encoding/binary"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"proctor/runner/sandbox/wire"
)

// A misspelt name would be left out without a word.
func TestEveryNameIsASystemCall(t *testing.T) {
	for _, name := range append(append([]string{}, denied...), debuggers...) {
		_, x86 := arch.X86_64.SyscallNames[name]
		_, arm := arch.AARCH64.SyscallNames[name]
		_, i386 := arch.I386.SyscallNames[name]
		if !x86 && !arm && !i386 {
			t.Errorf("no architecture has %q", name)
		}
	}
}

const (
	allowed = uint32(0x7fff0000)
	eperm   = uint32(0x00050000) | uint32(unix.EPERM)
	enosys  = uint32(0x00050000) | uint32(unix.ENOSYS)
)

// judge runs the filter on a call, as the kernel would.
func judge(t *testing.T, s wire.Seccomp, archID uint32, number int, args ...uint64) uint32 {
	t.Helper()
	insts, err := filter(s)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(insts)
	if err != nil {
		t.Fatal(err)
	}
	// The kernel's struct has the machine's byte order, of which the
	// halves of arguments are chosen; the simulator reads words big-endian.
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data, uint32(number))
	binary.BigEndian.PutUint32(data[4:], archID)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(verdict)
}

func TestFilter(t *testing.T) {
	info, err := arch.GetInfo("")
	if err != nil {
		t.Skip(err)
	}
	here := uint32(info.ID)
	plain, debugger := wire.Seccomp{}, wire.Seccomp{Debugger: true}
	unixOnly, stream := wire.Seccomp{Sockets: "unix"}, wire.Seccomp{Sockets: "stream"}
	for _, c := range []struct {
		what    string
		s       wire.Seccomp
		number  int
		args    []uint64
		verdict uint32
	}{
		{"read", plain, unix.SYS_READ, nil, allowed},
		{"ptrace", plain, unix.SYS_PTRACE, nil, eperm},
		{"ptrace for a debugger", debugger, unix.SYS_PTRACE, nil, allowed},
		{"mount for a debugger", debugger, unix.SYS_MOUNT, nil, eperm},
		{"mount", plain, unix.SYS_MOUNT, nil, eperm},
		{"clone3", plain, unix.SYS_CLONE3, nil, enosys},
		{"fork by clone", plain, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, allowed},
		{"clone with a namespace", plain, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, eperm},
		{"clone with a network", plain, unix.SYS_CLONE, []uint64{unix.CLONE_NEWNET | 1<<40}, eperm},
		{"ioctl", plain, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allowed},
		{"TIOCSTI", plain, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, eperm},
		{"TIOCSTI with bits above", plain, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI | 1<<33}, eperm},
		{"TIOCLINUX", plain, unix.SYS_IOCTL, []uint64{0, unix.TIOCLINUX}, eperm},
		{"any socket", plain, unix.SYS_SOCKET, []uint64{unix.AF_PACKET, unix.SOCK_RAW}, allowed},
		{"unix socket", unixOnly, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, allowed},
		{"TCP under unix", unixOnly, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, eperm},
		{"TCP", stream, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK, 6}, allowed},
		{"TCP over 6", stream, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_STREAM}, allowed},
		{"unix under stream", stream, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, allowed},
		{"UDP", stream, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM}, eperm},
		{"raw", stream, unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_RAW, 58}, eperm},
		{"MPTCP", stream, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 262}, eperm},
		{"SCTP", stream, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 132}, eperm},
		{"netlink", stream, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW}, eperm},
	} {
		if got := judge(t, c.s, here, c.number, c.args...); got != c.verdict {
			t.Errorf("%s: %#x, want %#x", c.what, got, c.verdict)
		}
	}
	if got := judge(t, plain, uint32(arch.I386.ID), unix.SYS_READ); got != enosys {
		t.Errorf("a call of another architecture: %#x", got)
	}
	if info.ID == arch.X86_64.ID {
		if got := judge(t, plain, here, 1<<30|unix.SYS_PTRACE); got != enosys {
			t.Errorf("a call of x32: %#x", got)
		}
	}
}
