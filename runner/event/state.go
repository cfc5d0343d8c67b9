package event

import (
	"time"

	"proctor/agents"
	"proctor/runner/gpu"
	"proctor/tasks"
)

// How much of a run a State remembers. The log keeps everything; a State is
// bounded so that a console's memory does not grow with the run.
const (
	MaxActions     = 2000
	MaxPoints      = 4000
	MaxNotes       = 500
	MaxObservation = 4 << 10 // bytes of an action's observation kept
)

// State is what a log says about a run: the fold over its events. The zero
// value is the state before the first event. It marshals to JSON, so that a
// keyframe can hold it.
type State struct {
	Seq  uint64    `json:"seq"`
	At   time.Time `json:"at"`
	Work float64   `json:"work"` // working seconds at At

	Run          RunStarted `json:"run"`
	Started      time.Time  `json:"started"`
	Phase        Phase      `json:"phase"`
	Since        time.Time  `json:"since"` // of the phase
	Reason       string     `json:"reason,omitempty"`
	Actor        string     `json:"actor,omitempty"`
	Frozen       bool       `json:"frozen,omitempty"`
	PausePending bool       `json:"pause_pending,omitempty"`

	Plan    []agents.PlanEntry `json:"plan,omitempty"`
	Actions []ActionState      `json:"actions,omitempty"` // the newest MaxActions
	Steps   int                `json:"steps"`             // actions started
	Feed    []FeedItem         `json:"feed,omitempty"`    // messages, thoughts and notes, newest MaxNotes

	Points []Point  `json:"points,omitempty"` // metrics over working time
	Best   *float64 `json:"best,omitempty"`   // of the task's metric, measured or claimed
	Marks  []Mark   `json:"marks,omitempty"`

	Hints      []HintState `json:"hints,omitempty"`
	Ask        *AskState   `json:"ask,omitempty"`  // the question that waits
	Mode       string      `json:"mode,omitempty"` // auto, approve or step; "" is auto
	TakenOver  bool        `json:"taken_over,omitempty"`
	Takeovers  int         `json:"takeovers,omitempty"`
	Extensions int         `json:"extensions,omitempty"`
	Edits      int         `json:"edits,omitempty"` // answers that changed what the agent did

	Limits tasks.Budget `json:"limits"`
	Fired  []Budget     `json:"fired,omitempty"` // limits that were reached, in order
	Usage  UsageTotal   `json:"usage"`

	GPU        gpu.State      `json:"gpu,omitzero"`
	Resources  Resources      `json:"resources"`
	Submission *Submission    `json:"submission,omitempty"`
	Verdict    *tasks.Verdict `json:"verdict,omitempty"`
	Ended      *RunEnded      `json:"ended,omitempty"`
	Checkpoint *Checkpoint    `json:"checkpoint,omitempty"` // the standing one
	Unreadable int            `json:"unreadable,omitempty"` // events whose payload could not be read
}

// ActionState is an action as far as it is known.
type ActionState struct {
	ActionStarted
	At       time.Time           `json:"at"`
	Work     float64             `json:"work"`
	Finished *agents.Observation `json:"finished,omitempty"`
	Error    string              `json:"error,omitempty"`
	GPU      *gpu.ActionUse      `json:"gpu,omitempty"`    // what it did to the GPUs
	Metric   *float64            `json:"metric,omitempty"` // the task's metric that it measured last
}

// A FeedItem is a message, a thought or a note.
type FeedItem struct {
	Type Type      `json:"type"`
	At   time.Time `json:"at"`
	Step int       `json:"step"` // actions started before it
	Note
}

// A Point is a metric on the run's time axis.
type Point struct {
	Work float64 `json:"work"`
	agents.Metric
}

// A Mark is something on the time axis that a plot shows: a hint, a pause,
// a limit, a takeover.
type Mark struct {
	Work  float64 `json:"work"`
	Kind  Type    `json:"kind"`
	Label string  `json:"label"`
}

// HintState is a hint and its fate.
type HintState struct {
	Hint
	At    time.Time       `json:"at"`
	Work  float64         `json:"work"`
	Step  int             `json:"step"`
	How   agents.Delivery `json:"how,omitempty"` // "" until delivered
	Reply string          `json:"reply,omitempty"`
}

// AskState is a question that waits.
type AskState struct {
	Ask
	At time.Time `json:"at"`
}

// UsageTotal sums model calls.
type UsageTotal struct {
	Calls       int     `json:"calls"`
	Input       int64   `json:"input"`
	Cached      int64   `json:"cached"`
	Output      int64   `json:"output"`
	Cost        float64 `json:"cost"`
	UnknownCost bool    `json:"unknown_cost,omitempty"` // some call had no price
	Estimated   bool    `json:"estimated,omitempty"`
}

// Tokens is what a token budget counts: input, cached or not, and output.
func (u UsageTotal) Tokens() int64 { return u.Input + u.Output }

// Assisted reports whether a person had a hand in the run.
func (s *State) Assisted() bool {
	return len(s.Hints) > 0 || s.Extensions > 0 || s.Takeovers > 0 || s.Edits > 0
}

// HintsGiven counts the hints that a person wrote.
func (s *State) HintsGiven() int {
	n := 0
	for _, h := range s.Hints {
		if !h.Takeover {
			n++
		}
	}
	return n
}

// WorkAt returns the working time at a moment of wall time, for a clock that
// goes on between events.
func (s *State) WorkAt(now time.Time) time.Duration {
	work := time.Duration(s.Work * float64(time.Second))
	if s.Phase == Running && now.After(s.At) {
		work += now.Sub(s.At)
	}
	return work
}

// Current returns the newest action if it is still going on.
func (s *State) Current() *ActionState {
	for i := len(s.Actions) - 1; i >= 0 && i >= len(s.Actions)-8; i-- {
		if s.Actions[i].Finished == nil && s.Actions[i].Error == "" {
			return &s.Actions[i]
		}
	}
	return nil
}

// Apply folds one event in. An unknown type is skipped; a payload that
// cannot be read is counted and otherwise ignored, so that a damaged log
// still shows all that is readable.
func (s *State) Apply(e Event) {
	s.Seq, s.At, s.Work = e.Seq, e.At, e.Work
	apply, known := folds[e.Type]
	if !known {
		return
	}
	if err := apply(s, e); err != nil {
		s.Unreadable++
	}
}
