package launch

import (
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// A choice is one entry of a list of which one is picked.
type choice struct {
	name    string
	summary string
	why     string // why it cannot be used; "" when it can
	warn    string // what to know when it is used
	danger  bool   // shown in red
}

// choices is such a list.
type choices struct {
	list   []choice
	picked int
	top    int
	chosen string // by a person; outlives a reload
}

// set replaces the list and keeps what was picked, else picks the first that
// can be used.
func (c *choices) set(list []choice) {
	c.list, c.picked = list, -1
	for i, o := range list {
		if o.name == c.chosen {
			c.picked = i
		}
	}
	for i := 0; c.picked < 0 && i < len(list); i++ {
		if list[i].why == "" && !list[i].danger {
			c.picked = i
		}
	}
	c.picked = max(c.picked, 0)
}

// current returns the picked choice; its name is "" when there is none.
func (c *choices) current() choice {
	if c.picked >= len(c.list) {
		return choice{}
	}
	return c.list[c.picked]
}

func (c *choices) move(n int) {
	c.picked = min(max(c.picked+n, 0), max(len(c.list)-1, 0))
	c.chosen = c.current().name
}

// draw draws the list, and below it what there is to know about the picked.
func (c *choices) draw(t *theme.Theme, w, h int, focused bool) []string {
	if len(c.list) == 0 {
		return []string{draw.Line(w, draw.S(t.Faint, "looking …"))}
	}
	notes := c.notes(t, w, max(h-min(len(c.list), h-1), 0))
	room := max(h-len(notes), 1)
	c.top = max(min(c.top, c.picked), c.picked-room+1, 0)
	widest := 0
	for _, o := range c.list {
		widest = max(widest, min(draw.Width(o.name), w/2))
	}
	lines := make([]string, 0, h)
	for i := c.top; i < min(c.top+room, len(c.list)); i++ {
		lines = append(lines, c.line(t, i, widest, w, focused))
	}
	return append(lines, notes...)
}

func (c *choices) line(t *theme.Theme, i, widest, w int, focused bool) string {
	o := c.list[i]
	mark, style, base := theme.NoPick, t.Text, theme.Plain
	markStyle := t.Faint
	if i == c.picked {
		mark, markStyle, style = theme.Pick, t.Tone(theme.Accent), t.Strong
		if focused {
			base = t.Select
		}
	}
	summary := draw.S(t.Muted, "  "+o.summary)
	switch {
	case o.why != "":
		mark, markStyle, style = theme.Cross, t.Tone(theme.Warn), t.Faint
		summary = draw.S(t.Faint, "  "+o.why)
	case o.danger:
		markStyle, style = t.Tone(theme.Bad), t.Tone(theme.Bad)
	}
	name := draw.Cut(o.name, widest)
	return draw.Row{Base: base, Left: []draw.Span{
		draw.S(markStyle, mark+" "), draw.S(style, name), draw.S(t.Text, draw.Spaces(widest-draw.Width(name))), summary,
	}}.Render(w)
}

// notes are the reason or the warning of the picked choice, in full as far as
// there is room.
func (c *choices) notes(t *theme.Theme, w, room int) []string {
	o := c.current()
	text, tone, symbol := o.warn, theme.Warn, theme.Warning
	if o.danger {
		tone = theme.Bad
	}
	if o.why != "" {
		text, tone, symbol = o.why, theme.Warn, theme.Cross
	}
	if text == "" && draw.Width(o.summary) > w/2 {
		text, tone, symbol = o.summary, theme.Quiet, theme.Bullet
	}
	if text == "" {
		return nil
	}
	lines := wrapped(t, tone, symbol, pane.Clean(text), w)
	return lines[:min(len(lines), room)]
}
