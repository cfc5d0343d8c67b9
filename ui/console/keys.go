package console

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/ui/dialog"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// where is the place whose keys count.
func (c *Console) where() theme.Place {
	if c.isLive {
		return theme.Console
	}
	return theme.Replay
}

// Update takes a key, a paste or the mouse.
func (c *Console) Update(msg tea.Msg) []screen.Request {
	if mouse, ok := msg.(tea.MouseMsg); ok {
		return c.mouse(mouse)
	}
	if _, ok := msg.(tea.KeyPressMsg); ok {
		c.message = ""
	}
	switch {
	case c.dialog != nil:
		requests, done := c.dialog.Update(msg)
		if done {
			c.dialog = nil
			requests = append(c.track(requests), c.notice()...)
		}
		return requests
	case c.term.Taken:
		return c.typed(msg)
	case c.find != nil:
		return c.search(msg)
	}
	if key, ok := msg.(tea.KeyPressMsg); ok {
		return c.press(key)
	}
	return nil
}

// track remembers which commands are on their way.
func (c *Console) track(requests []screen.Request) []screen.Request {
	for _, r := range requests {
		if cmd, ok := r.(screen.Command); ok {
			c.sent[cmd.Cmd] = true
		}
	}
	return requests
}

// press does what a key does outside of dialogs.
func (c *Console) press(key tea.KeyPressMsg) []screen.Request {
	deed, ok := theme.Match(c.where(), key.String())
	if !ok {
		if deed, ok = theme.Match(theme.Console, key.String()); ok { // a replay
			c.say(true, c.disabled(deed))
		}
		return nil
	}
	if why := c.disabled(deed); why != "" {
		c.say(true, why)
		return nil
	}
	if requests, ok := c.steer(deed); ok {
		return c.track(requests)
	}
	c.look(deed, key.String())
	switch deed {
	case theme.Quit:
		return []screen.Request{screen.Quit{}}
	case theme.Flip:
		return []screen.Request{screen.Show{Name: screen.Verdict}}
	case theme.Redraw:
		return []screen.Request{screen.Redraw{}}
	case theme.Halt:
		return []screen.Request{screen.Speed{Toggle: true}}
	case theme.Faster:
		return []screen.Request{screen.Speed{Factor: 2}}
	case theme.Slower:
		return []screen.Request{screen.Speed{Factor: 0.5}}
	}
	return nil
}

// steer does what changes the run.
func (c *Console) steer(deed theme.Deed) (requests []screen.Request, ok bool) {
	do := func(cmd control.Command) ([]screen.Request, bool) {
		return []screen.Request{screen.Command{Run: c.run, Command: cmd}}, true
	}
	paused := c.state.Phase == event.Paused
	switch deed {
	case theme.Pause:
		if paused || c.state.PausePending {
			return do(control.Command{Cmd: control.Resume})
		}
		return do(control.Command{Cmd: control.Pause})
	case theme.Freeze:
		if paused && c.state.Frozen {
			return do(control.Command{Cmd: control.Resume})
		}
		return do(control.Command{Cmd: control.Freeze})
	case theme.GiveHint:
		c.dialog = dialog.NewHint(c.run, &c.state)
	case theme.Answer:
		c.dialog = dialog.NewAsk(c.run, *c.state.Ask, c.clock, false)
	case theme.TakeOver:
		c.focus = term
		c.term.Ends(1)
		return do(control.Command{Cmd: control.Takeover})
	case theme.SetMode:
		return do(control.Command{Cmd: control.Mode, Choice: nextMode(c.state.Mode)})
	case theme.Extend:
		c.dialog = c.extend()
	case theme.Grade:
		c.dialog = dialog.Confirm("Grade now", "The agent is stopped and what is there is graded. It cannot go on afterwards.", "grade now",
			screen.Command{Run: c.run, Command: control.Command{Cmd: control.Grade}})
	case theme.Stop:
		c.dialog = dialog.Confirm("Stop the run", "Everything in the sandbox is ended and nothing is graded. “g” grades what is there instead.", "stop",
			screen.Command{Run: c.run, Command: control.Command{Cmd: control.Stop}})
	default:
		return nil, false
	}
	return nil, true
}

