//go:build unix

package runner

import "syscall"

// detached puts a process into a session of its own: no terminal's end
// reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
