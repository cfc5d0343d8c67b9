// Package catalog is where tasks are found: the embedded suite, the folders a
// person has added, and any path. It is the one place that knows every format
// by name; a new one is a line in formats.go.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks"
)

// A Catalog is the tasks that can be named. Its methods read the disk each
// time, so that a task just added or mended is found; they may be called
// concurrently.
type Catalog struct {
	roots []string
	set   Settings
}

// New returns the catalogue of the embedded suite and of the given
// directories, each a suite or a single task in any known format.
func New(roots []string, set Settings) *Catalog {
	return &Catalog{roots: slices.Clone(roots), set: set}
}

// List returns all tasks, the embedded suite first and then the roots in
// their order, and a Problem for each task and each root that cannot be
// offered. The Ref of a root's Problem is its path.
func (c *Catalog) List(ctx context.Context) ([]*tasks.Task, []tasks.Problem) {
	suites, problems := c.suites()
	list, broken := listAll(ctx, suites)
	return list, append(problems, broken...)
}

// Open returns the task that ref names: "suite/name", a bare name that only
// one suite has, or the path of a task's directory. A ref is a path when it
// begins with "." or "/", or when no suite knows it and such a directory is
// there. The Ref of a task opened by its path is that path, made absolute.
func (c *Catalog) Open(ctx context.Context, ref string) (*tasks.Task, error) {
	if ref == "" {
		return nil, errors.New("opening a task: its name is empty; proctor tasks lists them all")
	}
	if strings.HasPrefix(ref, ".") || filepath.IsAbs(ref) {
		return c.openPath(ctx, ref)
	}
	suites, _ := c.suites()
	if task, err := openRef(ctx, suites, ref); task != nil || err != nil {
		return task, err
	}
	if info, err := os.Stat(ref); err == nil && info.IsDir() {
		return c.openPath(ctx, ref)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, problems := listAll(ctx, suites)
	return nil, unknown(ref, list, problems)
}

// suites opens everything the catalogue consists of.
func (c *Catalog) suites() ([]tasks.Suite, []tasks.Problem) {
	suites := embedded()
	var problems []tasks.Problem
	for _, root := range c.roots {
		s, _, err := c.set.recognise(root)
		if err != nil {
			problems = append(problems, tasks.Problem{Ref: root, Err: err})
			continue
		}
		suites = append(suites, s)
	}
	return suites, problems
}

// listAll lists suites in order. Where two tasks have one ref the first
// keeps it and the other is a Problem, since nobody could name it.
func listAll(ctx context.Context, suites []tasks.Suite) (list []*tasks.Task, problems []tasks.Problem) {
	taken := map[string]bool{}
	for _, s := range suites {
		found, broken := s.List(ctx)
		for _, t := range found {
			if taken[t.Ref] {
				problems = append(problems, tasks.Problem{Ref: t.Ref, Err: fmt.Errorf(
					"listing task %q: another suite called %q has one of this name; rename its folder, or open it by its path", t.Ref, t.Suite)})
				continue
			}
			taken[t.Ref] = true
			list = append(list, t)
		}
		problems = append(problems, broken...)
	}
	return list, problems
}

// openRef finds "suite/name" or a bare name. Both results are nil when no
// suite has it.
func openRef(ctx context.Context, suites []tasks.Suite, ref string) (*tasks.Task, error) {
	if suite, _, named := tasks.SplitRef(ref); named {
		suites = slices.DeleteFunc(slices.Clone(suites), func(s tasks.Suite) bool { return s.Name() != suite })
	}
	list, problems := listAll(ctx, suites)
	var matches []*tasks.Task
	for _, t := range list {
		if t.Ref == ref || t.Name == ref {
			matches = append(matches, t)
		}
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		var refs []string
		for _, t := range matches {
			refs = append(refs, t.Ref)
		}
		return nil, fmt.Errorf("opening task %q: %d tasks have this name; say which: %s", ref, len(refs), strings.Join(refs, " or "))
	}
	for _, p := range problems {
		if p.Ref == ref || strings.HasSuffix(p.Ref, "/"+ref) {
			return nil, p.Err
		}
	}
	return nil, nil
}

// openPath opens the task that a directory is.
func (c *Catalog) openPath(ctx context.Context, path string) (*tasks.Task, error) {
	s, _, err := c.set.recognise(path)
	if err != nil {
		return nil, err
	}
	list, problems := s.List(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(list)+len(problems) != 1:
		return nil, fmt.Errorf("opening task %q: it holds %d tasks; give the directory of one", path, len(list)+len(problems))
	case len(problems) == 1:
		return nil, problems[0].Err
	}
	task := *list[0]
	task.Ref, err = filepath.Abs(path)
	return &task, err
}

// unknown says which task may have been meant.
func unknown(ref string, list []*tasks.Task, problems []tasks.Problem) error {
	byName := map[string]string{}
	var words []string
	add := func(word, ref string) {
		if _, there := byName[word]; !there {
			byName[word] = ref
			words = append(words, word)
		}
	}
	for _, t := range list {
		add(t.Ref, t.Ref)
		add(t.Name, t.Ref)
	}
	for _, p := range problems {
		add(p.Ref, p.Ref)
	}
	var near []string
	for _, word := range tasks.Nearest(ref, words) {
		if r := byName[word]; !slices.Contains(near, r) {
			near = append(near, r)
		}
	}
	hint := "proctor tasks lists them all"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("opening task %q: no suite has it and no such directory is there; %s", ref, hint)
}
