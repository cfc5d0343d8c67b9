//go:build unix

// Package agentstest provides a Host for the tests of agents: commands run
// as real local processes in a directory of the test's own, without a
// sandbox, and everything that the agent says is kept for inspection.
package agentstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"proctor/agents"
	"proctor/tasks"
)

// A Host is an [agents.Host] for tests. Its fields before the record are
// set before the agent runs; the record is read when the agent has returned.
type Host struct {
	Dir   string // the workspace
	Task  *tasks.Task
	Time  time.Duration // working time; 0 is no limit
	Steps int           // actions; 0 is no limit

	// Exec stands in for processes, for tests of decisions alone. nil runs
	// processes.
	Exec func(a agents.Action) agents.Observation
	// Before is called at the start of every action, with its number from 1.
	Before func(n int, a agents.Action)
	// Keys are typed into an interactive action's terminal.
	Keys string

	Record
	mu    sync.Mutex
	hints []agents.Hint
	bell  chan struct{}
	spent time.Duration
	saved map[string]map[string][]byte // outputs by checkpoint
}

// A Record is what an agent did and said, in order.
type Record struct {
	Actions     []agents.RecordedAction
	Plans       [][]agents.PlanEntry
	Thoughts    []string
	Messages    []string
	Notes       []string
	Metrics     []agents.Metric
	Replies     []Reply
	Checkpoints []Checkpoint
	Restored    []string
}

// A Reply is what an agent answered to a hint.
type Reply struct {
	ID   string
	How  agents.Delivery
	Text string
}

// A Checkpoint is one that the agent made.
type Checkpoint struct {
	ID       string
	Label    string
	Standing bool
	Step     int // actions done when it was made
}

// New makes a host whose workspace is a temporary directory of t.
func New(t testing.TB, task *tasks.Task) *Host {
	return &Host{
		Dir:   t.TempDir(),
		Task:  task,
		bell:  make(chan struct{}, 1),
		saved: map[string]map[string][]byte{},
	}
}

// Session returns the session that an agent under test is given.
func (h *Host) Session(seed int64) *agents.Session {
	return &agents.Session{Task: h.Task, Seed: seed, Host: h}
}

// Hint sends a hint, numbered h1, h2 and so on by the caller.
func (h *Host) Hint(id, text string) { h.send(agents.Hint{ID: id, Text: text}) }

// Interrupt sends a hint for which a model call in flight is to be given up.
func (h *Host) Interrupt(id, text string) {
	h.send(agents.Hint{ID: id, Text: text, Interrupt: true})
}

func (h *Host) send(hint agents.Hint) {
	hint.Author = "tester"
	h.mu.Lock()
	h.hints = append(h.hints, hint)
	h.mu.Unlock()
	select {
	case h.bell <- struct{}{}:
	default:
	}
}

// Run implements [agents.Host].
func (h *Host) Run(ctx context.Context, a agents.Action) (agents.Observation, error) {
	if a.Shell == "" && len(a.Argv) == 0 {
		return agents.Observation{}, errors.New("the action has no command")
	}
	a.Input = agents.EncodeCommand(a)
	return h.Act(ctx, a, func(ctx context.Context) (agents.Observation, error) {
		if h.Exec != nil {
			return h.Exec(a), ctx.Err()
		}
		return h.execute(ctx, a)
	})
}

// Act implements [agents.Host].
func (h *Host) Act(ctx context.Context, a agents.Action, do func(context.Context) (agents.Observation, error)) (agents.Observation, error) {
	h.mu.Lock()
	n := len(h.Actions) + 1
	spent := h.Steps > 0 && n > h.Steps || h.Time > 0 && h.spent >= h.Time
	h.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return agents.Observation{}, err
	}
	if spent {
		return agents.Observation{}, errors.New("the budget is spent")
	}
	if h.Before != nil {
		h.Before(n, a)
	}
	obs, err := do(ctx)
	if err != nil {
		return obs, err
	}
	obs.Metrics = append(obs.Metrics, h.measure(obs.Text, n)...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.spent += time.Duration(obs.Seconds * float64(time.Second))
	h.Actions = append(h.Actions, agents.RecordedAction{Action: a, Observation: obs, Metrics: obs.Metrics})
	return obs, nil
}