// extend offers more of what is limited.
func (c *Console) extend() dialog.Dialog {
	option := func(label, key string, b tasks.Budget) dialog.Option {
		return dialog.Option{Label: label, Key: key, Requests: []screen.Request{
			screen.Command{Run: c.run, Command: control.Command{Cmd: control.Extend, Budget: b}},
		}}
	}
	var options []dialog.Option
	if c.state.Limits.Time > 0 {
		options = append(options,
			option("+5 min", "1", tasks.Budget{Time: 5 * time.Minute}),
			option("+10 min", "2", tasks.Budget{Time: 10 * time.Minute}),
			option("+30 min", "3", tasks.Budget{Time: 30 * time.Minute}))
	}
	if c.state.Limits.Steps > 0 {
		options = append(options, option("+10 steps", "s", tasks.Budget{Steps: 10}))
	}
	return &dialog.Choose{
		Title: "Extend the budget", Tone: theme.Info, Options: options,
		Text: "The run counts as assisted afterwards, and its verdict says so.",
	}
}

// disabled tells why something cannot be done now, "" when it can.
func (c *Console) disabled(deed theme.Deed) string {
	s := &c.state
	switch deed {
	case theme.Pause, theme.Freeze, theme.GiveHint, theme.Answer, theme.TakeOver, theme.Extend, theme.Grade, theme.Stop, theme.SetMode:
		switch {
		case !c.isLive:
			return "this is a replay: nothing can be steered"
		case !c.joined:
			return "not connected yet"
		case c.interrupted():
			return "the run was interrupted; leave and type: proctor grade " + c.run
		case s.Phase.Over():
			return "the run is over"
		case c.sent[control.Name(deed)]:
			return "already asked for"
		}
	}
	busy := s.Phase == event.Preparing || s.Phase == event.Finishing || s.Phase == event.Grading
	switch deed {
	case theme.Answer:
		if s.Ask == nil {
			return "nothing is asked"
		}
	case theme.Extend:
		if s.Limits.Time <= 0 && s.Limits.Steps <= 0 {
			return "there is no limit to extend"
		}
		if s.Phase == event.Finishing || s.Phase == event.Grading {
			return "the agent is finished"
		}
	case theme.Pause, theme.Freeze, theme.GiveHint, theme.TakeOver, theme.Grade, theme.SetMode:
		if busy {
			return "not while " + theme.Phase(s.Phase, false).Word
		}
	case theme.Flip:
		if s.Verdict == nil {
			return "there is no verdict yet"
		}
	case theme.Open:
		if c.focus != actions {
			return "enter opens an entry of the actions"
		}
	case theme.FindNext, theme.FindPrev:
		if c.query == "" {
			return "nothing to find: / first"
		}
	}
	return ""
}

// nextMode is the mode after the present one, in the order in which m goes
// through them.
func nextMode(now string) string {
	switch now {
	case "", "auto":
		return "approve"
	case "approve":
		return "step"
	default:
		return "auto"
	}
}

// typed sends what is typed to the terminal.
func (c *Console) typed(msg tea.Msg) []screen.Request {
	var data []byte
	switch msg := msg.(type) {
	case tea.PasteMsg:
		data = c.term.Screen.EncodePaste(msg.Content)
	case tea.KeyPressMsg:
		if msg.String() == theme.HandBack {
			c.size = [2]int{}
			return []screen.Request{screen.Command{Run: c.run, Command: control.Command{Cmd: control.Handback}}}
		}
		data = c.term.Screen.EncodeKey(keyOf(msg))
	}
	if len(data) == 0 {
		return nil
	}
	c.term.Ends(1)
	return []screen.Request{screen.Input{Run: c.run, Data: data}}
}

// keyOf says a key press in the emulator's words.
func keyOf(msg tea.KeyPressMsg) terminal.Key {
	k := terminal.Key{
		Code: msg.Code, Text: msg.Text,
		Ctrl: msg.Mod.Contains(tea.ModCtrl), Alt: msg.Mod.Contains(tea.ModAlt), Shift: msg.Mod.Contains(tea.ModShift),
	}
	if name := (tea.Key{Code: msg.Code}).Keystroke(); len(name) > 1 && !strings.Contains(name, "+") && (msg.Text == "" || msg.Code == ' ') {
		k.Name = name
	}
	return k
}

// Fit returns the command that makes the pty as large as the pane in which a
// person types, if it is not so already.
func (c *Console) Fit() []screen.Request {
	if !c.term.Taken || c.layout.panes[term].Empty() {
		return nil
	}
	cols, rows := c.term.Inside()
	if cols < 2 || rows < 2 || c.size == [2]int{cols, rows} {
		return nil
	}
	c.size = [2]int{cols, rows}
	return []screen.Request{screen.Command{Run: c.run, Command: control.Command{Cmd: control.Resize, Cols: cols, Rows: rows}}}
}
