package terminal

import (
	"fmt"
	"unicode/utf8"
)

const (
	// The newest part of the scrollback that a Dump carries.
	dumpLines = 2000
	dumpBytes = 2 << 20
)

// Dump returns output that makes a fresh Terminal of the same size look like
// this one: scrollback (the newest 2,000 lines, at most 2 MiB), screens, saved
// and current cursor, margins, tab stops, modes, title and pen. A sequence that
// is half-written is not part of it.
func (t *Terminal) Dump() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := dumper{t: t}
	d.scrollback()
	d.saved(t.primary)
	if t.grid == t.alternate {
		d.put("\x1b[?1049h") // saves the cursor that was set up, as ESC 7 does
		d.screen()
		d.saved(t.alternate)
	}
	d.put("\x1b7")
	if t.title != "" {
		d.put("\x1b]2;%s\x1b\\", t.title)
	}
	d.layout()
	d.place(t.cursor, t.grid, t.top)
	d.modes()
	return d.out
}

type dumper struct {
	t   *Terminal
	out []byte
}

func (d *dumper) put(format string, args ...any) {
	d.out = fmt.Appendf(d.out, format, args...)
}

// scrollback writes the kept lines and the primary screen as a stream of lines,
// so that the former scroll out of the latter.
func (d *dumper) scrollback() {
	t := d.t
	first, size := t.history.n, 0
	for first > 0 && t.history.n-first < dumpLines && size < dumpBytes {
		first--
		size += len(t.history.at(first))
	}
	lines := make([]packed, 0, t.history.n-first+t.rows)
	for i := first; i < t.history.n; i++ {
		lines = append(lines, t.history.at(i))
	}
	for y := range t.primary.rows {
		lines = append(lines, t.pack(nil, &t.primary.rows[y]))
	}
	for i, l := range lines {
		d.out, _ = l.appendStyled(d.out, t.cols, &t.widths)
		switch {
		case i+1 == len(lines):
		case d.flowsInto(l, lines[i+1]):
			d.put(sgrReset) // keeps the characters on both sides apart
		default:
			d.put("\r\n")
		}
	}
}

// flowsInto reports whether printing next right after l wraps exactly there.
func (d *dumper) flowsInto(l, next packed) bool {
	if !l.wrapped() {
		return false
	}
	first, size := utf8.DecodeRune(next.appendText(nil))
	switch l.width() {
	case d.t.cols:
		return size > 0
	case d.t.cols - 1:
		return first >= utf8.RuneSelf && d.t.widths.lookup(first)&infoWidth == 2
	}
	return false
}

// screen writes the rows of the alternate screen in place.
func (d *dumper) screen() {
	d.put("\x1b[?6l")
	d.shape(cursor{})
	for y := range d.t.grid.rows {
		l := d.t.pack(nil, &d.t.grid.rows[y])
		d.put("\x1b[%dH", y+1)
		d.out, _ = l.appendStyled(d.out, d.t.cols, &d.t.widths)
	}
}

// saved sets the cursor up to be saved, with the screen as margins.
func (d *dumper) saved(g *grid) { d.place(g.saved, g, 0) }

// place puts the cursor where c is in g, where top is the first row of the
// margins.
func (d *dumper) place(c cursor, g *grid, top int) {
	x, y := min(c.x, d.t.cols-1), min(c.y, d.t.rows-1)
	row := &g.rows[y]
	waits := c.pending && x == d.t.cols-1
	if waits && x > 0 && row.cells[x].glyph&glyphTail != 0 {
		x--
	}
	mode := byte('l')
	if c.origin {
		mode = 'h'
		y -= top
	}
	d.put("\x1b[?6%c\x1b[%d;%dH", mode, y+1, x+1)
	if waits {
		// Only printing a character again makes the cursor wait to wrap.
		d.shape(cursor{pen: row.cells[x].pen})
		d.out = d.t.appendGlyph(d.out, row.cells[x].glyph)
	}
	d.shape(c)
}

// shape sets what the cursor draws with.
func (d *dumper) shape(c cursor) {
	for i, set := range c.charsets {
		final := byte('B')
		if set == charsetDrawing {
			final = '0'
		}
		d.put("\x1b%c%c", '('+byte(i), final)
	}
	if c.shifted {
		d.put("\x0e")
	} else {
		d.put("\x0f")
	}
	d.out = c.pen.appendSGR(d.out)
}

// layout sets tab stops and margins, which moves the cursor.
func (d *dumper) layout() {
	t := d.t
	d.put("\x1b[?6l\x1b[3g")
	for x, stop := range t.tabs {
		if stop {
			d.put("\x1b[%dG\x1bH", x+1)
		}
	}
	if t.top != 0 || t.bot != t.rows-1 {
		d.put("\x1b[%d;%dr", t.top+1, t.bot+1)
	}
}

// modes sets what differs from a fresh terminal's modes; none of it moves the
// cursor.
func (d *dumper) modes() {
	m := &d.t.modes
	d.put("\x1b[4%c\x1b[20%c", setOrReset(m.insert), setOrReset(m.newline))
	for _, n := range []int{1, 7, 25, 1004, 1006, 2004} {
		d.put("\x1b[?%d%c", n, setOrReset(*m.flag(n)))
	}
	for n, mode := range mouseModes {
		if m.mouse == mode {
			d.put("\x1b[?%dh", n)
		}
	}
	if m.appKeypad {
		d.put("\x1b=")
	}
}

func setOrReset(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}
