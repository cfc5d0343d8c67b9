package launch

import (
	tea "charm.land/bubbletea/v2"
	"slices"

	"proctor/ui/dialog"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// Update takes a key, a paste or the mouse.
func (l *Launch) Update(msg tea.Msg) []screen.Request {
	if mouse, ok := msg.(tea.MouseMsg); ok {
		return l.mouse(mouse)
	}
	if _, ok := msg.(tea.KeyPressMsg); ok {
		l.said = ""
	}
	switch {
	case l.dialog != nil:
		requests, done := l.dialog.Update(msg)
		if done {
			l.dialog = nil
		}
		return requests
	case l.filter != nil:
		return l.find(msg)
	}
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	if l.focus == secBudget && l.edit(key.String()) {
		l.err = ""
		return nil
	}
	deed, _ := theme.Match(theme.Launch, key.String())
	return l.do(deed, key.String())
}

// edit types into the budget.
func (l *Launch) edit(key string) bool {
	switch {
	case l.limits.accepts(key):
		l.limits.write(key)
	case key == "backspace":
		l.limits.erase()
	default:
		return false
	}
	return true
}

func (l *Launch) do(deed theme.Deed, key string) []screen.Request {
	switch deed {
	case theme.Start:
		return l.start()
	case theme.Copy:
		start, _ := l.Start()
		l.said = "copied; tmux needs “set-clipboard on” for it"
		return []screen.Request{screen.Copy{Text: l.command(start)}}
	case theme.ShowRuns:
		return []screen.Request{screen.Show{Name: screen.Runs}}
	case theme.Find:
		l.focus = secTasks
		l.filter = &dialog.Prompt{Text: l.tasks.query}
	case theme.Cancel:
		l.tasks.filter("")
		return append(l.refocus(l.focus), l.picked()...)
	case theme.NextPane:
		return l.refocus(l.step(1))
	case theme.PrevPane:
		return l.refocus(l.step(-1))
	case theme.ToPane:
		if n := int(key[0] - '1'); n < len(l.shown()) {
			return l.refocus(l.shown()[n])
		}
	case theme.Help:
		l.dialog = dialog.NewHelp(theme.Launch, screen.Enabled)
	case theme.Redraw:
		return []screen.Request{screen.Redraw{}}
	case theme.Quit:
		return []screen.Request{screen.Quit{}}
	default:
		return l.move(deed)
	}
	return nil
}

// step returns the next section that is there.
func (l *Launch) step(n int) int {
	all := l.shown()
	at := slices.Index(all, l.focus)
	return all[(at+n+len(all))%len(all)]
}

// refocus moves the focus; where only one section is shown, it is laid out.
func (l *Launch) refocus(to int) []screen.Request {
	l.focus = to
	return l.Resize(l.layout.w, l.layout.h)
}

func (l *Launch) move(deed theme.Deed) []screen.Request {
	page := max(l.layout.sections[l.focus].H-3, 1)
	n, ok := map[theme.Deed]int{
		theme.LineDown: 1, theme.LineUp: -1, theme.PageDown: page, theme.PageUp: -page,
		theme.ToTop: -1 << 20, theme.ToEnd: 1 << 20,
	}[deed]
	if !ok {
		turn := map[theme.Deed]int{theme.Right: 1, theme.Left: -1}[deed]
		if turn != 0 && l.focus == secBudget {
			l.limits.turn(turn)
		}
		return nil
	}
	return l.scroll(l.focus, n)
}

// scroll moves what is selected in a section.
func (l *Launch) scroll(section, n int) []screen.Request {
	if section != secTask {
		l.err = ""
	}
	switch section {
	case secTasks:
		l.tasks.move(n)
		return l.picked()
	case secTask:
		l.preview.move(n)
	case secAgent:
		l.agents.move(n)
		return l.Resize(l.layout.w, l.layout.h) // the model may come or go
	case secSandbox:
		l.sandboxes.move(n)
	case secModel:
		l.models.move(n)
	case secBudget:
		l.limits.pick(l.limits.picked + n)
	}
	return nil
}

// start asks for the run, or says why it cannot start.
func (l *Launch) start() []screen.Request {
	if l.starting {
		return nil
	}
	start, why := l.Start()
	if l.err = why; why != "" {
		return nil
	}
	l.starting = true
	return []screen.Request{screen.Begin{Start: start}}
}

// find takes keys for the line that filters the tasks.
func (l *Launch) find(msg tea.Msg) []screen.Request {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc", "ctrl+c":
			l.filter = nil
			l.tasks.filter("")
			return l.picked()
		case "enter", "tab":
			l.filter = nil
			return nil
		case "down", "ctrl+n":
			l.tasks.move(1)
			return l.picked()
		case "up", "ctrl+p":
			l.tasks.move(-1)
			return l.picked()
		}
	}
	if l.filter.Type(msg) {
		l.tasks.filter(l.filter.Text)
		return l.picked()
	}
	return nil
}

// mouse scrolls what is under it and picks what is clicked.
func (l *Launch) mouse(msg tea.MouseMsg) []screen.Request {
	m := msg.Mouse()
	if l.dialog != nil {
		if _, ok := msg.(tea.MouseWheelMsg); ok {
			l.dialog.Update(msg)
		}
		return nil
	}
	section := l.layout.at(m.X, m.Y)
	if section < 0 {
		return nil
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		n := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[m.Button]
		if section == secTask {
			n *= 3
		}
		return l.scroll(section, n)
	case tea.MouseClickMsg:
		requests := l.refocus(section)
		line := m.Y - l.layout.sections[section].Y - 1
		switch section {
		case secTasks:
			if l.filter != nil || l.tasks.query != "" {
				line--
			}
			l.tasks.pick(line)
			return append(requests, l.picked()...)
		case secAgent:
			return append(requests, l.scroll(section, l.agents.top+line-l.agents.picked)...)
		case secSandbox:
			l.sandboxes.move(l.sandboxes.top + line - l.sandboxes.picked)
		case secModel:
			l.models.move(l.models.top + line - l.models.picked)
		case secBudget:
			l.limits.pick(line)
		}
		return requests
	}
	return nil
}
