// Package draw makes screens out of lines that are exactly as wide as they
// should be. Every width is measured in cells. A screen is a slice of such
// lines; boxes, rows and overlays are put together from them by plain
// concatenation, which costs a twentieth of laying out styled blocks.
package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"proctor/ui/theme"
)

// A Rect is a part of the screen, in cells from its top left corner.
type Rect struct{ X, Y, W, H int }

// Contains reports whether a cell lies in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Empty reports whether there is nothing of it to see.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Width measures text, with or without escape sequences, in cells.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Cut shortens text to at most width cells, ending in an ellipsis if it was
// longer.
func Cut(s string, width int) string {
	if len(s) <= width || Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, theme.More)
}

// Fit makes text, which may be styled, exactly width cells wide.
func Fit(s string, width int) string {
	w := Width(s)
	if w > width {
		s = ansi.Truncate(s, width, "")
		w = Width(s)
	}
	return s + Spaces(width-w)
}

const blanks = "                                                                                                                                "

// Spaces returns n spaces.
func Spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks text without escape sequences into lines of at most width
// cells, at words where it can.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return nil
	}
	return strings.Split(ansi.Wrap(strings.TrimRight(text, "\n"), width, " "), "\n")
}

// OneLine makes text fit for a single line: runs of blank space become one.
func OneLine(s string) string {
	for i := range len(s) {
		if s[i] < 0x20 || (s[i] == ' ' && i+1 < len(s) && s[i+1] == ' ') {
			return strings.Join(strings.Fields(s), " ")
		}
	}
	return s
}

// Blank returns h empty lines.
func Blank(w, h int) []string {
	lines, empty := make([]string, max(h, 0)), Spaces(w)
	for i := range lines {
		lines[i] = empty
	}
	return lines
}

// Fill makes lines exactly h lines of w cells by cutting or adding empty ones.
func Fill(lines []string, w, h int) []string {
	if len(lines) >= h {
		return lines[:max(h, 0)]
	}
	return append(lines[:len(lines):len(lines)], Blank(w, h-len(lines))...)
}

// Beside puts blocks of equal height next to each other.
func Beside(blocks ...[]string) []string {
	if len(blocks) == 1 {
		return blocks[0]
	}
	lines := make([]string, len(blocks[0]))
	var b strings.Builder
	for i := range lines {
		b.Reset()
		for _, block := range blocks {
			b.WriteString(block[i])
		}
		lines[i] = b.String()
	}
	return lines
}

// Over lays a block onto a screen at x, y. The screen underneath is stripped
// of its colours and drawn in the dim style, so that the eye goes to the block.
func Over(screen, block []string, x, y int, dim theme.Style) []string {
	out := make([]string, len(screen))
	for i, line := range screen {
		plain := ansi.Strip(line)
		if i < y || i >= y+len(block) {
			out[i] = dim.Render(plain)
			continue
		}
		top := block[i-y]
		left := Fit(ansi.Truncate(plain, x, ""), x)
		right := ansi.TruncateLeft(plain, x+Width(top), "")
		out[i] = dim.Render(left) + top + dim.Render(right)
	}
	return out
}
