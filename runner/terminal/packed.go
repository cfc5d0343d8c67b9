package terminal

import (
	"encoding/binary"
	"unicode/utf8"
)

// packed is one line without its trailing blanks, as bytes: a flag byte, then
// runs of cells of one pen. It is what the scrollback keeps (about a byte a
// character instead of sixteen) and what everything that reads lines works on.
//
// A run is a head byte, the cell count in two bytes, the pen in ten unless it
// is the default one, and the text: a byte per cell where all are ASCII, else a
// byte with length and width, then the character's bytes, for each character.
type packed []byte

const (
	lineWrapped = 1

	runPen  = 1 // a pen follows
	runWide = 2 // characters with lengths, not ASCII

	charWide = 1 << 7 // in a character's length byte: two columns
)

// pack appends r to dst.
func (t *Terminal) pack(dst packed, r *row) packed {
	flags := byte(0)
	if r.wrapped {
		flags |= lineWrapped
	}
	dst = append(dst, flags)
	end := r.used
	for end > 0 && r.cells[end-1].blank() && (!r.wrapped || r.cells[end-1].glyph == 0) {
		end--
	}
	for i := 0; i < end; {
		if r.cells[i].glyph < utf8.RuneSelf {
			dst, i = packASCII(dst, r.cells[:end], i)
		} else {
			dst, i = t.packWide(dst, r.cells[:end], i)
		}
	}
	return dst
}

func appendRunHead(dst packed, kind byte, p pen) packed {
	if p == (pen{}) {
		return append(dst, kind, 0, 0)
	}
	dst = append(dst, kind|runPen, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.fg))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.bg))
	return binary.LittleEndian.AppendUint16(dst, uint16(p.attr))
}

func packASCII(dst packed, cells []cell, i int) (packed, int) {
	p, start, head := cells[i].pen, i, len(dst)
	dst = appendRunHead(dst, 0, p)
	for i < len(cells) && cells[i].glyph < utf8.RuneSelf && cells[i].pen == p {
		b := byte(cells[i].glyph)
		if b == 0 {
			b = ' '
		}
		dst = append(dst, b)
		i++
	}
	binary.LittleEndian.PutUint16(dst[head+1:], uint16(i-start))
	return dst, i
}

func (t *Terminal) packWide(dst packed, cells []cell, i int) (packed, int) {
	p, start, head := cells[i].pen, i, len(dst)
	dst = appendRunHead(dst, runWide, p)
	for i < len(cells) && cells[i].pen == p {
		g := cells[i].glyph
		size, width := len(dst), 1
		dst = append(dst, 0)
		dst = t.appendGlyph(dst, g)
		head := byte(len(dst) - size - 1)
		if g&glyphWide != 0 {
			head |= charWide
			width = 2
		}
		dst[size] = head
		i += width
	}
	binary.LittleEndian.PutUint16(dst[head+1:], uint16(i-start))
	return dst, i
}

// appendGlyph appends a cell's character; a blank is a space.
func (t *Terminal) appendGlyph(dst []byte, g uint32) []byte {
	v := g & glyphValue
	switch {
	case g&glyphCluster != 0:
		return append(dst, t.clusters.text[v]...)
	case v == 0:
		return append(dst, ' ')
	}
	return utf8.AppendRune(dst, rune(v))
}

func (l packed) wrapped() bool { return l[0]&lineWrapped != 0 }

// run is a stretch of cells of one pen.
type run struct {
	pen   pen
	cells int
	ascii []byte // a byte a cell, or
	chars []byte // characters, see nextChar
}

// runs iterates over the line.
func (l packed) runs(yield func(run) bool) {
	for rest := []byte(l[1:]); len(rest) > 0; {
		var r run
		head := rest[0]
		r.cells = int(binary.LittleEndian.Uint16(rest[1:]))
		rest = rest[3:]
		if head&runPen != 0 {
			r.pen.fg = color(binary.LittleEndian.Uint32(rest))
			r.pen.bg = color(binary.LittleEndian.Uint32(rest[4:]))
			r.pen.attr = attr(binary.LittleEndian.Uint16(rest[8:]))
			rest = rest[10:]
		}
		if head&runWide == 0 {
			r.ascii, rest = rest[:r.cells], rest[r.cells:]
		} else {
			end := 0
			for n := 0; n < r.cells; {
				_, width, size := nextChar(rest[end:])
				n += width
				end += size
			}
			r.chars, rest = rest[:end], rest[end:]
		}
		if !yield(r) {
			return
		}
	}
}

// nextChar splits off the first character of a run's chars.
func nextChar(chars []byte) (text []byte, width, size int) {
	n := int(chars[0] &^ charWide)
	width = 1
	if chars[0]&charWide != 0 {
		width = 2
	}
	return chars[1 : 1+n], width, 1 + n
}

// width returns the number of columns that the line uses.
func (l packed) width() int {
	n := 0
	for r := range l.runs {
		n += r.cells
	}
	return n
}

// appendText appends the line's characters without styling.
func (l packed) appendText(dst []byte) []byte {
	for r := range l.runs {
		dst = append(dst, r.ascii...)
		for chars := r.chars; len(chars) > 0; {
			text, _, size := nextChar(chars)
			dst = append(dst, text...)
			chars = chars[size:]
		}
	}
	return dst
}

// unpack writes the line into r, which is blank, as far as it fits.
func (t *Terminal) unpack(l packed, r *row) {
	x := 0
	put := func(g uint32, width int, p pen) bool {
		if x+width > len(r.cells) {
			return false
		}
		r.cells[x] = cell{glyph: g, pen: p}
		if width == 2 {
			r.cells[x].glyph |= glyphWide
			r.cells[x+1] = cell{glyph: glyphTail, pen: p}
			r.wide = true
		}
		x += width
		return true
	}
	fits := true
	for run := range l.runs {
		for _, b := range run.ascii {
			fits = fits && put(uint32(b), 1, run.pen)
		}
		for chars := run.chars; len(chars) > 0 && fits; {
			text, width, size := nextChar(chars)
			fits = put(t.glyphOf(text), width, run.pen)
			chars = chars[size:]
		}
	}
	r.used = x
	r.wrapped = l.wrapped() && fits
}
