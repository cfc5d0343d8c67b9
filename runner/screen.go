package runner

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"proctor/agents/llm/redact"
	"proctor/runner/budget"
	"proctor/runner/cast"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/tasks"
)

// A screen is the run's terminal: what all its commands show, one after the
// other, recorded from the first byte and kept in an emulator so that a
// keyframe can redraw it.
type screen struct {
	clock *budget.Clock
	cast  *cast.Writer

	mu         sync.Mutex
	emulator   *terminal.Terminal
	cols, rows int
	length     int64
	secrets    *redact.Stream
	tee        io.Writer // also gets the output, while a person has the terminal
}

// hide keeps secrets from being shown and recorded, also one that comes in
// two pieces. It is called before the first output.
func (s *screen) hide(secrets *redact.Redactor) { s.secrets = secrets.Stream() }

// listen gives the output to w too, until it is called with nil.
func (s *screen) listen(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tee = w
}

func newScreen(path string, h cast.Header, set Settings, clock *budget.Clock) (*screen, error) {
	w, err := cast.Create(path, h, set.RecordingLimit)
	if err != nil {
		return nil, err
	}
	return &screen{
		clock: clock, cast: w, cols: set.Cols, rows: set.Rows,
		emulator: terminal.New(set.Cols, set.Rows),
	}, nil
}

func (r *Run) castHeader() cast.Header {
	return cast.Header{
		Term:      cast.Term{Cols: r.set.Cols, Rows: r.set.Rows, Type: "xterm-256color"},
		Timestamp: r.started.Unix(),
		Title:     r.req.Task + " by " + r.req.Agent,
	}
}

// output shows what a process wrote.
func (s *screen) output(p []byte) {
	at := s.clock.Worked()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets != nil {
		p = s.secrets.Next(p)
	}
	s.put(at, p)
}

// put records and draws. s.mu is held.
func (s *screen) put(at time.Duration, p []byte) {
	s.cast.Output(at, p)
	_, _ = s.emulator.Write(p) // an emulator cannot fail
	if s.tee != nil {
		_, _ = s.tee.Write(p) // nor can an observer
	}
}

// prompt shows which command comes next, as a shell would.
func (s *screen) prompt(title string) {
	s.output(fmt.Appendf(nil, "\x1b[1;32m$\x1b[0m \x1b[1m%s\x1b[0m\r\n", terminal.Clean(title)))
}

// finished undoes what a command may have left on: the alternate screen, a
// hidden cursor, colours, mouse reports; and starts a new line.
func (s *screen) finished() {
	at := s.clock.Worked()
	s.mu.Lock()
	if s.secrets != nil {
		s.put(at, s.secrets.Rest())
	}
	reset := leaveModes
	if s.emulator.AltScreen() {
		// Not otherwise: it also moves the cursor to where it was saved.
		reset = leaveAltScreen + reset
	}
	s.mu.Unlock()
	s.output([]byte(reset))
	if x, _, _ := s.emulator.Cursor(); x > 0 {
		s.output([]byte("\r\n"))
	}
}

const (
	leaveAltScreen = "\x1b[?1049l"
	// leaveModes ends mouse reports, bracketed paste and synchronized output,
	// and resets the pen, the scroll region, and the cursor and its keys.
	leaveModes = "\x1b[?1000;1002;1003;1006;2004;2026l\x1b[!p\x1b[?25h\x1b[0m"
)

// resize gives the terminal another size.
func (s *screen) resize(cols, rows int) {
	at := s.clock.Worked()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cols, s.rows = cols, rows
	s.emulator.Resize(cols, rows)
	s.cast.Resize(at, cols, rows)
}

func (s *screen) dimensions() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

func (s *screen) marker(label string) { s.cast.Marker(s.clock.Worked(), label) }

// exit records how the run ended, as the command line's exit status says it.
func (s *screen) exit(status tasks.Status) {
	code := 0
	if status != tasks.Graded {
		code = 1
	}
	s.cast.Exit(s.clock.Worked(), code)
}

// flush writes the recording and returns whether it has grown.
func (s *screen) flush() (grown bool, err error) {
	length, err := s.cast.Flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	grown = length != s.length
	s.length = length
	return grown, err
}

// size is the recording's length at the last flush.
func (s *screen) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.length
}

// replies returns what the emulator answers to a program's queries.
func (s *screen) replies() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.Replies()
}

// dump fills in a keyframe's screen.
func (s *screen) dump(k *event.Keyframe) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	length, err := s.cast.Flush()
	s.length = length
	k.Cast, k.Cols, k.Rows, k.Screen = length, s.cols, s.rows, s.emulator.Dump()
	return err
}

func (s *screen) close() error { return s.cast.Close() }

// A keyframe is worth writing once the log or the recording has grown by
// this much since the last.
const (
	keyEvents = 256 << 10
	keyCast   = 1 << 20
)

// keyframeIfDue writes a keyframe when there is much that is not in one.
func (r *Run) keyframeIfDue() {
	r.record.Lock()
	due := r.log.Offset()-r.keyed.Events > keyEvents || r.screen.size()-r.keyed.Cast > keyCast
	r.record.Unlock()
	if due {
		r.keyframe()
	}
}

// keyframe writes down what the record says so far. It is a short cut for
// readers, so failing to write it harms nobody.
func (r *Run) keyframe() {
	r.record.Lock()
	defer r.record.Unlock()
	k := event.Keyframe{Events: r.log.Offset(), State: &r.state}
	if err := r.screen.dump(&k); err != nil {
		r.trouble.Error("flushing the terminal recording", "err", err)
	}
	if err := r.dir.WriteKeyframe(k); err != nil {
		r.trouble.Error("writing a keyframe", "err", err)
		_ = os.Remove(r.dir.Keyframe())
		return
	}
	r.keyed = event.Keyframe{Events: k.Events, Cast: k.Cast}
}
