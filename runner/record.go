package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/watch"
	"proctor/tasks"
)

// Summary folds a run's record as it is now.
func Summary(dir rundir.Dir) (event.State, error) {
	live, err := watch.Attach(dir)
	if err != nil {
		return event.State{}, err
	}
	defer live.Close()
	b, err := live.Next(context.Background())
	if err != nil {
		return event.State{}, err
	}
	if !b.Alive && !b.State.Phase.Over() && b.State.Seq > 0 {
		b.State.Phase, b.State.Reason = event.Interrupted, "the supervisor died"
	}
	return *b.State, nil
}

// List sums up every run of a store, newest first. A run whose record cannot
// be read is listed with the reason.
func List(store rundir.Store) ([]rundir.Summary, error) {
	ids, err := store.IDs()
	if err != nil {
		return nil, err
	}
	var all []rundir.Summary
	for _, id := range ids {
		dir := rundir.At(filepath.Join(store.Root(), id))
		all = append(all, summarize(dir))
	}
	return all, nil
}

func summarize(dir rundir.Dir) rundir.Summary {
	sum := rundir.Summary{ID: dir.ID(), Dir: dir.Path(), Alive: dir.Alive()}
	if req, err := dir.Request(); err == nil {
		sum.Task, sum.Agent, sum.Model, sum.Sandbox, sum.Created = req.Task, req.Agent, req.Model, req.Sandbox, req.Created
		sum.Seed, sum.Attempt = req.Seed, req.Attempt
	}
	s, err := Summary(dir)
	if err != nil {
		sum.Phase, sum.Reason = string(event.Failed), err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			sum.Phase, sum.Reason = string(event.Preparing), ""
		}
		return sum
	}
	sum.Phase, sum.Reason, sum.Work, sum.Steps = string(s.Phase), s.Reason, s.Work, s.Steps
	sum.Best, sum.Verdict, sum.Assisted = s.Best, s.Verdict, s.Assisted()
	if s.Run.Sandbox != "" {
		sum.Sandbox = s.Run.Sandbox
	}
	return sum
}

// recorded reads the actions of an earlier run.
func (r *Run) recorded(key string) ([]agents.RecordedAction, error) {
	dir, err := r.parts.FindRun(key)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(dir.Events())
	if err != nil {
		return nil, fmt.Errorf("opening the record of run %s: %w", dir.ID(), err)
	}
	defer file.Close()
	all := recording{byID: map[string]*recordedAction{}, byStep: map[int]*recordedAction{}}
	events := event.NewReader(file, 0)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return all.finished(), nil
		}
		if err != nil {
			return nil, err
		}
		all.add(e)
	}
}

// A recording gathers a log's actions.
type recording struct {
	actions []*recordedAction
	byID    map[string]*recordedAction
	byStep  map[int]*recordedAction
}

type recordedAction struct {
	agents.RecordedAction
	finished bool
}

func (r *recording) add(e event.Event) {
	switch e.Type {
	case event.TypeActionStarted:
		if a, err := event.Decode[event.ActionStarted](e); err == nil {
			now := &recordedAction{}
			now.Action = agents.Action{Kind: a.Kind, Title: a.Title, Input: a.Input}
			r.actions = append(r.actions, now)
			r.byID[a.ID], r.byStep[a.Step] = now, now
		}
	case event.TypeActionFinished:
		if f, err := event.Decode[event.ActionFinished](e); err == nil && r.byID[f.ID] != nil {
			r.byID[f.ID].Observation, r.byID[f.ID].finished = f.Observation, f.Error == ""
		}
	case event.TypeMetric:
		if m, err := event.Decode[agents.Metric](e); err == nil && m.Source == agents.Measured && r.byStep[m.Step] != nil {
			r.byStep[m.Step].Metrics = append(r.byStep[m.Step].Metrics, m)
		}
	case event.TypeCheckpoint:
		if c, err := event.Decode[event.Checkpoint](e); err == nil && c.Standing && len(r.actions) > 0 {
			r.actions[len(r.actions)-1].Kept = true
		}
	}
}

// finished returns the actions that ran to their end: one that the run's own
// end cut short has nothing to be compared with.
func (r *recording) finished() []agents.RecordedAction {
	var all []agents.RecordedAction
	for _, a := range r.actions {
		if a.finished {
			all = append(all, a.RecordedAction)
		}
	}
	return all
}

// marker names the events that a recording has a mark for.
func marker(e event.Event) (label string, ok bool) {
	var p struct {
		Title, Text, From, To, What, Dimension string
		Status                                 tasks.Status
		Entries                                []agents.PlanEntry
	}
	if _, marked := markers[e.Type]; !marked || json.Unmarshal(e.Data, &p) != nil {
		return "", false
	}
	switch e.Type {
	case event.TypePlan:
		return "plan: " + current(p.Entries), true
	case event.TypeActionStarted:
		return "action: " + p.Title, true
	case event.TypeHint:
		return "hint: " + p.Text, true
	case event.TypeState:
		switch {
		case p.To == string(event.Paused):
			return "pause", true
		case p.To == string(event.Running) && p.From != string(event.Preparing):
			return "resume", true
		}
		return "", false
	case event.TypeBudget:
		return fmt.Sprintf("limit: %s %s", p.What, p.Dimension), true
	default:
		return "verdict: " + string(p.Status), true
	}
}

var markers = map[event.Type]struct{}{
	event.TypePlan: {}, event.TypeActionStarted: {}, event.TypeHint: {}, event.TypeState: {}, event.TypeBudget: {}, event.TypeVerdict: {},
}

func current(entries []agents.PlanEntry) string {
	for _, e := range entries {
		if e.Status == agents.InProgress {
			return e.Content
		}
	}
	return fmt.Sprintf("%d entries", len(entries))
}
