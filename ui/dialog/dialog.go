// Package dialog is what opens above a screen and takes the keys until it is
// done: questions, confirmations, a field to write in, a text to read, the
// help. A dialog ends with requests or with nothing.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"proctor/ui/draw"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// A Dialog takes keys and pastes until it reports that it is done.
type Dialog interface {
	Update(msg tea.Msg) (requests []screen.Request, done bool)
	// Draw returns a block of at most w×h cells.
	Draw(t *theme.Theme, w, h int) []string
	// Cursor is where the text cursor is within the block last drawn; nil
	// when there is none.
	Cursor() *tea.Cursor
}

// Place lays a dialog's block over the middle of a screen and returns where
// its top left corner is.
func Place(t *theme.Theme, under, block []string, w, h int) (lines []string, x, y int) {
	if len(block) == 0 {
		return under, 0, 0
	}
	x = max((w-draw.Width(block[0]))/2, 0)
	y = max((h-len(block))/2-h/12, 0)
	return draw.Over(under, block, x, y, t.Faint), x, y
}

// box draws a dialog's frame around content.
func box(t *theme.Theme, tone theme.Tone, title string, foot []draw.Span, w int, content []string) []string {
	border := t.Tone(tone)
	b := draw.Box{Title: []draw.Span{draw.S(border.Bold(), title)}, Foot: foot, Border: border, Pad: 2}
	inner, _ := b.Inner(w, 0)
	padded := append([]string{draw.Spaces(inner)}, content...)
	padded = append(padded, draw.Spaces(inner))
	return b.Draw(w, len(padded)+2, padded)
}

// room is how wide the content of a dialog is that would like to be so wide.
func room(w, wish int) (outer, inner int) {
	outer = max(min(wish, w-2), min(w, 20))
	return outer, max(outer-6, 1)
}

// keys writes what keys do, for the lower border of a dialog.
func keys(t *theme.Theme, pairs ...string) []draw.Span {
	var spans []draw.Span
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			spans = append(spans, draw.S(t.Faint, "  "))
		}
		spans = append(spans, draw.S(t.Key, pairs[i]), draw.S(t.Muted, " "+pairs[i+1]))
	}
	return spans
}

// paragraph wraps plain text into lines of one style.
func paragraph(style theme.Style, text string, w int) []string {
	var lines []string
	for _, l := range draw.Wrap(text, w) {
		lines = append(lines, draw.Line(w, draw.S(style, l)))
	}
	return lines
}

// buttons draws options side by side, or below each other when they do not
// fit, with the picked one standing out.
func buttons(t *theme.Theme, options []string, picked, w int) []string {
	total := 0
	for _, o := range options {
		total += draw.Width(o) + 6
	}
	one := func(i int) []draw.Span {
		style, left, right := t.Button, "  ", "  "
		if i == picked {
			style, left, right = t.Picked, "▸ ", " ◂"
		}
		return []draw.Span{draw.S(style, left+options[i]+right)}
	}
	if total > w {
		var lines []string
		for i := range options {
			lines = append(lines, draw.Line(w, one(i)...))
		}
		return lines
	}
	var spans []draw.Span
	for i := range options {
		spans = append(append(spans, one(i)...), draw.S(t.Text, "  "))
	}
	return []string{draw.Line(w, spans...)}
}
