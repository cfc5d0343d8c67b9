// Package baseline is the agent that runs a task's starter code unchanged
// and submits what it wrote: the floor that every run is compared with.
package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"proctor/agents"
	"proctor/tasks"
)

// Kind returns the agent's entry of the roster. It has no configuration.
func Kind() agents.Kind {
	return agents.Kind{
		Name:    "baseline",
		Summary: "runs the task's starter code unchanged and submits; no model",
		NoModel: true,
		Check:   check,
		New: func(o agents.Options) (agents.Agent, error) {
			if err := nothingIn(o.Extra); err != nil {
				return nil, err
			}
			return Agent{}, nil
		},
	}
}

// nothingIn reports settings where there can be none.
func nothingIn(extra json.RawMessage) error {
	if len(extra) == 0 {
		return nil
	}
	var table map[string]any
	if err := json.Unmarshal(extra, &table); err != nil {
		return fmt.Errorf("read the settings of baseline: %w", err)
	}
	for key := range table {
		return fmt.Errorf("baseline has no setting %q: it has none", key)
	}
	return nil
}

func check(_ context.Context, task *tasks.Task, _ agents.Options) []string {
	if task != nil && task.Starter == "" {
		return []string{fmt.Sprintf("task %q has no starter code to run", task.Ref)}
	}
	return nil
}

// Agent is the baseline agent.
type Agent struct{}

// Run runs the starter once. It is an error when the starter fails, though
// what it wrote until then can still be graded.
func (Agent) Run(ctx context.Context, s *agents.Session) error {
	if missing := check(ctx, s.Task, agents.Options{}); len(missing) > 0 {
		return errors.New("baseline cannot run: " + missing[0])
	}
	plan := func(starter, submit agents.PlanStatus) {
		s.Plan([]agents.PlanEntry{
			{Content: "run the starter code unchanged", Priority: "high", Status: starter},
			{Content: "submit what it wrote", Priority: "high", Status: submit},
		})
	}
	plan(agents.InProgress, agents.Pending)
	obs, err := s.Run(ctx, agents.Action{
		Kind:  agents.Execute,
		Title: s.Task.Starter,
		Shell: s.Task.Starter,
	})
	for _, hint := range s.Hints() {
		s.Delivered(hint.ID, agents.Queued, "baseline runs the starter code unchanged and takes no hints")
	}
	if err != nil {
		return fmt.Errorf("baseline: run the starter: %w", err)
	}
	if obs.ExitCode != 0 {
		return fmt.Errorf("baseline: the starter %q ended with exit code %d; its output says why", s.Task.Starter, obs.ExitCode)
	}
	plan(agents.Completed, agents.Completed)
	text := fmt.Sprintf("The starter finished in %.1f s", obs.Seconds)
	if n := len(obs.Metrics); n > 0 {
		text += fmt.Sprintf(": %s %s", obs.Metrics[n-1].Name, strconv.FormatFloat(obs.Metrics[n-1].Value, 'g', 5, 64))
	}
	s.Message(text + ".")
	return nil
}
