package wire

// A Request is what the outside asks for. Exactly one of the pointers is
// set, the one that Op names.
type Request struct {
	Seq    uint64
	Op     Op
	Setup  *Setup  `json:",omitempty"`
	Start  *Start  `json:",omitempty"`
	Signal *Signal `json:",omitempty"`
}

// An Op is what a [Request] asks for.
type Op string

// The operations. Each is answered by one [Reply] with the same Seq.
const (
	OpSetup  Op = "setup"  // once, before anything else
	OpStart  Op = "start"  // run a command
	OpSignal Op = "signal" // to a command's session, or to all it started
	OpStop   Op = "stop"   // stop every process
	OpCont   Op = "cont"   // let them go on
	OpKill   Op = "kill"   // kill every process but the guest itself
)

// A Reply answers a request, or, with Seq 0, reports that a command ended.
// The very first reply, also with Seq 0, says that the guest is there.
type Reply struct {
	Seq   uint64
	Error string `json:",omitempty"`
	Hello int    `json:",omitempty"` // the guest's process id as it sees it
	PID   int    `json:",omitempty"` // of a started command
	Exit  *Exit  `json:",omitempty"`
	Ready *Ready `json:",omitempty"`
}

// Setup is what the guest applies to itself, and so to everything it
// starts, before the first command.
type Setup struct {
	Name     string   // the sandbox's, put into every command's environment
	Env      []string // of every command
	Rlimits  []Rlimit
	Landlock *Landlock `json:",omitempty"`
	Seccomp  *Seccomp  `json:",omitempty"`
	// Listen opens loopback TCP ports inside and hands their listeners to
	// the outside with the reply, in this order.
	Listen []Listen `json:",omitempty"`
	// OwnPTY says that the sandbox has pseudo-terminals of its own, from
	// which commands get theirs.
	OwnPTY bool
}

// Ready is what the guest found out while setting up.
type Ready struct {
	Landlock int      // ABI in force, 0 when none
	Scoped   bool     // signals reach nothing outside the sandbox
	Trouble  []string // protections that could not be applied, one line each
}

// Listen asks for a loopback TCP port.
type Listen struct {
	Port      int    // 0 means any
	Elsewhere bool   // any other will do when this one is in use
	Env       string // a variable of every command, with "{address}" to be filled in
}

// Rlimit is one of setrlimit(2)'s.
type Rlimit struct {
	Resource int
	Value    uint64
}

// Landlock says what of the file system and the network is left. Paths that
// do not exist are skipped.
type Landlock struct {
	ReadOnly  []string
	ReadWrite []string
	Devices   []string // read, write and ioctl
	TCP       bool     // restrict TCP to Connect; else leave it alone
	Connect   []int    // loopback or remote ports that may be connected to
}

// Seccomp says which system calls are refused.
type Seccomp struct {
	Debugger bool // allow ptrace and reading other processes' memory
	// Sockets narrows socket(2): "" leaves it alone, "stream" allows unix
	// and TCP sockets, "unix" only unix sockets.
	Sockets string
}

// Start is a command. Its files come with the message: a terminal, or
// standard input, output and error; then the command's descriptors 3, 4, ….
type Start struct {
	ID   int
	Argv []string
	Dir  string
	Env  []string
	TTY  bool
	// Open asks the guest to open the terminal itself and to send its
	// other end back with the reply.
	Open       bool
	Cols, Rows int
}

// Signal is sent to the command ID: to its session, or with All to every
// process that it started, whatever session it is in now.
type Signal struct {
	ID, Signal int
	All        bool
}

// Exit reports a command's end.
type Exit struct {
	ID, Code, Signal int
}
