package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// state is everything that can be seen of a terminal or sensed by a program.
func state(t *Terminal) []string {
	x, y, visible := t.Cursor()
	c, m := t.cursor, t.modes
	c.x, c.y, m.sync = 0, 0, false
	lines := make([]string, t.Lines())
	for i := range lines {
		l, _ := t.line(i)
		lines[i] = visibleCells(l)
	}
	return append(lines,
		fmt.Sprintf("cursor %d,%d %v %+v", x, y, visible, c),
		fmt.Sprintf("modes %+v alt %v title %q margins %d–%d tabs %v",
			m, t.AltScreen(), t.Title(), t.top, t.bot, t.tabs))
}

// visibleCells writes a line such that two lines that look the same are equal: a
// blank tells its pen only where that shows.
func visibleCells(l packed) string {
	var out []byte
	var last pen
	put := func(text []byte, p pen) {
		if string(text) == " " && (cell{pen: p}).blank() {
			p = pen{}
		}
		if p != last {
			out = p.appendSGR(out)
		}
		last = p
		out = append(out, text...)
	}
	for r := range l.runs {
		for i := range r.ascii {
			put(r.ascii[i:i+1], r.pen)
		}
		for chars := r.chars; len(chars) > 0; {
			text, _, size := nextChar(chars)
			put(text, r.pen)
			chars = chars[size:]
		}
	}
	if last == (pen{}) { // or blanks that are seen end the line
		return trailing.ReplaceAllString(string(out), "")
	}
	return string(out)
}

// redrawn returns a fresh terminal with term's dump written to it.
func redrawn(term *Terminal) *Terminal {
	cols, rows := term.Size()
	again := New(cols, rows, WithHistory(term.history.maxLines))
	write(again, string(term.Dump()))
	return again
}

func checkDump(t *testing.T, term *Terminal) {
	t.Helper()
	again := redrawn(term)
	if diff := cmp.Diff(state(term), state(again)); diff != "" {
		t.Fatalf("dump shows something else:\n%s\n%q", diff, term.Dump())
	}
	checkInvariants(t, again)

	// What leaving the alternate screen and restoring the cursor bring back is
	// part of it too.
	for _, after := range []string{"\x1b8*", "\x1b[?1049l*", "\x1b8*"} {
		write(term, after)
		write(again, after)
		if diff := cmp.Diff(state(term), state(again)); diff != "" {
			t.Fatalf("after %q the dump shows something else:\n%s\n%q", after, diff, term.Dump())
		}
	}
}

func TestDump(t *testing.T) {
	for _, in := range []string{
		"",
		"hello\r\n\x1b[31mred",
		strings.Repeat("line\r\n", 50),
		strings.Repeat("0123456789", 12),
		strings.Repeat("漢字!", 30),
		"0123456789",        // waits to wrap
		"01234567漢",         // waits to wrap after a wide character
		"012345678\u00e9",   // waits to wrap after a mark
		"\x1b[?7l012345678", // no autowrap
		"\x1b[44m\x1b[2Jx\x1b[41m\x1b[K",
		"ab\x1b7\x1b[?1049h\x1b[31mfull\x1b[2;5H\x1b7\x1b[3;3Hscreen",
		"\x1b(0\x1b7\x1b(B\x1b[?1049hfull screen after line drawing",
		"\x1b[?6h\x1b7\x1b[2;3r\x1b[?6h\x1b[2Hx",
		"\x1b[3g\x1b[4G\x1bH\x1b)0\x0e\x1b[4h\x1b[20h",
		"\x1b[?1h\x1b[?25l\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b=\x1b]0;title\a",
		"🇩\x1b[3G🇪 👩‍👩‍👧 ☀\ufe0f e\u0301",
		"0123456789abc\x1b[2K",   // a wrapped line whose continuation is gone
		"0123456789abc\x1b[A\r漢", // and one overwritten
	} {
		term := New(10, 4)
		write(term, in)
		checkDump(t, term)
	}
}

func TestDumpOfStreams(t *testing.T) {
	for seed := range int64(300) {
		g := newGen(seed, 20, 6)
		g.clusters = true
		g.stream(80)
		checkInvariants(t, g.term)
		checkDump(t, g.term)
	}
}

func TestDumpIsBounded(t *testing.T) {
	term := New(100, 5, WithHistory(100_000))
	write(term, strings.Repeat(strings.Repeat("x", 100)+"\r\n", 20_000))
	if n := len(term.Dump()); n > 2*dumpLines*110 {
		t.Errorf("dump of %d bytes", n)
	}
	write(term, strings.Repeat("\x1b[31mx\x1b[32my", 300_000))
	if n := len(term.Dump()); n > 4*dumpBytes {
		t.Errorf("dump of %d bytes", n)
	}
}

// TestSplitAnywhere writes streams in two parts, cut at every byte, and byte by
// byte.
func TestSplitAnywhere(t *testing.T) {
	g := newGen(42, 20, 6)
	g.clusters = true
	streams := []string{
		string(g.stream(60)),
		"\x1b]0;ti✓tle\x1b\\a\xe6\xbc\x1b[31mb\x1b[1\r;3Cc\xf0\x9f\x91\x1b\x1b[Kd\x1bP$qm\x1b\\\xff\xc0\xafe\x1b[38:2::1:2:3mf\x9b31m",
	}
	for _, in := range streams {
		whole := New(20, 6)
		write(whole, in)
		want := append(state(whole), string(whole.Replies()))
		for cut := range len(in) {
			term := New(20, 6)
			write(term, in[:cut])
			write(term, in[cut:])
			if got := append(state(term), string(term.Replies())); !slices.Equal(got, want) {
				t.Fatalf("cut at %d, between %q and %q:\n%s", cut, in[:cut], in[cut:], cmp.Diff(want, got))
			}
		}
		term := New(20, 6)
		for i := range len(in) {
			write(term, in[i:i+1])
		}
		if got := append(state(term), string(term.Replies())); !slices.Equal(got, want) {
			t.Fatalf("byte by byte:\n%s", cmp.Diff(want, got))
		}
	}
}
