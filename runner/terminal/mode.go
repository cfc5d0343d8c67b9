package terminal

import "github.com/charmbracelet/x/ansi"

// modes is what programs switch on and off.
type modes struct {
	autowrap  bool // ?7
	visible   bool // ?25
	appCursor bool // ?1
	appKeypad bool // ESC =
	insert    bool // 4
	newline   bool // 20
	paste     bool // ?2004
	focus     bool // ?1004
	sync      bool // ?2026
	mouse     MouseMode
	mouseSGR  bool // ?1006
}

// MouseMode says which mouse events a program asked for.
type MouseMode uint8

// The mouse modes, each including the ones before.
const (
	MouseOff    MouseMode = iota
	MousePress            // ?9: presses
	MouseClick            // ?1000: presses and releases
	MouseDrag             // ?1002: and movement with a button down
	MouseMotion           // ?1003: and any movement
)

var mouseModes = map[int]MouseMode{9: MousePress, 1000: MouseClick, 1002: MouseDrag, 1003: MouseMotion}

func (t *Terminal) setANSIModes(params ansi.Params, on bool) {
	for i := range params {
		switch param(params, i) {
		case 4:
			t.modes.insert = on
		case 20:
			t.modes.newline = on
		}
	}
}

func (t *Terminal) setPrivateMode(n int, on bool) {
	m := &t.modes
	switch n {
	case 6:
		t.cursor.origin = on
		t.moveToRow(0, 0)
	case 9, 1000, 1002, 1003:
		m.mouse = MouseOff
		if on {
			m.mouse = mouseModes[n]
		}
	case 47, 1047, 1048, 1049:
		t.setScreenMode(n, on)
	case 2026:
		if on && !m.sync {
			t.shown, t.syncSince = t.version, t.now()
		}
		m.sync = on
	default:
		if flag := m.flag(n); flag != nil {
			*flag = on
		}
	}
}

// flag returns the private modes that are no more than a flag.
func (m *modes) flag(n int) *bool {
	switch n {
	case 1:
		return &m.appCursor
	case 7:
		return &m.autowrap
	case 25:
		return &m.visible
	case 1004:
		return &m.focus
	case 1006:
		return &m.mouseSGR
	case 2004:
		return &m.paste
	}
	return nil
}

// setScreenMode performs the four modes that concern the alternate screen.
func (t *Terminal) setScreenMode(n int, on bool) {
	alternate := t.grid == t.alternate
	switch {
	case n == 1048 && on:
		t.saveCursor()
	case n == 1048:
		t.restoreCursor()
	case on && !alternate:
		if n == 1049 {
			t.saveCursor()
		}
		t.enterAlternate()
	case !on && (alternate || n == 1049):
		t.leaveAlternate()
		if n == 1049 {
			t.restoreCursor()
		}
	}
}

// enterAlternate shows the alternate screen, empty.
func (t *Terminal) enterAlternate() {
	if t.alternate == nil {
		t.alternate = newGrid(t.cols, t.rows)
	}
	t.alternate.clearAll(cell{})
	t.alternate.saved = cursor{}
	t.grid = t.alternate
}

// leaveAlternate shows the primary screen.
func (t *Terminal) leaveAlternate() {
	if t.grid != t.alternate {
		return
	}
	if t.onLeaveAlt != nil {
		t.onLeaveAlt()
	}
	t.grid = t.primary
}

// modeState answers DECRQM: 1 set, 2 reset, 0 not known.
func (t *Terminal) modeState(prefix byte, n int) int {
	var on bool
	switch {
	case prefix == 0 && n == 4:
		on = t.modes.insert
	case prefix == 0 && n == 20:
		on = t.modes.newline
	case prefix != '?':
		return 0
	case n == 6:
		on = t.cursor.origin
	case n == 9 || n == 1000 || n == 1002 || n == 1003:
		on = t.modes.mouse == mouseModes[n]
	case n == 47 || n == 1047 || n == 1049:
		on = t.grid == t.alternate
	case n == 2026:
		on = t.modes.sync
	default:
		flag := t.modes.flag(n)
		if flag == nil {
			return 0
		}
		on = *flag
	}
	if on {
		return 1
	}
	return 2
}
