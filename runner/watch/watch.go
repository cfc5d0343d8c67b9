// Package watch is how a run is looked at: live, attached from another
// terminal, or replayed from its record. Whoever looks gets the same thing,
// batches of events and terminal output read from the run directory, so all
// of them can only show the same.
package watch

import (
	"context"
	"time"

	"proctor/runner/event"
	"proctor/runner/gpu"
)

// A Source delivers a run as it happens, or as it happened.
type Source interface {
	// Next waits until there is something new and returns it. After the last
	// batch of a run that is over it returns io.EOF.
	Next(ctx context.Context) (Batch, error)
	Close() error
}

// A Batch is what is new about a run. Batches come at most about 30 times a
// second, however busy the run is.
type Batch struct {
	// State, in a source's first batch, is everything up to that moment;
	// nil later.
	State *event.State
	// Events are to be folded into the state, in order.
	Events []event.Event
	// Output is to be written to a terminal emulator, in order.
	Output []Output
	// GPU is the GPUs as they are now, at full rate, when there is news of a
	// live run. The log's own events, thinned, are among Events.
	GPU *gpu.Event
	// Alive reports whether the run's supervisor lives. When it does not
	// and the state is not over, the run was interrupted.
	Alive bool
	// Now is the recorded moment that a replay's batch shows; zero otherwise,
	// when the moment is the present.
	Now time.Time
	// Replay says where a replay stands; nil otherwise.
	Replay *Progress
}

// Output is a piece of the run's terminal.
type Output struct {
	Data []byte
	// Cols and Rows, when not zero, resize the terminal before Data.
	Cols, Rows int
	// Skipped says how many bytes were left out before Data because the
	// viewer could not keep up; the recording has them.
	Skipped int64
}

// Progress is where a replay stands.
type Progress struct {
	At, Total float64 // seconds of recorded wall time, pauses shortened
	Speed     float64
	Paused    bool
}

// A Player is a Source that can be steered: a replay.
type Player interface {
	Source
	SetSpeed(speed float64) // recorded seconds per second, 0.1 to 1000
	TogglePause()
}
