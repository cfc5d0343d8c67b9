package dialog

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"proctor/ui/draw"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// Read shows a long text to scroll through.
type Read struct {
	title string
	facts []string
	parts []Section

	width  int
	theme  *theme.Theme
	lines  []string
	top    int
	height int
}

// A Section is a part of the text with a heading. Draw makes its lines, when
// they are not plain text.
type Section struct {
	Heading, Text string
	Draw          func(t *theme.Theme, w int) []string
}

// NewRead opens a text; facts stand below its title.
func NewRead(title string, facts []string, parts ...Section) *Read {
	return &Read{title: title, facts: facts, parts: parts}
}

// Update scrolls.
func (d *Read) Update(msg tea.Msg) ([]screen.Request, bool) {
	page := max(d.height-1, 1)
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			d.scroll(-3)
		} else {
			d.scroll(3)
		}
	case tea.KeyPressMsg:
		switch msg.String() {
		case "esc", "q", "enter", "?", "ctrl+c":
			return nil, true
		case "j", "down":
			d.scroll(1)
		case "k", "up":
			d.scroll(-1)
		case "pgdown", "space", "ctrl+d", "ctrl+f":
			d.scroll(page)
		case "pgup", "ctrl+u", "ctrl+b":
			d.scroll(-page)
		case "home", "g":
			d.scroll(-len(d.lines))
		case "end", "G":
			d.scroll(len(d.lines))
		}
	}
	return nil, false
}

func (d *Read) scroll(n int) { d.top = min(max(d.top+n, 0), max(len(d.lines)-d.height, 0)) }

// Draw lays the text out once per width.
func (d *Read) Draw(t *theme.Theme, w, h int) []string {
	outer, inner := room(w, 96)
	if d.width != inner || d.theme != t {
		d.width, d.theme, d.lines = inner, t, d.layout(t, inner)
	}
	d.height = max(min(len(d.lines), h-6), 1)
	d.scroll(0)
	shown := d.lines[d.top:min(d.top+d.height, len(d.lines))]
	foot := keys(t, "esc", "leave")
	if len(d.lines) > d.height {
		at := fmt.Sprintf("%d–%d of %d  ", d.top+1, d.top+len(shown), len(d.lines))
		foot = append([]draw.Span{draw.S(t.Faint, at)}, keys(t, "j/k", "scroll", "esc", "leave")...)
	}
	return box(t, theme.Accent, draw.Cut(d.title, max(inner-4, 4)), foot, outer, shown)
}

func (d *Read) layout(t *theme.Theme, w int) []string {
	var lines []string
	if len(d.facts) > 0 {
		var spans []draw.Span
		for i, f := range d.facts {
			if i > 0 {
				spans = append(spans, draw.S(t.Faint, " "+theme.Bullet+" "))
			}
			spans = append(spans, draw.S(t.Muted, f))
		}
		lines = append(lines, draw.Line(w, spans...))
	}
	for _, p := range d.parts {
		if p.Text == "" && p.Draw == nil {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, draw.Spaces(w))
		}
		if p.Heading != "" {
			lines = append(lines, draw.Line(w, draw.S(t.Tone(theme.Accent).Bold(), p.Heading)))
		}
		if p.Draw != nil {
			lines = append(lines, p.Draw(t, w)...)
			continue
		}
		lines = append(lines, paragraph(t.Text, p.Text, w)...)
	}
	return lines
}

// Cursor is hidden.
func (d *Read) Cursor() *tea.Cursor { return nil }
