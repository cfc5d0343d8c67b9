package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"proctor/agents"
	"proctor/runner/budget"
	"proctor/runner/event"
	"proctor/runner/sandbox"
	"proctor/runner/sandbox/outputs"
	"proctor/runner/terminal"
)

// host is a run as its agent sees it.
type host struct{ run *Run }

var _ agents.Host = (*host)(nil)

// Run implements agents.Host.
func (h *host) Run(ctx context.Context, a agents.Action) (agents.Observation, error) {
	return h.act(ctx, a, h.run.command)
}

// Ready implements agents.Host.
func (h *host) Ready(ctx context.Context) error { return h.run.enter(ctx) }

// Act implements agents.Host.
func (h *host) Act(ctx context.Context, a agents.Action, do func(context.Context) (agents.Observation, error)) (agents.Observation, error) {
	return h.act(ctx, a, func(ctx context.Context, _ agents.Action, _ int) (agents.Observation, error) { return do(ctx) })
}

func (h *host) act(ctx context.Context, a agents.Action, do func(ctx context.Context, a agents.Action, step int) (agents.Observation, error)) (agents.Observation, error) {
	if err := h.run.enter(ctx); err != nil {
		return agents.Observation{}, err
	}
	if err := h.run.checkLimits(ctx); err != nil {
		return agents.Observation{}, err
	}
	asked := a.Shell
	a, denied, err := h.run.approve(ctx, a)
	if err != nil {
		return agents.Observation{}, err
	}
	started, err := h.run.startAction(a)
	if err != nil {
		return agents.Observation{}, err
	}
	if denied != nil {
		return *denied, h.run.emit(event.TypeActionFinished, event.ActionFinished{ID: started.ID, Observation: *denied})
	}
	h.run.begin()
	defer h.run.end()
	from := h.run.clock.Worked()
	limited, stop := h.run.clock.WithTimeout(ctx, a.Timeout)
	defer stop()
	o, err := do(limited, a, started.Step)
	o.Seconds = (h.run.clock.Worked() - from).Seconds()
	if a.Shell != asked {
		o.Instead = a.Shell
	}
	// Out of time is an observation that the agent can act on; the run's own
	// end is an error.
	if context.Cause(limited) == context.DeadlineExceeded && ctx.Err() == nil {
		o.TimedOut, err = true, nil
	}
	h.run.actionGPUs(started.ID, from, h.run.clock.Worked())
	finished := event.ActionFinished{ID: started.ID, Observation: o}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	if err != nil {
		finished.Error = err.Error()
	}
	return o, errors.Join(err, h.run.emit(event.TypeActionFinished, finished))
}

func (r *Run) startAction(a agents.Action) (event.ActionStarted, error) {
	r.mu.Lock()
	r.spent.steps++
	step := r.spent.steps
	r.mu.Unlock()
	started := event.ActionStarted{
		ID: fmt.Sprintf("a%d", step), Step: step, Kind: a.Kind, Title: terminal.Clean(a.Title), Input: a.Input,
	}
	if started.Input == nil {
		started.Input = agents.EncodeCommand(a)
	}
	return started, r.emit(event.TypeActionStarted, started)
}

