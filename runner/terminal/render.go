package terminal

import "bytes"

const sgrReset = "\x1b[m"

// line returns absolute line i, packed; it is valid until the next call.
func (t *Terminal) line(i int) (packed, bool) {
	switch {
	case i < 0 || i >= t.history.n+t.rows:
		return nil, false
	case i < t.history.n:
		return t.history.at(i), true
	}
	t.scratch = t.pack(t.scratch[:0], &t.grid.rows[i-t.history.n])
	return t.scratch, true
}

// Render returns n lines from absolute line first (0 is the oldest kept), each
// exactly width cells wide: cut, or padded with spaces. Each line stands for
// itself and ends with a reset; SGR is the only sequence in it. Lines that do
// not exist are blank.
func (t *Terminal) Render(first, n, width int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]string, max(n, 0))
	var buf []byte
	for i := range out {
		buf = buf[:0]
		used := 0
		if l, ok := t.line(first + i); ok {
			buf, used = l.appendStyled(buf, width, &t.widths)
		}
		for ; used < width; used++ {
			buf = append(buf, ' ')
		}
		out[i] = string(append(buf, sgrReset...))
	}
	return out
}

// Text returns n lines from absolute line first as plain text, without
// trailing blanks. Lines that do not exist are empty.
func (t *Terminal) Text(first, n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]string, max(n, 0))
	var buf []byte
	for i := range out {
		if l, ok := t.line(first + i); ok {
			buf = bytes.TrimRight(l.appendText(buf[:0]), " ")
			out[i] = string(buf)
		}
	}
	return out
}

// appendStyled appends at most width columns of the line and returns how many it
// appended. The default pen is selected at the end.
func (l packed) appendStyled(dst []byte, width int, widths *runeTable) ([]byte, int) {
	used := 0
	var current pen
	var prev []byte // the character before, as far as one could join it
	for r := range l.runs {
		if used >= width {
			break
		}
		if r.pen != current {
			dst = r.pen.appendSGR(dst)
			current, prev = r.pen, nil
		}
		if r.chars == nil {
			text := r.ascii[:min(len(r.ascii), width-used)]
			dst = append(dst, text...)
			used += len(text)
			continue
		}
		for chars := r.chars; len(chars) > 0; {
			text, w, size := nextChar(chars)
			if used+w > width {
				for ; used < width; used++ {
					dst = append(dst, ' ')
				}
				break
			}
			if widths.needsBreak(prev, text) {
				dst = current.appendSGR(dst)
			}
			dst = append(dst, text...)
			used += w
			prev = text
			chars = chars[size:]
		}
	}
	if current != (pen{}) {
		dst = append(dst, sgrReset...)
	}
	return dst, used
}
