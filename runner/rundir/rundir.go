// Package rundir is the directory that holds everything about one run: how
// it is named, what lies in it, and whether its supervisor lives.
package rundir

import (
	"encoding/json"
	"time"

	"proctor/tasks"
)

// Request is what was asked for: the content of run.json. It holds no
// secrets.
type Request struct {
	ID    string `json:"id"`
	Task  string `json:"task"` // ref
	Agent string `json:"agent"`
	// Settings is the agent's own table of config.toml, whole.
	Settings json.RawMessage `json:"settings,omitempty"`
	Model    string          `json:"model,omitempty"`
	Sandbox  string          `json:"sandbox"` // "auto" or a kind
	Budget   tasks.Budget    `json:"budget"`
	Seed     int64           `json:"seed"`
	GPUs     string          `json:"gpus,omitempty"` // all, none, or numbers such as 0,2; "" is all
	Attended bool            `json:"attended"`       // started by a person who watches
	OnSoft   string          `json:"on_soft"`        // ask or continue, at a soft limit
	Soft     float64         `json:"soft"`           // fraction of a limit
	Mode     string          `json:"mode,omitempty"` // auto, approve or step
	Patterns []string        `json:"patterns,omitempty"`
	Attempt  *Attempt        `json:"attempt,omitempty"` // which of several attempts it is
	Version  string          `json:"version"`
	Created  time.Time       `json:"created"`
}

// An Attempt says which of several runs of one thing a run is.
type Attempt struct {
	Group  string `json:"group"`  // what they have in common, as NewGroupID names it
	Number int    `json:"number"` // from 1
	Of     int    `json:"of"`     // how many were asked for
}

// A Summary is a run in a list.
type Summary struct {
	ID       string         `json:"id"`
	Dir      string         `json:"dir"`
	Task     string         `json:"task"`
	Agent    string         `json:"agent"`
	Model    string         `json:"model,omitempty"`
	Sandbox  string         `json:"sandbox"`
	Seed     int64          `json:"seed"`
	Attempt  *Attempt       `json:"attempt,omitempty"`
	Phase    string         `json:"phase"`
	Alive    bool           `json:"alive"`
	Created  time.Time      `json:"created"`
	Work     float64        `json:"work"` // working seconds
	Steps    int            `json:"steps"`
	Best     *float64       `json:"best,omitempty"`
	Verdict  *tasks.Verdict `json:"verdict,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Assisted bool           `json:"assisted"`
}
