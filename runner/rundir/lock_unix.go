//go:build unix

package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked means that a supervisor already has the run.
var ErrLocked = errors.New("the run has a supervisor")

// A Lock is held while a supervisor lives; the kernel lets go of it when the
// process ends, however it ends.
type Lock struct{ file *os.File }

// Lock takes the run. It returns ErrLocked when another supervisor has it.
func (d Dir) Lock() (*Lock, error) {
	file, err := os.OpenFile(filepath.Join(d.path, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("taking the run's lock: %w", err)
	}
	// Whoever asks whether the run is alive holds the lock for a moment.
	for deadline := time.Now().Add(time.Second); ; time.Sleep(5 * time.Millisecond) {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return &Lock{file}, nil
		}
		if time.Now().After(deadline) {
			break
		}
	}
	file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("taking the run's lock: %w", err)
}

// SetSocket writes where the supervisor listens.
func (l *Lock) SetSocket(path string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(path+"\n"), 0)
	return err
}

// Unlock lets go of the run.
func (l *Lock) Unlock() error { return l.file.Close() }

// Alive reports whether a supervisor holds the run.
func (d Dir) Alive() bool {
	file, err := os.Open(filepath.Join(d.path, lockFile))
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// Socket returns where the run's supervisor listens; it fails when there is
// none.
func (d Dir) Socket() (string, error) {
	file, err := os.Open(filepath.Join(d.path, lockFile))
	if err != nil {
		return "", fmt.Errorf("run %s has no supervisor", d.ID())
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 4096))
	if err != nil {
		return "", fmt.Errorf("reading where run %s listens: %w", d.ID(), err)
	}
	path := strings.TrimSpace(string(data))
	if path == "" || !d.Alive() {
		return "", fmt.Errorf("run %s is not alive: its supervisor has ended", d.ID())
	}
	return path, nil
}
