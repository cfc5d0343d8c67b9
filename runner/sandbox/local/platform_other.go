//go:build !linux

package local

import (
	"os"
	"syscall"
)

// Self is a path by which this program can be executed again.
func Self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func processAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func startIn(*syscall.SysProcAttr, *os.File) {}

func (p *guestProcess) open() {}

func pidfdKill(int) {}

func goFirst(int) {}
