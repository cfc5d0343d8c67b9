package dialog

import (
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// Hint is where a person writes to the agent. Above the field it shows the
// last hints and what became of them.
type Hint struct {
	run   string
	state *event.State
	field textarea.Model
	at    int // line of the field within the block
}

// NewHint opens the field. The state is read whenever the dialog is drawn.
func NewHint(run string, state *event.State) *Hint {
	return &Hint{run: run, state: state, field: newField("what should it know?", "")}
}

// Update sends on enter.
func (d *Hint) Update(msg tea.Msg) ([]screen.Request, bool) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc", "ctrl+c":
			return nil, true
		case "enter":
			text := strings.TrimSpace(d.field.Value())
			if text == "" {
				return nil, false
			}
			return []screen.Request{screen.Command{Run: d.run, Command: control.Command{Cmd: control.Hint, Text: text}}}, true
		}
	}
	d.field, _ = d.field.Update(msg)
	return nil, false
}

// Draw shows earlier hints and the field.
func (d *Hint) Draw(t *theme.Theme, w, h int) []string {
	outer, inner := room(w, 72)
	var content []string
	earlier := d.state.Hints[max(0, len(d.state.Hints)-2):]
	if h < 16 {
		earlier = nil
	}
	for _, hint := range earlier {
		content = append(content, hintLines(t, hint, inner)...)
	}
	if len(content) > 0 {
		content = append(content, draw.Line(inner, draw.S(t.Faint, draw.Rule(inner))))
	}
	d.at = 2 + len(content)
	content = append(content, drawField(&d.field, inner, max(min(5, h-8-len(content)), 1))...)
	return box(t, theme.Hint, theme.Flag+" Hint", keys(t, "enter", "send", "ctrl+j", "new line", "esc", "leave"), outer, content)
}

// hintLines tells a hint and its fate.
func hintLines(t *theme.Theme, h event.HintState, w int) []string {
	fate := draw.S(t.Tone(theme.Warn), "on its way")
	if h.How != "" {
		fate = draw.S(t.Tone(theme.Good), theme.Done+" "+draw.OneLine(terminal.Clean(string(h.How))))
	}
	text := draw.OneLine(terminal.Clean(h.Text))
	lines := []string{draw.Row{Left: []draw.Span{draw.S(t.Tone(theme.Hint), theme.Flag+" "+text)}, Right: []draw.Span{fate}}.Render(w)}
	if h.Reply != "" {
		lines = append(lines, draw.Line(w, draw.S(t.Muted, "  "+theme.Say+" "+draw.OneLine(terminal.Clean(h.Reply)))))
	}
	return lines
}

// Cursor is in the field.
func (d *Hint) Cursor() *tea.Cursor { return fieldCursor(&d.field, 3, d.at) }
