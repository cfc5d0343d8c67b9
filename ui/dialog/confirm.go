package dialog

import (
	tea "charm.land/bubbletea/v2"

	"proctor/ui/draw"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// Choose offers a few options, each with what it leads to. It serves to
// confirm (yes, no) as well as to pick an extension.
type Choose struct {
	Title   string
	Text    string // what will happen
	Tone    theme.Tone
	Options []Option
	Picked  int
}

// An Option is one button of a Choose. An option without requests cancels.
type Option struct {
	Label    string
	Key      string // also picks it; "" for none
	Requests []screen.Request
}

// Confirm asks before something that cannot be undone. The picked button is
// the one that does nothing.
func Confirm(title, text, yes string, requests ...screen.Request) *Choose {
	return &Choose{
		Title: title, Text: text, Tone: theme.Warn, Picked: 1,
		Options: []Option{{Label: yes, Key: "y", Requests: requests}, {Label: "cancel", Key: "n"}},
	}
}

// Update moves between the buttons and picks one.
func (d *Choose) Update(msg tea.Msg) ([]screen.Request, bool) {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	n := len(d.Options)
	switch s := key.String(); s {
	case "esc", "q", "ctrl+c":
		return nil, true
	case "left", "up", "shift+tab", "k":
		d.Picked = (d.Picked + n - 1) % n
	case "right", "down", "tab", "j":
		d.Picked = (d.Picked + 1) % n
	case "enter", "space":
		return d.Options[d.Picked].Requests, true
	default:
		for _, o := range d.Options {
			if o.Key != "" && o.Key == s {
				return o.Requests, true
			}
		}
	}
	return nil, false
}

// Draw shows the text and the buttons.
func (d *Choose) Draw(t *theme.Theme, w, _ int) []string {
	outer, inner := room(w, 64)
	content := paragraph(t.Text, d.Text, inner)
	content = append(content, draw.Spaces(inner))
	labels := make([]string, len(d.Options))
	for i, o := range d.Options {
		labels[i] = o.Label
	}
	content = append(content, buttons(t, labels, d.Picked, inner)...)
	return box(t, d.Tone, d.Title, keys(t, "←/→", "choose", "enter", "do it", "esc", "leave"), outer, content)
}

// Cursor is hidden.
func (d *Choose) Cursor() *tea.Cursor { return nil }
