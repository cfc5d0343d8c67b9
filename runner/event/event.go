// Package event is the log of a run: the events, the file they are appended
// to, and State, the fold over them. The log and the terminal recording are
// the only source of truth about a run; whatever shows a run, live or a year
// later, shows a fold over the same lines.
package event

import (
	"encoding/json"
	"fmt"
	"time"

	"proctor/agents"
	"proctor/tasks"
)

// An Event is one line of events.jsonl.
type Event struct {
	Seq  uint64          `json:"seq"`  // from 1, without gaps
	At   time.Time       `json:"at"`   // wall time
	Work float64         `json:"work"` // working seconds
	Type Type            `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Type names what an event says. A reader skips a type it does not know.
type Type string

// The event types. Plans and actions have the Agent Client Protocol's field
// names, usage has ATIF v1.7's.
const (
	TypeRunStarted     Type = "run.started"
	TypeState          Type = "state"
	TypePlan           Type = "plan"
	TypeThought        Type = "thought"
	TypeMessage        Type = "message"
	TypeActionStarted  Type = "action.started"
	TypeActionFinished Type = "action.finished"
	TypeMetric         Type = "metric"
	TypeUsage          Type = "usage"
	TypeBudget         Type = "budget"
	TypeHint           Type = "hint"
	TypeHintDelivered  Type = "hint.delivered"
	TypeAsk            Type = "ask"
	TypeAnswer         Type = "answer"
	TypeTakeover       Type = "takeover"
	TypeMode           Type = "mode"
	TypeGPU            Type = "gpu"
	TypeResources      Type = "resources"
	TypeCheckpoint     Type = "checkpoint"
	TypeSubmission     Type = "submission"
	TypeVerdict        Type = "verdict"
	TypeRunEnded       Type = "run.ended"
	TypeNote           Type = "note"
	TypeRaw            Type = "raw"
)

// Phase is where a run is in its life.
type Phase string

// The phases of a run.
const (
	Preparing   Phase = "preparing"
	Running     Phase = "running"
	Paused      Phase = "paused"
	Waiting     Phase = "waiting" // for a person's answer; the clock stands still
	Finishing   Phase = "finishing"
	Grading     Phase = "grading"
	Done        Phase = "done"
	Failed      Phase = "failed"
	Interrupted Phase = "interrupted" // the supervisor died; can be graded
)

// Over reports whether nothing more will happen by itself.
func (p Phase) Over() bool { return p == Done || p == Failed || p == Interrupted }

// RunStarted opens every log.
type RunStarted struct {
	ID        string       `json:"id"`
	Task      TaskInfo     `json:"task"`
	Agent     string       `json:"agent"`
	Model     string       `json:"model,omitempty"`
	Sandbox   string       `json:"sandbox"`
	Isolation []string     `json:"isolation,omitempty"` // what is not isolated, a line each
	Network   string       `json:"network,omitempty"`   // what it may reach: none, model or open
	Budget    tasks.Budget `json:"budget"`
	Soft      float64      `json:"soft"` // fraction of a limit at which to ask; 0 or 1 never
	Seed      int64        `json:"seed"`
	Mode      string       `json:"mode,omitempty"`     // how the person goes along; "" is auto
	Patterns  []string     `json:"patterns,omitempty"` // of the actions that need approval; none is all
	Version   string       `json:"version"`
	Host      string       `json:"host,omitempty"`
}

// TaskInfo is what a viewer needs to know of a task without opening it.
type TaskInfo struct {
	Ref            string            `json:"ref"`
	Suite          string            `json:"suite"`
	Title          string            `json:"title"`
	Metric         string            `json:"metric,omitempty"`
	Unit           string            `json:"unit,omitempty"`
	HigherIsBetter bool              `json:"higher_is_better"`
	Baseline       *float64          `json:"baseline,omitempty"`
	Thresholds     tasks.Thresholds  `json:"thresholds,omitzero"`
	References     []tasks.Reference `json:"references,omitempty"`
}

// StateChange moves the run from one phase to another.
type StateChange struct {
	From   Phase  `json:"from"`
	To     Phase  `json:"to"`
	Reason string `json:"reason,omitempty"`
	Actor  string `json:"actor,omitempty"`
	Frozen bool   `json:"frozen,omitempty"` // every process is stopped, not only the agent
}

// Plan is the whole plan, each time.
type Plan struct {
	Entries []agents.PlanEntry `json:"entries"`
}

// Text is a thought or a message.
type Text struct {
	Text string `json:"text"`
}

// ActionStarted opens an action.
type ActionStarted struct {
	ID    string            `json:"id"`
	Step  int               `json:"step"` // from 1
	Kind  agents.ActionKind `json:"kind"`
	Title string            `json:"title"`
	Input json.RawMessage   `json:"input,omitempty"`
}

// ActionFinished closes it.
type ActionFinished struct {
	ID string `json:"id"`
	agents.Observation
	Error string `json:"error,omitempty"` // why it did not run to its end
}

// Usage is what one model call cost. Input includes cached tokens.
type Usage struct {
	Model     string   `json:"model"`
	Input     int64    `json:"input"`
	Cached    int64    `json:"cached"`
	Output    int64    `json:"output"`
	Cost      *float64 `json:"cost"` // US dollars, null when unknown
	Estimated bool     `json:"estimated,omitempty"`
}

// Budget tells of a limit: a warning, a soft or hard limit reached, or an
// extension.
type Budget struct {
	Dimension string  `json:"dimension"` // time (seconds), steps, tokens, cost or gpu_hours
	Used      float64 `json:"used"`
	Limit     float64 `json:"limit"`
	What      string  `json:"what"` // warn, soft, hard or extended
	Actor     string  `json:"actor,omitempty"`
}

// Hint is what a person told the agent.
type Hint struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Author string `json:"author"`
	// Takeover says that this tells the agent what a person did at its
	// terminal; it does not count as a hint.
	Takeover bool `json:"takeover,omitempty"`
}

// HintDelivered says how the hint reached the agent and what it made of it.
type HintDelivered struct {
	ID    string          `json:"id"`
	How   agents.Delivery `json:"how"`
	Reply string          `json:"reply,omitempty"`
}

// Ask is a question to the person.
type Ask struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Detail  string   `json:"detail,omitempty"`
	Options []string `json:"options,omitempty"`
	Default string   `json:"default,omitempty"`
}

// Answer is the reply to an Ask.
type Answer struct {
	ID     string `json:"id"`
	Choice string `json:"choice"`
	Text   string `json:"text,omitempty"`
	Author string `json:"author"`
	Auto   bool   `json:"auto,omitempty"`
}

// Takeover marks a person taking the terminal or handing it back.
type Takeover struct {
	On     bool   `json:"on"`
	Author string `json:"author"`
	// Own says that the person is the agent, so that nobody is assisted.
	Own bool `json:"own,omitempty"`
}

// Mode says how a person goes along with the run: auto, approve or step.
type Mode struct {
	Mode     string   `json:"mode"`
	Patterns []string `json:"patterns,omitempty"` // what approve asks about; everything when empty
	Actor    string   `json:"actor"`
}

// Resources is a sample of what the run uses. Negative is unknown.
type Resources struct {
	CPU    float64 `json:"cpu"`    // cores in use since the last sample
	Memory int64   `json:"memory"` // bytes resident
	Pids   int     `json:"pids"`
	Disk   int64   `json:"disk"` // bytes of the workspace
}

// Checkpoint is a copy of the outputs made during the run.
type Checkpoint struct {
	ID       string `json:"id"`
	Label    string `json:"label,omitempty"`
	Standing bool   `json:"standing,omitempty"`
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256"`
}

// Submission is the copy that is graded.
type Submission struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Files  int    `json:"files"`
	From   string `json:"from,omitempty"` // a checkpoint's id, when not the workspace
}

// RunEnded is the last event of every run that ended by itself.
type RunEnded struct {
	Status string `json:"status"` // the verdict's status, or failed or interrupted
	Reason string `json:"reason,omitempty"`
}

// Note is something worth knowing.
type Note struct {
	Level string `json:"level"` // info, warn or error
	Text  string `json:"text"`
	Kind  string `json:"kind,omitempty"` // machine-readable, such as pause_requested
}

// KindPauseRequested is the Note.Kind of a pause that waits for the current
// action to finish.
const KindPauseRequested = "pause_requested"

// Decode reads an event's payload.
func Decode[T any](e Event) (T, error) {
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return v, fmt.Errorf("event %d: reading its %s payload: %w", e.Seq, e.Type, err)
	}
	return v, nil
}
