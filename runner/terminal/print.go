package terminal

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// printASCII writes a run of printable ASCII at the cursor.
func (t *Terminal) printASCII(run []byte) {
	if t.cursor.charset() == charsetDrawing {
		for _, b := range run {
			t.print(drawing(b))
		}
		return
	}
	t.changed = true
	t.glyph, t.joinable = uint32(run[len(run)-1]), true
	c := cell{pen: t.cursor.pen}
	for len(run) > 0 {
		if t.cursor.pending {
			if !t.modes.autowrap {
				run = run[len(run)-1:] // the rest overwrites itself in the last column
			} else {
				t.wrap()
			}
		}
		x := t.cursor.x
		n := min(len(run), t.cols-x)
		cells := t.prepare(x, n)
		for i, b := range run[:n] {
			c.glyph = uint32(b)
			cells[i] = c
		}
		run = run[n:]
		t.advance(x + n)
	}
}

// prepare makes n columns from x of the cursor's row ready to be overwritten
// and returns them.
func (t *Terminal) prepare(x, n int) []cell {
	r := &t.grid.rows[t.cursor.y]
	if t.modes.insert {
		r.insert(x, n, t.cursor.pen.fill())
	} else if r.wide {
		r.split(x)
		r.split(x + n)
	}
	end := x + n
	if end > r.used {
		r.used = end
	}
	if end == len(r.cells) {
		r.wrapped = false
	}
	return r.cells[x:end]
}

// advance puts the cursor to column x; past the last one it waits there for the
// next character to wrap.
func (t *Terminal) advance(x int) {
	if x >= t.cols {
		t.cursor.x, t.cursor.pending = t.cols-1, true
		return
	}
	t.cursor.x, t.cursor.pending = x, false
}

// wrap goes to the start of the next line, remembering that the text goes on.
func (t *Terminal) wrap() {
	t.grid.rows[t.cursor.y].wrapped = true
	t.cursor.x, t.cursor.pending = 0, false
	t.index(cell{}) // not in the pen's background, which nothing was erased to
}

// print writes one character at the cursor, or adds it to the one before.
func (t *Terminal) print(r rune) {
	if r < utf8.RuneSelf {
		t.place(uint32(r), 1)
		return
	}
	if r < 0xa0 {
		return // C1 controls
	}
	info := t.widths.lookup(r)
	if info&infoExtend != 0 {
		t.join(r, true)
		return
	}
	if t.joinable && t.mayContinue(info) && t.join(r, false) {
		return
	}
	if w := int(info & infoWidth); w > 0 {
		t.place(uint32(r), w)
	}
}

// mayContinue reports whether a character like info may be part of the last one.
func (t *Terminal) mayContinue(info runeInfo) bool {
	if t.glyph&glyphCluster != 0 {
		return true
	}
	last := rune(t.glyph & glyphValue)
	return last >= utf8.RuneSelf && (info|t.widths.lookup(last))&infoJoiner != 0
}

// place writes a character of one or two columns at the cursor.
func (t *Terminal) place(g uint32, width int) {
	if width > t.cols {
		g, width = utf8.RuneError, 1
	}
	t.changed = true
	if t.cursor.pending && t.modes.autowrap {
		t.wrap()
	}
	x := t.cursor.x
	if x+width > t.cols {
		if t.modes.autowrap {
			t.wrap()
			x = 0
		} else {
			x = t.cols - width
		}
	}
	cells := t.prepare(x, width)
	if width == 2 {
		g |= glyphWide
		cells[1] = cell{glyph: glyphTail, pen: t.cursor.pen}
		t.grid.rows[t.cursor.y].wide = true
	}
	cells[0] = cell{glyph: g, pen: t.cursor.pen}
	t.glyph, t.joinable = g, true
	t.advance(x + width)
}

// join makes r part of the character left of the cursor. It reports whether
// there was nothing left to do: a mark that does not fit is dropped, anything
// else is then printed by itself.
func (t *Terminal) join(r rune, mark bool) bool {
	x, row := t.lastColumn()
	if x < 0 {
		return mark
	}
	t.trimClusters()
	c := &row.cells[x]
	var buf [maxCluster + utf8.UTFMax]byte
	text := t.appendGlyph(buf[:0], c.glyph)
	text = utf8.AppendRune(text, r)
	if len(text) > maxCluster {
		return mark
	}
	cluster, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	if len(cluster) < len(text) {
		return mark
	}
	had := 1
	if c.glyph&glyphWide != 0 {
		had = 2
	}
	if width == 2 && had == 1 {
		if !t.widen(x, row) {
			return mark
		}
	} else if width != had {
		return mark
	}
	c.glyph = t.glyphOf(text)
	if width == 2 {
		c.glyph |= glyphWide
	}
	t.glyph, t.joinable, t.changed = c.glyph, true, true
	return true
}

// lastColumn returns where the character left of the cursor starts, or -1.
func (t *Terminal) lastColumn() (int, *row) {
	row := &t.grid.rows[t.cursor.y]
	x := t.cursor.x
	if !t.cursor.pending {
		x--
	}
	if x > 0 && row.cells[x].glyph&glyphTail != 0 {
		x--
	}
	if x < 0 || row.cells[x].glyph == 0 {
		return -1, nil
	}
	return x, row
}

// widen makes the character at x, which is left of the cursor, two columns wide.
func (t *Terminal) widen(x int, row *row) bool {
	if t.cursor.pending || t.cursor.x != x+1 {
		return false
	}
	tail := t.prepare(x+1, 1)
	tail[0] = cell{glyph: glyphTail, pen: row.cells[x].pen}
	row.wide = true
	t.advance(x + 2)
	return true
}

// repeat prints the last character n more times (REP).
func (t *Terminal) repeat(n int) {
	if t.glyph == 0 {
		return
	}
	g, width := t.glyph&^glyphWide, 1
	if t.glyph&glyphWide != 0 {
		width = 2
	}
	for range min(n, t.cols*t.rows, maxRepeat) {
		t.place(g, width)
	}
}

// maxRepeat bounds the work that a few bytes can ask for.
const maxRepeat = 4096
