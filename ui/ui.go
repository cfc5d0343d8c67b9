// Package ui is what a person sees and does: one Bubble Tea program over
// passive screens. The model in this file is all the wiring there is: messages
// go to the screen that is shown, the requests that it returns become commands,
// and a frame is drawn only when something has changed.
//
// The interface never touches a process, a file of a run or a socket; all that
// goes through a [Backend]. Leaving it never stops a run.
package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/watch"
	"proctor/ui/console"
	"proctor/ui/launch"
	"proctor/ui/runs"
	"proctor/ui/screen"
	"proctor/ui/theme"
	"proctor/ui/verdict"
)

// model is the program. Only Bubble Tea's loop touches it.
type model struct {
	ctx     context.Context
	backend Backend
	clock   func() time.Time
	first   First

	theme   *theme.Theme
	w, h    int
	blurred bool

	at      screen.Name
	launch  *launch.Launch
	runs    *runs.Runs
	console *console.Console
	verdict *verdict.Verdict
	view    session

	inputs  []screen.Input // typed, not yet sent
	sending bool
	ticking bool
	lastKey time.Time

	frame tea.View
	stale bool // the frame must be drawn anew
}

// session is the run that is looked at. A message of an earlier session is
// told apart by its number.
type session struct {
	number int
	run    string
	dir    string
	look   *lookout     // nil before the first session
	player watch.Player // of a replay, once it is open
	known  bool         // the verdict has been seen
}

func newModel(ctx context.Context, b Backend, first First, clock func() time.Time) *model {
	look := theme.New(true, theme.FullColours)
	return &model{
		ctx: ctx, backend: b, clock: clock, first: first, theme: look, at: screen.Launch, stale: true,
		launch: launch.New(look, b.CommandLine),
		runs:   runs.New(look, clock),
	}
}

// Init asks for what the first screen shows; nothing waits for it.
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor}
	switch {
	case m.first.Run != "":
		cmds = append(cmds, m.open(m.first.Run, m.first.Replay))
	case m.first.Runs:
		cmds = append(cmds, m.show(screen.Runs))
	default:
		cmds = append(cmds, m.do(m.launch.First()))
	}
	return tea.Batch(cmds...)
}

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.stale = true
	cmds := []tea.Cmd{m.receive(msg)}
	if m.at == screen.Console && m.console != nil {
		cmds = append(cmds, m.do(m.console.Fit()))
	}
	return m, tea.Batch(append(cmds, m.tick())...)
}

func (m *model) receive(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		return m.do(m.launch.Resize(m.w, m.h))
	case tea.ColorProfileMsg:
		return m.look(m.theme.Dark, theme.Of(msg.Profile))
	case tea.BackgroundColorMsg:
		return m.look(msg.IsDark(), m.theme.Colours)
	case tea.FocusMsg:
		m.blurred = false
	case tea.BlurMsg:
		m.blurred = true
	case tea.KeyPressMsg:
		m.lastKey = m.clock()
		return m.do(m.screen().Update(msg))
	case tea.MouseMsg, tea.PasteMsg:
		return m.do(m.screen().Update(msg))
	case tickMsg:
		m.ticking = false
		return m.ticked()
	default:
		return m.answered(msg)
	}
	return nil
}

// screen is the one that is shown.
func (m *model) screen() screen.Screen {
	switch {
	case m.at == screen.Runs:
		return m.runs
	case m.at == screen.Verdict && m.verdict != nil:
		return m.verdict
	case m.at == screen.Console && m.console != nil:
		return m.console
	}
	return m.launch
}

// look changes the theme if it has to.
func (m *model) look(dark bool, colours theme.Colours) tea.Cmd {
	if dark == m.theme.Dark && colours == m.theme.Colours {
		return nil
	}
	m.theme = theme.New(dark, colours)
	m.runs.SetTheme(m.theme)
	if m.console != nil {
		m.console.SetTheme(m.theme)
	}
	return m.do(m.launch.SetTheme(m.theme))
}

// show goes to a screen.
func (m *model) show(name screen.Name) tea.Cmd {
	switch name {
	case screen.Verdict:
		if m.console == nil || m.console.State().Verdict == nil {
			return nil
		}
		m.verdict = verdict.New(m.view.run, m.view.dir, m.console.State(), func() *theme.Theme { return m.theme })
	case screen.Launch:
		m.at = name
		m.launch.Failed(nil)
		return m.do(m.launch.First())
	case screen.Runs:
		m.at = name
		return m.loadRuns()
	}
	m.at = name
	return nil
}

// tickMsg says that the screen's clock is to move on.
type tickMsg struct{}

// tick lets the clock run as long as the screen needs it. At most one tick is
// on its way; there is none when nothing moves.
func (m *model) tick() tea.Cmd {
	every := m.screen().Interval()
	if m.ticking || every <= 0 {
		return nil
	}
	if m.blurred {
		every = max(every, time.Second) // nobody looks: no spinner
	}
	m.ticking = true
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

func (m *model) ticked() tea.Cmd {
	switch m.at {
	case screen.Runs:
		return m.loadRuns()
	case screen.Console:
		m.console.Tick()
	}
	return nil
}

// View draws the screen if anything has changed since.
func (m *model) View() tea.View {
	if !m.stale {
		return m.frame
	}
	m.stale = false
	v := tea.View{AltScreen: true, MouseMode: tea.MouseModeCellMotion, ReportFocus: true, WindowTitle: "proctor"}
	if m.w > 0 && m.h > 0 {
		v.Content = strings.Join(m.screen().Draw(m.w, m.h), "\n")
		v.Cursor = m.screen().Cursor()
	}
	if m.console != nil && m.at == screen.Console {
		v.WindowTitle = m.console.Title()
		v.ProgressBar = m.console.Progress()
	}
	m.frame = v
	return v
}
