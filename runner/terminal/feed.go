package terminal

import (
	"bytes"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/parser"
)

const (
	can    = 0x18
	sub    = 0x1a
	escape = 0x1b
)

// feed takes bytes apart: runs of printable ASCII and UTF-8 here, because they
// are nearly everything; escape and CSI sequences in x/ansi's parser; control
// strings here again, because the parser lets the bytes of UTF-8 text in a title
// end it or leak out of it.
func (t *Terminal) feed(p []byte) {
	for len(p) > 0 {
		var n int
		switch {
		case t.str.active:
			n = t.feedString(p)
		case t.parser.State() != parser.GroundState:
			n = t.feedEscape(p)
		case t.npend > 0:
			n = t.feedPending(p[0])
		default:
			n = t.feedGround(p)
		}
		p = p[n:]
	}
}

// feedGround takes text and C0 controls. It returns how many bytes it took.
func (t *Terminal) feedGround(p []byte) int {
	b := p[0]
	switch {
	case b-0x20 < 0x5f:
		n := 1
		for n < len(p) && p[n]-0x20 < 0x5f {
			n++
		}
		t.printASCII(p[:n])
		return n
	case b == escape:
		t.parser.Advance(b)
		return 1
	case b < 0x20:
		t.execute(b)
		return 1
	case b == 0x7f:
		return 1
	}
	r, size := utf8.DecodeRune(p)
	if r == utf8.RuneError && size == 1 {
		return t.feedPending(b)
	}
	t.print(r)
	return size
}

// feedPending collects a character that is split between writes, or broken. A
// broken one prints as a single U+FFFD for as many bytes as began a character.
func (t *Terminal) feedPending(b byte) int {
	n := t.npend
	t.pending[n] = b
	seq := t.pending[:n+1]
	if !utf8.FullRune(seq) {
		t.npend++
		return 1
	}
	t.npend = 0
	if r, size := utf8.DecodeRune(seq); size > 1 {
		t.print(r)
		return 1
	}
	t.print(utf8.RuneError)
	if n > 0 {
		return 0 // b broke what was pending and is looked at anew
	}
	return 1
}

// feedEscape runs the parser until a sequence is complete.
func (t *Terminal) feedEscape(p []byte) int {
	for i, b := range p {
		if b >= utf8.RuneSelf {
			t.parser.Reset() // text after all; 8-bit controls do not exist in UTF-8
			return i
		}
		if b < 0x20 && b != escape && b != can && b != sub {
			t.execute(b) // the parser would, and lose the sequence's intermediates
			continue
		}
		if t.parser.State() == parser.EscapeState && t.startString(b) {
			return i + 1
		}
		t.parser.Advance(b)
		if t.parser.State() == parser.GroundState {
			return i + 1
		}
	}
	return len(p)
}

// maxString bounds how much of a control string is kept. Only titles and short
// queries are of interest; the rest is skipped.
const maxString = 4 << 10

// controlString is an OSC, DCS, APC, PM or SOS on its way in.
type controlString struct {
	active bool
	kind   byte // the byte after ESC
	data   []byte
}

// startString begins a control string if ESC b introduces one.
func (t *Terminal) startString(b byte) bool {
	switch b {
	case ']', 'P', '_', '^', 'X':
		t.parser.Reset()
		t.str = controlString{active: true, kind: b, data: t.str.data[:0]}
		return true
	}
	return false
}

// feedString skips to the end of the control string, keeping its start.
func (t *Terminal) feedString(p []byte) int {
	s := &t.str
	end := indexStringEnd(p, s.kind == ']')
	body := p
	if end >= 0 {
		body = p[:end]
	}
	keep := min(len(body), maxString-len(s.data))
	s.data = append(s.data, body[:keep]...)
	if end < 0 {
		return len(p)
	}
	s.active = false
	switch p[end] {
	case escape:
		t.controlString()
		t.parser.Advance(escape) // what follows is the \ of ST, or a new sequence
	case '\a':
		t.controlString()
	} // CAN and SUB abort
	return end + 1
}

// indexStringEnd finds ESC, CAN or SUB, and in an OSC also BEL.
func indexStringEnd(p []byte, osc bool) int {
	if osc {
		return bytes.IndexAny(p, "\x1b\a\x18\x1a")
	}
	return bytes.IndexAny(p, "\x1b\x18\x1a")
}
