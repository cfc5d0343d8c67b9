// Package agents says who does a task: what an agent is given (a Session)
// and the words in which it speaks (Plan, Action, Observation, Message,
// Metric). The words are those of the Agent Client Protocol.
//
// An agent never touches a process, the clock or the log itself. Pausing
// and freezing happen below it, inside the Host, and need nothing from it.
package agents

import (
	"context"
	"encoding/json"
	"time"

	"proctor/agents/llm"
	"proctor/tasks"
)

// An Agent works on the session's task until it is done, the budget is
// spent, or ctx ends. A nil error means it considers itself finished.
type Agent interface {
	Run(ctx context.Context, s *Session) error
}

// A Kind is an entry of the roster: how an agent is named, what it is, and
// how it is made.
type Kind struct {
	Name    string // as given to --agent; a family ends in ":"
	Summary string // one line
	NoModel bool   // works without any language model
	ArgName string // what follows a family's colon, for help, such as "RUN"
	// FromRun says that Arg names an earlier run, and that whoever makes the
	// agent puts that run's actions into Options.Log.
	FromRun bool
	// Person says that somebody at a terminal does the work, so that the
	// agent cannot run headless.
	Person bool
	// Defaults is the agent's own table of config.toml with its defaults, a
	// struct with json tags; nil when it has none.
	Defaults any
	// Check reports what keeps the agent from running the task here, one
	// line each; none when it can. task may be nil for a general answer.
	Check func(ctx context.Context, task *tasks.Task, o Options) []string
	// New makes an agent from its options.
	New func(o Options) (Agent, error)
}

// A RecordedAction is an action of an earlier run as its log has it.
type RecordedAction struct {
	Action      Action
	Observation Observation
	Metrics     []Metric
	// Kept says that a standing checkpoint was made after this action and
	// before the next.
	Kept bool
}

// A Session is one agent's view of one run.
type Session struct {
	Task *tasks.Task
	Seed int64
	// Model is what a model-driven agent thinks with; nil for the others.
	// Its calls are metered and recorded on their way.
	Model Model
	Host
}

// A Model answers requests; *llm.Client is one.
type Model interface {
	// Stream makes one call and returns the whole reply; w is told of it as
	// it comes.
	Stream(ctx context.Context, r llm.Request, w llm.Watch) (llm.Reply, error)
	// TextMode reports whether tools are used through fenced blocks.
	TextMode() bool
	// Model says which model it is, its context window and its price.
	Model() llm.Model
}

// A Host is what a run provides to its agent. Every call that can wait
// returns ctx's error when the run ends, and holds while the run is paused.
// It is safe for concurrent use.
type Host interface {
	// Run executes the action's command in the sandbox on a pty of its own
	// and records it. A command that fails is an Observation, not an error.
	Run(ctx context.Context, a Action) (Observation, error)
	// Act records an action that is not a command, such as an edit, around
	// the call of do.
	Act(ctx context.Context, a Action, do func(context.Context) (Observation, error)) (Observation, error)

	Plan(entries []PlanEntry) // replaces the whole plan
	Thought(text string)
	Message(text string)
	Metric(m Metric)
	Note(text string)

	// Ready waits while the run is paused or a person has the terminal. Who
	// calls it before taking hints and asking the model acts on what was said
	// and done meanwhile.
	Ready(ctx context.Context) error
	// Hints returns the hints that have come since the last call.
	Hints() []Hint
	// HintArrived is signalled when a hint is waiting.
	HintArrived() <-chan struct{}
	// Delivered records how a hint reached the agent; reply, when not empty,
	// is what the agent understood.
	Delivered(id string, how Delivery, reply string)
	// Ask puts a question to the person and waits; the clock stands still.
	// Without anybody to answer it returns the question's Default.
	Ask(ctx context.Context, q Question) (Answer, error)
	// Remaining returns what is left of the budget now.
	Remaining() Remaining

	// ReadFile returns at most max bytes of a regular file of the workspace.
	ReadFile(path string, max int64) ([]byte, error)
	// WriteFile writes a file of the workspace, making its directories.
	WriteFile(path string, data []byte) error

	// Checkpoint copies the task's outputs out of the workspace as they are
	// now. A standing checkpoint is what will be graded unless a later one
	// replaces it or the agent restores another.
	Checkpoint(label string, standing bool) (id string, err error)
	// Restore puts a checkpoint's outputs back into the workspace.
	Restore(id string) error
}

