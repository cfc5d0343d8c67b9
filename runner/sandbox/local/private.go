package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"proctor/runner/sandbox"
)

// Unmounted is what a kind gives its commands where it cannot mount: homes
// and temporary directories of their own below the host's, and the spec's
// targets at their sources.
type Unmounted struct {
	Home, Tmp string
	Paths     []sandbox.Mount // for [Plan.Paths]
	Close     func()          // for [Plan.Cleanup]
}

// NewUnmounted makes the directories and takes the write permission from
// the spec's read-only paths, which Close gives back.
func NewUnmounted(s sandbox.Spec) (*Unmounted, error) {
	base, err := os.MkdirTemp("", "proctor-"+s.Name+"-")
	if err != nil {
		return nil, fmt.Errorf("open sandbox %q: %w", s.Name, err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, fmt.Errorf("open sandbox %q: %w", s.Name, err)
	}
	u := &Unmounted{Home: filepath.Join(base, "home"), Tmp: filepath.Join(base, "tmp")}
	u.Paths = append([]sandbox.Mount{{Source: s.Workspace, Target: s.Workdir}}, s.Mounts...)
	modes := map[string]fs.FileMode{}
	u.Close = func() {
		for path, mode := range modes {
			os.Chmod(path, mode)
		}
		removeAll(base)
	}
	for _, dir := range []string{u.Home, u.Tmp} {
		err = errors.Join(err, os.Mkdir(dir, 0o700))
	}
	for _, path := range s.ReadOnly {
		err = errors.Join(err, protect(filepath.Join(s.Workspace, path), modes))
	}
	if err != nil {
		u.Close()
		return nil, fmt.Errorf("open sandbox %q: %w", s.Name, err)
	}
	return u, nil
}

// protect takes the write permission from a tree and records what it was.
func protect(path string, modes map[string]fs.FileMode) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil || !d.Type().IsRegular() && !d.IsDir() {
			return err
		}
		modes[path] = fi.Mode().Perm()
		return os.Chmod(path, fi.Mode().Perm()&^0o222)
	})
}

// removeAll removes a tree although its owner may have locked directories.
func removeAll(base string) {
	if os.RemoveAll(base) == nil {
		return
	}
	filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	os.RemoveAll(base)
}

// Loopback listens for the network's ports on the host's own loopback, for
// kinds without a network of their own, and returns what tells commands
// where they are.
func Loopback(n sandbox.Network) (listeners []net.Listener, env []string, err error) {
	for _, want := range ports(n) {
		l, err := want.Open()
		if err != nil {
			closeListeners(listeners)
			return nil, nil, fmt.Errorf("open the model endpoint: %w", err)
		}
		listeners, env = append(listeners, l), append(env, want.Environment(l.Addr())...)
	}
	return listeners, env, nil
}
