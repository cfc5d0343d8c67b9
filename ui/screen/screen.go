// Package screen is what the screens of Proctor have in common: the interface
// by which the program drives them, and the requests by which they ask it to
// do what a screen may not do itself.
//
// The laws of the user interface: a screen never does I/O, starts no goroutine
// and reads no clock but the one it was given; it changes only in Update (and
// in the methods that hand it data), and Draw shows what it is.
package screen

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/control"
	"proctor/tasks"
)

// A Screen is a passive part of the interface. The program is its only
// caller.
type Screen interface {
	// Update takes a key, a mouse event or a paste and returns what is to be
	// done about it.
	Update(msg tea.Msg) []Request
	// Draw returns exactly h lines of w cells.
	Draw(w, h int) []string
	// Cursor is where the text cursor belongs after the last Draw; nil hides it.
	Cursor() *tea.Cursor
	// Interval is how often the screen needs the program's clock to tick now;
	// 0 when it stands still.
	Interval() time.Duration
}

// A Request is what a screen wants done. The types below are all there are.
type Request interface{ request() }

type (
	// Command sends a command to a run's supervisor.
	Command struct {
		Run string
		control.Command
	}
	// Input types into the terminal of a run that a person has taken over.
	// Inputs are sent one after the other, in order.
	Input struct {
		Run  string
		Data []byte
	}
	// Begin starts a run.
	Begin struct{ Start }
	// Open shows a run's console, live or as a replay.
	Open struct {
		Run    string
		Replay bool
	}
	// Speed steers the replay that is shown: Factor multiplies its speed, and
	// Toggle halts it or lets it go on.
	Speed struct {
		Factor float64
		Toggle bool
	}
	// Show goes to another screen.
	Show struct{ Name Name }
	// Copy puts text on the clipboard.
	Copy struct{ Text string }
	// Bell rings once.
	Bell struct{}
	// Load asks for data that the launch screen shows.
	Load struct {
		What Data
		Task *tasks.Task
	}
	// Render asks for Markdown to be rendered; the result comes back by Key.
	Render struct {
		Key   string
		Text  string
		Width int
	}
	// Redraw clears the terminal and draws everything anew.
	Redraw struct{}
	// Quit leaves the interface. No run is touched by it.
	Quit struct{}
)

func (Command) request() {}
func (Input) request()   {}
func (Begin) request()   {}
func (Open) request()    {}
func (Speed) request()   {}
func (Show) request()    {}
func (Copy) request()    {}
func (Bell) request()    {}
func (Load) request()    {}
func (Render) request()  {}
func (Redraw) request()  {}
func (Quit) request()    {}

// Name names a screen.
type Name string

// The screens.
const (
	Launch  Name = "launch"
	Console Name = "console"
	Verdict Name = "verdict"
	Runs    Name = "runs"
)

// Data names what the launch screen is made of.
type Data string

// What can be loaded.
const (
	Tasks     Data = "tasks"
	Agents    Data = "agents"
	Sandboxes Data = "sandboxes"
	Models    Data = "models"
)

// Start is what a run is started with. An empty Sandbox means the best that
// works here. The Budget is whole: a zero field is no limit, whatever the
// task's own budget says.
type Start struct {
	Task    string // ref
	Agent   string
	Model   string
	Sandbox string
	Budget  tasks.Budget
	Seed    int64
}

// AgentChoice is an agent as the launch screen offers it.
type AgentChoice struct {
	Name    string
	Summary string   // one line
	Missing []string // what keeps it from running the task here; empty when it can
	NoModel bool     // works without any language model
}

// SandboxChoice is a sandbox as the launch screen offers it.
type SandboxChoice struct {
	Name    string
	Summary string // one line
	OK      bool
	Reason  string   // why not, and what to do; "" when OK
	Gaps    []string // what is not isolated, one line each
}

// ModelChoice is a model of the configuration.
type ModelChoice struct {
	Name    string
	Summary string
	Missing string // what it lacks, such as a key; "" when it can be used
}
