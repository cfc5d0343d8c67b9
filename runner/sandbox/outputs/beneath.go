package outputs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// ReadFile returns at most the first limit bytes of a workspace file. name is
// relative to the workspace. A link anywhere in the path, or anything but a
// regular file, is an error.
func ReadFile(workspace, name string, limit int64) ([]byte, error) {
	b, err := readFile(workspace, name, limit)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, bare(err))
	}
	return b, nil
}

func readFile(workspace, name string, limit int64) ([]byte, error) {
	root, err := openDir(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openBeneath(root, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

var temporaries atomic.Uint64

// WriteFile puts a file into the workspace, making directories as needed.
// Readers see the old content or the new, never a part. An existing file
// keeps its mode; a new one is not executable. A link in the path to the
// file is an error; one in its place is replaced.
func WriteFile(workspace, name string, content []byte) error {
	if err := writeFile(workspace, name, content); err != nil {
		return fmt.Errorf("write %q: %w", name, bare(err))
	}
	return nil
}

func writeFile(workspace, name string, content []byte) error {
	root, err := openDir(workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	return place(root, name, bytes.NewReader(content), func(old unix.Stat_t) uint32 {
		if uint32(old.Mode)&unix.S_IFMT == unix.S_IFREG {
			return uint32(old.Mode) & 0o777
		}
		return 0o644
	})
}

// place writes a file under a temporary name beside its own, which it then
// takes. mode is asked with what had the name before.
func place(root *os.File, name string, content io.Reader, mode func(old unix.Stat_t) uint32) error {
	if name = path.Clean(filepath.ToSlash(name)); !filepath.IsLocal(name) || name == "." {
		return errors.New("not a path inside the workspace")
	}
	dir, err := makeDirs(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	at, base := int(dir.Fd()), path.Base(name)
	var old unix.Stat_t
	if err := unix.Fstatat(at, base, &old, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		switch kind := uint32(old.Mode) & unix.S_IFMT; kind {
		case unix.S_IFREG, unix.S_IFLNK:
		default:
			return fmt.Errorf("it is %s", kindOf(kind))
		}
	}
	temporary := ".proctor-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(temporaries.Add(1), 10)
	fd, err := unix.Openat(at, temporary, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), temporary)
	_, err = io.Copy(f, content)
	err = errors.Join(err, unix.Fchmod(fd, mode(old)), f.Close())
	if err == nil {
		err = unix.Renameat(at, temporary, at, base)
	}
	if err != nil {
		unix.Unlinkat(at, temporary, 0)
	}
	return err
}

// makeDirs opens a directory beneath root, making what is missing.
func makeDirs(root *os.File, name string) (*os.File, error) {
	dir, err := openBeneath(root, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	parent, err := makeDirs(root, path.Dir(name))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	if err := unix.Mkdirat(int(parent.Fd()), path.Base(name), 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, err
	}
	return openBeneath(parent, path.Base(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// openDir opens the workspace itself, which is ours and may lie behind
// links.
func openDir(workspace string) (*os.File, error) {
	return os.OpenFile(workspace, os.O_RDONLY|unix.O_DIRECTORY, 0)
}

// walkBeneath opens name part by part, following no link: what openBeneath
// does where the kernel cannot do it in one step.
func walkBeneath(root *os.File, name string, flags int, mode uint32) (*os.File, error) {
	name = path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: unix.EXDEV}
	}
	parts := strings.Split(name, "/")
	at := int(root.Fd())
	for i, part := range parts {
		f, m := flags, mode
		if i < len(parts)-1 {
			f, m = unix.O_RDONLY|unix.O_DIRECTORY, 0
		}
		fd, err := unix.Openat(at, part, f|unix.O_NOFOLLOW|unix.O_CLOEXEC, m)
		if at != int(root.Fd()) {
			unix.Close(at)
		}
		if err != nil {
			if i < len(parts)-1 && errors.Is(err, unix.ENOTDIR) {
				err = unix.ELOOP // a link is not a directory either; a file is rare
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		at = fd
	}
	return os.NewFile(uintptr(at), name), nil
}

// lstatBeneath looks at name without following a link in it or at its end.
func lstatBeneath(root *os.File, name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	dir, err := openBeneath(root, path.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return st, err
	}
	defer dir.Close()
	err = unix.Fstatat(int(dir.Fd()), path.Base(name), &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, err
}

// bare drops the path from an error that names it already.
func bare(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EXDEV) {
		return errors.New("there is a symbolic link in its path, or it leaves the workspace")
	}
	return err
}
