package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"proctor/runner/event"
	"proctor/runner/rundir"
)

// longestPause is how long a replay shows a pause, in recorded time.
const longestPause = 2 * time.Second

// Replay plays a run's record back at the pace at which it was made, pauses
// shortened.
type Replay struct {
	log    *os.File
	events *event.Reader
	tail   *tail
	total  time.Duration

	next *event.Event  // read, but not yet due
	due  time.Duration // when next is
	at   time.Duration // where the replay stands
	seen axis
	last time.Time

	mu      sync.Mutex
	speed   float64
	paused  bool
	nudge   chan struct{}
	started bool
}

// axis maps a log's wall time to the replay's.
type axis struct {
	at    time.Duration
	event event.Event // the last one shown
	phase event.Phase
}

// step returns when e is due, given the event before it.
func (a axis) step(e event.Event) time.Duration {
	gap := max(0, e.At.Sub(a.event.At))
	if a.event.Seq == 0 {
		gap = 0
	}
	if a.phase == event.Paused || a.phase == event.Waiting {
		gap = min(gap, longestPause)
	}
	return a.at + gap
}

func (a *axis) advance(e event.Event) {
	a.at, a.event = a.step(e), e
	if e.Type == event.TypeState {
		if c, err := event.Decode[event.StateChange](e); err == nil {
			a.phase = c.To
		}
	}
}

// NewReplay opens a run's record for playing.
func NewReplay(dir rundir.Dir, speed float64) (*Replay, error) {
	log, err := os.Open(dir.Events())
	if err != nil {
		return nil, fmt.Errorf("opening run %s: %w", dir.ID(), err)
	}
	r := &Replay{log: log, nudge: make(chan struct{}, 1)}
	r.SetSpeed(speed)
	if r.total, err = length(log); err != nil {
		log.Close()
		return nil, err
	}
	r.events = event.NewReader(log, 0)
	if r.tail, err = openTail(dir.Cast(), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Close()
		return nil, err
	}
	return r, nil
}

// length measures a log's replay and leaves the file at its start.
func length(log *os.File) (time.Duration, error) {
	var a axis
	events := event.NewReader(log, 0)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		a.advance(e)
	}
	_, err := log.Seek(0, io.SeekStart)
	return a.at, err
}

// SetSpeed implements Player.
func (r *Replay) SetSpeed(speed float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.speed = min(max(speed, 0.1), 1000)
	r.poke()
}

// TogglePause implements Player.
func (r *Replay) TogglePause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused = !r.paused
	r.poke()
}

func (r *Replay) poke() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// Close implements Source.
func (r *Replay) Close() error {
	err := r.log.Close()
	if r.tail != nil {
		err = errors.Join(err, r.tail.Close())
	}
	return err
}

// Next implements Source.
func (r *Replay) Next(ctx context.Context) (Batch, error) {
	b := Batch{Alive: true}
	if !r.started {
		r.started, r.last = true, time.Now()
		b.State = new(event.State)
	} else {
		if r.at >= r.total {
			return b, io.EOF
		}
		if err := r.wait(ctx); err != nil {
			return b, err
		}
	}
	if err := r.gather(&b); err != nil {
		return b, err
	}
	r.mu.Lock()
	b.Replay = &Progress{At: min(r.at, r.total).Seconds(), Total: r.total.Seconds(), Speed: r.speed, Paused: r.paused}
	r.mu.Unlock()
	b.Now = r.now()
	return b, nil
}

// wait lets a frame's time pass, or a whole pause, and moves the replay on.
func (r *Replay) wait(ctx context.Context) error {
	r.mu.Lock()
	speed, paused := r.speed, r.paused
	r.mu.Unlock()
	var frame <-chan time.Time
	if !paused {
		timer := time.NewTimer(pace)
		defer timer.Stop()
		frame = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.nudge:
	case <-frame:
	}
	now := time.Now()
	if !paused {
		r.at += time.Duration(float64(now.Sub(r.last)) * speed)
	}
	r.last = now
	return nil
}

// gather takes everything that is due.
func (r *Replay) gather(b *Batch) error {
	for {
		if r.next == nil {
			e, err := r.events.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			r.next, r.due = &e, r.seen.step(e)
		}
		if r.due > r.at {
			break
		}
		r.seen.advance(*r.next)
		b.Events = append(b.Events, *r.next)
		r.next = nil
	}
	if r.tail == nil {
		return nil
	}
	var err error
	b.Output, err = r.tail.until(r.work(), nil)
	return err
}

// work is the working time that the replay shows.
func (r *Replay) work() time.Duration {
	work := time.Duration(r.seen.event.Work * float64(time.Second))
	if r.seen.phase == event.Running || r.next == nil {
		work += max(0, r.at-r.seen.at)
	}
	return work
}

// now is the recorded moment that the replay shows.
func (r *Replay) now() time.Time {
	if r.seen.phase == event.Paused || r.seen.phase == event.Waiting {
		return r.seen.event.At
	}
	return r.seen.event.At.Add(max(0, r.at-r.seen.at))
}
