package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// screen returns the text of the screen, without blank rows at the end.
func screen(t *Terminal) []string {
	_, rows := t.Size()
	lines := t.Text(t.Lines()-rows, rows)
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func write(t *Terminal, s string) {
	if n, err := t.Write([]byte(s)); n != len(s) || err != nil {
		panic(fmt.Sprintf("Write(%q) = %d, %v", s, n, err))
	}
}

// A row of the table: what is written to a 10×4 terminal, the screen it gives
// (lines separated by |), and where the cursor is.
type screenCase struct {
	name, in, want string
	x, y           int
}

func runScreenCases(t *testing.T, cases []screenCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			term := New(10, 4)
			write(term, c.in)
			if got := strings.Join(screen(term), "|"); got != c.want {
				t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.want)
			}
			if x, y, _ := term.Cursor(); x != c.x || y-term.history.n != c.y {
				t.Errorf("%q: cursor at %d,%d, want %d,%d", c.in, x, y-term.history.n, c.x, c.y)
			}
			checkInvariants(t, term)
		})
	}
}

func TestText(t *testing.T) {
	runScreenCases(t, []screenCase{
		{"plain", "hello", "hello", 5, 0},
		{"crlf", "a\r\nb", "a|b", 1, 1},
		{"lf keeps the column", "a\nb", "a| b", 2, 1},
		{"carriage return overwrites", "hello\rJ", "Jello", 1, 0},
		{"backspace", "ab\bc", "ac", 2, 0},
		{"backspace stops at the edge", "a\b\b\bc", "c", 1, 0},
		{"tab", "a\tb", "a       b", 9, 0},
		{"tab stops in the last column", "\t\t\tb", "         b", 9, 0},
		{"wrap", "0123456789ab", "0123456789|ab", 2, 1},
		{"no wrap before the next character", "0123456789", "0123456789", 9, 0},
		{"full line then newline", "0123456789\r\nx", "0123456789|x", 1, 1},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2|3|4|5", 1, 3},
		{"vertical tab and form feed", "a\vb\fc", "a| b|  c", 3, 2},
		{"nul, bell and del are nothing", "a\x00\a\x7fb", "ab", 2, 0},
		{"wide", "漢字", "漢字", 4, 0},
		{"wide wraps whole", "012345678漢", "012345678|漢", 2, 1},
		{"overwrite the right half", "漢字\x1b[2Gx", " x字", 2, 0},
		{"overwrite the left half", "漢字\x1b[1Gx", "x 字", 1, 0},
		{"overwrite between two", "漢字\x1b[2G語", " 語", 3, 0},
		{"combining", "e\u0301x", "e\u0301x", 2, 0},
		{"combining after a move", "ab\x1b[1C\x1b[1D\u0301", "ab\u0301", 2, 0},
		{"combining in the last column", "012345678e\u0301", "012345678e\u0301", 9, 0},
		{"combining with nothing before", "\u0301x", "x", 1, 0},
		{"emoji family", "👩‍👩‍👧‍👦x", "👩‍👩‍👧‍👦x", 3, 0},
		{"flag", "🇩🇪🇫🇷", "🇩🇪🇫🇷", 4, 0},
		{"variation selector widens", "☀\ufe0fx", "☀\ufe0fx", 3, 0},
		{"variation selector without room", "012345678☀\ufe0f", "012345678☀", 9, 0},
		{"skin tone", "👍🏽x", "👍🏽x", 3, 0},
		{"hangul jamo", "각x", "각x", 3, 0},
		{"zero width space is nothing", "a\u200bb", "ab", 2, 0},
		{"bidi override is nothing", "a\u202eb", "ab", 2, 0},
		{"8-bit controls in UTF-8 are nothing", "a\u009b31mb", "a31mb", 5, 0},
		{"invalid byte", "a\xffb", "a\ufffdb", 3, 0},
		{"cut character", "a\xe4\xbdb", "a\ufffdb", 3, 0},
		{"cut character before escape", "\xe4\xbd\x1b[mb", "\ufffdb", 2, 0},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd", 3, 0},
		{"overlong", "\xc0\xaf", "\ufffd\ufffd", 2, 0},
		{"line drawing", "\x1b(0lqk\x1b(Bq", "┌─┐q", 4, 0},
		{"line drawing by shift out", "\x1b)0\x0eqx\x0fq", "─│q", 3, 0},
		{"repeat", "ab\x1b[3b", "abbbb", 5, 0},
		{"repeat wide", "漢\x1b[2b", "漢漢漢", 6, 0},
		{"insert mode", "abc\x1b[1G\x1b[4hXY\x1b[4lZ", "XYZbc", 3, 0},
		{"newline mode", "\x1b[20ha\nb", "a|b", 1, 1},
		{"no autowrap", "\x1b[?7l0123456789abc", "012345678c", 9, 0},
	})
}

