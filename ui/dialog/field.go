package dialog

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"proctor/runner/terminal"
	"proctor/ui/draw"
)

// newField makes a text area without a look of its own: enter is left to the
// dialog, ctrl+j breaks a line, and the clipboard is the terminal's business.
func newField(placeholder, value string) textarea.Model {
	f := textarea.New()
	f.ShowLineNumbers = false
	f.Prompt = ""
	f.Placeholder = placeholder
	f.CharLimit = 8000
	f.MaxHeight = 200
	f.SetVirtualCursor(false)
	f.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("ctrl+j", "shift+enter", "alt+enter"))
	f.KeyMap.Paste = key.NewBinding()
	f.SetStyles(textarea.Styles{})
	f.SetValue(value)
	f.Focus()
	return f
}

// drawField sizes the field and returns its lines.
func drawField(f *textarea.Model, w, h int) []string {
	f.SetWidth(w)
	f.SetHeight(h)
	lines := strings.Split(f.View(), "\n")
	for i, l := range lines {
		lines[i] = draw.Fit(l, w)
	}
	return draw.Fill(lines, w, h)
}

// fieldCursor places the field's cursor within a dialog's block.
func fieldCursor(f *textarea.Model, x, y int) *tea.Cursor {
	c := f.Cursor()
	if c == nil {
		return nil
	}
	c.X, c.Y = c.X+x, c.Y+y
	c.Shape, c.Blink = tea.CursorBar, false
	return c
}

// A Prompt is a single line that is typed into, such as what to find.
type Prompt struct{ Text string }

// Type takes a key or a paste and reports whether the text changed.
func (p *Prompt) Type(msg tea.Msg) bool {
	before := p.Text
	switch msg := msg.(type) {
	case tea.PasteMsg:
		p.Text += draw.OneLine(terminal.Clean(msg.Content))
	case tea.KeyPressMsg:
		switch s := msg.String(); {
		case s == "backspace" && p.Text != "":
			_, n := utf8.DecodeLastRuneInString(p.Text)
			p.Text = p.Text[:len(p.Text)-n]
		case s == "ctrl+u":
			p.Text = ""
		case s == "ctrl+w":
			p.Text = strings.TrimRight(p.Text, " ")
			p.Text = p.Text[:strings.LastIndex(p.Text, " ")+1]
		case msg.Text != "" && len(p.Text) < 200:
			p.Text += msg.Text
		}
	}
	return p.Text != before
}
