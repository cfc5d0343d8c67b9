package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/control"
	"proctor/runner/rundir"
	"proctor/runner/watch"
	"proctor/tasks"
	"proctor/ui/console"
	"proctor/ui/screen"
)

// grace is how long the console stays when the verdict has come, so that the
// end of the run is seen, and how long a person must not have touched a key.
const grace = 2500 * time.Millisecond

// What comes back from the commands.
type (
	tasksMsg struct {
		all      []*tasks.Task
		problems []tasks.Problem
	}
	agentsMsg struct {
		task *tasks.Task
		list []screen.AgentChoice
	}
	sandboxesMsg []screen.SandboxChoice
	modelsMsg    []screen.ModelChoice
	renderedMsg  struct {
		key   string
		width int
		lines []string
	}
	startedMsg struct {
		id  string
		err error
	}
	runsMsg struct {
		list []rundir.Summary
		err  error
	}
	openedMsg struct {
		session int
		player  watch.Player
		err     error
	}
	recordMsg struct {
		session int
		dir     string
	}
	batchMsg struct {
		session int
		batch   watch.Batch
		err     error
	}
	repliedMsg struct {
		session int
		cmd     control.Command
		reply   control.Reply
		err     error
	}
	sentMsg struct{ err error }
	flipMsg struct{ session int }
)

// do turns requests of a screen into commands.
func (m *model) do(requests []screen.Request) tea.Cmd {
	var cmds []tea.Cmd
	for _, r := range requests {
		cmds = append(cmds, m.request(r))
	}
	return tea.Batch(cmds...)
}

func (m *model) request(r screen.Request) tea.Cmd {
	switch r := r.(type) {
	case screen.Command:
		return m.command(r)
	case screen.Input:
		m.inputs = append(m.inputs, r)
		return m.sendInput()
	case screen.Begin:
		return func() tea.Msg {
			id, err := m.backend.Start(m.ctx, r.Start)
			return startedMsg{id, err}
		}
	case screen.Open:
		return m.open(r.Run, r.Replay)
	case screen.Speed:
		m.speed(r)
	case screen.Show:
		return m.show(r.Name)
	case screen.Copy:
		return tea.SetClipboard(r.Text)
	case screen.Bell:
		return tea.Raw("\a")
	case screen.Load:
		return m.load(r)
	case screen.Render:
		look := m.theme.Markdown
		return func() tea.Msg { return renderedMsg{r.Key, r.Width, renderMarkdown(r.Text, r.Width, look)} }
	case screen.Redraw:
		return tea.ClearScreen
	case screen.Quit:
		return tea.Quit
	}
	return nil
}

func (m *model) load(r screen.Load) tea.Cmd {
	return func() tea.Msg {
		switch r.What {
		case screen.Tasks:
			all, problems := m.backend.Tasks(m.ctx)
			return tasksMsg{all, problems}
		case screen.Agents:
			return agentsMsg{r.Task, m.backend.Agents(m.ctx, r.Task)}
		case screen.Sandboxes:
			return sandboxesMsg(m.backend.Sandboxes(m.ctx))
		case screen.Models:
			return modelsMsg(m.backend.Models(m.ctx))
		}
		return nil
	}
}

func (m *model) loadRuns() tea.Cmd {
	return func() tea.Msg {
		list, err := m.backend.Runs(m.ctx)
		return runsMsg{list, err}
	}
}

func (m *model) command(r screen.Command) tea.Cmd {
	number := m.view.number
	return func() tea.Msg {
		reply, err := m.backend.Do(m.ctx, r.Run, r.Command)
		return repliedMsg{number, r.Command, reply, err}
	}
}

// sendInput sends what was typed as one command; what is typed meanwhile
// waits, so that keys arrive in order.
func (m *model) sendInput() tea.Cmd {
	if m.sending || len(m.inputs) == 0 {
		return nil
	}
	run := m.inputs[0].Run
	var data []byte
	for len(m.inputs) > 0 && m.inputs[0].Run == run {
		data = append(data, m.inputs[0].Data...)
		m.inputs = m.inputs[1:]
	}
	m.sending = true
	return func() tea.Msg {
		reply, err := m.backend.Do(m.ctx, run, control.Command{Cmd: control.Input, Data: data})
		if err == nil && !reply.OK {
			err = errors.New(reply.Error)
		}
		return sentMsg{err}
	}
}

