package wire

import "golang.org/x/sys/unix"

// passCredentials makes the kernel attach the sender's process id to what
// is received on fd, translated into the receiver's pid namespace: the only
// way to learn the host id of a process that knows itself as 1. A socket
// pair always accepts the option; without it the id is simply unknown.
func passCredentials(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1) }

func sender(part *unix.SocketControlMessage) int {
	cred, err := unix.ParseUnixCredentials(part)
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}
