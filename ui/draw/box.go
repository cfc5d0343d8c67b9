package draw

import (
	"proctor/ui/theme"
)

// A Box is a border with words in it.
type Box struct {
	Title  []Span // top left
	Note   []Span // top right
	Foot   []Span // bottom right
	Border theme.Style
	Pad    int  // empty columns on either side of the content
	Open   bool // no border at the sides
}

// Inner returns the size of the content of a box of w×h cells.
func (b Box) Inner(w, h int) (int, int) {
	if !b.Open {
		w -= 2
	}
	return max(w-2*b.Pad, 0), max(h-2, 0)
}

// Draw puts the border around content, whose lines are as wide as Inner says;
// missing lines are empty.
func (b Box) Draw(w, h int, content []string) []string {
	if w < 2 || h < 2 {
		return Fill(content, w, h)
	}
	inner, rows := b.Inner(w, h)
	lines := make([]string, 0, h)
	side, corners := b.Border.Render("│"), [4]string{"╭", "╮", "╰", "╯"}
	if b.Open {
		side, corners = "", [4]string{"─", "─", "─", "─"}
	}
	left, right := side+Spaces(b.Pad), Spaces(b.Pad)+side
	lines = append(lines, b.edge(corners[0], corners[1], w, b.Title, b.Note))
	empty := Spaces(inner)
	for i := range rows {
		line := empty
		if i < len(content) {
			line = content[i]
		}
		lines = append(lines, left+line+right)
	}
	return append(lines, b.edge(corners[2], corners[3], w, nil, b.Foot))
}

// edge draws a horizontal border with words in it. The words at the right go
// first when there is no room.
func (b Box) edge(from, to string, w int, left, right []Span) string {
	room := w - 4
	lw, rw := spansWidth(left), spansWidth(right)
	if rw > 0 && lw+rw+6 > room {
		right, rw = nil, 0
	}
	buf := make([]byte, 0, 3*w+64)
	buf = b.Border.AppendTo(buf, theme.Plain, from+"─")
	used := 0
	if lw > 0 && room > 4 {
		buf = append(buf, ' ')
		var n int
		buf, n = appendSpans(buf, theme.Plain, left, room-2)
		buf = append(buf, ' ')
		used = n + 2
	}
	tail := 0
	if rw > 0 {
		tail = rw + 2
	}
	buf = b.Border.AppendTo(buf, theme.Plain, Rule(room-used-tail))
	if rw > 0 {
		buf = append(buf, ' ')
		buf, _ = appendSpans(buf, theme.Plain, right, rw)
		buf = append(buf, ' ')
	}
	return string(b.Border.AppendTo(buf, theme.Plain, "─"+to))
}

// Rule returns a horizontal line of n cells.
func Rule(n int) string { return repeat("─", n) }

func repeat(s string, n int) string {
	if n <= 0 {
		return ""
	}
	b := make([]byte, 0, n*len(s))
	for range n {
		b = append(b, s...)
	}
	return string(b)
}
