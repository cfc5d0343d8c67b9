package watch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"proctor/runner/cast"
	"proctor/runner/lines"
)

// A viewer that falls behind by more than backlog bytes of recording goes on
// with the last resume bytes; a person sees no difference, and the recording
// has it all.
const (
	backlog = 1 << 20
	resume  = 256 << 10
)

// tail reads a recording that may still be growing.
type tail struct {
	file  *os.File
	lines *lines.Reader
	clock time.Duration // recorded time of the last event read
	held  *cast.Event   // read, but not yet due
}

func openTail(path string, offset int64) (*tail, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the terminal recording: %w", err)
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		file.Close()
		return nil, fmt.Errorf("opening the terminal recording: %w", err)
	}
	return &tail{file: file, lines: lines.NewReader(file, offset)}, nil
}

func (t *tail) Close() error { return t.file.Close() }

// catchUp returns what was recorded since the last call, skipping ahead when
// that is too much to show.
func (t *tail) catchUp() ([]Output, error) {
	var out []Output
	if info, err := t.file.Stat(); err == nil && info.Size()-t.lines.Offset() > backlog {
		from := info.Size() - resume
		skipped := from - t.lines.Offset()
		if _, err := t.file.Seek(from, io.SeekStart); err != nil {
			return nil, fmt.Errorf("skipping ahead in the terminal recording: %w", err)
		}
		t.lines = lines.NewReader(t.file, from)
		if _, err := t.lines.Next(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		out = append(out, Output{Skipped: skipped})
	}
	return t.until(-1, out)
}

// until appends what was recorded up to a moment of recorded time, or
// everything when the moment is negative.
func (t *tail) until(moment time.Duration, out []Output) ([]Output, error) {
	for total := 0; total < 2*backlog; {
		e := t.held
		t.held = nil
		if e == nil {
			line, err := t.lines.Next()
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			if err != nil {
				return out, fmt.Errorf("reading the terminal recording: %w", err)
			}
			next, ok := cast.ParseEvent(line)
			if !ok {
				if h, err := cast.ParseHeader(line); err == nil {
					out = append(out, Output{Cols: h.Term.Cols, Rows: h.Term.Rows})
				}
				continue
			}
			e = &next
			t.clock += e.After
		}
		if moment >= 0 && t.clock > moment {
			t.held = e
			return out, nil
		}
		total += len(e.Data)
		out = add(out, *e)
	}
	return out, nil
}

// add joins an event to the pieces so far.
func add(out []Output, e cast.Event) []Output {
	switch e.Code {
	case cast.CodeOutput:
		if n := len(out); n > 0 {
			out[n-1].Data = append(out[n-1].Data, e.Data...)
			return out
		}
		return append(out, Output{Data: []byte(e.Data)})
	case cast.CodeResize:
		if cols, rows, ok := e.Size(); ok {
			return append(out, Output{Cols: cols, Rows: rows})
		}
	}
	return out
}
