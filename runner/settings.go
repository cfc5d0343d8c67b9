package runner

import (
	"time"

	"proctor/runner/sandbox"
)

// Settings is what a supervisor is configured with. It holds no secrets.
type Settings struct {
	Version string
	// Cols and Rows are the size of the pty that an agent's commands get.
	Cols, Rows int
	// RecordingLimit is the length of terminal.cast, in bytes, from which
	// only the end of each burst is kept.
	RecordingLimit int64
	// ObservationHead and ObservationTail are how many bytes of a command's
	// output are given back to the agent.
	ObservationHead, ObservationTail int
	// Sample is how often resources are sampled and the log is synced.
	Sample time.Duration
	// GPUSample is how often the GPUs are read.
	GPUSample time.Duration
	// TellGPUNotes passes notes such as an idle GPU on to the agent.
	TellGPUNotes bool
	// StopGrace is how long an agent may take to notice that it is over.
	StopGrace time.Duration
	// Limits caps the sandbox. What the task needs overrides zero fields.
	Limits sandbox.Limits
	// Env lists variables, KEY=value, that pass into the sandbox.
	Env []string
	// OutputBytes and OutputFiles cap what is copied out to be graded.
	OutputBytes int64
	OutputFiles int
	// GraderTime limits a grader that sets no time-out of its own.
	GraderTime time.Duration
}
