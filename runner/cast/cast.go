// Package cast writes and reads the recording of a run's terminal:
// asciicast v3, so that any player of that format shows it.
//
// The recording's clock is working time: while a run is paused nothing is
// written and the clock stands still, so a replay has no dead hour. The true
// times are in the event log.
package cast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Header opens a recording.
type Header struct {
	Version   int               `json:"version"` // 3
	Term      Term              `json:"term"`
	Timestamp int64             `json:"timestamp,omitempty"`
	Title     string            `json:"title,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// Term is the recorded terminal.
type Term struct {
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	Type string `json:"type,omitempty"`
}

// The codes of a recording's events.
const (
	CodeOutput = 'o'
	CodeMarker = 'm'
	CodeResize = 'r'
	CodeExit   = 'x'
)

// A Writer appends to a recording. Output is gathered and written by Flush
// or when 64 KiB have come together. It is safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	file    *os.File
	limit   int64
	size    int64
	last    time.Duration // recorded time of the last event, in whole ms
	pending []byte
	at      time.Duration
	dropped int64
	line    []byte
	err     error
}

const chunk = 64 << 10

// thinned is what is kept of each flush once a recording has reached its
// limit: enough for a viewer to go on seeing what happens.
const thinned = 2 << 10

// Create makes the recording at path. Once it has grown to limit bytes only
// the end of each flush is kept, with a line that says so; 0 is no limit.
func Create(path string, h Header, limit int64) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making the terminal recording: %w", err)
	}
	w := &Writer{file: file, limit: limit}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("making the terminal recording: %w", err)
	}
	if w.size = info.Size(); w.size > 0 {
		return w, nil // goes on where an earlier supervisor stopped
	}
	h.Version = 3
	line, err := json.Marshal(h)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("encoding the recording's header: %w", err)
	}
	if err := w.write(append(line, '\n')); err != nil {
		file.Close()
		return nil, err
	}
	return w, nil
}

// Output adds what the terminal showed at a moment of working time.
func (w *Writer) Output(at time.Duration, p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 {
		w.at = at
	}
	w.pending = append(w.pending, p...)
	if w.limit > 0 && w.size > w.limit {
		if excess := len(w.pending) - chunk; excess > 0 {
			w.dropped += int64(excess)
			w.pending = append(w.pending[:0], w.pending[excess:]...)
		}
		return
	}
	if len(w.pending) >= chunk {
		w.flush(false)
	}
}

// Marker adds a named point of time.
func (w *Writer) Marker(at time.Duration, label string) {
	w.event(at, CodeMarker, []byte(label))
}

// Resize records the terminal's new size.
func (w *Writer) Resize(at time.Duration, cols, rows int) {
	w.event(at, CodeResize, fmt.Appendf(nil, "%dx%d", cols, rows))
}

// Exit records how the run ended, as an exit status.
func (w *Writer) Exit(at time.Duration, status int) {
	w.event(at, CodeExit, strconv.AppendInt(nil, int64(status), 10))
}

// Flush writes what has been gathered and returns the recording's length.
func (w *Writer) Flush() (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush(false)
	return w.size, w.err
}

// Close writes what is left and closes the recording.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush(true)
	return errors.Join(w.err, w.file.Sync(), w.file.Close())
}

func (w *Writer) event(at time.Duration, code byte, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush(true)
	w.put(at, code, data)
}

// flush writes the pending output. A character cut in half at its end waits
// for its other half, unless all must go.
func (w *Writer) flush(all bool) {
	data := w.pending
	if w.limit > 0 && w.size > w.limit && len(data) > thinned {
		cut := len(data) - thinned
		if nl := bytes.IndexByte(data[cut:], '\n'); nl >= 0 {
			cut += nl + 1
		}
		w.dropped += int64(cut)
		data = data[cut:]
	}
	rest := 0
	if !all {
		rest = halfRune(data)
	}
	out := data[:len(data)-rest]
	if len(out) == 0 {
		return
	}
	if w.dropped > 0 {
		notice := fmt.Appendf(nil, "\r\n\x1b[2m… %d bytes not recorded: the recording is at its limit …\x1b[0m\r\n", w.dropped)
		w.dropped = 0
		out = append(notice, out...)
	}
	w.put(w.at, CodeOutput, out)
	w.pending = append(w.pending[:0], data[len(data)-rest:]...)
}

// put writes one event. The interval is taken between whole milliseconds of
// absolute time, so that rounding never adds up.
func (w *Writer) put(at time.Duration, code byte, data []byte) {
	at = max(at.Round(time.Millisecond), w.last)
	line := append(w.line[:0], '[')
	line = strconv.AppendFloat(line, (at - w.last).Seconds(), 'f', 3, 64)
	line = append(line, `, "`...)
	line = append(line, code)
	line = append(line, `", `...)
	line = appendString(line, data)
	line = append(line, "]\n"...)
	w.last, w.line = at, line
	if err := w.write(line); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *Writer) write(line []byte) error {
	n, err := w.file.Write(line)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, w.file.Truncate(w.size))
		}
		return fmt.Errorf("writing the terminal recording: %w", err)
	}
	w.size += int64(n)
	return nil
}

