// Package launch is the screen on which a run is put together: a task, an
// agent, a sandbox, a budget, and the exact command line that would start the
// same run.
package launch

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/tasks"
	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// The sections, in the order of their numbers.
const (
	secTasks = iota
	secTask
	secAgent
	secSandbox
	secBudget
	secModel
	secCount
)

var sectionNames = [secCount]string{"Tasks", "Task", "Agent", "Sandbox", "Budget", "Model"}

// Launch is the screen.
type Launch struct {
	theme   *theme.Theme
	command func(screen.Start) string

	tasks     taskList
	preview   preview
	agents    choices
	modelless map[string]bool // agents that need no model
	sandboxes choices
	models    choices
	limits    limits

	focus    int
	filter   *dialog.Prompt
	dialog   dialog.Dialog
	err      string // why the run cannot start
	said     string
	starting bool
	layout   layout
}

// New returns the screen. command writes the command line that starts a run.
func New(look *theme.Theme, command func(screen.Start) string) *Launch {
	return &Launch{theme: look, command: command, modelless: map[string]bool{}}
}

// SetTheme changes the looks; what was rendered for the old ones is asked for
// anew.
func (l *Launch) SetTheme(t *theme.Theme) []screen.Request {
	l.theme = t
	return l.render()
}

// First asks for everything that the screen shows.
func (l *Launch) First() []screen.Request {
	return []screen.Request{screen.Load{What: screen.Tasks}, screen.Load{What: screen.Sandboxes}, screen.Load{What: screen.Models}}
}

// SetTasks brings the tasks.
func (l *Launch) SetTasks(all []*tasks.Task, problems []tasks.Problem) []screen.Request {
	l.tasks.set(all, problems)
	return l.picked()
}

// SetAgents brings the agents that could run a task.
func (l *Launch) SetAgents(task *tasks.Task, list []screen.AgentChoice) {
	if task != l.tasks.current() {
		return // another one was picked meanwhile
	}
	var all []choice
	clear(l.modelless)
	for _, a := range list {
		all = append(all, choice{name: pane.Clean(a.Name), summary: pane.Clean(a.Summary), why: pane.Clean(strings.Join(a.Missing, "; "))})
		l.modelless[a.Name] = a.NoModel
	}
	l.agents.set(all)
}

// SetSandboxes brings the kinds of sandbox, the best first.
func (l *Launch) SetSandboxes(list []screen.SandboxChoice) {
	var all []choice
	for _, s := range list {
		c := choice{name: pane.Clean(s.Name), summary: pane.Clean(s.Summary), danger: s.Name == "none"}
		if !s.OK {
			c.why = pane.Clean(s.Reason)
		}
		if len(s.Gaps) > 0 {
			c.warn = "not isolated: " + pane.Clean(strings.Join(s.Gaps, "; "))
		}
		all = append(all, c)
	}
	l.sandboxes.set(all)
}

// SetModels brings the models of the configuration.
func (l *Launch) SetModels(list []screen.ModelChoice) {
	var all []choice
	for _, m := range list {
		all = append(all, choice{name: pane.Clean(m.Name), summary: pane.Clean(m.Summary), why: pane.Clean(m.Missing)})
	}
	l.models.set(all)
}

// SetRendered brings an instruction as styled lines.
func (l *Launch) SetRendered(key string, width int, lines []string) {
	if l.preview.task != nil && key == l.preview.key {
		for i, s := range lines {
			lines[i] = draw.Fit(s, width)
		}
		l.preview.rendered, l.preview.width = lines, width
	}
}

// Failed tells why a run did not start.
func (l *Launch) Failed(err error) {
	l.starting = false
	if err != nil {
		l.err = pane.Clean(err.Error())
	}
}

// picked follows the selected task with everything that depends on it.
func (l *Launch) picked() []screen.Request {
	task := l.tasks.current()
	if task == nil {
		l.preview = preview{problem: l.tasks.problem()}
		return nil
	}
	if l.preview.task == task {
		return nil
	}
	l.preview.show(task)
	l.limits.task = task.Budget
	l.err = ""
	return append([]screen.Request{screen.Load{What: screen.Agents, Task: task}}, l.render()...)
}

// render asks for the instruction at the preview's present width.
func (l *Launch) render() []screen.Request {
	w := l.layout.sections[secTask].W - 4
	if l.preview.task == nil || w < 10 {
		return nil
	}
	l.preview.key = l.preview.task.Ref
	return []screen.Request{screen.Render{Key: l.preview.key, Text: l.preview.text(), Width: w}}
}

// Resize lays the screen out for another size.
func (l *Launch) Resize(w, h int) []screen.Request {
	was := l.layout.sections[secTask].W
	l.arrange(w, h)
	if l.layout.sections[secTask].W != was {
		return l.render()
	}
	return nil
}

// arrange lays the parts out; what is there depends on the agent.
func (l *Launch) arrange(w, h int) {
	l.layout = compute(w, h, l.focus, l.shown())
	l.limits.thinks = l.withModel()
	l.limits.pick(l.limits.picked)
}

// shown is the sections in their order on the screen: the tasks and the task
// above, the others below.
func (l *Launch) shown() []int {
	if l.withModel() {
		return []int{secTasks, secTask, secAgent, secModel, secSandbox, secBudget}
	}
	return []int{secTasks, secTask, secAgent, secSandbox, secBudget}
}

// withModel reports whether the picked agent needs a model to be picked.
func (l *Launch) withModel() bool {
	return len(l.models.list) > 0 && !l.modelless[l.agents.current().name]
}

// Start is the run as it stands on the screen; the error says what keeps it
// from starting.
func (l *Launch) Start() (screen.Start, string) {
	s := screen.Start{Agent: l.agents.current().name, Sandbox: l.sandboxes.current().name}
	var err, seedErr error
	s.Budget, err = l.limits.budget()
	s.Seed, seedErr = l.limits.seed()
	if l.withModel() {
		s.Model = l.models.current().name
	}
	task := l.tasks.current()
	switch p := l.tasks.problem(); {
	case p != nil:
		return s, pane.Clean(p.Ref) + " cannot be read"
	case task == nil:
		return s, "no task is picked"
	}
	s.Task = task.Ref
	switch {
	case len(task.Missing) > 0:
		return s, "the task lacks: " + pane.Clean(task.Missing[0])
	case s.Agent == "":
		return s, "no agent is picked"
	case l.agents.current().why != "":
		return s, s.Agent + ": " + l.agents.current().why
	case l.sandboxes.current().why != "":
		return s, s.Sandbox + ": " + l.sandboxes.current().why
	case l.withModel() && l.models.current().why != "":
		return s, s.Model + ": " + l.models.current().why
	case err != nil:
		return s, err.Error()
	case seedErr != nil:
		return s, seedErr.Error()
	}
	return s, ""
}

// Interval is none: nothing here moves.
func (l *Launch) Interval() time.Duration { return 0 }

// Cursor is in the line that filters the tasks, or in a dialog.
func (l *Launch) Cursor() *tea.Cursor {
	r := l.layout.sections[secTasks]
	if l.filter == nil || r.Empty() || l.dialog != nil {
		return nil
	}
	c := tea.NewCursor(min(r.X+4+draw.Width(l.filter.Text), r.X+r.W-2), r.Y+1)
	c.Blink = false
	return c
}

// Width is how wide an instruction is rendered at present; 0 when it is not
// shown.
func (l *Launch) Width() int { return max(l.layout.sections[secTask].W-4, 0) }