// An Action is one thing an agent does.
type Action struct {
	Kind  ActionKind      `json:"kind"`
	Title string          `json:"title"` // one line
	Input json.RawMessage `json:"input,omitempty"`

	// What Run executes: Shell by sh -c, or Argv as it is.
	Shell string   `json:"-"`
	Argv  []string `json:"-"`
	Dir   string   `json:"-"` // relative to the workspace
	Env   []string `json:"-"`
	// Timeout is in working time; 0 means none but the budget's.
	Timeout time.Duration `json:"-"`
	// Interactive gives the pty to the person: the human agent's shell.
	Interactive bool `json:"-"`
}

// ActionKind is ACP's tool kind.
type ActionKind string

// The action kinds of the Agent Client Protocol.
const (
	Read    ActionKind = "read"
	Edit    ActionKind = "edit"
	Delete  ActionKind = "delete"
	Move    ActionKind = "move"
	Search  ActionKind = "search"
	Execute ActionKind = "execute"
	Think   ActionKind = "think"
	Fetch   ActionKind = "fetch"
	Other   ActionKind = "other"
)

// An Observation is what came of an action.
type Observation struct {
	ExitCode  int     `json:"exit_code"`
	Text      string  `json:"observation"` // as a terminal would have shown it, head and tail kept
	Truncated bool    `json:"truncated,omitempty"`
	Seconds   float64 `json:"seconds"` // working seconds
	TimedOut  bool    `json:"timed_out,omitempty"`
	// Denied says that the person did not let the action happen; Text is why.
	Denied bool `json:"denied,omitempty"`
	// Instead is the command that the person put in place of the agent's;
	// empty when it was left as it was.
	Instead string   `json:"instead,omitempty"`
	Metrics []Metric `json:"-"` // what the task's metric pattern found in it
}

// A PlanEntry is one line of an agent's plan.
type PlanEntry struct {
	Content  string     `json:"content"`
	Priority string     `json:"priority"` // high, medium or low
	Status   PlanStatus `json:"status"`
}

// PlanStatus is ACP's plan entry status.
type PlanStatus string

// The plan entry statuses of the Agent Client Protocol.
const (
	Pending    PlanStatus = "pending"
	InProgress PlanStatus = "in_progress"
	Completed  PlanStatus = "completed"
)

// A Metric is a number the run produced.
type Metric struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Source Source  `json:"source"`
	Step   int     `json:"step,omitempty"` // number of the action that produced it
}

// Source says where a metric comes from.
type Source string

// The sources of a metric.
const (
	Measured Source = "measured" // read from a command's output
	Claimed  Source = "claimed"  // the agent says so
	ByGrader Source = "graded"
)

// A Hint is what a person tells the agent during a run.
type Hint struct {
	ID     string
	Text   string
	Author string
	// Interrupt asks for the model call in flight to be given up, so that
	// the hint is heard at once.
	Interrupt bool
}

// Delivery is how a hint reached an agent.
type Delivery string

// The ways of delivery, from the least disruptive.
const (
	Injected    Delivery = "injected"
	Queued      Delivery = "queued"
	Interrupted Delivery = "interrupted"
	Typed       Delivery = "typed"
)

// A Question is put to the person in the loop.
type Question struct {
	Kind    string   // "question", "approve" or "limit"
	Text    string   // what is asked, one line
	Detail  string   // what it is about, such as the command
	Options []string // words that answer it; free text when empty
	Default string   // the answer when nobody is there
}

// An Answer is what the person said.
type Answer struct {
	Choice string // one of the options, or free text
	Text   string // a reason, or an edited command
	Author string
	Auto   bool // nobody was there; a configured policy answered
}

// Remaining is what is left of a budget. A nil field has no limit.
type Remaining struct {
	Time     *time.Duration
	Steps    *int
	Tokens   *int64
	Cost     *float64
	GPUHours *float64
}
