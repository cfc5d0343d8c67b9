package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/cgroup"
	"proctor/runner/sandbox/guest"
	"proctor/runner/sandbox/wire"
)

// guestWithin is how long a guest may take to come up.
const guestWithin = 20 * time.Second

// Sandbox implements [sandbox.Sandbox] over a guest.
type Sandbox struct {
	plan      Plan
	isolation sandbox.Isolation
	endpoint  string
	forwarded map[int]string // address by the port that was wanted

	conn  *wire.Conn
	line  *os.File // a warden sees us end here
	cmd   *exec.Cmd
	guest guestProcess
	log   *transcript

	group   *cgroup.Group
	inGroup bool // cmd is in it, too

	// gate is held for reading while a command starts, for writing while
	// the sandbox freezes or thaws.
	gate   sync.RWMutex
	frozen bool
	thawed chan struct{} // closed when frozen ends

	mu       sync.Mutex
	seq      uint64
	pending  map[uint64]chan response
	commands map[int]*process
	lost     bool // it is ending

	stop   context.CancelFunc // of what runs beside: watchers, forwarding
	beside sync.WaitGroup
	exited chan struct{} // cmd has ended
	ending sync.Once
	done   chan struct{}
	endErr error
}

type response struct {
	wire.Reply
	files []*os.File
}

// guestProcess is the guest as seen from here.
type guestProcess struct {
	pid   int
	pidfd int // -1 where the kernel has none
}

// Open starts a sandbox as planned.
func Open(ctx context.Context, plan Plan) (_ *Sandbox, err error) {
	s := &Sandbox{
		plan: plan, isolation: plan.Isolation, guest: guestProcess{pidfd: -1},
		log:     &transcript{to: plan.Spec.Log},
		pending: map[uint64]chan response{}, commands: map[int]*process{}, forwarded: map[int]string{},
		exited: make(chan struct{}), done: make(chan struct{}), thawed: make(chan struct{}),
		stop: func() {},
	}
	var groupErr error
	s.group, groupErr = makeGroup(plan.Spec.Name, plan.Spec.Limits)
	fail := func(err error) (*Sandbox, error) {
		s.end()
		<-s.done
		if said := s.log.said(); said != "" {
			err = fmt.Errorf("%w (%s)", err, said)
		}
		return nil, fmt.Errorf("open sandbox %q: %w", plan.Spec.Name, err)
	}
	if err := s.launch(); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, guestWithin)
	defer cancel()
	hung := context.AfterFunc(ctx, func() { s.conn.Close() })
	ready, listeners, err := s.greet(groupErr)
	if !hung() && err == nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ended at once")
	}
	if err != nil {
		closeListeners(listeners)
		return fail(fmt.Errorf("start its guest: %w", err))
	}
	s.describe(ready, groupErr)
	var beside context.Context
	beside, s.stop = context.WithCancel(context.Background())
	s.forwardAll(beside, listeners)
	s.beside.Go(func() { s.watch(beside) })
	// From here on it may end at any time. Both of these end with it.
	go s.receive()
	go func() { <-s.exited; s.end() }()
	return s, nil
}

func makeGroup(name string, limits sandbox.Limits) (*cgroup.Group, error) {
	host, err := cgroup.Detect()
	if err != nil {
		return nil, err
	}
	var want []string
	for controller, asked := range map[string]bool{
		"memory": limits.MemoryBytes > 0, "cpu": limits.CPUs > 0, "pids": limits.Pids > 0,
	} {
		if asked {
			want = append(want, controller)
		}
	}
	return host.Make(name, want...)
}

// launch starts the process that becomes the guest, or its warden.
func (s *Sandbox) launch() error {
	conn, control, err := wire.Pair()
	if err != nil {
		close(s.exited)
		return err
	}
	defer control.Close()
	s.conn = conn
	if s.plan.Namespace {
		s.cmd = exec.Command(s.plan.Argv[0], s.plan.Argv[1:]...)
		s.cmd.ExtraFiles = append([]*os.File{control}, s.plan.Files...)
	} else {
		theirs, ours, err := os.Pipe()
		if err != nil {
			close(s.exited)
			return err
		}
		defer theirs.Close()
		s.line = ours
		s.cmd = exec.Command(Self(), guest.Command, guest.RoleWarden)
		if s.plan.DropCapabilities {
			s.cmd.Args = append(s.cmd.Args, guest.DropCapabilities)
		}
		if state := s.group.FreezerState(); state != "" {
			s.cmd.Args = append(s.cmd.Args, state)
		}
		s.cmd.ExtraFiles = []*os.File{theirs, control}
	}
	s.cmd.Env = []string{} // its own would be seen inside
	s.cmd.Dir = "/"
	s.cmd.Stderr = s.log
	s.cmd.WaitDelay = time.Second
	s.cmd.SysProcAttr = processAttributes(s.plan.Namespace)
	started := make(chan error)
	go s.hold(started)
	return <-started
}

