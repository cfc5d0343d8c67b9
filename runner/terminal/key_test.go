package terminal

import (
	"strings"
	"testing"
)

func TestEncodeKey(t *testing.T) {
	for _, c := range []struct {
		key  Key
		want string
	}{
		{Key{Code: 'a', Text: "a"}, "a"},
		{Key{Code: 'a', Text: "A", Shift: true}, "A"},
		{Key{Code: 'a', Shift: true}, "A"},
		{Key{Code: '漢', Text: "漢字"}, "漢字"},
		{Key{Code: 'c', Ctrl: true}, "\x03"},
		{Key{Code: 'C', Ctrl: true, Shift: true}, "\x03"},
		{Key{Code: 'c', Ctrl: true, Alt: true}, "\x1b\x03"},
		{Key{Code: 'x', Text: "x", Alt: true}, "\x1bx"},
		{Key{Code: ' ', Ctrl: true}, "\x00"},
		{Key{Code: '[', Ctrl: true}, "\x1b"},
		{Key{Code: ']', Ctrl: true}, "\x1d"},
		{Key{Code: '\\', Ctrl: true}, "\x1c"},
		{Key{Code: '^', Ctrl: true}, "\x1e"},
		{Key{Code: '_', Ctrl: true}, "\x1f"},
		{Key{Code: '/', Ctrl: true}, "\x1f"},
		{Key{Code: '?', Ctrl: true}, "\x7f"},
		{Key{Code: '1', Ctrl: true}, "1"},
		{Key{Name: "up"}, "\x1b[A"},
		{Key{Name: "left", Ctrl: true}, "\x1b[1;5D"},
		{Key{Name: "right", Alt: true, Shift: true}, "\x1b[1;4C"},
		{Key{Name: "home"}, "\x1b[H"},
		{Key{Name: "end"}, "\x1b[F"},
		{Key{Name: "pgup"}, "\x1b[5~"},
		{Key{Name: "pgdown", Shift: true}, "\x1b[6;2~"},
		{Key{Name: "insert"}, "\x1b[2~"},
		{Key{Name: "delete"}, "\x1b[3~"},
		{Key{Name: "f1"}, "\x1bOP"},
		{Key{Name: "f4", Ctrl: true}, "\x1b[1;5S"},
		{Key{Name: "f5"}, "\x1b[15~"},
		{Key{Name: "f12", Alt: true}, "\x1b[24;3~"},
		{Key{Name: "f20"}, "\x1b[34~"},
		{Key{Name: "enter"}, "\r"},
		{Key{Name: "enter", Alt: true}, "\x1b\r"},
		{Key{Name: "enter", Shift: true}, "\r"},
		{Key{Name: "tab"}, "\t"},
		{Key{Name: "tab", Shift: true}, "\x1b[Z"},
		{Key{Name: "backspace"}, "\x7f"},
		{Key{Name: "backspace", Ctrl: true}, "\b"},
		{Key{Name: "backspace", Alt: true}, "\x1b\x7f"},
		{Key{Name: "esc"}, "\x1b"},
		{Key{Name: "space", Code: ' ', Text: " "}, " "},
		{Key{Name: "space", Ctrl: true}, "\x00"},
		{Key{Name: "capslock"}, ""},
		{Key{}, ""},
		{Key{Code: -1}, ""},
		{Key{Code: 1 << 30}, ""},
	} {
		if got := string(New(80, 24).EncodeKey(c.key)); got != c.want {
			t.Errorf("%+v encodes as %q, want %q", c.key, got, c.want)
		}
	}
}

func TestEncodeKeyFollowsModes(t *testing.T) {
	term := New(80, 24)
	write(term, "\x1b[?1h\x1b[20h")
	for _, c := range []struct {
		key  Key
		want string
	}{
		{Key{Name: "up"}, "\x1bOA"},
		{Key{Name: "end"}, "\x1bOF"},
		{Key{Name: "up", Shift: true}, "\x1b[1;2A"},
		{Key{Name: "enter"}, "\r\n"},
	} {
		if got := string(term.EncodeKey(c.key)); got != c.want {
			t.Errorf("%+v encodes as %q, want %q", c.key, got, c.want)
		}
	}
}

func TestEncodePaste(t *testing.T) {
	term := New(80, 24)
	const evil = "a\r\nb\nc\td\x1b[201~rm\x03\x00\u009b漢"
	if got, want := string(term.EncodePaste(evil)), "a\rb\rc\td[201~rm漢"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write(term, "\x1b[?2004h")
	if got, want := string(term.EncodePaste(evil)), "\x1b[200~a\rb\rc\td[201~rm漢\x1b[201~"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := string(term.EncodePaste("\x1b\x1b[201~[201~")); strings.Count(got, "\x1b") != 2 {
		t.Errorf("a paste ended its own brackets: %q", got)
	}
}

func TestEncodeMouse(t *testing.T) {
	click := MouseEvent{X: 4, Y: 2}
	for _, c := range []struct {
		modes string
		event MouseEvent
		want  string
	}{
		{"", click, ""},
		{"\x1b[?1000h", click, ""}, // only SGR encoding is spoken
		{"\x1b[?1000h\x1b[?1006h", click, "\x1b[<0;5;3M"},
		{"\x1b[?1000h\x1b[?1006h", MouseEvent{X: 4, Y: 2, Release: true, Button: MouseRight}, "\x1b[<2;5;3m"},
		{"\x1b[?9h\x1b[?1006h", MouseEvent{Release: true}, ""},
		{"\x1b[?1000h\x1b[?1006h", MouseEvent{Motion: true}, ""},
		{"\x1b[?1002h\x1b[?1006h", MouseEvent{Motion: true}, "\x1b[<32;1;1M"},
		{"\x1b[?1002h\x1b[?1006h", MouseEvent{Motion: true, Button: MouseNone}, ""},
		{"\x1b[?1003h\x1b[?1006h", MouseEvent{Motion: true, Button: MouseNone}, "\x1b[<35;1;1M"},
		{"\x1b[?1000h\x1b[?1006h", MouseEvent{Button: MouseWheelDown, Ctrl: true}, "\x1b[<81;1;1M"},
		{"\x1b[?1000h\x1b[?1006h\x1b[?1000l", click, ""},
		{"\x1b[?1000h\x1b[?1006h", MouseEvent{X: 80}, ""},
		{"\x1b[?1000h\x1b[?1006h", MouseEvent{Y: -1}, ""},
	} {
		term := New(80, 24)
		write(term, c.modes)
		if got := string(term.EncodeMouse(c.event)); got != c.want {
			t.Errorf("%q, %+v: got %q, want %q", c.modes, c.event, got, c.want)
		}
	}
}
