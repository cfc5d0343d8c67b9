package terminal

import (
	"bytes"
	"strings"
	"sync"
)

// observerRows is the screen height of an Observer until Resize says better.
const observerRows = 50

// Observer turns the whole output of a command into text, the way a person at
// the terminal would have seen it: a progress bar that redrew itself a thousand
// times is one line, lines that the terminal wrapped are whole again, a
// full-screen program is the last screen it showed. It keeps the head and the
// tail of long text, in bounded memory, and says what it left out.
//
// Its methods may be called from several goroutines.
type Observer struct {
	mu   sync.Mutex
	term *Terminal
	text excerpt
	line []byte
}

// NewObserver returns an observer of a pty cols columns wide, keeping about
// headBytes of the start and tailBytes of the end of the text.
func NewObserver(cols int, headBytes, tailBytes int, opts ...Option) *Observer {
	o := &Observer{
		term: New(cols, observerRows, opts...),
		text: excerpt{headCap: max(headBytes, 0), tailCap: max(tailBytes, 0)},
	}
	o.term.onScroll = func(l packed) { o.add(&o.text, l) }
	o.term.onLeaveAlt = o.leaveAlternate
	return o
}

// Write feeds output of the pty. It takes all of p and never fails.
func (o *Observer) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.term.Write(p)
}

// Resize follows the size of the pty, which full-screen programs draw for.
func (o *Observer) Resize(cols, rows int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.term.Resize(cols, rows)
}

// Replies is Terminal.Replies, for when nothing else answers the program.
func (o *Observer) Replies() []byte { return o.term.Replies() }

// Result returns the text so far, without blank lines at the end, and whether
// part of it was left out. The text is valid UTF-8 and has no control characters
// but \n. More may be written afterwards.
func (o *Observer) Result() (text string, truncated bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.term.mu.Lock()
	defer o.term.mu.Unlock()
	all := o.text.clone()
	rows := o.term.primary.rows
	if o.term.grid == o.term.alternate {
		o.addRows(&all, rows[:o.liveRows(rows, o.term.primary.saved.y)])
		rows = o.term.alternate.rows
	}
	o.addRows(&all, rows)
	text, truncated = all.result()
	return strings.TrimRight(text, "\n"), truncated
}

// add appends a line to text.
func (o *Observer) add(text *excerpt, l packed) {
	o.line = l.appendText(o.line[:0])
	if !l.wrapped() {
		o.line = append(bytes.TrimRight(o.line, " "), '\n')
	}
	text.write(o.line)
}

// addRows appends rows up to the last one that is not blank.
func (o *Observer) addRows(text *excerpt, rows []row) {
	for i := range rows[:o.liveRows(rows, 0)] {
		o.term.scratch = o.term.pack(o.term.scratch[:0], &rows[i])
		o.add(text, o.term.scratch)
	}
}

// liveRows returns how many rows there are up to the last one in use, at least
// atLeast.
func (o *Observer) liveRows(rows []row, atLeast int) int {
	n := len(rows)
	for n > atLeast && rows[n-1].blank() {
		n--
	}
	return n
}

// leaveAlternate moves what is on both screens to the text: first what was there
// when the full-screen program started, then its last screen. What follows
// starts at the top of an empty primary screen.
func (o *Observer) leaveAlternate() {
	t := o.term
	o.addRows(&o.text, t.primary.rows)
	o.addRows(&o.text, t.alternate.rows)
	t.primary.clearAll(cell{})
	t.primary.saved.x, t.primary.saved.y, t.primary.saved.pending = 0, 0, false
	t.cursor.x, t.cursor.y, t.cursor.pending = 0, 0, false
}
