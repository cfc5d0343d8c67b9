package guest

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"proctor/runner/sandbox/wire"
)

// denied are system calls that no experiment needs and by which sandboxes
// have been left or the machine harmed. Those of debuggers come apart.
var (
	denied = []string{
		// other namespaces, mounts, roots
		"unshare", "setns", "mount", "umount2", "mount_setattr", "move_mount", "open_tree",
		"fsopen", "fsconfig", "fsmount", "fspick", "pivot_root", "chroot",
		// large attack surfaces, and ways around the rest of this filter
		"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
		"io_uring_register", "open_by_handle_at", "add_key", "request_key", "keyctl",
		// the machine itself
		"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
		"reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog",
		"settimeofday", "clock_settime", "clock_adjtime", "adjtimex",
		"iopl", "ioperm", "vhangup", "lookup_dcookie", "nfsservctl",
	}
	// By these one process reads, changes or stops another.
	debuggers = []string{"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"}
)

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// applySeccomp refuses system calls to all threads and whatever they start.
func applySeccomp(s wire.Seccomp) error {
	insts, err := filter(s)
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(insts)
	if err != nil {
		return err
	}
	prog := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		prog[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	runtime.LockOSThread() // no_new_privs is a thread's
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	thread, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return fmt.Errorf("thread %d has a filter of its own", thread)
	}
	return nil
}

const nowhere = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)

// filter assembles the program. Its first instructions answer every call
// made under another architecture's numbering (a 32-bit program's, x32) with
// ENOSYS: the same number means another call there.
func filter(s wire.Seccomp) ([]bpf.Instruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	const offNumber, offArch = 0, 4 // in struct seccomp_data
	insts := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(nowhere)},
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
	}
	p := seccomp.NewProgram()
	allow, deny, missing := p.NewLabel(), p.NewLabel(), p.NewLabel()
	if info.ID == arch.X86_64.ID {
		p.JmpIfTrue(bpf.JumpGreaterOrEqual, uint32(arch.X32.SeccompMask), missing)
	}
	names := denied
	if !s.Debugger {
		names = append(names[:len(names):len(names)], debuggers...)
	}
	for _, name := range names {
		if nr, ok := info.SyscallNames[name]; ok {
			p.JmpIfTrue(bpf.JumpEqual, uint32(nr), deny)
		}
	}
	// Its flags lie in memory where no filter sees them; libc falls back.
	if nr, ok := info.SyscallNames["clone3"]; ok {
		p.JmpIfTrue(bpf.JumpEqual, uint32(nr), missing)
	}
	// on emits what applies to one call with certain arguments. Only their
	// lower halves are looked at, as the kernel does with an int.
	on := func(name string, body func()) {
		nr, ok := info.SyscallNames[name]
		if !ok {
			return
		}
		next := p.NewLabel()
		p.JmpIfTrue(bpf.JumpNotEqual, uint32(nr), next)
		body()
		p.SetLabel(next)
	}
	on("clone", func() {
		p.LdLo(0)
		p.JmpIf(bpf.JumpBitsSet, newNamespaces, deny, allow)
	})
	on("ioctl", func() { // typing into a terminal from its inside
		p.LdLo(1)
		p.JmpIfTrue(bpf.JumpEqual, unix.TIOCSTI, deny)
		p.JmpIf(bpf.JumpEqual, unix.TIOCLINUX, deny, allow)
	})
	if s.Sockets != "" {
		on("socket", func() { sockets(&p, s.Sockets == "stream", allow, deny) })
	}
	p.SetLabel(allow)
	p.Ret(seccomp.ActionAllow)
	p.SetLabel(deny)
	p.Ret(seccomp.ActionErrno) // EPERM
	p.SetLabel(missing)
	p.Ret(nowhere)
	rest, err := p.Assemble()
	return append(insts, rest...), err
}

// sockets lets through unix sockets, and with tcp also TCP's.
func sockets(p *seccomp.Program, tcp bool, allow, deny seccomp.Label) {
	p.LdLo(0)
	if !tcp {
		p.JmpIf(bpf.JumpEqual, unix.AF_UNIX, allow, deny)
		return
	}
	internet := p.NewLabel()
	p.JmpIfTrue(bpf.JumpEqual, unix.AF_UNIX, allow)
	p.JmpIfTrue(bpf.JumpEqual, unix.AF_INET, internet)
	p.JmpIfTrue(bpf.JumpNotEqual, unix.AF_INET6, deny)
	p.SetLabel(internet)
	p.LdLo(1)
	p.JmpIfTrue(bpf.JumpBitsSet, 0xf&^unix.SOCK_STREAM, deny)
	p.LdLo(2)
	p.JmpIfTrue(bpf.JumpEqual, 0, allow)
	p.JmpIf(bpf.JumpEqual, unix.IPPROTO_TCP, allow, deny)
}
