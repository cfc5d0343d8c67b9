// Package control is the socket between a run's supervisor and whoever
// looks at it: one JSON object a line, one answer each.
package control

import (
	"proctor/runner/gpu"
	"proctor/tasks"
)

// Name says what a command does.
type Name string

// The commands. Each is also a command of the command line.
const (
	Pause    Name = "pause"    // after the current action
	Freeze   Name = "freeze"   // every process, at once
	Resume   Name = "resume"   // from either
	Hint     Name = "hint"     // Text
	Answer   Name = "answer"   // Ask, Choice, Text
	Takeover Name = "takeover" // the person takes the terminal
	Handback Name = "handback" // and gives it back
	Input    Name = "input"    // Data: keys to the pty
	Resize   Name = "resize"   // Cols, Rows
	Extend   Name = "extend"   // Budget: added to the limits
	Grade    Name = "grade"    // stop the agent and grade what is there
	Stop     Name = "stop"     // stop the agent and do not grade
	Mode     Name = "mode"     // Choice: auto, approve or step; Patterns
	Follow   Name = "follow"   // keeps the connection: a Notice when something is new
)

// A Command asks the supervisor to do something.
type Command struct {
	Cmd    Name   `json:"cmd"`
	Author string `json:"author,omitempty"`
	Text   string `json:"text,omitempty"`
	Ask    string `json:"ask,omitempty"` // id of the question; "" means the one that waits
	Choice string `json:"choice,omitempty"`
	// Interrupt gives up the model call in flight, so that a hint is heard
	// at once.
	Interrupt bool         `json:"interrupt,omitempty"`
	Patterns  []string     `json:"patterns,omitempty"`
	Data      []byte       `json:"data,omitempty"`
	Cols      int          `json:"cols,omitempty"`
	Rows      int          `json:"rows,omitempty"`
	Budget    tasks.Budget `json:"budget,omitzero"`
}

// A Reply answers a Command.
type Reply struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"` // one line: why not, and what to do
	ID    string `json:"id,omitempty"`    // of the hint that was queued
}

// A Notice tells a follower that the record has grown.
type Notice struct {
	Events int64 `json:"events"` // bytes of events.jsonl
	Output int64 `json:"output"` // bytes of terminal.cast
	// GPU is the GPUs at full rate, which the log keeps only now and then.
	GPU *gpu.Event `json:"gpu,omitempty"`
}
