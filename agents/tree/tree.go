// Package tree is a model-driven agent that searches over whole programs, by
// AIDE's policy: some first drafts, repairs of those that fail, and then
// improvements of the best.
//
// Every node of the tree is one complete script. The model writes it, the
// sandbox runs it under a time limit, and what it measured decides what is
// tried next. The model never decides how good a node is: the direction comes
// from the task, the number from the output of the script, and the model's
// review may only call a script broken and say what came of it in words.
//
// A node's outputs are set aside when they are made, before anything else can
// overwrite them. Those of the best node stand for grading throughout the run
// and are put back at its end.
//
// Which node is worked on next is a function of the tree and the seed, in
// policy.go.
package tree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"proctor/agents"
	"proctor/tasks"
)

// options is the agent's table in the configuration.
type options struct {
	policy
	// Nodes is how many nodes there may be; 0 means as many as the budget
	// allows, or unlimitedNodes when the budget has no limits either.
	Nodes int `json:"nodes"`
	// NodeTime limits one run of one script, in working time, such as "1h".
	// It never gets more than a quarter of what is left.
	NodeTime agents.Duration `json:"node_time"`
	// Review has the model read every output and say whether the script is
	// broken.
	Review bool `json:"review"`
	// Python is the command that runs a script.
	Python string `json:"python"`
}

// unlimitedNodes is how many nodes a run without any limit has.
const unlimitedNodes = 20

func defaults() options {
	return options{
		policy:   policy{Drafts: 5, DebugProbability: 1, DebugDepth: 3},
		NodeTime: agents.Duration(time.Hour), Review: true, Python: "python3",
	}
}

func readOptions(from agents.Options) (options, error) {
	o := defaults()
	if err := from.Settings("tree", &o); err != nil {
		return o, err
	}
	switch {
	case o.NodeTime <= 0:
		return o, fmt.Errorf("tree: node_time = %q, but it must be above 0", time.Duration(o.NodeTime))
	case o.Drafts < 1:
		return o, fmt.Errorf("tree: drafts = %d, but it must be at least 1", o.Drafts)
	case o.DebugProbability < 0 || o.DebugProbability > 1:
		return o, fmt.Errorf("tree: debug_probability = %v, but it must be from 0 to 1", o.DebugProbability)
	case o.DebugDepth < 0:
		return o, fmt.Errorf("tree: debug_depth = %d, but it must be at least 0", o.DebugDepth)
	case o.Nodes < 0:
		return o, fmt.Errorf("tree: nodes = %d, but it must be at least 0", o.Nodes)
	case o.Python == "":
		return o, errors.New("tree: python is empty; give the command that runs a script, such as \"python3\"")
	}
	return o, nil
}

// Kind returns the agent's entry of the roster.
func Kind() agents.Kind {
	return agents.Kind{
		Name:     "tree",
		Summary:  "drafts, debugs and improves whole scripts in a tree of solutions (AIDE's policy)",
		Defaults: defaults(),
		Check:    check,
		New:      agents.Made(readOptions, func(o options) agents.Agent { return &Agent{options: o} }),
	}
}

func check(_ context.Context, task *tasks.Task, o agents.Options) []string {
	missing := agents.Wrong(readOptions(o))
	if task != nil && len(task.Outputs) == 0 {
		missing = append(missing, fmt.Sprintf("task %q names no outputs, so tree cannot keep its best solution's", task.Ref))
	}
	return missing
}

// Agent is the tree agent. It keeps nothing between runs.
type Agent struct {
	options options
}

// Run grows the tree until the budget would not do for another node, and then
// puts the best node's outputs back. It is an error when no node worked.
func (a *Agent) Run(ctx context.Context, s *agents.Session) error {
	if s.Model == nil {
		return errors.New("tree needs a model: choose one from the configuration")
	}
	if missing := check(ctx, s.Task, agents.Options{}); len(missing) > 0 {
		return fmt.Errorf("tree cannot run: %s", missing[0])
	}
	g := &grower{
		Session: s,
		options: a.options,
		rng:     rand.New(rand.NewPCG(uint64(s.Seed), 0)),
		tree:    solutions{better: s.Task.Metric.Better},
	}
	return g.run(ctx)
}
