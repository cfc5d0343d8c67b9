package console

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"proctor/ui/dialog"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// look does what changes only the view.
func (c *Console) look(deed theme.Deed, key string) {
	p := c.panes[c.focus]
	switch deed {
	case theme.NextPane:
		c.focus = (c.focus + 1) % paneCount
	case theme.PrevPane:
		c.focus = (c.focus + paneCount - 1) % paneCount
	case theme.ToPane:
		c.focus = min(int(key[0]-'1'), paneCount-1)
	case theme.Zoom:
		c.zoomed = !c.zoomed
	case theme.LineDown:
		p.Move(1)
	case theme.LineUp:
		p.Move(-1)
	case theme.PageDown:
		p.Page(1)
	case theme.PageUp:
		p.Page(-1)
	case theme.ToTop:
		p.Ends(-1)
	case theme.ToEnd:
		p.Ends(1)
	case theme.Left:
		c.term.Sideways(-8)
	case theme.Right:
		c.term.Sideways(8)
	case theme.Find:
		c.find = &dialog.Prompt{}
	case theme.FindNext:
		c.findNext(1)
	case theme.FindPrev:
		c.findNext(-1)
	case theme.Cancel:
		c.leave()
	case theme.Help:
		c.dialog = dialog.NewHelp(c.where(), c.disabled)
	case theme.Open:
		c.open()
	}
}

// leave undoes one thing: the search, else the zoom.
func (c *Console) leave() {
	switch {
	case c.query != "":
		c.query = ""
		for _, p := range c.panes {
			p.Find(c.frame(), "", 1)
		}
	case c.zoomed:
		c.zoomed = false
	}
}

// open shows the selected action in full.
func (c *Console) open() {
	d, ok := c.actions.Selected(c.frame())
	if !ok {
		return
	}
	sections := make([]dialog.Section, len(d.Parts))
	for i, p := range d.Parts {
		sections[i] = dialog.Section{Heading: p.Heading, Text: p.Text}
	}
	c.dialog = dialog.NewRead(d.Title, d.Facts, sections...)
}

// search takes keys for the line that asks what to find.
func (c *Console) search(msg tea.Msg) []screen.Request {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc", "ctrl+c":
			c.find = nil
			return c.notice()
		case "enter":
			c.query, c.find = c.find.Text, nil
			if c.query != "" {
				c.findNext(-1)
			}
			return c.notice()
		}
	}
	c.find.Type(msg)
	return nil
}

func (c *Console) findNext(direction int) {
	if !c.panes[c.focus].Find(c.frame(), c.query, direction) {
		c.say(true, fmt.Sprintf("no %q in %s", c.query, c.panes[c.focus].Name()))
	}
}

// mouse scrolls the pane under it, focuses the one that is clicked, and
// selects the entry of the actions.
func (c *Console) mouse(msg tea.MouseMsg) []screen.Request {
	m := msg.Mouse()
	if c.dialog != nil {
		if _, ok := msg.(tea.MouseWheelMsg); ok {
			c.dialog.Update(msg)
		}
		return nil
	}
	i := c.layout.at(m.X, m.Y)
	if i < 0 {
		return nil
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			c.panes[i].Move(-3)
		case tea.MouseWheelDown:
			c.panes[i].Move(3)
		}
	case tea.MouseClickMsg:
		c.focus = i
		if i == actions {
			c.actions.Pick(m.Y - c.layout.panes[i].Y - 1)
		}
	}
	return nil
}
