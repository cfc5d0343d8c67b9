package console

import (
	tea "charm.land/bubbletea/v2"

	"proctor/runner/event"
)

// The speeds of a replay.
const (
	slowest = 0.5
	fastest = 64
)

// Speed makes the replay faster by a factor, within bounds, and returns its
// speed: recorded seconds per second.
func (c *Console) Speed(factor float64) float64 {
	if c.replay == nil {
		return 1
	}
	p := *c.replay
	p.Speed = min(max(p.Speed*factor, slowest), fastest) // a second key counts from here
	c.replay = &p
	c.version++
	return p.Speed
}

// Busy reports whether a person is in the middle of something here.
func (c *Console) Busy() bool { return c.dialog != nil || c.find != nil || c.term.Taken }

// Interrupted reports whether the run's supervisor died before its end.
func (c *Console) Interrupted() bool { return c.interrupted() }

// Progress is how much of the time is spent, for terminals that show it in
// the task bar.
func (c *Console) Progress() *tea.ProgressBar {
	limit := c.state.Limits.Time
	if limit <= 0 || c.state.Phase.Over() || !c.joined || !c.isLive {
		return nil
	}
	state := tea.ProgressBarDefault
	switch c.state.Phase {
	case event.Paused, event.Waiting:
		state = tea.ProgressBarWarning
	}
	return tea.NewProgressBar(state, clamp(int(100*c.work()/limit), 0, 100))
}
