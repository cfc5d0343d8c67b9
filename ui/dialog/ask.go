package dialog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// A dialog that opens by itself ignores keys until none came for quiet, and
// for no longer than patience, so that a key which was meant for something
// else does not answer it.
const (
	quiet    = 425 * time.Millisecond
	patience = 1500 * time.Millisecond
)

// kindApprove asks about an action. Its default, for when nobody is there, is
// to deny; somebody who is there mostly agrees, so the first option is picked.
const kindApprove = "approve"

// Ask puts the agent's question to the person.
type Ask struct {
	run     string
	ask     event.AskState
	now     func() time.Time
	opened  time.Time // when it opened by itself; zero once keys count
	lastKey time.Time
	picked  int
	field   *textarea.Model // free text, or an edited command
	at      int
}

// NewAsk opens a question. popped says that it opened by itself.
func NewAsk(run string, ask event.AskState, now func() time.Time, popped bool) *Ask {
	d := &Ask{run: run, ask: ask, now: now}
	if popped {
		d.opened = now()
		d.lastKey = d.opened
	}
	for i, o := range ask.Options {
		if o == ask.Default && ask.Kind != kindApprove {
			d.picked = i
		}
	}
	if len(ask.Options) == 0 {
		field := newField("your answer", ask.Default)
		d.field = &field
	}
	return d
}

// ID is the question's.
func (d *Ask) ID() string { return d.ask.ID }

// early reports whether a key came too soon to be meant for the dialog.
func (d *Ask) early() bool {
	if d.opened.IsZero() {
		return false
	}
	now := d.now()
	if now.Sub(d.lastKey) >= quiet || now.Sub(d.opened) >= patience {
		d.opened = time.Time{} // from here on keys are meant for it
		return false
	}
	d.lastKey = now
	return true
}

// Update answers with the picked option or with what was written.
func (d *Ask) Update(msg tea.Msg) ([]screen.Request, bool) {
	key, isKey := msg.(tea.KeyPressMsg)
	if isKey && d.early() {
		return nil, false
	}
	if d.field != nil {
		return d.write(msg)
	}
	if !isKey {
		return nil, false
	}
	n := len(d.ask.Options)
	switch s := key.String(); s {
	case "esc", "q", "ctrl+c":
		return nil, true
	case "left", "up", "shift+tab", "k":
		d.picked = (d.picked + n - 1) % n
	case "right", "down", "tab", "j":
		d.picked = (d.picked + 1) % n
	case "enter", "space":
		return d.choose(d.picked)
	default:
		if i := d.byKey(s); i >= 0 {
			return d.choose(i)
		}
	}
	return nil, false
}

// byKey returns the option that a key stands for, or -1: its number, or its
// first letter, which is a capital for the second option with that letter.
func (d *Ask) byKey(key string) int {
	for i := range d.ask.Options {
		if key == strconv.Itoa(i+1) || key != "" && key == d.letter(i) {
			return i
		}
	}
	return -1
}

// letter is "" for an option that begins with something else.
func (d *Ask) letter(i int) string {
	first := func(i int) string {
		if o := strings.ToLower(d.ask.Options[i]); o != "" && o[0] >= 'a' && o[0] <= 'z' {
			return o[:1]
		}
		return ""
	}
	for j := range i {
		if first(j) == first(i) {
			return strings.ToUpper(first(i))
		}
	}
	return first(i)
}

// choose answers with an option; editing opens the command first, and denying
// an action asks for a reason, which may stay empty.
func (d *Ask) choose(i int) ([]screen.Request, bool) {
	choice := d.ask.Options[i]
	switch {
	case choice == "edit":
		d.open(i, newField("", terminal.Clean(d.ask.Detail)))
		return nil, false
	case choice == "deny":
		d.open(i, newField("why not, if you want to say", ""))
		return nil, false
	}
	return d.answer(choice, ""), true
}

func (d *Ask) open(i int, field textarea.Model) { d.field, d.picked = &field, i }

func (d *Ask) write(msg tea.Msg) ([]screen.Request, bool) {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc", "ctrl+c":
			if len(d.ask.Options) > 0 {
				d.field = nil
				return nil, false
			}
			return nil, true
		case "enter":
			text := strings.TrimSpace(d.field.Value())
			switch {
			case len(d.ask.Options) > 0 && (text != "" || d.ask.Options[d.picked] == "deny"):
				return d.answer(d.ask.Options[d.picked], text), true
			case text == "" || len(d.ask.Options) > 0:
				return nil, false
			}
			return d.answer(text, ""), true
		}
	}
	field, _ := d.field.Update(msg)
	d.field = &field
	return nil, false
}

func (d *Ask) answer(choice, text string) []screen.Request {
	return []screen.Request{screen.Command{Run: d.run, Command: control.Command{
		Cmd: control.Answer, Ask: d.ask.ID, Choice: choice, Text: text,
	}}}
}

// Draw shows the question, what it is about, its age and the options.
func (d *Ask) Draw(t *theme.Theme, w, h int) []string {
	outer, inner := room(w, 76)
	var content []string
	if d.ask.Kind != kindApprove { // its title says it all
		content = append(paragraph(t.Strong, draw.OneLine(terminal.Clean(d.ask.Text)), inner), draw.Spaces(inner))
	}
	if detail := strings.TrimSpace(terminal.Clean(d.ask.Detail)); detail != "" && !d.editing() {
		lines := paragraph(t.Tone(theme.Info), detail, inner)
		if most := max(h-12, 1); len(lines) > most {
			lines = append(lines[:most-1], draw.Line(inner, draw.S(t.Faint, fmt.Sprintf("… %d more lines", len(lines)-most+1))))
		}
		content = append(append(content, lines...), draw.Spaces(inner))
	}
	var foot []draw.Span
	if d.field != nil {
		d.at = 2 + len(content)
		content = append(content, drawField(d.field, inner, max(min(5, h-8-len(content)), 1))...)
		what := "answer"
		if len(d.ask.Options) > 0 {
			what = draw.OneLine(terminal.Clean(d.ask.Options[d.picked]))
		}
		if d.editing() {
			what = "run it"
		}
		foot = keys(t, "enter", what, "ctrl+j", "new line", "esc", "leave")
	} else {
		labels := make([]string, len(d.ask.Options))
		var letters []string
		for i, o := range d.ask.Options {
			labels[i] = draw.OneLine(terminal.Clean(o))
			if key := d.letter(i); key != "" {
				letters = append(letters, key)
			}
		}
		foot = keys(t, strings.Join(append(letters, "enter"), " "), "answer", "←/→", "choose", "esc", "later")
		content = append(content, buttons(t, labels, d.picked, inner)...)
	}
	title := theme.Question + " " + askTitle(d.ask.Kind) + " · " + age(d.now().Sub(d.ask.At))
	return box(t, theme.Hint, title, foot, outer, content)
}

// editing reports whether the field holds what would be shown above it.
func (d *Ask) editing() bool {
	return d.field != nil && len(d.ask.Options) > 0 && d.ask.Options[d.picked] == "edit"
}

func askTitle(kind string) string {
	switch kind {
	case kindApprove:
		return "May it do this?"
	case "limit":
		return "A limit is near"
	}
	return "The agent asks"
}

func age(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("waiting %d s", d/time.Second)
	}
	return fmt.Sprintf("waiting %d min", d/time.Minute)
}

// Cursor is in the field, if there is one.
func (d *Ask) Cursor() *tea.Cursor {
	if d.field == nil {
		return nil
	}
	return fieldCursor(d.field, 3, d.at)
}
