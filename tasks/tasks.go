// Package tasks says what is to be done and how it is judged: a Task, its
// Budget, its Grader and the Verdict, in one shape for every suite.
//
// It knows nothing of agents, sandboxes or screens. What a grader needs in
// order to run somewhere safe it states as a small interface, [Bench]; the
// runner provides it. Each format lives in a package of its own below this
// one and is listed in tasks/catalog.
package tasks

import (
	"context"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

// DefaultWorkdir is where the agent finds its working directory when the
// task does not say otherwise.
const DefaultWorkdir = "/workspace"

// A Suite is a collection of tasks in one format.
type Suite interface {
	// Name is the first part of its tasks' refs, such as "builtin".
	Name() string
	// List returns the tasks that could be read, in display order, and one
	// Problem for each that could not.
	List(ctx context.Context) ([]*Task, []Problem)
	// Open returns the task called name, without the suite's own name.
	// The error says what is wrong with the task's files and where.
	Open(ctx context.Context, name string) (*Task, error)
}

// A Problem is a task that a suite holds but cannot offer.
type Problem struct {
	Ref string
	Err error
}

// A Task is what is to be done: an instruction, the files the agent may see,
// a default budget, and a grader. It is read-only once opened.
type Task struct {
	Ref     string // how a person names it: suite/name, or a path
	Suite   string
	Split   string // the part of the suite that it is in, such as "low"; "" when the suite has none
	Name    string
	Title   string // a few words for lists
	Summary string // one sentence

	Instruction string // Markdown, as the agent gets it
	Notes       string // Markdown for people: sources, how references were measured
	Keywords    []string

	Workdir  string   // absolute path of the workspace inside the sandbox
	Seeds    []Seed   // copied into the workspace before the agent starts
	Mounts   []Mount  // read-only directories beside the workspace
	ReadOnly []string // workspace paths that the agent may not change
	Outputs  []string // workspace paths that are copied out and graded
	Env      []string // KEY=value, set for the agent's commands
	Services []Service
	// OutputBytes is how much its outputs may hold together, where that is
	// more than the settings allow; 0 leaves it to them.
	OutputBytes int64

	Starter string // shell command of the starter code, run in the workspace; "" if there is none
	Knobs   []Knob // what the starter command can be told, for agents that search
	Metric  Metric

	Budget Budget // defaults; a zero field is no limit
	Needs  Needs

	Standing Standing // what a score is compared with
	Grader   Grader
	Missing  []string // what must be there before a run may start, one line each; empty when ready
	Warnings []string // what a person should know, such as a known leak in the task
}

// A Seed is a tree of files laid into the workspace before the run.
type Seed struct {
	From fs.FS
	To   string // workspace directory, "." for its root
}

// A Mount is a host directory or file shown inside a sandbox.
type Mount struct {
	Source   string // absolute host path
	Target   string // absolute path inside
	Writable bool
	// Env, when set, names a variable that holds the path at which the mount
	// is found: Target, or Source where the sandbox cannot mount.
	Env string
}

// A Service is a small server of the task's own that the agent finds at a
// loopback port of its sandbox, such as one that checks a submission's form.
// It runs outside, where the agent cannot reach what it works on.
type Service struct {
	Name string // one word, for the record
	Port int    // where the agent expects it
	// Env, when set, is a variable of the agent's commands, KEY=value, in
	// whose value "{address}" stands for where it is: 127.0.0.1:PORT.
	Env string
	// Handler serves it during one run. Programs run on b, apart from the
	// agent; note puts a line on the run's record. The handler may be called
	// concurrently; requests end with the agent's work.
	Handler func(b Bench, note func(text string)) http.Handler
}

// Needs is what a task asks of the machine. Zero fields ask for nothing.
type Needs struct {
	CPUs        float64
	MemoryBytes int64
	GPUs        int
	GPUMemory   int64    // bytes per GPU
	Network     bool     // more than the model endpoint
	Debugger    bool     // ptrace must be allowed inside the sandbox
	Modules     []string // of Python, without which the task cannot be done
	// Terms are a licence or rules that a person must have accepted where the
	// task's data or weights come from; "" for none.
	Terms   string
	Grading Grading
}

// Grading is what a grader asks of the machine. A run may go on without it;
// its verdict is then that the grader is unavailable.
type Grading struct {
	Mounts  bool     // its files must be found at paths of their own
	Modules []string // of Python
	// Commands are programs of which one must be installed; none asks for none.
	Commands []string
	// Pythons are the interpreters, by name or path, of which the first that
	// has all modules is used; none means python3.
	Pythons []string
}

// A Metric is the number a task is judged by.
type Metric struct {
	Name           string
	Unit           string // "", "s", "%"
	HigherIsBetter bool
	// Pattern finds the metric in a command's output during the run; its
	// first group is the number. nil when the task has none.
	Pattern *regexp.Regexp
}

// Better reports whether score a beats score b under the metric's direction.
func (m Metric) Better(a, b float64) bool {
	if m.HigherIsBetter {
		return a > b
	}
	return a < b
}

// A Knob is one parameter of the starter command that a search may vary.
type Knob struct {
	Name     string
	Type     KnobType
	Min, Max float64 // for numbers, inclusive
	Log      bool    // sample on a logarithmic scale
	Values   []string
	Default  string
	Fidelity bool // more of it costs more and tells more, such as epochs
	// When lists the values of other knobs under which this one matters.
	When map[string][]string
}

// KnobType is the kind of a knob's values.
type KnobType string

// The knob types a task may declare.
const (
	KnobFloat  KnobType = "float"
	KnobInt    KnobType = "int"
	KnobChoice KnobType = "choice"
)

// A Budget limits a run. Zero means no limit in that dimension.
type Budget struct {
	Time     time.Duration `json:"time,omitempty"` // working time
	Steps    int           `json:"steps,omitempty"`
	Tokens   int64         `json:"tokens,omitempty"`
	Cost     float64       `json:"cost,omitempty"` // US dollars
	GPUHours float64       `json:"gpu_hours,omitempty"`
}

// Standing is what a score is compared with. Absent values are nil.
type Standing struct {
	Baseline   *float64
	TopHuman   *float64 // MLRC-Bench's reference for margin closed
	Thresholds Thresholds
	References []Reference // named results, for the verdict's bar
	Board      []float64   // a leaderboard's scores, when the suite has one
	Published  []Reference // best results published for the task, for the launch screen
}

// Thresholds are the scores from which a medal is awarded.
type Thresholds struct {
	Gold   *float64 `json:"gold,omitempty"`
	Silver *float64 `json:"silver,omitempty"`
	Bronze *float64 `json:"bronze,omitempty"`
	Median *float64 `json:"median,omitempty"`
}

// A Reference is somebody's measured score on the same task.
type Reference struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	How   string  `json:"how,omitempty"`
	// Scale says what Score counts where that is not the task's own metric,
	// such as "% of runs that succeeded". Such a score is compared with none
	// of the task's and drawn beside none.
	Scale string `json:"scale,omitempty"`
}

// SplitRef cuts a ref into its suite and the rest; ok is false for a path.
func SplitRef(ref string) (suite, name string, ok bool) {
	if strings.HasPrefix(ref, ".") || path.IsAbs(ref) {
		return "", "", false
	}
	suite, name, ok = strings.Cut(ref, "/")
	return suite, name, ok && suite != "" && name != ""
}