func TestSequences(t *testing.T) {
	const grid = "aaaa\r\nbbbb\r\ncccc\r\ndddd"
	runScreenCases(t, []screenCase{
		{"cursor position", "\x1b[2;3Hx", "|  x", 3, 1},
		{"cursor position out of range", "\x1b[99;99Hx", "|||         x", 9, 3},
		{"cursor up down left right", "\x1b[2;2H\x1b[A\x1b[C\x1b[2B\x1b[3Dx", "||x", 1, 2},
		{"next and previous line", "ab\x1b[2Ec\x1b[Fd", "ab|d|c", 1, 1},
		{"column and row absolute", "\x1b[3Gx\x1b[2dy", "  x|   y", 4, 1},
		{"erase to end of line", "abcdef\x1b[3G\x1b[K", "ab", 2, 0},
		{"erase to start of line", "abcdef\x1b[3G\x1b[1K", "   def", 2, 0},
		{"erase line", "abc\x1b[2K", "", 3, 0},
		{"erase to the right of a full line", "0123456789\x1b[K", "0123456789", 9, 0},
		{"erase below", grid + "\x1b[2;3H\x1b[J", "aaaa|bb", 2, 1},
		{"erase above", grid + "\x1b[3;2H\x1b[1J", "||  cc|dddd", 1, 2},
		{"erase screen", grid + "\x1b[2J", "", 4, 3},
		{"insert characters", "abcd\x1b[2G\x1b[2@", "a  bcd", 1, 0},
		{"delete characters", "abcdef\x1b[2G\x1b[2P", "adef", 1, 0},
		{"erase characters", "abcdef\x1b[2G\x1b[2X", "a  def", 1, 0},
		{"delete half a wide character", "漢字x\x1b[2G\x1b[P", " 字x", 1, 0},
		{"insert lines", grid + "\x1b[2H\x1b[L", "aaaa||bbbb|cccc", 0, 1},
		{"delete lines", grid + "\x1b[2H\x1b[2M", "aaaa|dddd", 0, 1},
		{"scroll up", grid + "\x1b[S", "bbbb|cccc|dddd", 4, 3},
		{"scroll down", grid + "\x1b[2T", "||aaaa|bbbb", 4, 3},
		{"index and reverse index", "a\x1bDb\x1bM\x1bMc", "  c|a| b", 3, 0},
		{"next line", "a\x1bEb", "a|b", 1, 1},
		{"scroll region", grid + "\x1b[2;3r\x1b[3H\nX", "aaaa|cccc|X|dddd", 1, 2},
		{"scroll region, reverse", grid + "\x1b[2;3r\x1b[2H\x1bMX", "aaaa|X|bbbb|dddd", 1, 1},
		{"scroll region, cursor below", grid + "\x1b[1;2r\x1b[4H\n\nX", "aaaa|bbbb|cccc|Xddd", 1, 3},
		{"scroll region, invalid", grid + "\x1b[3;2r\x1b[4H\nX", "bbbb|cccc|dddd|X", 1, 3},
		{"insert lines in region", grid + "\x1b[2;3r\x1b[2H\x1b[L", "aaaa||bbbb|dddd", 0, 1},
		{"insert lines outside region", grid + "\x1b[2;3r\x1b[4H\x1b[L", "aaaa|bbbb|cccc|dddd", 0, 3},
		{"origin mode", "\x1b[2;3r\x1b[?6hx\x1b[9;1Hy", "|x|y", 1, 2},
		{"save and restore", "ab\x1b7\x1b[4;9Hz\x1b8c", "abc|||        z", 3, 0},
		{"save and restore, ansi", "ab\x1b[s\x1b[4;9H\x1b[uc", "abc", 3, 0},
		{"alternate screen", "ab\x1b[?1049hxy\x1b[?1049lc", "abc", 3, 0},
		{"alternate screen shows", "ab\x1b[?1049h\x1b[Hxy", "xy", 2, 0},
		{"alternate screen starts empty", "\x1b[?47hxy\x1b[?47l\x1b[?47h", "", 2, 0},
		{"alternate screen, older modes", "ab\x1b[?1048h\x1b[?1047h\x1b[Hx\x1b[?1047l\x1b[?1048lc", "abc", 3, 0},
		{"leaving the alternate screen twice", "ab\x1b7\x1b[?1049hq\x1b[?1049l\x1b[?1049lc", "abc", 3, 0},
		{"tab stops", "\x1b[3g\x1b[4G\x1bH\ra\tb", "a  b", 4, 0},
		{"tab clear", "\x1b[9G\x1b[g\ra\tb", "a        b", 9, 0},
		{"back tab", "\x1b[10G\x1b[Zx", "        x", 9, 0},
		{"alignment test", "\x1b#8", "EEEEEEEEEE|EEEEEEEEEE|EEEEEEEEEE|EEEEEEEEEE", 0, 0},
		{"reset", "abc\x1b[2;3r\x1b[?7l\x1bcx", "x", 1, 0},
		{"soft reset", "\x1b[?6h\x1b[2;3r\x1b[!p\x1b[4Hx", "|||x", 1, 3},
		{"osc with bel", "a\x1b]0;title\ab", "ab", 2, 0},
		{"osc with st", "a\x1b]0;title\x1b\\b", "ab", 2, 0},
		{"osc holds UTF-8 that contains 9c", "a\x1b]0;✓\ab", "ab", 2, 0},
		{"osc 8", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\!", "link!", 5, 0},
		{"osc 52 and 133", "\x1b]52;c;aGk=\a\x1b]133;A\a$", "$", 1, 0},
		{"dcs", "a\x1bPq#0;2;0;0;0\x1b\\b", "ab", 2, 0},
		{"apc with UTF-8", "a\x1b_Gi=1;漢\x1b\\b", "ab", 2, 0},
		{"pm and sos", "a\x1b^x\x1b\\\x1bXy\x1b\\b", "ab", 2, 0},
		{"string cancelled", "a\x1b]0;x\x18b", "ab", 2, 0},
		{"sequence cancelled", "a\x1b[3\x18b", "ab", 2, 0},
		{"control within a sequence", "a\x1b[1\rCb", "ab", 2, 0},
		{"UTF-8 within a sequence", "a\x1b[3漢b", "a漢b", 4, 0},
		{"unknown sequences", "a\x1b[>4;2m\x1b[?u\x1b[=1;1u\x1b[ q\x1b[?5W\x1b%Gb", "ab", 2, 0},
		{"xterm modifyOtherKeys is no SGR", "\x1b[>4;2ma", "a", 1, 0},
		{"huge parameters", "\x1b[99999999999999999999;99999999999999999999Hx", "|||         x", 9, 3},
	})
}

func TestSGR(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a", "a"},
		{"\x1b[1ma", "\x1b[0;1ma"},
		{"\x1b[1;2;3;4;5;7;8;9;53ma", "\x1b[0;1;2;3;5;7;8;9;4;53ma"},
		{"\x1b[1;31mx\x1b[22ma", "\x1b[0;1;31mx\x1b[0;31ma"},
		{"\x1b[31;42m\x1b[39ma", "\x1b[0;42ma"},
		{"\x1b[91;102ma", "\x1b[0;91;102ma"},
		{"\x1b[38;5;200ma", "\x1b[0;38;5;200ma"},
		{"\x1b[38;5;3ma", "\x1b[0;33ma"},
		{"\x1b[38:5:200ma", "\x1b[0;38;5;200ma"},
		{"\x1b[48;2;1;2;3ma", "\x1b[0;48;2;1;2;3ma"},
		{"\x1b[48:2:1:2:3ma", "\x1b[0;48;2;1;2;3ma"},
		{"\x1b[48:2::1:2:3ma", "\x1b[0;48;2;1;2;3ma"},
		{"\x1b[38:2::1:2:3;1ma", "\x1b[0;1;38;2;1;2;3ma"},
		{"\x1b[38;2;1;2;3;1ma", "\x1b[0;1;38;2;1;2;3ma"},
		{"\x1b[4:3ma", "\x1b[0;4:3ma"},
		{"\x1b[4:0ma", "a"},
		{"\x1b[21ma", "\x1b[0;4:2ma"},
		{"\x1b[58;2;1;2;3;4ma", "\x1b[0;4ma"},
		{"\x1b[58:5:1;3ma", "\x1b[0;3ma"},
		{"\x1b[38;5;999ma", "a"},
		{"\x1b[38;2;999;0;0ma", "a"},
		{"\x1b[38;2ma", "\x1b[0;38;2;0;0;0ma"},
		{"\x1b[38ma", "a"},
		{"\x1b[999999999999ma", "a"},
		{"\x1b[1;ma", "a"},
		{"\x1b[;1ma", "\x1b[0;1ma"},
		{"\x1b[1m\x1b[ma", "a"},
	} {
		term := New(10, 1)
		write(term, c.in)
		got := term.Render(0, 1, 10)[0]
		got = strings.TrimRight(strings.TrimSuffix(got, sgrReset), " ")
		if got = strings.TrimSuffix(got, sgrReset); got != c.want {
			t.Errorf("%q renders as %q, want %q", c.in, got, c.want)
		}
	}
}

