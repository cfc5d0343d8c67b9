package local

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Self is a path by which this program can be executed again, also after
// its file was removed.
func Self() string { return "/proc/self/exe" }

// processAttributes has a guest that is process 1 die with us. A warden must
// outlive us by the moment it takes to end what it started.
func processAttributes(namespace bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true} // no terminal of the person's
	if namespace {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}

// startIn has a process start in the control group whose directory is dir.
func startIn(attr *syscall.SysProcAttr, dir *os.File) {
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
}

func (p *guestProcess) open() {
	if fd, err := unix.PidfdOpen(p.pid, 0); err == nil {
		p.pidfd = fd
	}
}

// goFirst has the kernel take a process, and what it will start, before
// others when memory runs out.
func goFirst(pid int) {
	os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("500"), 0)
}

func pidfdKill(fd int) { unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) }
