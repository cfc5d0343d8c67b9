package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"proctor/runner/sandbox/wire"
)

// Every command's environment names its sandbox and itself, and so does that
// of what it starts: a mark by which leftovers are found again after they
// have left their session and lost their parent.
const (
	SandboxVar = "PROCTOR_SANDBOX"
	CommandVar = "PROCTOR_COMMAND"
)

type server struct {
	conn  *wire.Conn
	reach reach
	setup wire.Setup

	// mu is held from before a command's fork until its start is reported,
	// so that its end cannot be reported first.
	mu       sync.Mutex
	live     map[int]int // command by process id, until reaped
	commands map[int]int // process id by command, for good

	stopped []int // were stopped before we stopped everything
}

func (s *server) handle(req wire.Request, files []*os.File) {
	defer closeAll(files)
	reply := wire.Reply{Seq: req.Seq}
	var attach []*os.File
	var err error
	switch {
	case req.Op == wire.OpSetup && req.Setup != nil:
		reply.Ready, attach, err = s.prepare(*req.Setup)
	case req.Op == wire.OpStart && req.Start != nil:
		s.start(req, files)
		return
	case req.Op == wire.OpSignal && req.Signal != nil:
		err = s.signal(*req.Signal)
	case req.Op == wire.OpStop:
		err = s.stop()
	case req.Op == wire.OpCont:
		err = s.cont()
	case req.Op == wire.OpKill:
		err = s.kill()
	default:
		err = fmt.Errorf("malformed request %q", req.Op)
	}
	defer closeAll(attach)
	if err != nil {
		reply.Error = err.Error()
	}
	s.conn.Send(reply, attach...) // a lost line is noticed by Receive
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// start runs a command and answers for itself, under the lock.
func (s *server) start(req wire.Request, files []*os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := wire.Reply{Seq: req.Seq}
	var attach []*os.File
	pid, master, err := s.spawn(*req.Start, files)
	if err != nil {
		reply.Error = err.Error()
	} else {
		reply.PID = pid
		s.live[pid] = req.Start.ID
		s.commands[req.Start.ID] = pid
	}
	if master != nil {
		defer master.Close()
		attach = append(attach, master)
	}
	s.conn.Send(reply, attach...)
}

// spawn starts a command in a session of its own. The file it returns is
// the other end of the terminal, if it opened one.
func (s *server) spawn(c wire.Start, files []*os.File) (pid int, master *os.File, err error) {
	env := merge(s.setup.Env, c.Env, []string{
		SandboxVar + "=" + s.setup.Name, CommandVar + "=" + strconv.Itoa(c.ID)})
	if c.TTY && c.Open {
		var slave *os.File
		if master, slave, err = openTerminal(c.Cols, c.Rows); err != nil {
			return 0, nil, err
		}
		defer slave.Close()
		files = append([]*os.File{slave}, files...)
		defer func() {
			if err != nil {
				master.Close()
				master = nil
			}
		}()
	}
	var fds []uintptr
	if c.TTY && len(files) > 0 {
		files = append([]*os.File{files[0], files[0]}, files...)
	}
	for _, f := range files {
		// Go leaves what it opens non-blocking; programs expect otherwise.
		if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
			return 0, master, err
		}
		fds = append(fds, f.Fd())
	}
	if len(fds) < 3 || len(c.Argv) == 0 {
		return 0, master, errors.New("malformed command")
	}
	if fi, err := os.Stat(c.Dir); err != nil {
		return 0, master, fmt.Errorf("enter %q: %w", c.Dir, errors.Unwrap(err))
	} else if !fi.IsDir() {
		return 0, master, fmt.Errorf("enter %q: not a directory", c.Dir)
	}
	path, err := lookPath(c.Argv[0], env)
	if err != nil {
		return 0, master, err
	}
	pid, err = syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{
		Dir: c.Dir, Env: env, Files: fds,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.TTY, Ctty: 0},
	})
	if err != nil {
		return 0, master, fmt.Errorf("start %q: %w", path, err)
	}
	return pid, master, nil
}

func openTerminal(cols, rows int) (master, slave *os.File, err error) {
	master, slave, err = pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		master.Close()
		slave.Close()
		return nil, nil, fmt.Errorf("size a terminal: %w", err)
	}
	return master, slave, nil
}

// merge joins environments; of two values of one name the later counts.
func merge(envs ...[]string) []string {
	at := map[string]int{}
	var out []string
	for _, env := range envs {
		for _, kv := range env {
			name, _, ok := strings.Cut(kv, "=")
			if !ok || name == "" {
				continue
			}
			if i, dup := at[name]; dup {
				out[i] = kv
				continue
			}
			at[name] = len(out)
			out = append(out, kv)
		}
	}
	return out
}

// lookPath finds a program as a shell does, on the command's own PATH.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if !filepath.IsAbs(dir) {
				continue
			}
			path := filepath.Join(dir, name)
			if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("start %q: executable file not found in the sandbox's PATH", name)
}

// reap collects every dead child, ours or adopted, and reports commands'
// ends.
func (s *server) reap(children <-chan os.Signal) {
	for range children {
		for s.reapOne() {
		}
	}
}

func (s *server) reapOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if errors.Is(err, syscall.EINTR) {
		return true
	}
	if err != nil || pid <= 0 {
		return false
	}
	id, ours := s.live[pid]
	if !ours {
		return true
	}
	delete(s.live, pid)
	exit := wire.Exit{ID: id, Code: status.ExitStatus()}
	if status.Signaled() {
		exit.Signal = int(status.Signal())
		exit.Code = 128 + exit.Signal
	}
	s.conn.Send(wire.Reply{Exit: &exit})
	return true
}
