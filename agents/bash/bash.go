// Package bash is a minimal agent: a model with a shell. In each turn the
// model is shown what came of its last commands and what is left of the
// budget, and asks for more commands, sets its plan, or submits. Its history
// is linear and only grows, until it would outgrow the model's window.
//
// Commands run one after the other, each in a new shell in the workspace;
// edits are commands like any other. The run ends when the model submits,
// when a budget is spent, or when the model gives several replies in a row
// with which nothing can be done.
package bash

import (
	"context"
	"errors"
	"fmt"
	"time"

	"proctor/agents"
	"proctor/agents/conversation"
	"proctor/tasks"
)

// options is the agent's table in the configuration.
type options struct {
	// Malformed is how many replies in a row may be no use (no call, an
	// unknown tool, arguments that do not parse) before the run ends.
	Malformed int `json:"malformed"`
	// Idle is how many replies in a row may run no command before the run
	// ends: a model that only plans, or says that it is done.
	Idle int `json:"idle"`
	// Timeout is the most working time of a command that sets none itself.
	Timeout agents.Duration `json:"timeout"`
	// Share is the same as a share of the working time that is left; the
	// shorter of the two applies.
	Share float64 `json:"share"`
}

func defaults() options {
	return options{Malformed: 5, Idle: 10, Timeout: agents.Duration(30 * time.Minute), Share: 0.25}
}

func readOptions(from agents.Options) (options, error) {
	o := defaults()
	if err := from.Settings("bash", &o); err != nil {
		return o, err
	}
	switch {
	case o.Malformed < 1:
		return o, fmt.Errorf("bash: malformed = %d, but it must be at least 1", o.Malformed)
	case o.Idle < 1:
		return o, fmt.Errorf("bash: idle = %d, but it must be at least 1", o.Idle)
	case time.Duration(o.Timeout) < time.Second:
		return o, fmt.Errorf("bash: timeout = %q, but it must be at least \"1s\"", time.Duration(o.Timeout))
	case !(o.Share > 0 && o.Share <= 1):
		return o, fmt.Errorf("bash: share = %v, but it must be above 0 and at most 1", o.Share)
	}
	return o, nil
}

// Kind returns the agent's entry of the roster.
func Kind() agents.Kind {
	return agents.Kind{
		Name:     "bash",
		Summary:  "a model with a shell: runs commands, keeps a plan, submits",
		Defaults: defaults(),
		Check:    func(_ context.Context, _ *tasks.Task, o agents.Options) []string { return agents.Wrong(readOptions(o)) },
		New:      agents.Made(readOptions, func(o options) agents.Agent { return &Agent{options: o} }),
	}
}

// Agent is the bash agent. It keeps nothing between runs.
type Agent struct {
	options options
}

// Run works on the task until the model submits. Its error says what kept
// the model from that: a budget, the model's server, or its replies.
func (a *Agent) Run(ctx context.Context, s *agents.Session) error {
	if s.Model == nil {
		return errors.New("bash cannot run: it needs a model; name one with --model")
	}
	l := &loop{Session: s, options: a.options,
		talk: conversation.New(s, system(s.Task, a.options), assignment(s.Task, s.Remaining()), tools())}
	if err := l.run(ctx); err != nil {
		return fmt.Errorf("bash: %w", err)
	}
	return nil
}
