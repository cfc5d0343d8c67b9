package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"proctor/runner/sandbox"
)

// pipes are a command's standard streams when it has no terminal.
type pipes struct {
	in, out, err *os.File // our ends; nil where the command has a file itself
	stdin        io.Reader
	stdout       io.Writer
	stderr       io.Writer

	copying sync.WaitGroup // of output
	done    chan struct{}
	mu      sync.Mutex
	failed  error
}

// newPipes also returns the command's ends: input, output, error.
func newPipes(c sandbox.Command) (p *pipes, theirs []*os.File, err error) {
	p = &pipes{stdin: c.Stdin, stdout: c.Stdout, stderr: c.Stderr, done: make(chan struct{})}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	add := func(f *os.File, e error) error {
		if e == nil {
			theirs = append(theirs, f)
		}
		return e
	}
	if f, ok := c.Stdin.(*os.File); ok {
		err = add(dup(f))
	} else if c.Stdin == nil {
		err = add(os.Open(os.DevNull))
	} else {
		var r *os.File
		r, p.in, err = os.Pipe()
		err = add(r, err)
	}
	if err != nil {
		return p, theirs, err
	}
	output := func(w io.Writer) (ours *os.File, err error) {
		if f, ok := w.(*os.File); ok {
			return nil, add(dup(f))
		}
		if w == nil {
			return nil, add(os.OpenFile(os.DevNull, os.O_WRONLY, 0))
		}
		ours, their, err := os.Pipe()
		return ours, add(their, err)
	}
	if p.out, err = output(c.Stdout); err != nil {
		return p, theirs, err
	}
	if sameWriter(c.Stdout, c.Stderr) {
		return p, theirs, add(dup(theirs[1])) // one pipe keeps their order
	}
	p.err, err = output(c.Stderr)
	return p, theirs, err
}

// sameWriter compares as os/exec does: not every writer can be compared.
func sameWriter(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a != nil && a == b
}

func dup(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var dupErr error
	if err := raw.Control(func(old uintptr) { fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), dupErr
}

// copy begins to serve the pipes.
func (p *pipes) copy() {
	if p.in != nil {
		// Not waited for: a Read of the caller's reader cannot be ended.
		go func() { io.Copy(p.in, p.stdin); p.in.Close() }()
	}
	serve := func(from *os.File, to io.Writer) {
		if from == nil {
			return
		}
		p.copying.Go(func() {
			if _, err := io.Copy(to, from); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
				p.mu.Lock()
				p.failed = errors.Join(p.failed, fmt.Errorf("copy the command's output: %w", err))
				p.mu.Unlock()
				io.Copy(io.Discard, from) // a full disk must not stop it
			}
		})
	}
	serve(p.out, p.stdout)
	serve(p.err, p.stderr)
}

// finish gives what is left in the pipes the grace to arrive.
func (p *pipes) finish(grace time.Duration) {
	late := time.AfterFunc(grace, func() {
		for _, f := range []*os.File{p.out, p.err} {
			if f != nil {
				f.SetReadDeadline(time.Unix(1, 0))
			}
		}
	})
	p.copying.Wait()
	late.Stop()
	p.close()
	close(p.done)
}

func (p *pipes) wait() error {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.in, p.out, p.err} {
		if f != nil {
			f.Close()
		}
	}
}
