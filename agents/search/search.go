// Package search is an agent without a model: seeded random search with
// successive halving over the knobs that a task declares. It is the control
// for every other agent: would a plain sweep have got this score?
//
// Each trial is the task's starter command with flags, run for real in the
// sandbox. The first is the starter as it is, so by the validation metric
// the search never does worse than that. After it, brackets: some settings
// start at a low fidelity (few epochs, say), the best third climbs to three
// times that, and so on. From the second bracket on, every other setting is
// taken from the neighbourhood of the best so far. The outputs of the best
// trial are kept the moment they are there, and put back at the end.
//
// A search is a function of its seed and of what it measures: values decide
// which settings climb, durations how large a bracket may be.
package search

import (
	"context"
	"fmt"

	"proctor/agents"
	"proctor/tasks"
)

// options is the agent's table in the configuration.
type options struct {
	// Eta is the factor between the fidelities of two rungs, and between
	// how many settings they hold; at least 2.
	Eta int `json:"eta"`
	// Rungs is the most rungs a bracket may have, from 1 to 6.
	Rungs int `json:"rungs"`
	// Failures is how many trials may fail in a row; at least 1.
	Failures int `json:"failures"`
}

func defaults() options { return options{Eta: 3, Rungs: 4, Failures: 10} }

func readOptions(from agents.Options) (options, error) {
	o := defaults()
	if err := from.Settings("search", &o); err != nil {
		return o, err
	}
	switch {
	case o.Eta < 2 || o.Eta > 10:
		return o, fmt.Errorf("search: eta = %d, but it must be from 2 to 10", o.Eta)
	case o.Rungs < 1 || o.Rungs > 6:
		return o, fmt.Errorf("search: rungs = %d, but it must be from 1 to 6", o.Rungs)
	case o.Failures < 1:
		return o, fmt.Errorf("search: failures = %d, but it must be at least 1", o.Failures)
	}
	return o, nil
}

// Kind returns the agent's entry of the roster.
func Kind() agents.Kind {
	return agents.Kind{
		Name:     "search",
		Summary:  "random search with successive halving over the task's knobs; no model",
		NoModel:  true,
		Defaults: defaults(),
		Check:    check,
		New:      agents.Made(readOptions, func(o options) agents.Agent { return &Agent{options: o} }),
	}
}

// check reports what the task lacks for a search.
func check(_ context.Context, task *tasks.Task, o agents.Options) []string {
	missing := agents.Wrong(readOptions(o))
	if task == nil {
		return missing
	}
	if task.Starter == "" {
		missing = append(missing, fmt.Sprintf("task %q has no starter command for search to vary", task.Ref))
	}
	if len(task.Knobs) == 0 {
		missing = append(missing, fmt.Sprintf("task %q declares no knobs for search to vary", task.Ref))
	}
	if task.Metric.Pattern == nil {
		missing = append(missing, fmt.Sprintf("task %q has no metric pattern, so search cannot read a trial's result", task.Ref))
	}
	return missing
}

// Agent is the search agent. It keeps nothing between runs.
type Agent struct {
	options options
}

// Run searches until the budget would not do for another trial, everything
// has been tried, or nothing gets better, and then puts the best trial's
// outputs back. It is an error when no trial gave the metric.
func (a *Agent) Run(ctx context.Context, s *agents.Session) error {
	if missing := check(ctx, s.Task, agents.Options{}); len(missing) > 0 {
		return fmt.Errorf("search cannot run: %s", missing[0])
	}
	return newSweep(s, a.options).run(ctx)
}