// start starts the process, where it can be in its group from the first
// moment: then whatever becomes of it, and of us, it is found there.
func (s *Sandbox) start() error {
	if dir := s.group.Dir(); dir != "" && s.plan.Namespace {
		again := *s.cmd
		again.SysProcAttr = processAttributes(true)
		if f, err := os.Open(dir); err == nil {
			startIn(s.cmd.SysProcAttr, f)
			err = s.cmd.Start()
			f.Close()
			if err == nil {
				s.inGroup = true
				return nil
			}
			s.cmd = &again
		}
	}
	return s.cmd.Start()
}

// hold starts the process and stays on its thread until it has ended: the
// kernel takes that thread's end for its parent's.
func (s *Sandbox) hold(started chan<- error) {
	runtime.LockOSThread()
	defer close(s.exited)
	err := s.start()
	started <- err
	if err != nil {
		return
	}
	s.cmd.Wait()
}

// greet learns who the guest is, moves it into its group and has it set
// itself up.
func (s *Sandbox) greet(groupErr error) (wire.Ready, []net.Listener, error) {
	var hello wire.Reply
	m, err := s.conn.Receive(&hello)
	if err != nil {
		return wire.Ready{}, nil, err
	}
	if s.guest.pid = m.PID; m.PID == 0 {
		s.guest.pid = hello.Hello
	}
	s.guest.open()
	if groupErr == nil {
		if err := s.group.Add(s.guest.pid, s.inGroup); err != nil {
			s.log.printf("%v", err)
			s.dropGroup()
		}
	}
	setup := s.plan.Setup
	setup.Name = s.plan.Spec.Name
	setup.Rlimits = append(setup.Rlimits, rlimits(s.plan, s.group)...)
	goFirst(s.guest.pid) // it still lets us
	listeners := s.plan.Listeners
	if listeners == nil {
		setup.Listen = ports(s.plan.Spec.Network)
	}
	if err := s.conn.Send(wire.Request{Op: wire.OpSetup, Setup: &setup}); err != nil {
		return wire.Ready{}, nil, err
	}
	var reply wire.Reply
	if m, err = s.conn.Receive(&reply); err != nil {
		return wire.Ready{}, nil, err
	}
	defer closeFiles(m.Files)
	if reply.Error != "" || reply.Ready == nil {
		return wire.Ready{}, nil, errors.New(reply.Error)
	}
	if len(m.Files) != len(setup.Listen) {
		return wire.Ready{}, nil, fmt.Errorf("it opened %d of %d ports", len(m.Files), len(setup.Listen))
	}
	for _, f := range m.Files {
		l, err := net.FileListener(f)
		if err != nil {
			closeListeners(listeners)
			return wire.Ready{}, nil, err
		}
		listeners = append(listeners, l)
	}
	return *reply.Ready, listeners, nil
}

func (s *Sandbox) dropGroup() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.group.Remove(ctx)
	s.group = nil
}

// describe completes what the kind said of itself by what was found.
func (s *Sandbox) describe(ready wire.Ready, groupErr error) {
	iso, limits := &s.isolation, s.plan.Spec.Limits
	applied := s.group.Limit(limits.MemoryBytes, limits.CPUs, limits.Pids+overhead(limits.Pids))
	iso.Limits = applied
	iso.Freezer = s.freezer()
	if limits.Pids > 0 && !slices.Contains(applied, "pids") && pidsByRlimit(s.plan) {
		iso.Limits = append(iso.Limits, "pids")
	}
	if limits.FileBytes > 0 {
		iso.Limits = append(iso.Limits, "file size")
	}
	var missing []string
	for _, l := range []struct {
		name  string
		asked bool
	}{{"memory", limits.MemoryBytes > 0}, {"cpu", limits.CPUs > 0}, {"pids", limits.Pids > 0}} {
		if l.asked && !slices.Contains(iso.Limits, l.name) {
			missing = append(missing, l.name)
		}
	}
	if len(missing) > 0 {
		why := "no such controller is delegated"
		if groupErr != nil {
			why = groupErr.Error()
		}
		iso.Gaps = append(iso.Gaps, fmt.Sprintf("not capped by the kernel: %s (%s)", strings.Join(missing, ", "), why))
	}
	iso.Gaps = append(iso.Gaps, ready.Trouble...)
	if !s.plan.Namespace && iso.Freezer == "init" && !ready.Scoped {
		iso.Gaps = append(iso.Gaps, "a program that keeps forking into new sessions can outrun a freeze")
	}
}

