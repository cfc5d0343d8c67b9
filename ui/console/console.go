// Package console is the screen on which a run is watched and steered: its
// plan, its actions, its terminal, its score, its machine and its budget. The
// same screen shows a live run and a replay.
package console

import (
	"fmt"
	"time"

	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/runner/watch"
	"proctor/ui/dialog"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// Console is the screen. It is fed with Apply and driven through the methods
// of screen.Screen.
type Console struct {
	run    string
	theme  *theme.Theme
	clock  func() time.Time
	replay *watch.Progress // nil for a live run
	isLive bool

	state   event.State
	version uint64
	alive   bool
	joined  bool // the first batch has come
	now     time.Time
	spin    int64
	ended   error // why nothing more comes, when that is not the run's end

	panes   [paneCount]pane.Pane
	plan    pane.Plan
	actions pane.Actions
	term    pane.Terminal
	score   pane.Score
	machine pane.Machine
	budget  pane.Budget
	focus   int
	zoomed  bool

	dialog  dialog.Dialog
	asked   string // id of the question that popped up last
	find    *dialog.Prompt
	query   string
	message string // said once, until the next key or for a while
	said    time.Time
	bad     bool
	sent    map[control.Name]bool // commands on their way
	mine    bool                  // the terminal was taken over from here

	layout layout
	boxes  [paneCount]box
	over   draw.Rect // where the dialog was drawn
	size   [2]int    // the pty size asked for while taken over
}

// Options says what kind of console it is.
type Options struct {
	Replay bool
	Now    func() time.Time
	Theme  *theme.Theme
}

// New returns the console of a run.
func New(run string, o Options) *Console {
	c := &Console{run: run, theme: o.Theme, clock: o.Now, isLive: !o.Replay, alive: true, sent: map[control.Name]bool{}}
	c.now = c.clock()
	c.term.Screen = terminal.New(80, 24)
	c.panes = [paneCount]pane.Pane{&c.plan, &c.actions, &c.term, &c.score, &c.machine, &c.budget}
	c.focus = actions
	return c
}

// Run is the id of the run that is shown.
func (c *Console) Run() string { return c.run }

// State is what is known of the run. It must not be changed.
func (c *Console) State() *event.State { return &c.state }

// Live reports whether the run can be steered from here.
func (c *Console) Live() bool { return c.isLive }

// SetTheme changes the looks.
func (c *Console) SetTheme(t *theme.Theme) { c.theme = t }

// Theme is the present looks.
func (c *Console) Theme() *theme.Theme { return c.theme }

// Apply takes in what is new about the run and returns what follows from it.
func (c *Console) Apply(b watch.Batch) []screen.Request {
	c.joined = true
	c.version++
	taken := c.state.TakenOver
	if b.State != nil {
		c.state = *b.State
	}
	for _, e := range b.Events {
		c.state.Apply(e)
		if e.Type == event.TypeResources {
			c.machine.Sample(c.state.Resources)
		}
	}
	if b.GPU != nil {
		c.state.GPU.Apply(c.state.WorkAt(c.clock()).Seconds(), *b.GPU)
	}
	for _, o := range b.Output {
		c.write(o)
	}
	c.alive = b.Alive
	if b.Replay != nil {
		c.replay = b.Replay
	}
	if c.now = b.Now; b.Now.IsZero() {
		c.now = c.clock()
	}
	if taken && !c.state.TakenOver {
		c.mine = false
	}
	c.term.Taken = c.state.TakenOver && c.mine
	clear(c.sent)
	return c.notice()
}

// write brings output of the pty to the emulator.
func (c *Console) write(o watch.Output) {
	s := c.term.Screen
	if o.Cols > 0 && o.Rows > 0 {
		s.Resize(o.Cols, o.Rows)
	}
	if o.Skipped > 0 {
		// What was left out may have ended within a sequence: cancel it first.
		s.SoftReset()
		fmt.Fprintf(s, "\r\n\x1b[7m … %s left out here, the recording has them … \x1b[m\r\n", pane.Bytes(o.Skipped))
	}
	_, _ = s.Write(o.Data) // an emulator in memory never fails
}

// notice opens the dialog of a question that has come, and closes one that
// somebody else has answered.
func (c *Console) notice() []screen.Request {
	ask := c.state.Ask
	if open, ok := c.dialog.(*dialog.Ask); ok && (ask == nil || ask.ID != open.ID()) {
		c.dialog = nil
	}
	if ask == nil || !c.isLive || ask.ID == c.asked || c.dialog != nil || c.state.TakenOver || c.find != nil {
		return nil
	}
	c.asked = ask.ID
	c.dialog = dialog.NewAsk(c.run, *ask, c.clock, true)
	return []screen.Request{screen.Bell{}}
}

// Ended tells that no more will come: err is nil at the end of the run.
func (c *Console) Ended(err error) {
	c.version++
	c.ended = err
	c.alive = false
}

// Tick moves the clock on.
func (c *Console) Tick() {
	if c.isLive {
		c.now = c.clock()
	}
	c.spin = c.now.UnixMilli() / 250
	if c.message != "" && c.clock().Sub(c.said) > sayFor {
		c.message = ""
	}
}

// Interval is the clock's: a quarter second while an action runs, a second
// while the working clock does or a question waits, else it stands still.
func (c *Console) Interval() time.Duration {
	switch {
	case c.message != "":
		return time.Second
	case !c.isLive || !c.joined || c.interrupted() || c.state.Phase.Over():
		return 0
	case c.state.Phase == event.Running && c.state.Current() != nil:
		return 250 * time.Millisecond
	case c.state.Phase == event.Paused:
		return 0
	}
	return time.Second
}

// Replied tells what became of a command.
func (c *Console) Replied(cmd control.Command, reply control.Reply, err error) {
	delete(c.sent, cmd.Cmd)
	if cmd.Cmd == control.Takeover {
		c.mine = err == nil && reply.OK
		c.term.Taken = c.state.TakenOver && c.mine
	}
	switch {
	case err != nil:
		c.say(true, fmt.Sprintf("%s: %v", cmd.Cmd, err))
	case !reply.OK:
		c.say(true, fmt.Sprintf("%s: %s", cmd.Cmd, reply.Error))
	case cmd.Cmd == control.Hint:
		c.say(false, "hint sent; the agent gets it as soon as it can")
	case cmd.Cmd == control.Extend:
		c.say(false, "budget extended")
	}
}

// sayFor is how long a line stays in the footer when no key is pressed.
const sayFor = 6 * time.Second

// say shows a line in the footer.
func (c *Console) say(bad bool, text string) {
	c.message, c.bad, c.said = pane.Clean(text), bad, c.clock()
}

// frame is what the panes draw.
func (c *Console) frame() pane.Frame {
	return pane.Frame{
		State: &c.state, Version: c.version, Now: c.now, Work: c.work(), Theme: c.theme, Spin: c.spin,
		Ticking: c.alive && !c.state.Phase.Over() && c.state.Phase != "",
	}
}

// work is the working time now. The clock of a run whose supervisor died
// stands where the log ends.
func (c *Console) work() time.Duration {
	if c.interrupted() {
		return c.state.WorkAt(c.state.At)
	}
	return c.state.WorkAt(c.now)
}

// interrupted reports whether the run's supervisor died before its end.
func (c *Console) interrupted() bool {
	return c.isLive && c.joined && (c.state.Phase == event.Interrupted || !c.alive && !c.state.Phase.Over() && c.ended == nil)
}

// sign is the state as header and title show it.
func (c *Console) sign() theme.Sign {
	switch {
	case c.interrupted():
		return theme.Phase(event.Interrupted, false)
	case !c.joined:
		return theme.Phase("", false)
	case c.state.Phase == event.Done && c.state.Verdict != nil && (c.state.Verdict.Status != "graded" || c.state.Verdict.Entered != nil):
		return theme.Judged(c.state.Verdict)
	}
	return theme.Phase(c.state.Phase, c.state.Frozen)
}

// Title is for the terminal's window.
func (c *Console) Title() string {
	return fmt.Sprintf("%s %s · %s", c.sign().Symbol, pane.Clean(c.state.Run.Task.Ref), c.sign().Word)
}
