package terminal

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestResize(t *testing.T) {
	const text = "1\r\n2\r\n3\r\n4"
	for _, c := range []struct {
		name       string
		in         string
		cols, rows int
		after      string
		want       []string // scrollback and screen
		y          int      // cursor's absolute line
	}{
		{"blank rows go first", "1\r\n2", 10, 2, "", []string{"1", "2"}, 1},
		{"then the top", text, 10, 2, "", []string{"1", "2", "3", "4"}, 3},
		{"cursor above text", text + "\x1b[2H", 10, 2, "x", []string{"1", "2", "x", "4"}, 2},
		{"higher takes lines back", text + "\r\n5", 10, 6, "", []string{"1", "2", "3", "4", "5", ""}, 4},
		{"narrower cuts", "0123456789\r\n漢字", 3, 4, "", []string{"012", "漢", "", ""}, 1},
		{"wider", "0123456789", 12, 4, "x", []string{"012345678x", "", "", ""}, 0},
		{"scroll region is forgotten", "\x1b[1;2r", 10, 5, "\x1b[5Hx\n", []string{"", "", "", "", "x", ""}, 5},
		{"tab stops in new columns", "", 20, 4, "\t\tx", []string{"                x", "", "", ""}, 0},
		{"nothing", "x", 0, -5, "", []string{"x"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := New(10, 4)
			write(term, c.in)
			term.Resize(c.cols, c.rows)
			write(term, c.after)
			if diff := cmp.Diff(c.want, term.Text(0, term.Lines())); diff != "" {
				t.Error(diff)
			}
			if _, y, _ := term.Cursor(); y != c.y {
				t.Errorf("cursor in line %d, want %d", y, c.y)
			}
			checkInvariants(t, term)
		})
	}
}

func TestResizeWithAlternateScreen(t *testing.T) {
	term := New(10, 4)
	write(term, "1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[Hfull")
	term.Resize(10, 2)
	checkInvariants(t, term)
	if diff := cmp.Diff([]string{"full"}, screen(term)); diff != "" {
		t.Error(diff)
	}
	write(term, "\x1b[?1049lx")
	if diff := cmp.Diff([]string{"1", "2", "3", "4x"}, term.Text(0, term.Lines())); diff != "" {
		t.Error(diff)
	}
}

// TestResizeDuringEverything resizes at random moments of random streams.
func TestResizeDuringEverything(t *testing.T) {
	for seed := range int64(30) {
		g := newGen(seed, 20, 6)
		g.clusters = true
		in := string(g.stream(100))
		r := rand.New(rand.NewSource(seed))
		term := New(20, 6, WithHistory(30))
		for in != "" {
			n := min(1+r.Intn(40), len(in))
			write(term, in[:n])
			in = in[n:]
			term.Resize(r.Intn(40), r.Intn(12))
			checkInvariants(t, term)
		}
	}
}

func TestSizesOutOfRange(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {-1, -1}, {1, 1}, {1, 2}, {2, 1}, {1 << 30, 1}, {1, 1 << 30}} {
		term := New(size[0], size[1])
		g := newGen(7, 20, 6)
		g.clusters = true
		write(term, string(g.stream(200)))
		write(term, strings.Repeat("漢e\u0301☀\ufe0f\t\b\x1b[9999b\x1b[4h\x1b[2;1r", 3))
		checkInvariants(t, term)
		if cols, rows := term.Size(); cols > maxCols || rows > maxRows {
			t.Errorf("size %v became %d×%d", size, cols, rows)
		}
	}
}
