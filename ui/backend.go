package ui

import (
	"context"

	"proctor/runner/control"
	"proctor/runner/rundir"
	"proctor/runner/watch"
	"proctor/tasks"
	"proctor/ui/screen"
)

// What a run is started with, and what the launch screen offers to choose from.
type (
	Start         = screen.Start
	AgentChoice   = screen.AgentChoice
	SandboxChoice = screen.SandboxChoice
	ModelChoice   = screen.ModelChoice
)

// A Backend is all that the interface knows of the world. Its methods are
// called from several goroutines at once, never from the one that draws, and
// return when ctx ends; only CommandLine is called while drawing, so it must
// neither wait nor look anything up.
type Backend interface {
	// Tasks returns the tasks of all suites, and one problem for each that
	// could not be read.
	Tasks(ctx context.Context) ([]*tasks.Task, []tasks.Problem)
	// Agents returns every agent with what keeps it from running the task here.
	Agents(ctx context.Context, task *tasks.Task) []AgentChoice
	// Sandboxes returns every kind of sandbox, the best first.
	Sandboxes(ctx context.Context) []SandboxChoice
	// Models returns the models of the configuration; there may be none.
	Models(ctx context.Context) []ModelChoice
	// CommandLine returns the exact command that would start the same run.
	CommandLine(s Start) string
	// Start starts a run and returns its id.
	Start(ctx context.Context, s Start) (id string, err error)
	// Runs returns the runs of this machine in any order.
	Runs(ctx context.Context) ([]rundir.Summary, error)
	// Watch opens a run, alive or over, to look at. It is closed by the caller.
	Watch(ctx context.Context, id string) (watch.Source, error)
	// Replay opens a run's record at a speed.
	Replay(ctx context.Context, id string, speed float64) (watch.Player, error)
	// Do sends a command to a run. A command that was refused is a Reply with
	// an Error; err says that it could not be delivered.
	Do(ctx context.Context, id string, c control.Command) (control.Reply, error)
}
