package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain text\nof two lines", "plain text\nof two lines"},
		{"漢字 é 👩‍👩‍👧 ☀\ufe0f", "漢字 é 👩‍👩‍👧 ☀\ufe0f"},
		{"a\tb", "a    b"},
		{"a\r\nb\rc", "a\nbc"},
		{"\x1b[1;31mred\x1b[0m", "red"},
		{"\x1b[?1049h\x1b[>4;2m\x1b[2 qx", "x"},
		{"\x1b[38:2::1:2:3mx", "x"},
		{"\x1b]0;title\ax", "x"},
		{"\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1b]52;c;aGk=\x07x", "x"},
		{"\x1bPq~~\x1b\\x\x1b_G\x1b\\y\x1b^z\x1b\\\x1bXw\x1b\\", "xy"},
		{"\x1bPbel does not end\a it\x1b\\x", "x"},
		{"\x1b(0\x1b7\x1bM\x1bcx", "x"},
		{"\u009b31mx\u009d0;t\u009cy\u0085z", "xyz"},
		{"a\x00\x07\x08\x0b\x7fb", "ab"},
		{"a\u202eb\u2066c\u200fd\u061ce", "abcde"},
		{"a\u200bb\ufeffc\u00add\U000e0041e", "abcde"},
		{"a\u2028b\u2029c", "a\nb\nc"},
		{"a\xff\xc0\xafb\xe4\xbd", "ab"},
		{"\x1b", ""},
		{"\x1b[", ""},
		{"\x1b[31", ""},
		{"\x1b\x1b[31mx", "x"},
		{"\x1b]never ends", "never ends"},
		{"\x1b]0;a\x1b[31mb", "b"},
		{"\x1b]0;a\x18b", "b"},
		{"\x1b\nx", "\nx"},
		{"\x1b[31\nx", "\nx"},
		{"\x1b漢", "漢"},
		{"\x1b\x1b]]0;x\a0;y\ax", "0;yx"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestCleanIsLinear cleans what takes minutes if every introducer looks for an
// end that is not there.
func TestCleanIsLinear(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range []string{"\x1b]", "\x1bP", "\u009d", "\x1b[1;", "\x1b]\x1bP\a", "\x1b(", "\x1b]0;x\x1b", "\xff"} {
			Clean(strings.Repeat(s, 1<<20))
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("not done with 8 MiB in a minute")
	}
}

func TestCleanOfPlainTextIsTheTextItself(t *testing.T) {
	s := strings.Repeat("plain ASCII text\n", 100)
	if n := testing.AllocsPerRun(10, func() { Clean(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
