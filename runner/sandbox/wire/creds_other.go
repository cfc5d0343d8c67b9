//go:build !linux

package wire

import "golang.org/x/sys/unix"

func passCredentials(int) {}

func sender(*unix.SocketControlMessage) int { return 0 }
