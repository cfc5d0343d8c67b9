package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"proctor/runner/event"
	"proctor/runner/rundir"
)

// A Run is a finished run that is to be exported.
type Run struct {
	rundir.Dir
	request rundir.Request
	state   event.State
	times   times
}

// times are the moments at which a run went from one part of its life to the
// next; zero where it never did.
type times struct {
	started, running, finishing, grading, ended time.Time
}

// Load reads a run's record. It refuses a run that is not over.
func Load(dir rundir.Dir) (*Run, error) {
	r := &Run{Dir: dir}
	if dir.Alive() {
		return nil, fmt.Errorf("run %s is not done: wait for its end, or end it with proctor grade %s", dir.ID(), dir.ID())
	}
	var err error
	if r.request, err = dir.Request(); err != nil {
		return nil, err
	}
	file, err := os.Open(dir.Events())
	if err != nil {
		return nil, fmt.Errorf("opening the record of run %s: %w", dir.ID(), err)
	}
	defer file.Close()
	events := event.NewReader(file, 0)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the record of run %s: %w", dir.ID(), err)
		}
		r.state.Apply(e)
		r.times.add(e)
	}
	if !r.state.Phase.Over() {
		return nil, fmt.Errorf("run %s is not done: its supervisor died; proctor grade %s grades what it left", dir.ID(), dir.ID())
	}
	return r, nil
}

func (t *times) add(e event.Event) {
	first := func(at *time.Time) {
		if at.IsZero() {
			*at = e.At
		}
	}
	switch e.Type {
	case event.TypeRunStarted:
		first(&t.started)
	case event.TypeRunEnded:
		first(&t.ended)
	case event.TypeState:
		c, err := event.Decode[event.StateChange](e)
		if err != nil {
			return
		}
		switch c.To {
		case event.Running:
			first(&t.running)
		case event.Finishing:
			first(&t.finishing)
		case event.Grading:
			first(&t.grading)
		}
	}
}

// label names a run among several attempts.
func (r *Run) label() string {
	if a := r.request.Attempt; a != nil {
		return a.Group
	}
	return r.ID()
}
