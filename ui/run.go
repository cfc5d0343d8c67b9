package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"proctor/ui/pane"
)

// First is the screen on which the interface opens: the console of Run if it
// is set, else the list of runs, else the launch screen.
type First struct {
	Run    string
	Replay bool    // replay the run's record
	Speed  float64 // of the replay; 0 means 1
	Runs   bool
}

// config is what the options set.
type config struct {
	clock   func() time.Time
	program []tea.ProgramOption
	noColor bool
}

// An Option changes how Run works.
type Option func(*config)

// WithClock replaces the clock.
func WithClock(now func() time.Time) Option { return func(c *config) { c.clock = now } }

// WithProgram passes options on to Bubble Tea.
func WithProgram(o ...tea.ProgramOption) Option {
	return func(c *config) { c.program = append(c.program, o...) }
}

// WithoutColour draws without colours, as NO_COLOR asks for.
func WithoutColour() Option { return func(c *config) { c.noColor = true } }

// Run shows the interface until the person leaves it or ctx ends. It prints
// nothing itself; what it returns is for the caller to print afterwards, such
// as how to come back to a run that goes on.
func Run(ctx context.Context, b Backend, first First, options ...Option) (farewell string, err error) {
	c := config{clock: time.Now, noColor: os.Getenv("NO_COLOR") != ""}
	for _, o := range options {
		o(&c)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, b, first, c.clock)
	program := []tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(30)}
	if c.noColor {
		// Whatever its value says: the library only knows true and false.
		program = append(program, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err = tea.NewProgram(m, append(program, c.program...)...).Run()
	if m.view.look != nil {
		m.view.look.close()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	if err != nil {
		return m.farewell(), fmt.Errorf("showing the interface: %w", err)
	}
	return m.farewell(), nil
}

// farewell says how to come back to the run that was looked at last.
func (m *model) farewell() string {
	if m.console == nil || m.view.run == "" {
		return ""
	}
	s, run := m.console.State(), m.view.run
	switch v := s.Verdict; {
	case !m.console.Live():
		return ""
	case v != nil && v.Score != nil && v.Medal != "":
		return fmt.Sprintf("run %s: %s, %s %s\nsee it again: proctor show %s", run, v.Medal, pane.Clean(v.Metric), pane.Unit(*v.Score, v.Unit), run)
	case v != nil && v.Score != nil:
		return fmt.Sprintf("run %s: %s %s\nsee it again: proctor show %s", run, pane.Clean(v.Metric), pane.Unit(*v.Score, v.Unit), run)
	case m.console.Interrupted():
		return fmt.Sprintf("run %s was interrupted; grade what is there: proctor grade %s", run, run)
	case s.Phase.Over():
		return fmt.Sprintf("run %s is over; its record: proctor show %s", run, run)
	}
	return fmt.Sprintf("run %s goes on; come back with: proctor attach %s", run, run)
}
