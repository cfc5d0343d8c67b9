package outputs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openBeneath opens a path below root and follows no link at all, neither
// symbolic nor of procfs, also if the path changes meanwhile.
func openBeneath(root *os.File, name string, flags int, mode uint32) (*os.File, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Mode:    uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(int(root.Fd()), name, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), name), nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR): // a rename somewhere raced with us
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // an old kernel, or a filter of calls
			return walkBeneath(root, name, flags, mode)
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
}
