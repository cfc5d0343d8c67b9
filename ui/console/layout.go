package console

import (
	"proctor/ui/draw"
	"proctor/ui/screen"
)

// The panes, in the order of their numbers.
const (
	plan = iota
	actions
	term
	score
	machine
	budget
	paneCount
)

// A mode is how much room there is.
type mode int

const (
	tooSmall mode = iota
	single        // one pane, one line of tabs
	compact       // one pane with tabs in its border, and the vital figures above
	wide          // all panes
)

// A layout says where everything is. It is computed when the size, the zoom,
// the focus or the number of notices changes, never while drawing.
type layout struct {
	mode    mode
	w, h    int
	notices int
	header  draw.Rect
	notice  draw.Rect
	vitals  draw.Rect // compact only
	panes   [paneCount]draw.Rect
	footer  draw.Rect
}

func compute(w, h, notices, focus int, zoomed bool) layout {
	l := layout{w: w, h: h, notices: notices}
	if w < screen.MinWidth || h < screen.MinHeight {
		return l
	}
	l.header = draw.Rect{W: w, H: 1}
	l.notice = draw.Rect{Y: 1, W: w, H: notices}
	l.footer = draw.Rect{Y: h - 1, W: w, H: 1}
	body := draw.Rect{Y: 1 + notices, W: w, H: h - 2 - notices}
	switch {
	case w >= 100 && h >= 24:
		l.mode = wide
	case w >= 60 && h >= 16:
		l.mode = compact
		l.vitals = draw.Rect{Y: body.Y, W: w, H: 1}
		body.Y, body.H = body.Y+1, body.H-1
	default:
		l.mode = single
	}
	if l.mode != wide || zoomed {
		l.panes[focus] = body
		return l
	}
	l.columns(body)
	return l
}

// columns lays out all panes: what the agent does at the left, its terminal at
// the right, and a band of figures below both. The terminal keeps the eighty
// columns that most programs write for, as long as the left can spare them.
func (l *layout) columns(body draw.Rect) {
	left := clamp(l.w*36/100, 38, 72)
	if l.w >= 120 {
		left = min(left, l.w-82)
	}
	if l.w >= 160 && body.H >= 44 {
		l.spacious(body, left)
		return
	}
	band := clamp(body.H*29/100, 8, 17)
	top := body.H - band
	plans := clamp(top*36/100, 4, 16)
	l.panes[plan] = draw.Rect{Y: body.Y, W: left, H: plans}
	l.panes[actions] = draw.Rect{Y: body.Y + plans, W: left, H: top - plans}
	l.panes[term] = draw.Rect{X: left, Y: body.Y, W: l.w - left, H: top}

	chart := left
	if l.w >= 150 {
		chart = l.w * 44 / 100
	}
	rest := l.w - chart
	y := body.Y + top
	l.panes[score] = draw.Rect{Y: y, W: chart, H: band}
	l.panes[machine] = draw.Rect{X: chart, Y: y, W: rest / 2, H: band}
	l.panes[budget] = draw.Rect{X: chart + rest/2, Y: y, W: rest - rest/2, H: band}
}

// spacious gives the actions the whole height and the chart a place of its
// own below the terminal.
func (l *layout) spacious(body draw.Rect, left int) {
	plans := clamp(body.H*22/100, 8, 16)
	l.panes[plan] = draw.Rect{Y: body.Y, W: left, H: plans}
	l.panes[actions] = draw.Rect{Y: body.Y + plans, W: left, H: body.H - plans}
	right, x := l.w-left, left
	band := clamp(body.H*23/100, 10, 14)
	chart := clamp(body.H*29/100, 12, 20)
	top := body.H - band - chart
	l.panes[term] = draw.Rect{X: x, Y: body.Y, W: right, H: top}
	l.panes[score] = draw.Rect{X: x, Y: body.Y + top, W: right, H: chart}
	l.panes[machine] = draw.Rect{X: x, Y: body.Y + top + chart, W: right / 2, H: band}
	l.panes[budget] = draw.Rect{X: x + right/2, Y: body.Y + top + chart, W: right - right/2, H: band}
}

// at returns the pane at a cell, -1 for none.
func (l *layout) at(x, y int) int {
	for i, r := range l.panes {
		if !r.Empty() && r.Contains(x, y) {
			return i
		}
	}
	return -1
}

func clamp(n, low, high int) int { return max(min(n, high), low) }