func TestBackgroundColourErase(t *testing.T) {
	term := New(4, 2)
	write(term, "ab\x1b[41m\x1b[K")
	want := []string{"ab\x1b[0;41m  \x1b[m\x1b[m", "    \x1b[m"}
	if diff := cmp.Diff(want, term.Render(0, 2, 4)); diff != "" {
		t.Error(diff)
	}
}

func TestRenderCutsAndPads(t *testing.T) {
	term := New(6, 1)
	write(term, "a漢\x1b[31m字x")
	for width, want := range map[int]string{
		-1: "\x1b[m",
		0:  "\x1b[m",
		1:  "a\x1b[m",
		2:  "a \x1b[m",
		3:  "a漢\x1b[m",
		4:  "a漢\x1b[0;31m \x1b[m\x1b[m",
		5:  "a漢\x1b[0;31m字\x1b[m\x1b[m",
		8:  "a漢\x1b[0;31m字x\x1b[m  \x1b[m",
	} {
		if got := term.Render(0, 1, width)[0]; got != want {
			t.Errorf("width %d: got %q, want %q", width, got, want)
		}
	}
	if got := term.Render(-1, 3, 1); cmp.Diff([]string{" \x1b[m", "a\x1b[m", " \x1b[m"}, got) != "" {
		t.Errorf("lines that do not exist: %q", got)
	}
}

