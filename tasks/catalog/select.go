package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks"
)

// Select returns the tasks and problems that the words name, in the order of
// [Catalog.List]: a suite, a part of one such as "mle-bench/low", a task by
// its ref or bare name, or a path. Without words it is List. The error names
// the first word that means nothing here.
func (c *Catalog) Select(ctx context.Context, words []string) ([]*tasks.Task, []tasks.Problem, error) {
	list, problems := c.List(ctx)
	if len(words) == 0 {
		return list, problems, ctx.Err()
	}
	wanted := map[string]bool{}
	var more []*tasks.Task // opened by their paths
	var broken []tasks.Problem
	for _, word := range words {
		refs := matching(list, problems, strings.TrimSuffix(word, "/"))
		if isPath(word) || len(refs) == 0 && isDir(word) {
			found, err := Recognise(ctx, word, c.set)
			if err != nil {
				return nil, nil, err
			}
			more, broken = append(more, found.Tasks...), append(broken, found.Problems...)
			continue
		}
		if len(refs) == 0 {
			return nil, nil, fmt.Errorf("no suite, part of a suite or task is called %q; %s", word, c.hint(word, list, problems))
		}
		for _, ref := range refs {
			wanted[ref] = true
		}
	}
	list = slices.DeleteFunc(list, func(t *tasks.Task) bool { return !wanted[t.Ref] })
	problems = slices.DeleteFunc(problems, func(p tasks.Problem) bool { return !wanted[p.Ref] })
	return append(list, more...), append(problems, broken...), ctx.Err()
}

// isPath reports whether a word can be nothing but a path.
func isPath(word string) bool { return strings.HasPrefix(word, ".") || filepath.IsAbs(word) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// matching returns the refs of what a word names.
func matching(list []*tasks.Task, problems []tasks.Problem, word string) []string {
	var refs []string
	suite, part, _ := strings.Cut(word, "/")
	for _, t := range list {
		inPart := t.Suite == suite && part != "" && (t.Split == part || slices.Contains(t.Keywords, part))
		if t.Ref == word || t.Name == word || t.Suite == word || inPart {
			refs = append(refs, t.Ref)
		}
	}
	for _, p := range problems {
		if p.Ref == word || strings.HasPrefix(p.Ref, word+"/") || strings.HasSuffix(p.Ref, "/"+word) {
			refs = append(refs, p.Ref)
		}
	}
	return refs
}

// hint says what may have been meant by a word that names nothing.
func (c *Catalog) hint(word string, list []*tasks.Task, problems []tasks.Problem) string {
	var known []string
	add := func(name string) {
		if name != "" && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for _, t := range list {
		add(t.Suite)
		if t.Split != "" {
			add(t.Suite + "/" + t.Split)
		}
		add(t.Ref)
		add(t.Name)
	}
	for _, p := range problems {
		add(p.Ref)
	}
	if near := tasks.Nearest(word, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return "proctor tasks lists them all; a path begins with . or /"
}
