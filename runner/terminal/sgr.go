package terminal

import (
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// sgr performs Select Graphic Rendition. Sub-parameters may be given with colons
// (4:3, 38:2::r:g:b) or, for colours, semicolons; an underline's colour is
// skipped.
func (p *pen) sgr(params ansi.Params) {
	if len(params) == 0 {
		*p = pen{}
		return
	}
	for i := 0; i < len(params); i++ {
		n, more := params[i].Param(0), params[i].HasMore()
		switch {
		case n == 38 || n == 48 || n == 58:
			var c color
			var ok bool
			c, ok, i = sgrColor(params, i)
			switch {
			case !ok:
			case n == 38:
				p.fg = c
			case n == 48:
				p.bg = c
			}
			continue
		case n == 4 && more:
			style, _, _ := params.Param(i+1, 1)
			if style <= 5 {
				p.underline(style)
			}
		default:
			p.sgrSimple(n)
		}
		for i < len(params)-1 && params[i].HasMore() {
			i++
		}
	}
}

// sgrColor reads the colour that starts with parameter i (38, 48 or 58) and
// returns the index of its last parameter.
func sgrColor(params ansi.Params, i int) (c color, ok bool, last int) {
	values := make([]int, 0, 8) // does not escape
	if params[i].HasMore() {
		for i < len(params)-1 && params[i].HasMore() {
			i++
			if len(values) < cap(values) {
				values = append(values, params[i].Param(0))
			}
		}
		if len(values) >= 5 && values[0] == 2 { // a colour space precedes r, g, b
			values = append(values[:1], values[2:]...)
		}
	} else {
		n := 0
		switch kind, _, _ := params.Param(i+1, 0); kind {
		case 2:
			n = 4
		case 5:
			n = 2
		default:
			return 0, false, i
		}
		for range n {
			v, _, _ := params.Param(i+1, 0)
			values = append(values, v)
			i++
		}
		i = min(i, len(params)-1)
	}
	switch {
	case len(values) >= 4 && values[0] == 2 && values[1]|values[2]|values[3] <= 255:
		return colorRGB | color(values[1]<<16|values[2]<<8|values[3]), true, i
	case len(values) >= 2 && values[0] == 5 && values[1] <= 255:
		return colorIndexed | color(values[1]), true, i
	}
	return 0, false, i
}

func (p *pen) underline(style int) {
	p.attr = p.attr&^underlineMask | attr(style)<<underlineShift
}

func (p *pen) sgrSimple(n int) {
	switch {
	case n == 0:
		*p = pen{}
	case n >= 30 && n <= 37:
		p.fg = colorIndexed | color(n-30)
	case n >= 40 && n <= 47:
		p.bg = colorIndexed | color(n-40)
	case n >= 90 && n <= 97:
		p.fg = colorIndexed | color(n-90+8)
	case n >= 100 && n <= 107:
		p.bg = colorIndexed | color(n-100+8)
	case n == 39:
		p.fg = 0
	case n == 49:
		p.bg = 0
	case n < len(sgrSet):
		p.attr = p.attr&^sgrClear[n] | sgrSet[n]
	}
}

// What the parameters 1 to 55 switch on and off.
var (
	sgrSet = [56]attr{
		1: attrBold, 2: attrFaint, 3: attrItalic, 4: attrUnderline, 5: attrBlink, 6: attrBlink,
		7: attrReverse, 8: attrConceal, 9: attrStrike, 21: 2 << underlineShift, 53: attrOverline,
	}
	sgrClear = [56]attr{
		4: underlineMask, 21: underlineMask, 22: attrBold | attrFaint, 23: attrItalic, 24: underlineMask,
		25: attrBlink, 27: attrReverse, 28: attrConceal, 29: attrStrike, 55: attrOverline,
	}
)

// appendSGR appends the sequence that selects p whatever was selected before.
func (p pen) appendSGR(dst []byte) []byte {
	dst = append(dst, "\x1b["...)
	if p == (pen{}) {
		return append(dst, 'm')
	}
	dst = append(dst, '0')
	for n := 1; n <= 9; n++ {
		if n != 4 && n != 6 && p.attr&sgrSet[n] != 0 {
			dst = append(dst, ';', '0'+byte(n))
		}
	}
	switch style := p.attr & underlineMask >> underlineShift; style {
	case 0:
	case 1:
		dst = append(dst, ";4"...)
	default:
		dst = append(dst, ";4:"...)
		dst = append(dst, '0'+byte(style))
	}
	if p.attr&attrOverline != 0 {
		dst = append(dst, ";53"...)
	}
	dst = p.fg.appendSGR(dst, 30)
	dst = p.bg.appendSGR(dst, 40)
	return append(dst, 'm')
}

// appendSGR appends the colour's parameters; base is 30 or 40.
func (c color) appendSGR(dst []byte, base int) []byte {
	v := int(c &^ colorKind)
	param := func(n int) {
		dst = strconv.AppendInt(append(dst, ';'), int64(n), 10)
	}
	switch {
	case c == 0:
	case c&colorKind == colorIndexed && v < 8:
		param(base + v)
	case c&colorKind == colorIndexed && v < 16:
		param(base + 60 + v - 8)
	case c&colorKind == colorIndexed:
		param(base + 8)
		param(5)
		param(v)
	default:
		param(base + 8)
		param(2)
		param(v >> 16)
		param(v >> 8 & 0xff)
		param(v & 0xff)
	}
	return dst
}