func TestRenderKeepsNeighboursApart(t *testing.T) {
	term := New(10, 1)
	write(term, "🇩\x1b[3G🇪")
	line := term.Render(0, 1, 10)[0]
	if w := ansi.StringWidth(line); w != 10 {
		t.Errorf("two regional indicators printed apart: width %d in %q", w, line)
	}
}

func TestScrollback(t *testing.T) {
	term := New(10, 3, WithHistory(5))
	for i := range 20 {
		write(term, fmt.Sprintf("\x1b[3%dm%d\r\n", i%8, i))
	}
	want := []string{"13", "14", "15", "16", "17", "18", "19", ""}
	if diff := cmp.Diff(want, term.Text(0, term.Lines())); diff != "" {
		t.Error(diff)
	}
	if got := term.Evicted(); got != 13 {
		t.Errorf("evicted %d lines, want 13", got)
	}
	if got, want := term.Render(0, 1, 4)[0], "\x1b[0;35m13\x1b[m  \x1b[m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write(term, "\x1b[3J")
	if got := term.Lines(); got != 3 {
		t.Errorf("%d lines after clearing the scrollback, want 3", got)
	}
	if got := term.Evicted(); got != 18 {
		t.Errorf("evicted %d lines, want 18", got)
	}
}

func TestScrollbackSources(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"alternate screen keeps none", "\x1b[?1049h1\r\n2\r\n3\r\n4\r\n5", nil},
		{"region at the top", "1\r\n2\r\n3\x1b[1;2r\x1b[2H\n", []string{"1"}},
		{"region below the top", "1\r\n2\r\n3\x1b[2;3r\x1b[3H\n", nil},
		{"delete line", "1\r\n2\x1b[H\x1b[M", nil},
		{"scroll up", "1\r\n2\x1b[9S", []string{"1", "2", ""}},
	} {
		term := New(10, 3)
		write(term, c.in)
		n := term.Lines() - 3
		var got []string
		if n > 0 {
			got = term.Text(0, n)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestModesAndTitle(t *testing.T) {
	term := New(10, 3)
	write(term, "\x1b[?1h\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[?1049h\x1b]2;a\tb\x1b[31m \u202ec\xff"+strings.Repeat("漢", 200)+"\a")
	if _, _, visible := term.Cursor(); visible {
		t.Error("cursor visible")
	}
	if !term.AppCursorKeys() || !term.BracketedPaste() || term.MouseMode() != MouseDrag || !term.AltScreen() {
		t.Error("modes not set")
	}
	write(term, "\x1b]2;a\tb \u202ec\xff"+strings.Repeat("漢", 200)+"\a")
	if got, want := term.Title(), "a    b c"+strings.Repeat("漢", 82); got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	write(term, "text\x1b[31m\x1b[2;3r\x1b(0\x1b[?6h\x1b[?7l\x1b[4h\x1b]2;half")
	term.SoftReset()
	if _, _, visible := term.Cursor(); !visible || term.AppCursorKeys() || term.BracketedPaste() ||
		term.MouseMode() != MouseOff || term.AltScreen() {
		t.Error("modes left after a soft reset")
	}
	write(term, "q\x1b[2Hq0123456789")
	if diff := cmp.Diff([]string{"q012345678", "9"}, screen(term)[1:]); diff != "" {
		t.Error(diff)
	}
	checkInvariants(t, term)
}

func TestReplies(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\x1b[c", "\x1b[?62;22c"},
		{"\x1b[>c", "\x1b[>1;10;0c"},
		{"\x1b[5n", "\x1b[0n"},
		{"ab\r\nc\x1b[6n", "\x1b[2;2R"},
		{"\x1b[?6n", "\x1b[?1;1R"},
		{"\x1b[2;3r\x1b[?6h\x1b[6n", "\x1b[1;1R"},
		{"\x1b[?2026$p", "\x1b[?2026;2$y"},
		{"\x1b[?25$p", "\x1b[?25;1$y"},
		{"\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"},
		{"\x1b[?4711$p", "\x1b[?4711;0$y"},
		{"\x1b[4$p", "\x1b[4;2$y"},
		{"\x1b[>q", "\x1bP>|proctor\x1b\\"},
		{"\x1bP$qm\x1b\\", "\x1bP0$r\x1b\\"},
		{"\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"},
		{"\x1b[18t", "\x1b[8;4;10t"},
		{"\x1b[21t\x1b]52;c;?\a\x1b]0;?\a", ""},
	} {
		term := New(10, 4)
		write(term, c.in)
		if got := string(term.Replies()); got != c.want {
			t.Errorf("%q is answered %q, want %q", c.in, got, c.want)
		}
		if len(term.Replies()) > 0 {
			t.Errorf("%q: replies not drained", c.in)
		}
	}
	term := New(10, 4)
	write(term, strings.Repeat("\x1b[c", 100_000))
	if n := len(term.Replies()); n > maxReplies || n < maxReplies/2 {
		t.Errorf("%d bytes of replies kept", n)
	}
}
