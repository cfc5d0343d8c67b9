package tasks

import (
	"context"
	"fmt"
	"slices"
)

// Named is the tasks of a suite that knows their names before it opens them.
type Named struct {
	Suite string   // the first part of their refs
	Names []string // in display order
	Open  func(name string) (*Task, error)
}

// List opens all of them, as [Suite.List] does.
func (n Named) List(ctx context.Context) (list []*Task, problems []Problem) {
	for _, name := range n.Names {
		if ctx.Err() != nil {
			break
		}
		task, err := n.Open(name)
		if err != nil {
			problems = append(problems, Problem{Ref: n.Suite + "/" + name, Err: err})
			continue
		}
		list = append(list, task)
	}
	return list, problems
}

// Find opens one of them, as [Suite.Open] does. The error for another name
// suggests the nearest.
func (n Named) Find(ctx context.Context, name string) (*Task, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !slices.Contains(n.Names, name) {
		hint := ""
		if near := Nearest(name, n.Names); len(near) > 0 {
			hint = fmt.Sprintf("; did you mean %q?", near[0])
		}
		return nil, fmt.Errorf("suite %q has no task %q%s", n.Suite, name, hint)
	}
	return n.Open(name)
}
