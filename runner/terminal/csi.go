package terminal

import "github.com/charmbracelet/x/ansi"

// maxCount bounds a parameter; no screen is larger.
const maxCount = 1 << 16

// count returns parameter i as a number of steps: absent and 0 mean 1.
func count(params ansi.Params, i int) int {
	n, _, _ := params.Param(i, 1)
	return min(max(n, 1), maxCount)
}

// param returns parameter i, 0 if absent.
func param(params ansi.Params, i int) int {
	n, _, _ := params.Param(i, 0)
	return min(max(n, 0), maxCount)
}

// csi performs a control sequence.
func (t *Terminal) csi(cmd ansi.Cmd, params ansi.Params) {
	final := cmd.Final()
	if cmd.Prefix() == 0 && cmd.Intermediate() == 0 {
		if final == 'b' {
			t.repeat(count(params, 0))
			return
		}
		t.joinable, t.changed = false, true
		if !t.csiCursor(final, params) {
			t.csiEdit(final, params)
		}
		return
	}
	t.joinable = false
	t.csiPrivate(cmd, params)
}

// csiCursor performs what moves the cursor and reports whether final does.
func (t *Terminal) csiCursor(final byte, params ansi.Params) bool {
	c := &t.cursor
	switch final {
	case 'A':
		t.moveUp(count(params, 0))
	case 'B', 'e':
		t.moveDown(count(params, 0))
	case 'C', 'a':
		t.moveTo(c.x+count(params, 0), c.y)
	case 'D':
		t.moveTo(c.x-count(params, 0), c.y)
	case 'E':
		t.moveDown(count(params, 0))
		c.x = 0
	case 'F':
		t.moveUp(count(params, 0))
		c.x = 0
	case 'G', '`':
		t.moveTo(count(params, 0)-1, c.y)
	case 'H', 'f':
		t.moveToRow(count(params, 1)-1, count(params, 0)-1)
	case 'd':
		t.moveToRow(c.x, count(params, 0)-1)
	case 'I':
		t.tab(count(params, 0))
	case 'Z':
		t.tab(-count(params, 0))
	case 's':
		t.saveCursor()
	case 'u':
		t.restoreCursor()
	default:
		return false
	}
	return true
}

// csiEdit performs what changes the screen, the pen and the margins.
func (t *Terminal) csiEdit(final byte, params ansi.Params) {
	c := &t.cursor
	row := &t.grid.rows[c.y]
	switch final {
	case 'm':
		c.pen.sgr(params)
	case 'K':
		t.eraseLine(param(params, 0))
	case 'J':
		t.eraseDisplay(param(params, 0))
	case '@':
		row.insert(c.x, count(params, 0), c.pen.fill())
		c.pending = false
	case 'P':
		row.remove(c.x, count(params, 0), c.pen.fill())
		c.pending = false
	case 'X':
		row.erase(c.x, min(c.x+count(params, 0), t.cols), c.pen.fill())
		c.pending = false
	case 'L', 'M':
		t.editLines(final, count(params, 0))
	case 'S':
		t.scrollUp(count(params, 0), c.pen.fill())
	case 'T':
		if len(params) <= 1 { // with more it starts highlight tracking
			t.scrollDown(count(params, 0))
		}
	case 'r':
		t.setMargins(params)
	case 'g':
		switch param(params, 0) {
		case 0:
			t.tabs[c.x] = false
		case 3:
			clear(t.tabs)
		}
	case 'h', 'l':
		t.setANSIModes(params, final == 'h')
	case 'c':
		if param(params, 0) == 0 {
			t.replyDeviceAttributes()
		}
	case 'n':
		t.replyStatus(param(params, 0), "")
	case 't':
		t.replyWindow(param(params, 0))
	}
}

// eraseLine performs EL. A cursor that waits to wrap is past the text, so that
// nothing is erased to its right.
func (t *Terminal) eraseLine(what int) {
	row, fill := &t.grid.rows[t.cursor.y], t.cursor.pen.fill()
	switch what {
	case 0:
		if !t.cursor.pending {
			row.erase(t.cursor.x, t.cols, fill)
		}
	case 1:
		row.erase(0, t.cursor.x+1, fill)
	case 2:
		row.erase(0, t.cols, fill)
	}
}

// eraseDisplay performs ED.
func (t *Terminal) eraseDisplay(what int) {
	fill := t.cursor.pen.fill()
	from, to := 0, t.rows
	switch what {
	case 0:
		t.eraseLine(0)
		from = t.cursor.y + 1
	case 1:
		t.eraseLine(1)
		to = t.cursor.y
	case 2:
	case 3:
		t.evicted += uint64(t.history.n)
		t.history.clear()
		return
	default:
		return
	}
	for y := from; y < to; y++ {
		t.grid.rows[y].reset(fill)
	}
}

// editLines performs IL and DL.
func (t *Terminal) editLines(final byte, n int) {
	y := t.cursor.y
	if y < t.top || y > t.bot {
		return
	}
	n = min(n, t.bot-y+1)
	if final == 'L' {
		t.grid.rotateDown(y, t.bot, n, t.cursor.pen.fill())
	} else {
		t.grid.rotateUp(y, t.bot, n, t.cursor.pen.fill())
	}
	t.cursor.x, t.cursor.pending = 0, false
}

// setMargins performs DECSTBM.
func (t *Terminal) setMargins(params ansi.Params) {
	top := count(params, 0) - 1
	bot := t.rows - 1
	if b := param(params, 1); b > 0 {
		bot = min(b, t.rows) - 1
	}
	if top >= bot && t.rows > 1 {
		return
	}
	t.top, t.bot = min(top, bot), bot
	t.moveToRow(0, 0)
}

// csiPrivate performs sequences with a prefix or an intermediate byte.
func (t *Terminal) csiPrivate(cmd ansi.Cmd, params ansi.Params) {
	prefix, inter, final := cmd.Prefix(), cmd.Intermediate(), cmd.Final()
	switch {
	case prefix == '?' && inter == 0:
		t.csiQuestion(final, params)
	case prefix == '>' && inter == 0 && final == 'c':
		t.reply("\x1b[>1;10;0c")
	case prefix == '>' && inter == 0 && final == 'q':
		t.reply("\x1bP>|proctor\x1b\\")
	case inter == '$' && final == 'p':
		t.replyMode(prefix, param(params, 0))
	case prefix == 0 && inter == '!' && final == 'p':
		t.softReset()
	}
}

func (t *Terminal) csiQuestion(final byte, params ansi.Params) {
	switch final {
	case 'h', 'l':
		for i := range params {
			t.setPrivateMode(param(params, i), final == 'h')
		}
	case 'J':
		t.eraseDisplay(param(params, 0))
	case 'K':
		t.eraseLine(param(params, 0))
	case 'n':
		t.replyStatus(param(params, 0), "?")
		return
	}
	t.changed = true
}
