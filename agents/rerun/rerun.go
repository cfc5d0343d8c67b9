// Package rerun is the agent that does again, for real, what an earlier run
// did: every action that stands in that run's record is executed in a fresh
// sandbox, and where exit code, metric or output differ, it says so.
//
// What it shows is always what happens now, never recorded output.
package rerun

import (
	"context"
	"errors"
	"fmt"

	"proctor/agents"
	"proctor/tasks"
)

// options is the agent's table in the configuration.
type options struct {
	// Tolerance is how far a metric may be from the recorded one, as a
	// share of it, and still count as the same; 0.01 is one per cent.
	Tolerance float64 `json:"tolerance"`
}

func defaults() options { return options{Tolerance: 0.01} }

func readOptions(from agents.Options) (options, error) {
	o := defaults()
	if err := from.Settings("rerun", &o); err != nil {
		return o, err
	}
	if o.Tolerance < 0 || o.Tolerance > 1 {
		return o, fmt.Errorf("rerun: tolerance = %v, but it must be from 0 to 1", o.Tolerance)
	}
	return o, nil
}

// Kind returns the agent's entry of the roster, a family whose argument is a
// run.
func Kind() agents.Kind {
	return agents.Kind{
		Name:     "rerun:",
		ArgName:  "RUN",
		Summary:  "does an earlier run's actions again and marks where the outcome differs; no model",
		NoModel:  true,
		FromRun:  true,
		Defaults: defaults(),
		Check:    check,
		New: func(o agents.Options) (agents.Agent, error) {
			own, err := readOptions(o)
			if err != nil {
				return nil, err
			}
			if len(o.Log) == 0 {
				return nil, noActions(o)
			}
			return &Agent{options: own, run: o.Arg, log: o.Log}, nil
		},
	}
}

func noActions(o agents.Options) error {
	if o.Arg == "" {
		return errors.New("rerun needs to know which run to do again: rerun:RUN")
	}
	return fmt.Errorf("there is nothing to do again: run %q has no actions on record", o.Arg)
}

// check has nothing to say before a run is named.
func check(_ context.Context, _ *tasks.Task, o agents.Options) []string {
	if wrong := agents.Wrong(readOptions(o)); wrong != nil {
		return wrong
	}
	if o.Arg != "" && len(o.Log) == 0 {
		return []string{noActions(o).Error()}
	}
	return nil
}

// Agent does one run's actions again.
type Agent struct {
	options options
	run     string
	log     []agents.RecordedAction
}

// Run does the actions in their order. Differences are not errors; they are
// noted, shown in the plan and counted in the closing message.
func (a *Agent) Run(ctx context.Context, s *agents.Session) error {
	p := newProgress(a.log)
	kept := "" // the checkpoint that stands
	for i, recorded := range a.log {
		for _, hint := range s.Hints() {
			s.Delivered(hint.ID, agents.Queued, "rerun does what is on record and takes no hints")
		}
		p.start()
		s.Plan(p.entries())
		verdict, err := a.again(ctx, s, recorded)
		if err != nil {
			return fmt.Errorf("rerun: action %d, %q: %w", i+1, recorded.Action.Title, err)
		}
		p.finish(i, verdict)
		if verdict.kind != same {
			s.Note(fmt.Sprintf("action %d, %q: %s", i+1, recorded.Action.Title, verdict.text))
		}
		if recorded.Kept && verdict.kind != skipped {
			id, err := s.Checkpoint(fmt.Sprintf("action %d, kept by run %s too", i+1, a.run), true)
			if err != nil {
				s.Note(fmt.Sprintf("action %d: its outputs were kept then and cannot be now: %v", i+1, err))
			} else {
				kept = id
			}
		}
	}
	if kept != "" {
		if err := s.Restore(kept); err != nil {
			return fmt.Errorf("rerun: put the kept outputs back: %w", err)
		}
	}
	s.Plan(p.entries())
	s.Message(p.summary(a.run))
	return nil
}

// again does one action and compares. The error is the host's.
func (a *Agent) again(ctx context.Context, s *agents.Session, recorded agents.RecordedAction) (verdict, error) {
	action, isCommand := agents.DecodeCommand(recorded.Action)
	switch {
	case isCommand && action.Interactive:
		return verdict{skipped, "not done again: a person typed in it, and the keys are not on record"}, nil
	case isCommand:
		obs, err := s.Run(ctx, action)
		if err != nil {
			return verdict{}, err
		}
		return compare(recorded, obs, a.options.Tolerance), nil
	case action.Kind == agents.Edit:
		return a.edit(ctx, s, recorded)
	}
	return verdict{skipped, fmt.Sprintf("not done again: the record of this %s action holds no command", action.Kind)}, nil
}

// edit writes what the recorded edit wrote.
func (a *Agent) edit(ctx context.Context, s *agents.Session, recorded agents.RecordedAction) (verdict, error) {
	path, content, ok := agents.DecodeEdit(recorded.Action.Input)
	if !ok {
		return verdict{skipped, "not done again: the record of this edit does not hold what was written"}, nil
	}
	obs, err := s.Act(ctx, recorded.Action, func(context.Context) (agents.Observation, error) {
		if err := s.WriteFile(path, content); err != nil {
			return agents.Observation{ExitCode: 1, Text: err.Error()}, nil
		}
		return agents.Observation{Text: fmt.Sprintf("wrote %d bytes to %s", len(content), path)}, nil
	})
	if err != nil {
		return verdict{}, err
	}
	recorded.Observation.Text = obs.Text // how an edit is reported is no part of it
	return compare(recorded, obs, a.options.Tolerance), nil
}
