package dialog

import (
	"slices"
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

// interruptKey sends and has the agent's model call given up.
const interruptKey = "ctrl+x"

// Update sends on enter, or at once with interruptKey.
func (d *Hint) Update(msg tea.Msg) ([]screen.Request, bool) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch s := key.String(); {
		case s == "esc" || s == "ctrl+c":
			return nil, true
		case s == "enter" || s == interruptKey && d.thinks():
			text := strings.TrimSpace(d.field.Value())
			if text == "" {
				return nil, false
			}
			return []screen.Request{screen.Command{Run: d.run, Command: control.Command{
				Cmd: control.Hint, Text: text, Interrupt: s == interruptKey,
			}}}, true
		}
	}
	d.field, _ = d.field.Update(msg)
	return nil, false
}

// thinks reports whether there is a model call that could be interrupted.
func (d *Hint) thinks() bool { return d.state.Run.Model != "" }

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
	foot := []string{"enter", "send", interruptKey, "interrupt it", "ctrl+j", "new line", "esc", "leave"}
	if !d.thinks() {
		foot = slices.Delete(foot, 2, 4)
	}
	return box(t, theme.Hint, theme.Flag+" Hint", keys(t, foot...), outer, content)
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
