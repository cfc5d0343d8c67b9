package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key is a key press. A key that produces text has Code, and Text if it is typed
// without Ctrl; any other key has a Name: "up", "down", "left", "right",
// "home", "end", "pgup", "pgdown", "insert", "delete", "backspace", "enter",
// "tab", "esc", "space", "f1" to "f20".
type Key struct {
	Code             rune
	Text             string
	Ctrl, Alt, Shift bool
	Name             string
}

// modifiers is xterm's number for the held modifiers, 1 for none.
func (k Key) modifiers() int {
	n := 1
	if k.Shift {
		n++
	}
	if k.Alt {
		n += 2
	}
	if k.Ctrl {
		n += 4
	}
	return n
}

// EncodeKey returns the bytes that a program on this terminal expects for k, as
// xterm sends them; nil if there are none.
func (t *Terminal) EncodeKey(k Key) []byte {
	t.mu.Lock()
	appCursor, newline := t.modes.appCursor, t.modes.newline
	t.mu.Unlock()
	switch k.Name {
	case "enter":
		if newline {
			return k.escaped("\r\n")
		}
		return k.escaped("\r")
	case "up", "down", "right", "left", "home", "end":
		return k.cursorKey(appCursor)
	}
	if seq, ok := k.named(); ok {
		return seq
	}
	return k.text()
}

// escaped prefixes s with ESC if Alt is held.
func (k Key) escaped(s string) []byte {
	if k.Alt {
		s = "\x1b" + s
	}
	return []byte(s)
}

func (k Key) cursorKey(app bool) []byte {
	final := map[string]byte{"up": 'A', "down": 'B', "right": 'C', "left": 'D', "home": 'H', "end": 'F'}[k.Name]
	switch m := k.modifiers(); {
	case m > 1:
		return fmt.Appendf(nil, "\x1b[1;%d%c", m, final)
	case app:
		return []byte{escape, 'O', final}
	}
	return []byte{escape, '[', final}
}

// tildeKeys are sent as CSI number ~.
var tildeKeys = map[string]int{
	"insert": 2, "delete": 3, "pgup": 5, "pgdown": 6, "pageup": 5, "pagedown": 6,
	"f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24, "f13": 25,
	"f14": 26, "f15": 28, "f16": 29, "f17": 31, "f18": 32, "f19": 33, "f20": 34,
}

func (k Key) named() ([]byte, bool) {
	m := k.modifiers()
	if n, ok := tildeKeys[k.Name]; ok {
		if m > 1 {
			return fmt.Appendf(nil, "\x1b[%d;%d~", n, m), true
		}
		return fmt.Appendf(nil, "\x1b[%d~", n), true
	}
	switch k.Name {
	case "f1", "f2", "f3", "f4":
		final := 'P' + k.Name[1] - '1'
		if m > 1 {
			return fmt.Appendf(nil, "\x1b[1;%d%c", m, final), true
		}
		return []byte{escape, 'O', final}, true
	case "tab":
		if k.Shift {
			return k.escaped("\x1b[Z"), true
		}
		return k.escaped("\t"), true
	case "backspace":
		if k.Ctrl {
			return k.escaped("\b"), true
		}
		return k.escaped("\x7f"), true
	case "esc", "escape":
		return k.escaped("\x1b"), true
	case "space":
		if k.Ctrl {
			return k.escaped("\x00"), true
		}
		return k.escaped(" "), true
	}
	return nil, false
}

// text encodes a key that produces a character.
func (k Key) text() []byte {
	switch {
	case k.Ctrl:
		if b, ok := controlByte(k.Code); ok {
			return k.escaped(string(rune(b)))
		}
	case k.Text != "":
		return k.escaped(k.Text)
	}
	r := k.Code
	if r < 0x20 || r == 0x7f || !utf8.ValidRune(r) || r > unicode.MaxRune {
		return nil
	}
	if k.Shift {
		r = unicode.ToUpper(r)
	}
	return k.escaped(string(r))
}

// controlByte returns what Ctrl makes of a key.
func controlByte(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z', r >= '@' && r <= '_':
		return byte(r) & 0x1f, true
	case r == ' ', r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r) - '3' + 0x1b, true
	case r == '8', r == '?':
		return 0x7f, true
	case r == '/':
		return 0x1f, true
	}
	return 0, false
}

// EncodePaste returns the bytes for pasted text: line ends as Enter sends them,
// other controls left out (so that a paste can neither end its own brackets nor
// press keys), bracketed if the program asked for it.
func (t *Terminal) EncodePaste(s string) []byte {
	s = strings.ReplaceAll(s, "\r\n", "\r")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '\r'
		case r == '\t' || r == '\r':
			return r
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
	if t.BracketedPaste() {
		s = "\x1b[200~" + s + "\x1b[201~"
	}
	return []byte(s)
}
