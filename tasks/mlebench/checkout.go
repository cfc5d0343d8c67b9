package mlebench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks"
)

// suiteName is the first part of every ref.
const suiteName = "mle-bench"

// Options say where to find what does not come with a checkout.
type Options struct {
	// Data is the directory that "mlebench prepare" filled. Empty means the
	// folder data in the checkout if it is there, else mle-bench's own
	// default, mle-bench/data in the user's cache directory.
	Data string
	// Python is the interpreter that runs the graders: a name on the PATH or
	// an absolute path, such as that of a virtual environment. Empty means
	// python3, then /usr/bin/python3, whichever has pandas.
	Python string
}

// A suite is a checkout.
type suite struct {
	root   string // of the checkout
	data   string
	python string
	// only is set when a single competition's folder was opened.
	only string
}

// Detect reports whether a directory is a checkout of the repository, or the
// folder of one competition in it.
func Detect(dir string) bool {
	_, _, ok := locate(dir)
	return ok
}

// locate finds the checkout that dir is, or lies in as one competition.
func locate(dir string) (root, only string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", "", false
	}
	if len(competitionFolders(dir)) > 0 {
		return dir, "", true
	}
	parent := filepath.Dir(dir)
	if filepath.Base(parent) == "competitions" && filepath.Base(filepath.Dir(parent)) == "mlebench" && isCompetition(dir) {
		return filepath.Dir(filepath.Dir(parent)), filepath.Base(dir), true
	}
	return "", "", false
}

// isCompetition reports whether a folder was meant to be a competition, even
// if one of its files is missing.
func isCompetition(dir string) bool {
	for _, name := range []string{"config.yaml", "grade.py", "prepare.py"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Open returns the suite in a checkout with the options of [Environment].
func Open(dir string) (tasks.Suite, error) { return OpenWith(dir, Options{}) }

// OpenWith returns the suite in a checkout, or the single competition that
// dir is in one.
func OpenWith(dir string, o Options) (tasks.Suite, error) {
	root, only, ok := locate(dir)
	if !ok {
		return nil, fmt.Errorf("opening tasks in %q: not a checkout of mle-bench, which has mlebench/competitions/*/config.yaml", dir)
	}
	data, err := dataDir(root, o.Data)
	if err != nil {
		return nil, fmt.Errorf("opening mle-bench in %q: %w", dir, err)
	}
	return &suite{root: root, data: data, python: o.Python, only: only}, nil
}

func dataDir(root, given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	beside := filepath.Join(root, "data")
	if info, err := os.Stat(beside); err == nil && info.IsDir() {
		return beside, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", errors.New("no cache directory to find the data in; set data in [suites.mle-bench] of the settings")
	}
	return filepath.Join(cache, "mle-bench", "data"), nil
}

func (s *suite) Name() string { return suiteName }

func (s *suite) List(ctx context.Context) ([]*tasks.Task, []tasks.Problem) {
	splits := readSplits(s.root)
	open := func(id string) (*tasks.Task, error) { return s.open(id, splits) }
	return tasks.Named{Suite: suiteName, Names: s.ids(splits), Open: open}.List(ctx)
}

func (s *suite) Open(ctx context.Context, id string) (*tasks.Task, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	splits := readSplits(s.root)
	ids := s.ids(splits)
	if !slices.Contains(ids, id) {
		hint := ""
		if near := tasks.Nearest(id, ids); len(near) > 0 {
			hint = fmt.Sprintf("; did you mean %q?", near[0])
		}
		return nil, fmt.Errorf("the checkout %q has no competition %q%s", s.root, id, hint)
	}
	return s.open(id, splits)
}

func (s *suite) open(id string, splits map[string]string) (*tasks.Task, error) {
	task, err := (&competition{suite: s, id: id, split: splits[id]}).task()
	if err != nil {
		return nil, fmt.Errorf("opening competition %q: %w", id, err)
	}
	return task, nil
}

// splitNames lists the splits from the easiest on.
func splitNames() []string { return []string{"low", "medium", "high", "dev"} }

// ids lists the competitions split by split, and by name within one.
func (s *suite) ids(splits map[string]string) []string {
	if s.only != "" {
		return []string{s.only}
	}
	ids := competitionFolders(s.root)
	rank := func(id string) int {
		if i := slices.Index(splitNames(), splits[id]); i >= 0 {
			return i
		}
		return len(splitNames())
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return ids
}

func competitionFolders(root string) []string {
	dir := filepath.Join(root, "mlebench", "competitions")
	entries, _ := os.ReadDir(dir)
	var ids []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "_") && isCompetition(filepath.Join(dir, e.Name())) {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// readSplits returns the split of each competition, from the checkout's lists
// or, where they do not say, from the embedded table.
func readSplits(root string) map[string]string {
	splits := map[string]string{}
	for id, k := range knownCompetitions() {
		splits[id] = k.split
	}
	for _, split := range splitNames() {
		text, err := readFile(filepath.Join(root, "experiments", "splits", split+".txt"), maxConfig)
		if err != nil {
			continue
		}
		for _, id := range strings.Fields(string(text)) {
			splits[id] = split
		}
	}
	return splits
}