// measure finds the task's metric in text.
func (h *Host) measure(text string, step int) []agents.Metric {
	if h.Task == nil || h.Task.Metric.Pattern == nil {
		return nil
	}
	var found []agents.Metric
	for _, match := range h.Task.Metric.Pattern.FindAllStringSubmatch(text, -1) {
		var value float64
		if _, err := fmt.Sscan(match[1], &value); err == nil {
			found = append(found, agents.Metric{
				Name: h.Task.Metric.Name, Value: value, Source: agents.Measured, Step: step,
			})
		}
	}
	return found
}

// Plan implements [agents.Host].
func (h *Host) Plan(entries []agents.PlanEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Plans = append(h.Plans, append([]agents.PlanEntry(nil), entries...))
}

// Thought implements [agents.Host].
func (h *Host) Thought(text string) { h.say(&h.Thoughts, text) }

// Message implements [agents.Host].
func (h *Host) Message(text string) { h.say(&h.Messages, text) }

// Note implements [agents.Host].
func (h *Host) Note(text string) { h.say(&h.Notes, text) }

func (h *Host) say(to *[]string, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*to = append(*to, text)
}

// Metric implements [agents.Host].
func (h *Host) Metric(m agents.Metric) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Metrics = append(h.Metrics, m)
}

// Hints implements [agents.Host].
func (h *Host) Hints() []agents.Hint {
	h.mu.Lock()
	defer h.mu.Unlock()
	hints := h.hints
	h.hints = nil
	return hints
}

// Ready implements [agents.Host]. Nobody pauses this run.
func (h *Host) Ready(ctx context.Context) error { return context.Cause(ctx) }

// HintArrived implements [agents.Host].
func (h *Host) HintArrived() <-chan struct{} { return h.bell }

// Delivered implements [agents.Host].
func (h *Host) Delivered(id string, how agents.Delivery, reply string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Replies = append(h.Replies, Reply{id, how, reply})
}

// Ask implements [agents.Host]: nobody is there.
func (h *Host) Ask(_ context.Context, q agents.Question) (agents.Answer, error) {
	return agents.Answer{Choice: q.Default, Auto: true}, nil
}

// Remaining implements [agents.Host].
func (h *Host) Remaining() agents.Remaining {
	h.mu.Lock()
	defer h.mu.Unlock()
	var r agents.Remaining
	if h.Time > 0 {
		left := max(0, h.Time-h.spent)
		r.Time = &left
	}
	if h.Steps > 0 {
		left := max(0, h.Steps-len(h.Actions))
		r.Steps = &left
	}
	return r
}

// ReadFile implements [agents.Host].
func (h *Host) ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(filepath.Join(h.Dir, path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// WriteFile implements [agents.Host].
func (h *Host) WriteFile(path string, data []byte) error {
	path = filepath.Join(h.Dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// Checkpoint implements [agents.Host]. An output that is not there is an
// error, except where Exec stands in for processes.
func (h *Host) Checkpoint(label string, standing bool) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	outputs := map[string][]byte{}
	for _, name := range h.Task.Outputs {
		data, err := os.ReadFile(filepath.Join(h.Dir, name))
		if err != nil && h.Exec == nil {
			return "", err
		}
		outputs[name] = data
	}
	id := fmt.Sprintf("c%d", len(h.Checkpoints)+1)
	h.saved[id] = outputs
	h.Checkpoints = append(h.Checkpoints, Checkpoint{id, label, standing, len(h.Actions)})
	if standing && len(h.Actions) > 0 {
		h.Actions[len(h.Actions)-1].Kept = true
	}
	return id, nil
}

// Restore implements [agents.Host].
func (h *Host) Restore(id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	outputs, ok := h.saved[id]
	if !ok {
		return fmt.Errorf("there is no checkpoint %q", id)
	}
	for name, data := range outputs {
		if err := os.WriteFile(filepath.Join(h.Dir, name), data, 0o644); err != nil {
			return err
		}
	}
	h.Restored = append(h.Restored, id)
	return nil
}

// Commands returns the shell commands that were run, in order.
func (h *Host) Commands() []string {
	var commands []string
	for _, a := range h.Actions {
		if a.Action.Shell != "" {
			commands = append(commands, a.Action.Shell)
		}
	}
	return commands
}

// LastPlan returns the plan as it stood at the end, one entry a line, such
// as "completed  rung 1".
func (h *Host) LastPlan() string {
	if len(h.Plans) == 0 {
		return ""
	}
	var b strings.Builder
	for _, e := range h.Plans[len(h.Plans)-1] {
		fmt.Fprintf(&b, "%-11s %s\n", e.Status, e.Content)
	}
	return b.String()
}
