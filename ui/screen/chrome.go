package screen

import (
	"fmt"

	"proctor/ui/draw"
	"proctor/ui/theme"
)

// The smallest terminal in which anything is shown.
const (
	MinWidth  = 40
	MinHeight = 10
)

// Small is the screen when there is not enough room.
func Small(w, h int) []string {
	text := draw.Wrap(fmt.Sprintf("too small (%d×%d), need %d×%d", w, h, MinWidth, MinHeight), w)
	lines := draw.Blank(w, h)
	first := max((h-len(text))/2, 0)
	for i := 0; i < len(text) && first+i < h; i++ {
		line := text[i]
		lines[first+i] = draw.Fit(draw.Spaces((w-draw.Width(line))/2)+line, w)
	}
	return lines
}

// Enabled is for screens on which every key can be used.
func Enabled(theme.Deed) string { return "" }

// Footer draws the keys of a place from the table of bindings: those that can
// be used now, in the table's order, as many as fit; help and leave always do.
// disabled tells why a deed cannot be done, or "".
func Footer(t *theme.Theme, place theme.Place, w int, disabled func(theme.Deed) string) string {
	var left, right []draw.Span
	used := 1
	piece := func(b theme.Binding) ([]draw.Span, int) {
		return []draw.Span{draw.S(t.Key, b.Name()), draw.S(t.Muted, " "+b.Label+"  ")},
			draw.Width(b.Name()) + draw.Width(b.Label) + 3
	}
	list := theme.Bindings(place)
	for _, b := range list {
		if b.Deed == theme.Help || b.Deed == theme.Quit {
			spans, n := piece(b)
			right, used = append(right, spans...), used+n
		}
	}
	left = append(left, draw.S(t.Text, " "))
	for _, b := range list {
		if b.Label == "" || b.Deed == theme.Help || b.Deed == theme.Quit || disabled(b.Deed) != "" {
			continue
		}
		spans, n := piece(b)
		if used+n >= w {
			break
		}
		left, used = append(left, spans...), used+n
	}
	return draw.Row{Base: t.Bar, Left: left, Right: right}.Render(w)
}

// Brand opens every header.
func Brand(t *theme.Theme) []draw.Span {
	return []draw.Span{draw.S(t.Tone(theme.Accent).Bold(), " "+theme.Logo+" "), draw.S(t.Strong, "proctor")}
}
