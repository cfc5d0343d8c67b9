package terminal

// cursor is where and how the next character is drawn, and what DECSC saves.
type cursor struct {
	x, y     int
	pending  bool // in the last column, which is written: the next character wraps
	pen      pen
	charsets [2]charset // G0 and G1
	shifted  bool       // G1 is in use (SO)
	origin   bool       // rows count from the scroll region (DECOM)
}

type charset uint8

const (
	charsetASCII charset = iota
	charsetDrawing
)

func (c *cursor) charset() charset {
	if c.shifted {
		return c.charsets[1]
	}
	return c.charsets[0]
}

// drawing maps a byte to DEC special graphics.
func drawing(b byte) rune {
	const graphics = " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
	if b < 0x5f {
		return rune(b)
	}
	for _, r := range graphics {
		if b == 0x5f {
			return r
		}
		b--
	}
	return rune(b)
}

// moveTo puts the cursor to a column and row of the screen, or the nearest.
func (t *Terminal) moveTo(x, y int) {
	t.cursor.x = min(max(x, 0), t.cols-1)
	t.cursor.y = min(max(y, 0), t.rows-1)
	t.cursor.pending = false
}

// moveToRow is moveTo counting rows as DECOM says.
func (t *Terminal) moveToRow(x, y int) {
	if t.cursor.origin {
		y = min(max(t.top+y, t.top), t.bot)
	}
	t.moveTo(x, y)
}

func (t *Terminal) moveUp(n int) {
	limit := 0
	if t.cursor.y >= t.top {
		limit = t.top
	}
	t.moveTo(t.cursor.x, max(t.cursor.y-n, limit))
}

func (t *Terminal) moveDown(n int) {
	limit := t.rows - 1
	if t.cursor.y <= t.bot {
		limit = t.bot
	}
	t.moveTo(t.cursor.x, min(t.cursor.y+n, limit))
}

// index moves down a line, scrolling at the end of the scroll region (IND),
// where fill comes in.
func (t *Terminal) index(fill cell) {
	switch {
	case t.cursor.y == t.bot:
		t.scrollUp(1, fill)
	case t.cursor.y < t.rows-1:
		t.cursor.y++
	}
}

// reverseIndex moves up a line, scrolling at the top of the region (RI).
func (t *Terminal) reverseIndex() {
	switch {
	case t.cursor.y == t.top:
		t.grid.rotateDown(t.top, t.bot, 1, t.cursor.pen.fill())
	case t.cursor.y > 0:
		t.cursor.y--
	}
}

// scrollUp scrolls the region; lines that leave the top of the primary screen
// become scrollback.
func (t *Terminal) scrollUp(n int, fill cell) {
	n = min(n, t.bot-t.top+1)
	if n <= 0 {
		return
	}
	if t.top == 0 && t.grid == t.primary {
		for y := range n {
			t.keep(&t.grid.rows[y])
		}
	}
	t.grid.rotateUp(t.top, t.bot, n, fill)
}

// keep adds a row to the scrollback.
func (t *Terminal) keep(r *row) {
	if t.onScroll == nil && t.history.maxLines == 0 {
		t.evicted++
		return
	}
	t.scratch = t.pack(t.scratch[:0], r)
	if t.onScroll != nil {
		t.onScroll(t.scratch)
		return
	}
	t.evicted += uint64(t.history.push(t.scratch))
}

func (t *Terminal) scrollDown(n int) {
	if n = min(n, t.bot-t.top+1); n > 0 {
		t.grid.rotateDown(t.top, t.bot, n, t.cursor.pen.fill())
	}
}

func (t *Terminal) saveCursor() {
	t.grid.saved = t.cursor
}

func (t *Terminal) restoreCursor() {
	saved := t.grid.saved
	t.cursor = saved
	t.moveTo(saved.x, saved.y)
	t.cursor.pending = saved.pending && saved.x == t.cols-1
}

func defaultTabs(cols int) []bool {
	tabs := make([]bool, cols)
	for x := 8; x < cols; x += 8 {
		tabs[x] = true
	}
	return tabs
}

// tab moves n tab stops right, or left if n is negative.
func (t *Terminal) tab(n int) {
	x := t.cursor.x
	for ; n > 0 && x < t.cols-1; n-- {
		for x++; x < t.cols-1 && !t.tabs[x]; x++ {
		}
	}
	for ; n < 0 && x > 0; n++ {
		for x--; x > 0 && !t.tabs[x]; x-- {
		}
	}
	if x != t.cursor.x {
		t.moveTo(x, t.cursor.y)
	}
}