// freezer picks how to freeze. What a v1 freezer holds cannot be killed,
// and would stay for ever should we be killed ourselves; a guest that is
// process 1 does it as surely. A warden, which is outside the freezer, can
// thaw and kill.
func (s *Sandbox) freezer() string {
	switch f := s.group.Freezer(); {
	case f == "cgroup v2", f == "cgroup v1" && !s.plan.Namespace:
		return f
	}
	return "init"
}

// receive handles everything the guest says until it is gone.
func (s *Sandbox) receive() {
	for {
		var reply wire.Reply
		m, err := s.conn.Receive(&reply)
		if err != nil {
			s.end()
			return
		}
		s.mu.Lock()
		if reply.Exit != nil {
			p := s.commands[reply.Exit.ID]
			if s.lost {
				p = nil // abandon says what became of it
			} else {
				delete(s.commands, reply.Exit.ID)
			}
			s.mu.Unlock()
			closeFiles(m.Files)
			if p != nil {
				p.ended(sandbox.Exit{Code: reply.Exit.Code, Signal: syscall.Signal(reply.Exit.Signal)}, nil)
			}
			continue
		}
		waiting := s.pending[reply.Seq]
		delete(s.pending, reply.Seq)
		s.mu.Unlock()
		if waiting == nil {
			closeFiles(m.Files)
			continue
		}
		waiting <- response{reply, m.Files} // has room for one
	}
}

var errEnded = sandbox.ErrEnded

// call asks the guest and waits for its answer.
func (s *Sandbox) call(ctx context.Context, req wire.Request, files ...*os.File) (response, error) {
	answer := make(chan response, 1)
	s.mu.Lock()
	if s.lost {
		s.mu.Unlock()
		return response{}, errEnded
	}
	s.seq++
	req.Seq = s.seq
	s.pending[req.Seq] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pending, req.Seq)
		s.mu.Unlock()
	}()
	err := s.conn.Send(req, files...)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrClosed) {
		return response{}, errEnded
	}
	if err != nil {
		return response{}, err
	}
	select {
	case r := <-answer:
		if r.Error != "" {
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return response{}, ctx.Err()
	case <-s.done:
		return response{}, errEnded
	}
}

// Path implements [sandbox.Sandbox].
func (s *Sandbox) Path(target string) string { return translate(s.plan.Paths, target) }

// Endpoint implements [sandbox.Sandbox].
func (s *Sandbox) Endpoint() string { return s.endpoint }

// Forwarded implements [sandbox.Sandbox].
func (s *Sandbox) Forwarded(port int) string { return s.forwarded[port] }

// Isolation implements [sandbox.Sandbox].
func (s *Sandbox) Isolation() sandbox.Isolation { return s.isolation }

// Done implements [sandbox.Sandbox].
func (s *Sandbox) Done() <-chan struct{} { return s.done }

// rlimits returns the limits that every process inside has.
func rlimits(plan Plan, group *cgroup.Group) []wire.Rlimit {
	limits := []wire.Rlimit{{Resource: unix.RLIMIT_CORE, Value: 0}}
	if n := plan.Spec.Limits.FileBytes; n > 0 {
		limits = append(limits, wire.Rlimit{Resource: unix.RLIMIT_FSIZE, Value: uint64(n)})
	}
	if n := plan.Spec.Limits.Pids; n > 0 && !slices.Contains(group.Limits(), "pids") && pidsByRlimit(plan) {
		limits = append(limits, wire.Rlimit{Resource: unix.RLIMIT_NPROC, Value: uint64(n + overhead(n))})
	}
	return limits
}

// overhead is what the guest's own threads need of a limit on pids.
func overhead(pids int) int {
	if pids <= 0 {
		return 0
	}
	return 20
}

// pidsByRlimit says whether RLIMIT_NPROC counts exactly the sandbox's
// processes: it counts a user's within a user namespace, and never root's.
func pidsByRlimit(plan Plan) bool { return plan.Namespace && os.Geteuid() != 0 }

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
