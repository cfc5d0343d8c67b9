package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A terminal is our side of a command's pty.
type terminal struct {
	master *os.File
	closed chan struct{} // nothing more will be read
	once   sync.Once

	mu   sync.Mutex
	rest int // bytes still taken after the hangup
}

// hangupRest is more than a pty holds: whatever the command itself wrote
// before its end is read, however late, while a leftover that goes on
// writing is not followed for ever.
const hangupRest = 256 << 10

// openTerminal opens a pty of this system's and returns the command's side
// with it.
func openTerminal(cols, rows int) (*terminal, *os.File, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer master.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		slave.Close()
		return nil, nil, fmt.Errorf("size a terminal: %w", err)
	}
	t, err := newTerminal(master)
	if err != nil {
		slave.Close()
		return nil, nil, err
	}
	return t, slave, nil
}

// newTerminal takes a copy of master that does not block: only then do Close
// and deadlines end a Read that waits.
func newTerminal(master *os.File) (*terminal, error) {
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	return &terminal{master: os.NewFile(uintptr(fd), "ptmx"), closed: make(chan struct{}), rest: hangupRest}, nil
}

func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.master.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = t.readRest(b)
	}
	if n > 0 || err == nil {
		return n, nil
	}
	t.Close()
	// A pty's end is reported as an error of its hardware.
	if errors.Is(err, syscall.EIO) || errors.Is(err, os.ErrClosed) || err == io.EOF {
		return 0, io.EOF
	}
	return 0, err
}

// readRest reads what is there after the hangup, without waiting.
func (t *terminal) readRest(b []byte) (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b = b[:min(len(b), t.rest)]
	if len(b) == 0 {
		return 0, io.EOF
	}
	raw, err := t.master.SyscallConn()
	if err != nil {
		return 0, io.EOF
	}
	var readErr error
	if err := raw.Control(func(fd uintptr) { n, readErr = unix.Read(int(fd), b) }); err != nil || readErr != nil || n <= 0 {
		return 0, io.EOF // nothing there, or closed
	}
	t.rest -= n
	return n, nil
}

func (t *terminal) Write(b []byte) (int, error) { return t.master.Write(b) }

// resize avoids Fd, which would make the file block again.
func (t *terminal) resize(cols, rows int) error {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return err
	}
	var ioctlErr error
	err = raw.Control(func(fd uintptr) {
		ioctlErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
	return errors.Join(err, ioctlErr)
}

// hangup ends reading as soon as nothing is there to be read. What never is
// read is dropped with the sandbox.
func (t *terminal) hangup() {
	t.master.SetReadDeadline(time.Unix(1, 0))
}

// Close hangs up: whoever still has the terminal gets SIGHUP, or errors.
func (t *terminal) Close() {
	t.once.Do(func() { t.master.Close(); close(t.closed) })
}
