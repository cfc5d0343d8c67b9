package runner

import (
	"context"
	"errors"
	"fmt"

	"proctor/runner/event"
)

// A hold says what keeps the agent from going on. Whenever the clock stands
// still every process of the sandbox is stopped too: a clock that stands
// while processes work would give computing away.
type hold struct {
	stopped bool // paused, frozen or waiting: the clock stands still
	pending bool // to be paused when the action that goes on has finished
	by      string
	taken   bool // a person has the terminal
	active  int  // actions going on
	changed chan struct{}
}

// release wakes whoever waits for the hold to change. r.mu is held.
func (h *hold) release() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// enter waits until the agent may begin something.
func (r *Run) enter(ctx context.Context) error {
	return r.waitWhile(ctx, func(h *hold) bool { return h.stopped || h.pending || h.taken })
}

// moving waits while the run stands still. What belongs to an action that
// goes on, such as a model call, must not wait for more: a pause waits for
// the action.
func (r *Run) moving(ctx context.Context) error {
	return r.waitWhile(ctx, func(h *hold) bool { return h.stopped })
}

func (r *Run) waitWhile(ctx context.Context, holds func(*hold) bool) error {
	for {
		r.mu.Lock()
		held, changed := holds(&r.hold), r.hold.changed
		r.mu.Unlock()
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !held {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// begin counts an action as going on; end no longer does, and carries out a
// pause that waited for it.
func (r *Run) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold.active++
}

func (r *Run) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold.active--
	step := r.mode == modeStep
	if r.hold.active > 0 || !r.hold.pending && !step || r.hold.stopped {
		return
	}
	change := event.StateChange{To: event.Paused, Reason: "paused between actions", Actor: r.hold.by}
	if step && !r.hold.pending {
		change.Reason, change.Actor = "one step done: resume does the next", "proctor"
	}
	if err := r.halt(change); err != nil {
		r.trouble.Error("pausing", "err", err)
	}
}

var errHeld = errors.New("the run stands still already")

// pause holds the agent: after the action it is in, or now if it is in none.
func (r *Run) pause(author string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.hold.stopped:
		return errHeld
	case r.hold.pending:
		return errors.New("the run pauses when its action has finished: freeze stops it at once")
	case r.hold.active > 0:
		r.hold.pending, r.hold.by = true, author
		return r.emit(event.TypeNote, event.Note{
			Level: "info", Kind: event.KindPauseRequested, Text: author + " paused the run: it waits for the action to finish",
		})
	default:
		return r.halt(event.StateChange{To: event.Paused, Reason: "paused between actions", Actor: author})
	}
}

// freeze stops every process of the sandbox at once.
func (r *Run) freeze(author string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hold.stopped {
		return errHeld
	}
	return r.halt(event.StateChange{To: event.Paused, Reason: "every process is stopped", Actor: author, Frozen: true})
}

// resume lets a paused or frozen run go on.
func (r *Run) resume(author string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.asks.open != nil:
		return fmt.Errorf("the run waits for an answer to %s: proctor answer", r.asks.open.ID)
	case r.hold.stopped:
		return r.resumeLocked(author)
	case r.hold.pending:
		r.hold.pending = false
		r.hold.release()
		return r.emit(event.TypeState, event.StateChange{From: event.Running, To: event.Running, Reason: "the pause was taken back", Actor: author})
	default:
		return errors.New("the run is not paused")
	}
}

// halt stops the processes and the clock, and says so. r.mu is held.
func (r *Run) halt(change event.StateChange) error {
	if err := r.box.Freeze(context.Background()); err != nil {
		return fmt.Errorf("stopping the sandbox's processes: %w", err)
	}
	r.thinker.hold()
	r.clock.Stop()
	r.hold.stopped, r.hold.pending = true, false
	change.From = event.Running
	if err := r.emit(event.TypeState, change); err != nil {
		return err
	}
	r.sync()
	return nil
}

// resumeLocked undoes halt. r.mu is held.
func (r *Run) resumeLocked(actor string) error {
	if err := r.box.Thaw(context.Background()); err != nil {
		return fmt.Errorf("letting the sandbox's processes go on: %w", err)
	}
	r.thinker.release()
	r.clock.Start()
	r.hold.stopped = false
	r.hold.release()
	from := event.Paused
	if r.asks.open != nil {
		from, r.asks.open = event.Waiting, nil
	}
	if err := r.emit(event.TypeState, event.StateChange{From: from, To: event.Running, Actor: actor}); err != nil {
		return err
	}
	r.sync()
	return nil
}
