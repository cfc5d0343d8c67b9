// Package sandbox says where an agent works: processes on ptys of their
// own, a view of files, a network policy, limits, a freezer, and an end
// that leaves nothing behind. Each kind of place has a package below this
// one and is listed in runner/sandbox/kinds.
package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// A Kind is one way of isolating a run.
type Kind struct {
	Name    string // as given to --sandbox
	Summary string // one line
	// Probe finds out whether it works on this machine by really using it.
	Probe func(ctx context.Context) Probe
	// Open starts a sandbox. It fails with a reason a person can act on.
	Open func(ctx context.Context, s Spec) (Sandbox, error)
}

// A Probe is what a kind can do on this machine.
type Probe struct {
	OK        bool
	Reason    string // why not, and what to do; "" when OK
	Isolation Isolation
}

// Isolation says plainly what is kept apart and what is not.
type Isolation struct {
	Mounts    bool     // it reads and writes only what was mounted
	Targets   bool     // mounts are found at their targets, not at their sources
	Processes bool     // it neither sees nor signals others' processes
	Network   bool     // the network policy is enforced
	Syscalls  bool     // ptrace and its kin are denied
	Limits    []string // resources that are capped: "memory", "cpu", "pids", "file size"
	Freezer   string   // "cgroup v2", "cgroup v1", "init"
	Gaps      []string // what a person must know is not isolated, one line each
}

// A Spec is what a sandbox is started with.
type Spec struct {
	Name      string // unique on the host; names its cgroup
	Workspace string // host directory, writable, mounted at Workdir
	Workdir   string // absolute path inside
	Mounts    []Mount
	ReadOnly  []string // workspace-relative paths that may not be changed
	Env       []string // KEY=value; nothing else passes but a fixed base
	Network   Network
	Limits    Limits
	Debugger  bool      // allow ptrace inside
	Devices   []string  // host device nodes to pass through
	Log       io.Writer // the sandbox's own trouble; nil discards it
}

// A Mount shows a host path inside.
type Mount struct {
	Source, Target string
	Writable       bool
}

// Network is what a sandbox may reach.
type Network struct {
	Policy string // "none", "model", "allow" or "full"
	// Socket is a host unix socket that a loopback port inside is forwarded
	// to under policy "model".
	Socket string
	Port   int      // that port; 0 means any, see [Sandbox.Endpoint]
	Allow  []string // host names or host:port under policy "allow"
	// Forwards are further loopback ports inside, under any policy.
	Forwards []Forward
}

// A Forward is a loopback port inside that leads to a host unix socket.
type Forward struct {
	Socket string
	// Port is where it is wanted. Where the sandbox has no loopback of its
	// own and something else listens there, it gets another.
	Port int
	// Env, when set, is a variable of every command, KEY=value, in whose
	// value "{address}" stands for 127.0.0.1:PORT.
	Env string
}

// Limits caps what a sandbox uses. Zero is no cap.
type Limits struct {
	MemoryBytes int64
	CPUs        float64
	Pids        int
	FileBytes   int64 // size of one file
	DiskBytes   int64 // growth of the workspace, measured every few seconds
}

// A Sandbox is a running place. Its methods are safe for concurrent use.
type Sandbox interface {
	// Start runs a command on a pty of its own, or on pipes. While the
	// sandbox is frozen it waits. When ctx ends, the command is killed as by
	// [Process.Kill].
	Start(ctx context.Context, c Command) (Process, error)
	// Path returns where a target of the spec is found inside: the target
	// itself, or its source where the sandbox cannot mount.
	Path(target string) string
	// Endpoint returns the address inside, as 127.0.0.1:PORT, at which the
	// spec's Network.Socket answers under policy "model", "" otherwise.
	Endpoint() string
	// Forwarded returns the address inside, as 127.0.0.1:PORT, of the
	// spec's forward that is wanted at port, "" where it cannot be offered.
	Forwarded(port int) string
	Isolation() Isolation
	// Freeze stops every process at once and returns when all have stopped.
	// When it fails, nothing is frozen.
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	// Pids returns the host process ids of everything inside.
	Pids() ([]int, error)
	Usage() (Usage, error)
	// Done is closed when the sandbox has ended, by Close or by itself.
	Done() <-chan struct{}
	// Close kills everything, also what is frozen, and returns when nothing
	// is left. It may be called more than once.
	Close() error
}

// A Command is one program to run inside.
type Command struct {
	Argv []string
	Dir  string   // absolute path inside; "" means the workdir
	Env  []string // added to the spec's
	// TTY gives it a pty of Cols×Rows; otherwise Stdin, Stdout and Stderr
	// are pipes served by the sandbox.
	TTY            bool
	Cols, Rows     int
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Files become descriptors 3, 4, … of the program.
	Files []*os.File
	Grace time.Duration // between the program's end and hanging up its leftovers; 0 means 200 ms
}

// A Process is a started command.
type Process interface {
	// Read returns what the program wrote to its pty, io.EOF at the end.
	// It must be drained. Only with TTY.
	io.Reader
	// Write types into the pty. Only with TTY.
	io.Writer
	Resize(cols, rows int) error
	// Signal sends to the program and everything it started that is still
	// in its session. Like Kill, it may wait while the sandbox is frozen.
	Signal(sig syscall.Signal) error
	// Kill ends the program and its descendants, sessions of their own or not.
	Kill() error
	// Wait returns when the program has ended. With TTY, read to io.EOF first.
	// The error is ErrEnded when the sandbox's end was the program's.
	Wait() (Exit, error)
}

// ErrEnded is what a command comes to whose sandbox is no more.
var ErrEnded = errors.New("the sandbox has ended")

// Exit is how a program ended.
type Exit struct {
	Code   int            // 128+n after signal n, as a shell says it
	Signal syscall.Signal // 0 when it exited by itself
}

// Usage is what a sandbox uses now. A negative field is unknown.
type Usage struct {
	CPUSeconds  float64
	MemoryBytes int64
	Pids        int
	ReadBytes   int64
	WriteBytes  int64
}