// open leaves the run that is shown and opens another.
func (m *model) open(run string, replay bool) tea.Cmd {
	leave := m.leave()
	look := newLookout(m.ctx)
	m.view = session{number: m.view.number + 1, run: run, look: look}
	m.console = console.New(run, console.Options{Replay: replay, Now: m.clock, Theme: m.theme})
	m.verdict, m.at = nil, screen.Console
	number, speed := m.view.number, m.first.Speed
	if speed <= 0 {
		speed = 1
	}
	record := func() tea.Msg { return recordMsg{number, m.recordOf(look.ctx, run)} }
	return tea.Batch(leave, record, func() tea.Msg {
		msg := openedMsg{session: number}
		msg.err = look.open(func(ctx context.Context) (source watch.Source, err error) {
			if !replay {
				return m.backend.Watch(ctx, run)
			}
			msg.player, err = m.backend.Replay(ctx, run, speed)
			return msg.player, err
		})
		return msg
	})
}

// recordOf finds where a run's record lies; not knowing it is no trouble.
func (m *model) recordOf(ctx context.Context, run string) string {
	list, err := m.backend.Runs(ctx)
	if err != nil {
		return ""
	}
	for _, s := range list {
		if s.ID == run {
			return s.Dir
		}
	}
	return ""
}

// leave closes what is being looked at.
func (m *model) leave() tea.Cmd {
	look := m.view.look
	if look == nil {
		return nil
	}
	look.cancel()
	return func() tea.Msg {
		look.close()
		return nil
	}
}

// next waits for what is new about the run.
func (m *model) next() tea.Cmd {
	look, number := m.view.look, m.view.number
	return func() tea.Msg {
		b, err := look.next()
		return batchMsg{number, b, err}
	}
}

func (m *model) speed(r screen.Speed) {
	if m.view.player == nil {
		return
	}
	if r.Toggle {
		m.view.player.TogglePause()
		return
	}
	m.view.player.SetSpeed(m.console.Speed(r.Factor))
}

// answered takes what comes back from the commands.
func (m *model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tasksMsg:
		return m.do(m.launch.SetTasks(msg.all, msg.problems))
	case agentsMsg:
		m.launch.SetAgents(msg.task, msg.list)
		return m.do(m.launch.Resize(m.w, m.h))
	case sandboxesMsg:
		m.launch.SetSandboxes(msg)
	case modelsMsg:
		m.launch.SetModels(msg)
		return m.do(m.launch.Resize(m.w, m.h))
	case renderedMsg:
		m.launch.SetRendered(msg.key, msg.width, msg.lines)
	case runsMsg:
		m.runs.Set(msg.list, msg.err)
	case startedMsg:
		m.launch.Failed(msg.err)
		if msg.err == nil {
			return m.open(msg.id, false)
		}
	case openedMsg:
		return m.opened(msg)
	case recordMsg:
		if msg.session == m.view.number {
			m.view.dir = msg.dir
			if m.verdict != nil {
				m.verdict.SetRecord(msg.dir)
			}
		}
	case batchMsg:
		return m.batch(msg)
	case repliedMsg:
		if msg.session == m.view.number {
			m.console.Replied(msg.cmd, msg.reply, msg.err)
		}
	case sentMsg:
		m.sending = false
		if msg.err != nil {
			m.inputs = nil
			m.console.Replied(control.Command{Cmd: control.Input}, control.Reply{}, msg.err)
		}
		return m.sendInput()
	case flipMsg:
		if msg.session == m.view.number && m.at == screen.Console && !m.console.Busy() && m.clock().Sub(m.lastKey) >= grace {
			return m.show(screen.Verdict)
		}
	}
	return nil
}

func (m *model) opened(msg openedMsg) tea.Cmd {
	if msg.session != m.view.number {
		return nil
	}
	if msg.err != nil {
		m.console.Ended(fmt.Errorf("opening run %s: %w", m.view.run, msg.err))
		return nil
	}
	m.view.player = msg.player
	return m.next()
}

// batch takes in what is new about the run. When the verdict comes while
// somebody watches, the verdict screen follows after a moment; of a run that is
// over already it is shown at once.
func (m *model) batch(msg batchMsg) tea.Cmd {
	if msg.session != m.view.number {
		return nil
	}
	if msg.err != nil {
		if errors.Is(msg.err, io.EOF) || m.ctx.Err() != nil {
			msg.err = nil
		}
		m.console.Ended(msg.err)
		return nil
	}
	first := msg.batch.State != nil && m.view.player == nil
	cmds := []tea.Cmd{m.do(m.console.Apply(msg.batch)), m.next()}
	if m.console.State().Verdict != nil && !m.view.known {
		m.view.known = true
		if first && m.console.State().Phase.Over() {
			return tea.Batch(append(cmds, m.show(screen.Verdict))...)
		}
		number := m.view.number
		cmds = append(cmds, tea.Tick(grace, func(time.Time) tea.Msg { return flipMsg{number} }))
	}
	return tea.Batch(cmds...)
}
