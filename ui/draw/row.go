package draw

import (
	"github.com/charmbracelet/x/ansi"

	"proctor/ui/theme"
)

// A Span is a piece of text in one style. Its text holds no escape sequences
// and no line breaks.
type Span struct {
	Style theme.Style
	Text  string
}

// S makes a span.
func S(style theme.Style, text string) Span { return Span{style, text} }

// A Row is one line: spans from the left, spans at the right edge, and what
// shines through under both.
type Row struct {
	Left, Right []Span
	Base        theme.Style
}

// Render draws the row exactly width cells wide. What is at the right keeps
// its room as long as it leaves a third of the line; the left is cut short
// with an ellipsis.
func (r Row) Render(width int) string {
	if width <= 0 {
		return ""
	}
	right := spansWidth(r.Right)
	if right > 0 && right+1 > width-width/3 && len(r.Left) > 0 {
		right = 0
		r.Right = nil
	}
	room := width - right
	if right > 0 && len(r.Left) > 0 {
		room-- // a gap before what is at the right
	}
	b := make([]byte, 0, width+24*(len(r.Left)+len(r.Right)+1))
	b, used := appendSpans(b, r.Base, r.Left, max(room, 0))
	b = theme.Plain.AppendTo(b, r.Base, Spaces(width-right-used))
	b, _ = appendSpans(b, r.Base, r.Right, right)
	return string(b)
}

func spansWidth(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

func appendSpans(b []byte, base theme.Style, spans []Span, room int) ([]byte, int) {
	used := 0
	for i, s := range spans {
		w := Width(s.Text)
		if w == 0 {
			continue
		}
		if used+w <= room && (used+w < room || spansWidth(spans[i+1:]) == 0) {
			b = s.Style.AppendTo(b, base, s.Text)
			used += w
			continue
		}
		if rest := room - used; rest > 0 {
			cut := ansi.Truncate(s.Text, rest, "")
			if w > rest || spansWidth(spans[i+1:]) > 0 {
				cut = ansi.Truncate(s.Text, rest-1, "") + theme.More
			}
			b = s.Style.AppendTo(b, base, cut)
			used += Width(cut)
		}
		break
	}
	return b, used
}

// Line draws spans from the left, exactly width cells wide.
func Line(width int, spans ...Span) string { return Row{Left: spans}.Render(width) }
