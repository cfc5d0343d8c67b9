// Package lines reads whole lines from a file that is still being written:
// the event log and the terminal recording of a live run.
package lines

import (
	"bufio"
	"errors"
	"io"
)

// Max is the longest line that is kept, in bytes. A longer one comes out
// empty, so that a damaged file cannot exhaust memory.
const Max = 16 << 20

// A Reader returns the whole lines of a growing file, one at a time.
type Reader struct {
	buf     *bufio.Reader
	partial []byte
	long    int64 // bytes dropped of a line beyond Max
	offset  int64
}

// NewReader reads from r, which stands at byte offset of the file.
func NewReader(r io.Reader, offset int64) *Reader {
	return &Reader{buf: bufio.NewReaderSize(r, 256<<10), offset: offset}
}

// Offset is the position after the last whole line that was returned.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next whole line without its end; the slice is valid until
// the next call. At the end of the file, or at a last line that has no end
// yet, it returns io.EOF; call it again when the file has grown.
func (r *Reader) Next() ([]byte, error) {
	for {
		part, err := r.buf.ReadSlice('\n')
		if err == nil && len(r.partial) == 0 && r.long == 0 {
			r.offset += int64(len(part))
			return part[:len(part)-1], nil
		}
		if r.long+int64(len(r.partial))+int64(len(part)) > Max {
			r.long += int64(len(r.partial) + len(part))
			r.partial = nil
		} else {
			r.partial = append(r.partial, part...)
		}
		switch {
		case err == nil:
			return r.whole(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// whole returns the line that was gathered in pieces and starts anew.
func (r *Reader) whole() []byte {
	r.offset += r.long + int64(len(r.partial))
	line := r.partial
	if r.long > 0 || len(line) == 0 {
		line = []byte("\n")
	}
	r.partial, r.long = nil, 0
	return line[:len(line)-1]
}
