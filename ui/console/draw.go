package console

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// A box is a pane's last drawing with what it was made from.
type box struct {
	key   boxKey
	lines []string
}

type boxKey struct {
	stamp   pane.Stamp
	rect    draw.Rect
	focused bool
	tabs    bool
	theme   *theme.Theme
}

// Draw draws the console.
func (c *Console) Draw(w, h int) []string {
	if w < screen.MinWidth || h < screen.MinHeight {
		c.layout = compute(w, h, 0, c.focus, c.zoomed)
		return screen.Small(w, h)
	}
	f := c.frame()
	notices := c.notices(f, w)
	c.layout = compute(w, h, len(notices), c.focus, c.zoomed)
	lines := make([]string, 0, h)
	lines = append(lines, c.header(f, w))
	lines = append(lines, notices...)
	if !c.layout.vitals.Empty() {
		lines = append(lines, c.vitals(f, w))
	}
	lines = append(lines, c.body(f)...)
	lines = append(lines, c.footer(w))
	c.over = draw.Rect{}
	if c.dialog != nil {
		block := c.dialog.Draw(c.theme, w, h)
		var x, y int
		lines, x, y = dialog.Place(c.theme, lines, block, w, h)
		c.over = draw.Rect{X: x, Y: y, W: draw.Width(block[0]), H: len(block)}
	}
	return lines
}

// body puts the visible panes together.
func (c *Console) body(f pane.Frame) []string {
	if c.layout.mode != wide || c.zoomed {
		return c.pane(f, c.focus)
	}
	left := append(append([]string{}, c.pane(f, plan)...), c.pane(f, actions)...)
	if c.layout.panes[actions].H > c.layout.panes[term].H { // spacious
		right := append(append([]string{}, c.pane(f, term)...), c.pane(f, score)...)
		return draw.Beside(left, append(right, draw.Beside(c.pane(f, machine), c.pane(f, budget))...))
	}
	top := draw.Beside(left, c.pane(f, term))
	return append(top, draw.Beside(c.pane(f, score), c.pane(f, machine), c.pane(f, budget))...)
}

// pane draws one pane with its border, or returns its last drawing when
// nothing about it has changed.
func (c *Console) pane(f pane.Frame, i int) []string {
	p, r := c.panes[i], c.layout.panes[i]
	key := boxKey{stamp: p.Stamp(f), rect: r, focused: i == c.focus, tabs: c.layout.mode != wide, theme: c.theme}
	if b := &c.boxes[i]; b.key == key && b.lines != nil {
		return b.lines
	}
	t := c.theme
	b := draw.Box{Border: t.Border, Pad: p.Pad()}
	b.Open = i == term && r.W == c.layout.w // alone on the screen, it gets every column
	if key.focused {
		b.Border = t.Focus
	}
	if i == term && c.term.Taken {
		b.Border = t.Tone(theme.Hint)
	}
	w, h := b.Inner(r.W, r.H)
	body := p.Body(f, w, h, key.focused)
	b.Title = c.paneTitle(i, key.focused)
	if key.tabs {
		b.Title = c.tabs(r.W)
	}
	b.Note, b.Foot = p.Note(f), p.Foot(f)
	lines := b.Draw(r.W, r.H, body)
	c.boxes[i] = box{key, lines}
	return lines
}

// paneTitle is a pane's number and name. The focused one is marked by more
// than its colour.
func (c *Console) paneTitle(i int, focused bool) []draw.Span {
	t, name := c.theme, c.panes[i].Name()
	if focused {
		return []draw.Span{draw.S(t.Focus.Bold(), theme.Arrow+" "+name)}
	}
	return []draw.Span{draw.S(t.Faint, fmt.Sprint(i+1)), draw.S(t.Title, " "+name)}
}

// tabs names all panes in the border of the one that is shown.
func (c *Console) tabs(w int) []draw.Span {
	t := c.theme
	var spans []draw.Span
	for i, p := range c.panes {
		name := p.Name()
		if w < 70 && i != c.focus {
			name = ""
		}
		if i > 0 {
			spans = append(spans, draw.S(t.Border, " "))
		}
		if i == c.focus {
			spans = append(spans, draw.S(t.Picked, fmt.Sprintf(" %d %s ", i+1, name)))
			continue
		}
		spans = append(spans, draw.S(t.Faint, fmt.Sprintf("%d", i+1)), draw.S(t.Muted, strings.TrimRight(" "+name, " ")))
	}
	return spans
}

// Cursor is in a dialog, in the line that asks what to find, or in a terminal
// that a person has taken over.
func (c *Console) Cursor() *tea.Cursor {
	switch {
	case c.layout.mode == tooSmall:
		return nil
	case c.dialog != nil:
		if cur := c.dialog.Cursor(); cur != nil {
			cur.X, cur.Y = cur.X+c.over.X, cur.Y+c.over.Y
			return cur
		}
		return nil
	case c.find != nil:
		cur := tea.NewCursor(min(draw.Width(c.find.Text)+8, c.layout.w-1), c.layout.h-1)
		cur.Blink = false
		return cur
	case c.term.Taken && !c.layout.panes[term].Empty():
		x, y, ok := c.term.Cursor()
		if !ok {
			return nil
		}
		if c.layout.panes[term].W < c.layout.w {
			x++ // its border
		}
		cur := tea.NewCursor(c.layout.panes[term].X+x, c.layout.panes[term].Y+1+y)
		cur.Blink = false
		return cur
	}
	return nil
}
