package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/gpu"
	"proctor/runner/rundir"
)

// pace is the least time between two batches of a live run.
const pace = 33 * time.Millisecond

// idle is how often a run is looked at that sends no notices: one whose
// supervisor is starting, or has ended.
const idle = 200 * time.Millisecond

// mostEvents bounds a batch, so that a burst does not hold up a frame.
const mostEvents = 5000

// Live follows a run through its directory: the log and the recording are
// read from the files, so what was shown is on disk, and the supervisor's
// socket only says when there is more. It also reads runs that are over.
type Live struct {
	dir    rundir.Dir
	log    *os.File
	events *event.Reader
	tail   *tail
	first  bool
	ended  bool

	eventsOnly bool
	last       time.Time
	notices    <-chan control.Notice
	gpu        *gpu.Event // the newest that was noticed
	cancel     context.CancelFunc
	ctx        context.Context
}

// Attach opens a run that is alive or over.
func Attach(dir rundir.Dir) (*Live, error) {
	log, err := os.Open(dir.Events())
	if err != nil {
		return nil, fmt.Errorf("attaching to run %s: %w", dir.ID(), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Live{dir: dir, log: log, first: true, ctx: ctx, cancel: cancel}, nil
}

// FromStart is Attach for whoever wants every event and no screen: the first
// batch begins with the first event.
func FromStart(dir rundir.Dir) (*Live, error) {
	l, err := Attach(dir)
	if err != nil {
		return nil, err
	}
	l.first, l.eventsOnly = false, true
	l.events = event.NewReader(l.log, 0)
	return l, nil
}

// Close ends the following.
func (l *Live) Close() error {
	l.cancel()
	if l.notices != nil {
		for range l.notices {
		}
	}
	err := l.log.Close()
	if l.tail != nil {
		err = errors.Join(err, l.tail.Close())
	}
	return err
}

// Next implements Source.
func (l *Live) Next(ctx context.Context) (Batch, error) {
	if l.ended {
		return Batch{}, io.EOF
	}
	if l.first {
		return l.open()
	}
	for {
		if err := l.wait(ctx); err != nil {
			return Batch{}, err
		}
		// Alive is asked before reading: what a supervisor wrote before it
		// died is then surely read.
		b := Batch{Alive: l.dir.Alive()}
		if err := l.read(&b); err != nil {
			return b, err
		}
		b.GPU, l.gpu = l.gpu, nil
		quiet := len(b.Events) == 0 && len(b.Output) == 0 && b.GPU == nil
		if !b.Alive && len(b.Events) < mostEvents {
			l.ended = true
			return b, nil
		}
		if !quiet {
			l.last = time.Now()
			return b, nil
		}
	}
}

// open makes the first batch: the newest keyframe and what came after it.
func (l *Live) open() (Batch, error) {
	b := Batch{Alive: l.dir.Alive(), State: new(event.State)}
	k := l.keyframe()
	if k.State != nil {
		b.State = k.State
		b.Output = []Output{{Cols: k.Cols, Rows: k.Rows, Data: k.Screen}}
	}
	if _, err := l.log.Seek(k.Events, io.SeekStart); err != nil {
		return b, fmt.Errorf("reading the event log: %w", err)
	}
	l.events = event.NewReader(l.log, k.Events)
	for {
		e, err := l.events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return b, err
		}
		b.State.Apply(e)
	}
	var err error
	l.tail, err = openTail(l.dir.Cast(), k.Cast)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	if l.tail != nil {
		out, err := l.tail.catchUp()
		if err != nil {
			return b, err
		}
		b.Output = append(b.Output, out...)
	}
	l.first = false
	l.last = time.Now()
	l.ended = !b.Alive
	return b, nil
}

// keyframe returns the newest keyframe, an empty one when there is none that
// can be used: it is only ever a short cut.
func (l *Live) keyframe() event.Keyframe {
	var k event.Keyframe
	data, err := os.ReadFile(l.dir.Keyframe())
	if err != nil || json.Unmarshal(data, &k) != nil || k.State == nil {
		return event.Keyframe{}
	}
	if info, err := l.log.Stat(); err != nil || info.Size() < k.Events {
		return event.Keyframe{}
	}
	return k
}

// read gathers what is new in both files.
func (l *Live) read(b *Batch) error {
	for len(b.Events) < mostEvents {
		e, err := l.events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		b.Events = append(b.Events, e)
	}
	if l.eventsOnly {
		return nil
	}
	if l.tail == nil {
		tail, err := openTail(l.dir.Cast(), 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		l.tail = tail
	}
	out, err := l.tail.catchUp()
	b.Output = out
	return err
}

// wait returns when there may be something new, and not too soon.
func (l *Live) wait(ctx context.Context) error {
	if l.notices == nil {
		l.follow()
	}
	if early := pace - time.Since(l.last); early > 0 {
		if err := sleep(ctx, early); err != nil {
			return err
		}
	}
	if l.notices == nil {
		return sleep(ctx, idle)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case n, ok := <-l.notices:
		if !ok {
			l.notices = nil
		}
		l.gpu = n.GPU
		return nil
	}
}

// follow subscribes to the supervisor's notices, if it listens.
func (l *Live) follow() {
	socket, err := l.dir.Socket()
	if err != nil {
		return
	}
	if notices, err := control.Notices(l.ctx, socket); err == nil {
		l.notices = notices
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
