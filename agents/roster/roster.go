// Package roster lists the agents. It is the only place that knows them all:
// adding one is its own package and a line here.
package roster

import (
	"fmt"
	"strings"

	"proctor/agents"
	"proctor/agents/baseline"
	"proctor/agents/bash"
	"proctor/agents/human"
	"proctor/agents/rerun"
	"proctor/agents/research"
	"proctor/agents/search"
	"proctor/agents/tree"
	"proctor/tasks"
)

// Kinds returns every agent in the order in which lists show them.
func Kinds() []agents.Kind {
	return []agents.Kind{
		baseline.Kind(),
		search.Kind(),
		rerun.Kind(),
		human.Kind(),
		bash.Kind(),
		research.Kind(),
		tree.Kind(),
	}
}

// Find returns the agent that name stands for: a name of the roster, or that
// of a family with its argument, such as "rerun:RUN", which is then in the
// options. The error for an unknown name suggests the nearest.
func Find(name string) (agents.Kind, agents.Options, error) {
	family, arg, hasArg := strings.Cut(name, ":")
	var known []string
	for _, k := range Kinds() {
		short, isFamily := Short(k), strings.HasSuffix(k.Name, ":")
		known = append(known, short)
		switch {
		case short != family:
			continue
		case isFamily && arg == "":
			return agents.Kind{}, agents.Options{}, fmt.Errorf("agent %q needs an argument: %s", family, Usage(k))
		case !isFamily && hasArg:
			return agents.Kind{}, agents.Options{}, fmt.Errorf("agent %q takes no argument, but was given %q", family, arg)
		}
		return k, agents.Options{Arg: arg}, nil
	}
	if near := tasks.Nearest(family, known); len(near) > 0 {
		return agents.Kind{}, agents.Options{}, fmt.Errorf("there is no agent %q; did you mean %q?", name, near[0])
	}
	return agents.Kind{}, agents.Options{}, fmt.Errorf("there is no agent %q; there are %s", name, strings.Join(known, ", "))
}

// Short returns an agent's name without a family's colon, as it stands in
// the settings: [agents.NAME].
func Short(k agents.Kind) string { return strings.TrimSuffix(k.Name, ":") }

// Usage returns an agent's name as a person would type it, such as
// "rerun:RUN" for a family.
func Usage(k agents.Kind) string {
	if !strings.HasSuffix(k.Name, ":") {
		return k.Name
	}
	if k.ArgName == "" {
		return k.Name + "NAME"
	}
	return k.Name + k.ArgName
}
