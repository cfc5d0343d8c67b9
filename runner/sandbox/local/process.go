package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/wire"
)

const defaultGrace = 200 * time.Millisecond

// process implements [sandbox.Process]. Exactly one of term and pipes is
// set.
type process struct {
	sandbox *Sandbox
	id      int
	grace   time.Duration
	term    *terminal
	pipes   *pipes

	exit   sandbox.Exit
	err    error // why the exit is not the program's own
	exited chan struct{}
}

// Start implements [sandbox.Sandbox].
func (s *Sandbox) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	fail := func(err error) (sandbox.Process, error) {
		return nil, fmt.Errorf("sandbox %q: %w", s.plan.Spec.Name, err)
	}
	if len(c.Argv) == 0 {
		return fail(errors.New("start: no command given"))
	}
	if err := s.running(ctx); err != nil {
		return fail(fmt.Errorf("start %q: %w", c.Argv[0], err))
	}
	defer s.gate.RUnlock()
	p := &process{sandbox: s, grace: c.Grace, exited: make(chan struct{})}
	if p.grace == 0 {
		p.grace = defaultGrace
	}
	dir := c.Dir
	if dir == "" {
		dir = s.plan.Spec.Workdir
	}
	start := wire.Start{Argv: c.Argv, Dir: s.Path(dir), Env: c.Env, TTY: c.TTY, Cols: c.Cols, Rows: c.Rows}
	theirs, err := p.connect(c, &start)
	defer closeFiles(theirs)
	if err != nil {
		return fail(err)
	}
	s.mu.Lock()
	if s.lost {
		s.mu.Unlock()
		p.disconnect()
		return fail(errEnded)
	}
	s.seq++
	p.id = int(s.seq)
	s.commands[p.id] = p // before it can end
	s.mu.Unlock()
	start.ID = p.id
	// The answer must be had even if ctx ends meanwhile, or nobody would
	// know of the command.
	r, err := s.call(context.WithoutCancel(ctx), wire.Request{Op: wire.OpStart, Start: &start}, append(theirs, c.Files...)...)
	if err == nil && start.Open {
		err = p.adopt(r.files)
	}
	if err != nil {
		s.mu.Lock()
		delete(s.commands, p.id)
		s.mu.Unlock()
		p.disconnect()
		return fail(err)
	}
	if p.pipes != nil {
		p.pipes.copy()
	}
	p.watch(ctx)
	return p, nil
}

// connect makes the terminal or the pipes. The files are the command's ends,
// to be closed here once it has them.
func (p *process) connect(c sandbox.Command, start *wire.Start) (theirs []*os.File, err error) {
	if !c.TTY {
		p.pipes, theirs, err = newPipes(c)
		return theirs, err
	}
	if start.Cols <= 0 || start.Rows <= 0 {
		start.Cols, start.Rows = 80, 24
	}
	if p.sandbox.plan.Setup.OwnPTY {
		start.Open = true
		return nil, nil
	}
	var slave *os.File
	p.term, slave, err = openTerminal(start.Cols, start.Rows)
	if err != nil {
		return nil, err
	}
	return []*os.File{slave}, nil
}

// adopt takes the terminal that the guest opened.
func (p *process) adopt(files []*os.File) (err error) {
	defer closeFiles(files)
	if len(files) != 1 {
		return errors.New("start: the guest sent no terminal")
	}
	p.term, err = newTerminal(files[0])
	return err
}

func (p *process) disconnect() {
	if p.term != nil {
		p.term.Close()
	}
	if p.pipes != nil {
		p.pipes.close()
	}
}

// watch kills the command when ctx ends, and lets go of its terminal or
// pipes a while after its own end: leftovers may hold them open for ever.
// A ctx that ends once the command has spares what it left to go on.
func (p *process) watch(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-p.exited:
		default:
			if err := p.Kill(); err != nil {
				p.sandbox.log.printf("end a command: %v", err)
			}
		}
	})
	go func() {
		<-p.exited
		stop()
		if p.pipes != nil {
			p.pipes.finish(p.grace)
			return
		}
		select {
		case <-p.term.closed:
		case <-p.sandbox.done:
		case <-time.After(p.grace):
		}
		p.term.hangup()
	}()
}

// ended is called once, when the guest reports it or is gone itself.
func (p *process) ended(exit sandbox.Exit, err error) {
	p.exit, p.err = exit, err
	close(p.exited)
}

var errNoTTY = errors.New("the command has no terminal")

// Read implements [sandbox.Process].
func (p *process) Read(b []byte) (int, error) {
	if p.term == nil {
		return 0, errNoTTY
	}
	return p.term.Read(b)
}

// Write implements [sandbox.Process].
func (p *process) Write(b []byte) (int, error) {
	if p.term == nil {
		return 0, errNoTTY
	}
	return p.term.Write(b)
}

// Resize implements [sandbox.Process].
func (p *process) Resize(cols, rows int) error {
	if p.term == nil {
		return errNoTTY
	}
	return p.term.resize(cols, rows)
}

// Signal implements [sandbox.Process].
func (p *process) Signal(sig syscall.Signal) error { return p.signal(sig, false) }

// Kill implements [sandbox.Process].
func (p *process) Kill() error { return p.signal(syscall.SIGKILL, true) }

func (p *process) signal(sig syscall.Signal, all bool) error {
	_, err := p.sandbox.call(context.Background(), wire.Request{Op: wire.OpSignal,
		Signal: &wire.Signal{ID: p.id, Signal: int(sig), All: all}})
	if errors.Is(err, errEnded) {
		return nil // and everything in it
	}
	return err
}

// Wait implements [sandbox.Process].
func (p *process) Wait() (sandbox.Exit, error) {
	<-p.exited
	if p.pipes != nil {
		return p.exit, errors.Join(p.err, p.pipes.wait())
	}
	return p.exit, p.err
}
