package pane

import (
	"math"

	"proctor/ui/draw"
	"proctor/ui/theme"
)

// A plot is a grid of braille cells, two dots wide and four high, each cell
// in the style of what was drawn on it last.
type plot struct {
	w, h      int
	low, high float64
	until     float64
	cells     []plotCell
}

type plotCell struct {
	dots  uint8
	rule  bool // a level runs through it
	style theme.Style
}

// brailleDot[y][x] is the bit of a dot within a cell.
var brailleDot = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (p *plot) dotX(x float64) int {
	return min(max(int(x/p.until*float64(2*p.w)), 0), 2*p.w-1)
}

func (p *plot) dotY(y float64) int {
	f := (p.high - y) / (p.high - p.low)
	return min(max(int(math.Round(f*float64(4*p.h-1))), 0), 4*p.h-1)
}

func (p *plot) set(x, y int, style theme.Style) {
	c := &p.cells[y/4*p.w+x/2]
	c.dots |= brailleDot[y%4][x%2]
	c.style = style
}

// dot draws a measurement: two dots wide, and on a large plot two high.
func (p *plot) dot(x, y float64, style theme.Style) {
	dx, dy := p.dotX(x)&^1, p.dotY(y)
	p.set(dx, dy, style)
	p.set(dx+1, dy, style)
	if p.h >= 10 {
		dy ^= 1
		p.set(dx, dy, style)
		p.set(dx+1, dy, style)
	}
}

// level draws a dashed line across.
func (p *plot) level(l Level) {
	row := p.dotY(l.Value) / 4
	for x := range p.w {
		if c := &p.cells[row*p.w+x]; !c.rule {
			c.rule, c.style = true, l.Style
		}
	}
}

// line draws a staircase through the corners.
func (p *plot) line(corners []XY, style theme.Style) {
	for i := 1; i < len(corners); i++ {
		x0, y0 := p.dotX(corners[i-1].X), p.dotY(corners[i-1].Y)
		x1, y1 := p.dotX(corners[i].X), p.dotY(corners[i].Y)
		for x := x0; x <= x1; x++ {
			p.set(x, y0, style)
		}
		for y := min(y0, y1); y <= max(y0, y1); y++ {
			p.set(x1, y, style)
		}
	}
}

// row appends a row of cells as spans, one for each stretch of equal style.
func (p *plot) row(spans []draw.Span, y int) []draw.Span {
	cells := p.cells[y*p.w : (y+1)*p.w]
	run := make([]rune, 0, len(cells))
	for i, c := range cells {
		if i > 0 && c.style != cells[i-1].style {
			spans = append(spans, draw.S(cells[i-1].style, string(run)))
			run = run[:0]
		}
		run = append(run, c.glyph(i))
	}
	return append(spans, draw.S(cells[len(cells)-1].style, string(run)))
}

func (c plotCell) glyph(x int) rune {
	switch {
	case c.dots != 0:
		return 0x2800 + rune(c.dots)
	case c.rule && x%2 == 0:
		return '╌'
	}
	return ' '
}

// labels places the names of levels, the first at each row.
func (p *plot) labels(levels []Level) map[int]Level {
	at := map[int]Level{}
	for _, l := range levels {
		row := p.dotY(l.Value) / 4
		if _, taken := at[row]; !taken {
			at[row] = l
		}
	}
	return at
}
