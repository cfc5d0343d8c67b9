package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"proctor/runner/lines"
)

// A Writer appends to a log. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	file   *os.File
	seq    uint64
	offset int64
	now    func() time.Time
	redact func([]byte) []byte
}

// Redact lets hide take secrets out of every payload from now on. It is
// called before the first Append.
func (w *Writer) Redact(hide func([]byte) []byte) { w.redact = hide }

// NewWriter opens the log at path, making it if need be. A torn last line,
// left by a crash, is cut off; numbering goes on after the last whole one.
func NewWriter(path string, now func() time.Time) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the event log: %w", err)
	}
	w := &Writer{file: file, now: now}
	r := NewReader(file, 0)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			file.Close()
			return nil, err
		}
		w.seq = e.Seq
	}
	w.offset = r.Offset()
	if err := file.Truncate(w.offset); err != nil {
		file.Close()
		return nil, fmt.Errorf("cutting the torn end of %q: %w", path, err)
	}
	return w, nil
}

// Append writes one event in a single write. When that fails half-way, as on
// a full disk, the log is cut back to the last whole line.
func (w *Writer) Append(t Type, work time.Duration, payload any) (Event, error) {
	data, err := json.Marshal(payload)
	if err != nil {
		return Event{}, fmt.Errorf("encoding a %s event: %w", t, err)
	}
	if w.redact != nil {
		data = w.redact(data)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e := Event{Seq: w.seq + 1, At: w.now().UTC(), Work: work.Seconds(), Type: t, Data: data}
	line, err := json.Marshal(e)
	if err != nil {
		return Event{}, fmt.Errorf("encoding a %s event: %w", t, err)
	}
	n, err := w.file.Write(append(line, '\n'))
	if err != nil {
		if n > 0 {
			err = errors.Join(err, w.file.Truncate(w.offset))
		}
		return Event{}, fmt.Errorf("appending to the event log %q: %w", w.file.Name(), err)
	}
	w.seq, w.offset = e.Seq, w.offset+int64(n)
	return e, nil
}

// Offset returns the length of the log in bytes.
func (w *Writer) Offset() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.offset
}

// Sync makes everything appended so far survive a crash of the machine.
func (w *Writer) Sync() error { return w.file.Sync() }

// Close syncs and closes the log.
func (w *Writer) Close() error { return errors.Join(w.file.Sync(), w.file.Close()) }

// A Reader reads a log that may still be growing.
type Reader struct {
	lines   *lines.Reader
	skipped int
}

// NewReader reads events from r, which stands at byte offset of the log.
func NewReader(r io.Reader, offset int64) *Reader {
	return &Reader{lines: lines.NewReader(r, offset)}
}

// Offset is the position after the last whole line that was read.
func (r *Reader) Offset() int64 { return r.lines.Offset() }

// Skipped counts lines that were not events.
func (r *Reader) Skipped() int { return r.skipped }

// Next returns the next event. At the end, or at a last line that has not
// been written whole, it returns io.EOF; call it again when the log has grown.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.lines.Next()
		if errors.Is(err, io.EOF) {
			return Event{}, io.EOF
		}
		if err != nil {
			return Event{}, fmt.Errorf("reading the event log: %w", err)
		}
		var e Event
		if json.Unmarshal(line, &e) == nil && e.Type != "" {
			return e, nil
		}
		r.skipped++
	}
}
