package terminal

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// execute performs a C0 control.
func (t *Terminal) execute(b byte) {
	switch b {
	case '\b':
		t.moveTo(t.cursor.x-1, t.cursor.y)
	case '\t':
		t.tab(1)
	case '\n', '\v', '\f':
		t.cursor.pending = false
		if t.modes.newline {
			t.cursor.x = 0
		}
		t.index(t.cursor.pen.fill())
	case '\r':
		t.cursor.x, t.cursor.pending = 0, false
	case 0x0e:
		t.cursor.shifted = true
	case 0x0f:
		t.cursor.shifted = false
	default:
		return
	}
	t.joinable, t.changed = false, true
}

// esc performs an escape sequence.
func (t *Terminal) esc(cmd ansi.Cmd) {
	t.joinable, t.changed = false, true
	switch inter, final := cmd.Intermediate(), cmd.Final(); inter {
	case 0:
		t.escPlain(final)
	case '(', ')':
		set := charsetASCII
		if final == '0' {
			set = charsetDrawing
		}
		t.cursor.charsets[inter-'('] = set
	case '#':
		if final == '8' {
			t.alignmentTest()
		}
	}
}

func (t *Terminal) escPlain(final byte) {
	switch final {
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case 'D':
		t.cursor.pending = false
		t.index(t.cursor.pen.fill())
	case 'E':
		t.cursor.x, t.cursor.pending = 0, false
		t.index(t.cursor.pen.fill())
	case 'H':
		t.tabs[t.cursor.x] = true
	case 'M':
		t.cursor.pending = false
		t.reverseIndex()
	case 'c':
		t.reset()
	case '=':
		t.modes.appKeypad = true
	case '>':
		t.modes.appKeypad = false
	}
}

// alignmentTest fills the screen with E (DECALN).
func (t *Terminal) alignmentTest() {
	t.top, t.bot = 0, t.rows-1
	t.moveTo(0, 0)
	t.grid.clearAll(cell{glyph: 'E'})
}

// maxTitle bounds a title in bytes.
const maxTitle = 256

// controlString acts on a complete OSC, DCS, APC, PM or SOS: titles and two
// queries. Clipboard (52), hyperlinks (8), shell marks (133), graphics and the
// rest have no effect.
func (t *Terminal) controlString() {
	data := t.str.data
	switch t.str.kind {
	case ']':
		for _, prefix := range []string{"0;", "2;"} {
			if len(data) >= 2 && string(data[:2]) == prefix {
				t.title = cleanTitle(string(data[2:]))
				t.changed = true
			}
		}
	case 'P':
		t.deviceString(data)
	}
}

func cleanTitle(s string) string {
	title := make([]byte, 0, min(len(s), maxTitle))
	for _, r := range Clean(s) {
		if r == '\n' {
			r = ' '
		}
		if len(title)+utf8.RuneLen(r) > maxTitle {
			break
		}
		title = utf8.AppendRune(title, r)
	}
	return string(title)
}
