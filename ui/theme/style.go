package theme

import (
	"fmt"
	"strconv"
	"strings"
)

// A Style is how a piece of text looks: the parameters of one SGR sequence.
// The zero value is the terminal's own look. Rendering costs one small
// concatenation, which is why the panes use it rather than lipgloss.
type Style struct{ sgr string }

// Plain is the terminal's own look.
var Plain = Style{}

// Render puts the style around text, which must hold no escape sequences.
func (s Style) Render(text string) string {
	if s.sgr == "" || text == "" {
		return text
	}
	return "\x1b[" + s.sgr + "m" + text + "\x1b[m"
}

// AppendTo appends text in this style on top of base to b.
func (s Style) AppendTo(b []byte, base Style, text string) []byte {
	if s.sgr == "" && base.sgr == "" {
		return append(b, text...)
	}
	b = append(b, "\x1b["...)
	b = append(b, base.sgr...)
	if base.sgr != "" && s.sgr != "" {
		b = append(b, ';')
	}
	b = append(b, s.sgr...)
	b = append(b, 'm')
	b = append(b, text...)
	return append(b, "\x1b[m"...)
}

// And returns the style with another's attributes added; the other wins.
func (s Style) And(o Style) Style {
	if s.sgr == "" {
		return o
	}
	if o.sgr == "" {
		return s
	}
	return Style{s.sgr + ";" + o.sgr}
}

// Bold returns the style in bold.
func (s Style) Bold() Style { return s.And(Style{"1"}) }

// Underline returns the style underlined.
func (s Style) Underline() Style { return s.And(Style{"4"}) }

// Italic returns the style in italics.
func (s Style) Italic() Style { return s.And(Style{"3"}) }

// An ink is one colour in every theme.
type ink struct {
	dark, light string // "#rrggbb"
	ansi        int    // 0 to 15 on a dark background, -1 for the default
	ansiLight   int
}

func (i ink) on(t *Theme, background bool) Style {
	plane := 38
	if background {
		plane = 48
	}
	switch t.Colours {
	case NoColours:
		return Style{}
	case Colours16:
		n := i.ansi
		if !t.Dark {
			n = i.ansiLight
		}
		return ansi16(n, background)
	}
	hex := i.dark
	if !t.Dark {
		hex = i.light
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		return Style{}
	}
	return Style{fmt.Sprintf("%d;2;%d;%d;%d", plane, v>>16, v>>8&0xff, v&0xff)}
}

func ansi16(n int, background bool) Style {
	base := 30
	if background {
		base = 40
	}
	switch {
	case n < 0:
		return Style{}
	case n < 8:
		return Style{strconv.Itoa(base + n)}
	}
	return Style{strconv.Itoa(base + 60 + n - 8)}
}

// Hex returns the colour of an accent for renderers that want "#rrggbb" or an
// ANSI number; "" where there are no colours.
func (t *Theme) hex(i ink) string {
	switch {
	case t.Colours == NoColours:
		return ""
	case t.Colours == Colours16 && t.Dark:
		return strconv.Itoa(max(i.ansi, 0))
	case t.Colours == Colours16:
		return strconv.Itoa(max(i.ansiLight, 0))
	case t.Dark:
		return i.dark
	}
	return i.light
}