// command runs an action's command on a pty of its own.
func (r *Run) command(ctx context.Context, a agents.Action, step int) (agents.Observation, error) {
	r.screen.prompt(a.Title)
	cols, rows := r.screen.dimensions()
	proc, err := r.box.Start(ctx, sandbox.Command{
		Argv: argv(a), Dir: r.inWorkspace(a.Dir), Env: append(r.thinker.env(r.box.Endpoint()), a.Env...), TTY: true, Cols: cols, Rows: rows,
	})
	if err != nil {
		r.noticeEnd(err)
		return agents.Observation{ExitCode: 127, Text: err.Error()}, fmt.Errorf("starting %q: %w", a.Title, err)
	}
	release := r.bring(proc, a.Interactive)
	defer release()
	observer := terminal.NewObserver(cols, r.set.ObservationHead, r.set.ObservationTail)
	observer.Resize(cols, rows)
	found := r.drain(proc, observer, newScanner(r.task.Metric), step)
	exit, err := proc.Wait()
	r.screen.finished()
	o := agents.Observation{ExitCode: exit.Code, Metrics: found}
	o.Text, o.Truncated = observer.Result()
	r.noticeEnd(err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return o, err
}

// noticeEnd ends the run when a command came to nothing for want of a
// sandbox, before the agent can make something else of it.
func (r *Run) noticeEnd(err error) {
	if errors.Is(err, sandbox.ErrEnded) {
		r.finished(errSandboxGone)
	}
}

// drain shows and records what a process writes until it writes no more, and
// returns the metrics found in it.
func (r *Run) drain(proc io.ReadWriter, observer io.Writer, scan *scanner, step int) []agents.Metric {
	var found []agents.Metric
	ahead := readAhead(proc)
	for piece, err := ahead.next(nil); ; piece, err = ahead.next(piece) {
		if err != nil {
			return r.measured(step, scan.rest(), found)
		}
		r.screen.output(piece)
		if mayAsk(piece) {
			_, _ = proc.Write(r.screen.replies()) // a program that is gone needs no answer
		}
		_, _ = observer.Write(piece) // an Observer cannot fail
		found = r.measured(step, scan.scan(piece), found)
	}
}

// mostMetrics bounds how many values of one action an agent is given; of the
// rest it gets the last.
const mostMetrics = 10_000

// measured records metrics. Of several that came in one piece only the last
// and the best go into the log, so that a flood of them does not.
func (r *Run) measured(step int, values []float64, found []agents.Metric) []agents.Metric {
	if len(values) == 0 {
		return found
	}
	metric := func(v float64) agents.Metric {
		return agents.Metric{Name: r.task.Metric.Name, Value: v, Source: agents.Measured, Step: step}
	}
	best := 0
	for i, v := range values {
		if r.task.Metric.Better(v, values[best]) {
			best = i
		}
		if len(found) == mostMetrics {
			found = found[:mostMetrics-1]
		}
		found = append(found, metric(v))
	}
	if last := len(values) - 1; best != last {
		_ = r.emit(event.TypeMetric, metric(values[best]))
	}
	_ = r.emit(event.TypeMetric, metric(values[len(values)-1]))
	return found
}

func argv(a agents.Action) []string {
	if len(a.Argv) > 0 {
		return a.Argv
	}
	return []string{"/bin/sh", "-c", a.Shell}
}

// Plan implements agents.Host.
func (h *host) Plan(entries []agents.PlanEntry) {
	_ = h.run.emit(event.TypePlan, event.Plan{Entries: entries})
}

// Thought implements agents.Host.
func (h *host) Thought(text string) { _ = h.run.emit(event.TypeThought, event.Text{Text: text}) }

// Message implements agents.Host.
func (h *host) Message(text string) { _ = h.run.emit(event.TypeMessage, event.Text{Text: text}) }

// Metric implements agents.Host.
func (h *host) Metric(m agents.Metric) { _ = h.run.emit(event.TypeMetric, m) }

// Note implements agents.Host.
func (h *host) Note(text string) {
	_ = h.run.emit(event.TypeNote, event.Note{Level: "info", Text: text})
}

// Remaining implements agents.Host.
func (h *host) Remaining() agents.Remaining {
	used := h.run.usedNow()
	h.run.mu.Lock()
	defer h.run.mu.Unlock()
	return budget.Remaining(h.run.limit, used)
}

// ReadFile implements agents.Host.
func (h *host) ReadFile(path string, max int64) ([]byte, error) {
	return outputs.ReadFile(h.run.dir.Workspace(), path, max)
}

// WriteFile implements agents.Host.
func (h *host) WriteFile(path string, data []byte) error {
	// The sandbox enforces this on commands; this write happens outside it.
	for _, fixed := range h.run.task.ReadOnly {
		if rel, err := filepath.Rel(fixed, filepath.Clean(path)); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("writing %q: the task says that %q must stay as it is", path, fixed)
		}
	}
	return outputs.WriteFile(h.run.dir.Workspace(), path, data)
}

// Checkpoint implements agents.Host.
func (h *host) Checkpoint(label string, standing bool) (string, error) {
	h.run.mu.Lock()
	h.run.checkpoints++
	id := fmt.Sprintf("c%d", h.run.checkpoints)
	h.run.mu.Unlock()
	taken, err := h.run.collect(h.run.dir.Checkpoint(id))
	if err != nil {
		return "", fmt.Errorf("making checkpoint %s: %w", id, err)
	}
	if len(taken.Files) == 0 {
		return "", fmt.Errorf("making checkpoint %s: the workspace has none of the outputs %q", id, h.run.task.Outputs)
	}
	if standing {
		h.run.mu.Lock()
		h.run.stand = id
		h.run.mu.Unlock()
	}
	return id, h.run.emit(event.TypeCheckpoint, event.Checkpoint{
		ID: id, Label: label, Standing: standing, Bytes: taken.Bytes, SHA256: taken.SHA256,
	})
}

// Restore implements agents.Host.
func (h *host) Restore(id string) error {
	if err := outputs.Copy(h.run.dir.Checkpoint(id), h.run.dir.Workspace()); err != nil {
		return fmt.Errorf("restoring checkpoint %s: %w", id, err)
	}
	return nil
}

// spent is what the run has used besides time.
type spent struct {
	steps    int
	tokens   int64
	cost     float64
	gpuHours float64
}

func (r *Run) usedNow() budget.Used {
	worked := r.clock.Worked()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usedAt(worked)
}

func (r *Run) usedAt(worked time.Duration) budget.Used {
	return budget.Used{
		Time: worked, Steps: r.spent.steps, Tokens: r.spent.tokens, Cost: r.spent.cost, GPUHours: r.spent.gpuHours,
	}
}
