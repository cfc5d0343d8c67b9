package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"proctor/runner/terminal"
	"proctor/ui/theme"
)

var red = theme.New(true, theme.FullColours).Tone(theme.Bad)

func TestRow(t *testing.T) {
	for _, tc := range []struct {
		name  string
		row   Row
		width int
		want  string
	}{
		{"fits", Row{Left: []Span{S(red, "ab")}, Right: []Span{S(red, "z")}}, 6, "ab   z"},
		{"left is cut", Row{Left: []Span{S(red, "abcdefgh")}, Right: []Span{S(red, "z")}}, 6, "abc… z"},
		{"right goes when it leaves too little", Row{Left: []Span{S(red, "abcdef")}, Right: []Span{S(red, "uvwxyz")}}, 8, "abcdef  "},
		{"exact", Row{Left: []Span{S(red, "abc"), S(red, "def")}}, 6, "abcdef"},
		{"one too many", Row{Left: []Span{S(red, "abc"), S(red, "defg")}}, 6, "abcde…"},
		{"wide", Row{Left: []Span{S(red, "漢字漢字")}}, 5, "漢字…"},
		{"nothing", Row{}, 3, "   "},
	} {
		if got := ansi.Strip(tc.row.Render(tc.width)); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestBox(t *testing.T) {
	b := Box{Title: []Span{S(red, "Plan")}, Note: []Span{S(red, "3 of 6")}, Foot: []Span{S(red, "end")}, Pad: 1}
	got := ansi.Strip(strings.Join(b.Draw(24, 4, []string{Fit("one", 20)}), "\n"))
	want := "╭─ Plan ────── 3 of 6 ─╮\n│ one                  │\n│                      │\n╰──────────────── end ─╯"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOver(t *testing.T) {
	screen := []string{"aaaaaa", "bb漢bb", "cccccc"}
	got := Over(screen, []string{"XY"}, 3, 1, theme.Plain)
	if want := "bb XYb"; got[1] != want && Width(got[1]) != 6 {
		t.Errorf("%q, want %q", got[1], want)
	}
}

// FuzzRow: whatever text an agent sends, a cleaned row is as wide as asked.
func FuzzRow(f *testing.F) {
	f.Add("python3 train.py", "0.97", 20)
	f.Add("e\u0301\u200d👩‍👩‍👧 漢字", "🇩🇪🇫🇷", 9)
	f.Add("\x1b[2J\x00\xff", "\t", 3)
	f.Fuzz(func(t *testing.T, left, right string, width int) {
		if width < 0 || width > 400 || len(left)+len(right) > 4000 {
			return
		}
		l, r := OneLine(terminal.Clean(left)), OneLine(terminal.Clean(right))
		line := Row{Left: []Span{S(red, l), S(theme.Plain, l)}, Right: []Span{S(red, r)}, Base: red}.Render(width)
		if got := ansi.StringWidth(line); got != width {
			t.Fatalf("%d cells, want %d: %q", got, width, line)
		}
	})
}
