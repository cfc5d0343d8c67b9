package dialog

import (
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// NewHelp lists the keys of a place, from the table of bindings. disabled
// tells why a deed cannot be done now, or "".
func NewHelp(place theme.Place, disabled func(theme.Deed) string) *Read {
	d := NewRead("Keys", nil, Section{Draw: func(t *theme.Theme, w int) []string {
		return helpLines(t, place, disabled, w)
	}})
	return d
}

func helpLines(t *theme.Theme, place theme.Place, disabled func(theme.Deed) string, w int) []string {
	list := theme.Bindings(place)
	column := 0
	for _, b := range list {
		column = max(column, draw.Width(b.Name()))
	}
	var lines []string
	for _, b := range list {
		key, text := t.Key, t.Text
		help := draw.S(text, b.Help)
		row := draw.Row{Left: []draw.Span{draw.S(key, b.Name()+draw.Spaces(column+2-draw.Width(b.Name()))), help}}
		if why := disabled(b.Deed); why != "" {
			row.Left[0].Style, row.Left[1].Style = t.Faint, t.Faint
			row.Left = append(row.Left, draw.S(t.Muted, "  ("+why+")"))
		}
		lines = append(lines, row.Render(w))
	}
	return lines
}