// halfRune counts the bytes at the end of p that begin a character without
// ending it.
func halfRune(p []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(p)); n++ {
		b := p[len(p)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

const hex = "0123456789abcdef"

// appendString appends data as a JSON string; what is not UTF-8 becomes
// U+FFFD. encoding/json would escape <, > and & and copy twice.
func appendString(dst, data []byte) []byte {
	dst = append(dst, '"')
	for len(data) > 0 {
		n := 0
		for n < len(data) && data[n] >= ' ' && data[n] < 0x7f && data[n] != '"' && data[n] != '\\' {
			n++
		}
		dst = append(dst, data[:n]...)
		if data = data[n:]; len(data) == 0 {
			break
		}
		switch b := data[0]; {
		case b == '"' || b == '\\':
			dst, data = append(dst, '\\', b), data[1:]
		case b == '\n':
			dst, data = append(dst, `\n`...), data[1:]
		case b == '\r':
			dst, data = append(dst, `\r`...), data[1:]
		case b < utf8.RuneSelf:
			dst, data = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15]), data[1:]
		default:
			r, size := utf8.DecodeRune(data)
			dst, data = utf8.AppendRune(dst, r), data[size:]
		}
	}
	return append(dst, '"')
}

// An Event is one line of a recording after its header.
type Event struct {
	After time.Duration // since the event before
	Code  byte
	Data  string
}

// Size reads a resize event's terminal size.
func (e Event) Size() (cols, rows int, ok bool) {
	c, r, found := strings.Cut(e.Data, "x")
	cols, errC := strconv.Atoi(c)
	rows, errR := strconv.Atoi(r)
	const most = 4096
	ok = found && errC == nil && errR == nil && cols > 0 && rows > 0 && cols <= most && rows <= most
	return cols, rows, ok
}

// ParseHeader reads the first line of a recording.
func ParseHeader(line []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("reading the recording's header: %w", err)
	}
	if h.Version != 3 {
		return h, fmt.Errorf("the recording is asciicast version %d: only version 3 can be read", h.Version)
	}
	return h, nil
}

// ParseEvent reads one line of a recording; ok is false for a comment, a
// header, or a line that is no event.
func ParseEvent(line []byte) (e Event, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '[' {
		return e, false
	}
	var fields [3]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return e, false
	}
	var after float64
	var code string
	if json.Unmarshal(fields[0], &after) != nil || json.Unmarshal(fields[1], &code) != nil ||
		json.Unmarshal(fields[2], &e.Data) != nil || code == "" || after < 0 || after > 1e9 {
		return e, false
	}
	e.After, e.Code = time.Duration(after*float64(time.Second)), code[0]
	return e, true
}
