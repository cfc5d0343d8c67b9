// Package research is MLAgentBench's research agent: a model that answers in
// plain text, step after step, with a reflection, its research plan and
// status, a fact check, a thought, an action and the action's input, and is
// told what came of it.
//
// Its actions have the benchmark's names and arguments. What the benchmark
// leaves to comparing strings is left to the sandbox here: every edit is a
// command that the sandbox lets through or not. The last steps are kept in
// full; older ones live on in a research log, which is also a file of the
// workspace.
package research

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"proctor/agents"
	"proctor/tasks"
)

// options is the agent's table in the configuration.
type options struct {
	// Steps is how many of the last steps the model sees in full, from 1 to 20.
	Steps int `json:"steps_in_context"`
	// Retries is how often a step is asked for again when the reply cannot
	// be read, from 0 to 20.
	Retries int `json:"retries"`
	// ActionSeconds is the time limit of an action in working seconds.
	ActionSeconds int `json:"action_seconds"`
	// Observation is how many characters of an observation the model sees
	// as they are; at least 500.
	Observation int `json:"observation_characters"`
	// Summarise has the model summarise longer observations; without it
	// their head and tail are kept.
	Summarise bool `json:"summarise"`
	// Python is the interpreter of scripts.
	Python string `json:"python"`
}

func defaults() options {
	return options{Steps: 3, Retries: 5, ActionSeconds: 3600, Observation: 5000, Summarise: true, Python: "python3"}
}

func readOptions(from agents.Options) (options, error) {
	o := defaults()
	if err := from.Settings("research", &o); err != nil {
		return o, err
	}
	switch {
	case o.Steps < 1 || o.Steps > 20:
		return o, fmt.Errorf("research: steps_in_context = %d, but it must be from 1 to 20", o.Steps)
	case o.Retries < 0 || o.Retries > 20:
		return o, fmt.Errorf("research: retries = %d, but it must be from 0 to 20", o.Retries)
	case o.ActionSeconds < 1:
		return o, fmt.Errorf("research: action_seconds = %d, but it must be at least 1", o.ActionSeconds)
	case o.Observation < 500:
		return o, fmt.Errorf("research: observation_characters = %d, but it must be at least 500", o.Observation)
	case o.Python == "":
		return o, errors.New("research: python is empty, but scripts need an interpreter")
	}
	return o, nil
}

// Kind returns the agent's entry of the roster.
func Kind() agents.Kind {
	return agents.Kind{
		Name:     "research",
		Summary:  "MLAgentBench's research agent: a plan, checked facts and named actions, in plain text",
		Defaults: defaults(),
		Check:    func(_ context.Context, _ *tasks.Task, o agents.Options) []string { return agents.Wrong(readOptions(o)) },
		New:      agents.Made(readOptions, func(o options) agents.Agent { return &Agent{options: o} }),
	}
}

// Agent is the research agent. It keeps nothing between runs.
type Agent struct {
	options options
}

// Run takes steps until the model gives its final answer. It is an error
// when the model cannot be reached, keeps giving replies that cannot be
// read, or has no budget left.
func (a *Agent) Run(ctx context.Context, s *agents.Session) error {
	if s.Model == nil {
		return errors.New("research: it thinks with a model, and the run has none; choose one with --model")
	}
	r := newRun(s, a.options)
	for {
		done, err := r.step(ctx)
		if err != nil {
			return fmt.Errorf("research: %w", err)
		}
		if done {
			return nil
		}
	}
}

// run is the agent at work on one session.
type run struct {
	*agents.Session
	options options

	steps   []*step // the last that have been taken
	taken   int     // how many have been taken in all
	opening []string
	waiting []agents.Hint // have come and are not delivered yet
	log     *researchLog
	backups map[string][]backup
	squeeze int  // how far the history has been cut down to fit the context
	warned  bool // of an output that is missing, at a final answer
}

// A step is a reply and what came of it.
type step struct {
	number      int // from 1
	reply       reply
	observation string
	hints       []string // what a person said after it
}

func newRun(s *agents.Session, o options) *run {
	return &run{Session: s, options: o, log: openLog(s), backups: map[string][]backup{}}
}

// timeout is the time limit of an action.
func (r *run) timeout() time.Duration { return time.Duration(r.options.ActionSeconds) * time.Second }

// step asks for one reply, does what it says and keeps both. done says that
// it was the final answer.
func (r *run) step(ctx context.Context) (done bool, err error) {
	p, err := r.decide(ctx)
	if err != nil {
		return false, err
	}
	if n := len(r.steps); n > 0 {
		r.log.record(r.steps[n-1], p.reflection)
	}
	r.show(p)
	out, err := p.action.do(r, ctx, p.input)
	if err != nil {
		return false, err
	}
	r.taken++
	taken := &step{number: r.taken, reply: p}
	r.steps = append(r.steps, taken)
	r.steps = r.steps[max(0, len(r.steps)-r.options.Steps):] // older ones are in the log
	if out.final {
		taken.observation = out.text
		r.log.record(taken, "")
		return true, nil
	}
	text, err := r.shorten(ctx, p, out)
	if err != nil {
		return false, err
	}
	taken.observation = strings.TrimRight(text, "\n") + "\n" + remaining(r.Remaining())
	return false, nil
}

// show tells the person what a reply says, each part in the words it is for.
func (r *run) show(p reply) {
	if p.reflection != "" {
		r.Thought(p.reflection)
	}
	if entries := planEntries(p.plan); len(entries) > 0 {
		r.Plan(entries)
	}
	if checked := markFacts(p.facts); checked != "" {
		r.Thought(checked)
	}
	if p.thought != "" {
		r.Thought(p.thought)
	}
}
