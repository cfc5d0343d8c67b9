package pane

import (
	"strings"

	"proctor/ui/draw"
	"proctor/ui/theme"
)

// bar draws a fraction as a line of width cells: what is used in a heavy
// stroke, what is left in a light one, and a mark where the soft limit is.
// Its shape alone tells it, without colour.
func bar(t *theme.Theme, width int, fraction, soft float64, used theme.Style) []draw.Span {
	if width <= 0 {
		return nil
	}
	fraction = min(max(fraction, 0), 1)
	halves := int(fraction*float64(width)*2 + 0.5)
	mark := -1
	if soft > 0 && soft < 1 {
		mark = min(int(soft*float64(width)), width-1)
	}
	cells := make([]string, width)
	full := 0
	for i := range cells {
		switch {
		case halves >= 2*i+2:
			cells[i], full = "━", i+1
		case halves == 2*i+1:
			cells[i], full = "╸", i+1
		default:
			cells[i] = "─"
		}
	}
	if mark >= full {
		return []draw.Span{
			draw.S(used, strings.Join(cells[:full], "")),
			draw.S(t.Faint, strings.Join(cells[full:mark], "")),
			draw.S(t.Tone(theme.Warn), "┼"),
			draw.S(t.Faint, strings.Join(cells[mark+1:], "")),
		}
	}
	return []draw.Span{
		draw.S(used, strings.Join(cells[:full], "")),
		draw.S(t.Faint, strings.Join(cells[full:], "")),
	}
}

// spark draws the newest values as one line of block characters, on a scale
// from zero to top, or to the largest value when top is zero. The highest
// block leaves a gap, so that sparklines below each other stay apart.
func spark(values []float64, width int, top float64) string {
	if width <= 0 || len(values) == 0 {
		return ""
	}
	values = values[max(0, len(values)-width):]
	if top <= 0 {
		for _, v := range values {
			top = max(top, v)
		}
	}
	blocks := []rune("▁▂▃▄▅▆▇")
	out := make([]rune, len(values))
	for i, v := range values {
		n := 0
		if top > 0 && v > 0 {
			n = min(int(v/top*float64(len(blocks)-1)+0.5), len(blocks)-1)
		}
		out[i] = blocks[n]
	}
	return string(out)
}

// Bar draws a plain fraction as a bar of width cells.
func Bar(t *theme.Theme, width int, fraction float64, tone theme.Tone) []draw.Span {
	return bar(t, width, fraction, 0, t.Tone(tone))
}
