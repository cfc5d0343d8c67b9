package mlrcbench

import (
	"context"
	"fmt"
	"path/filepath"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// suiteName is the first part of every ref, whatever the checkout's folder is
// called.
const suiteName = "mlrc-bench"

// A suite is a checkout, or one task's folder of it.
type suite struct {
	benchmarks checkout.Dir
	only       string // set when a single task was opened
}

// Detect reports whether dir is a checkout of MLRC-Bench, its folder of
// tasks, or one task.
func Detect(dir string) bool {
	d := checkout.Dir(dir)
	if _, ok := find(d); ok {
		return true
	}
	return isTask(d)
}

// Open returns the suite in a directory that Detect accepted.
func Open(dir string) (tasks.Suite, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := checkout.Dir(dir)
	if benchmarks, ok := find(d); ok {
		return &suite{benchmarks: benchmarks}, nil
	}
	if isTask(d) {
		return &suite{benchmarks: checkout.Dir(filepath.Dir(dir)), only: filepath.Base(dir)}, nil
	}
	return nil, fmt.Errorf("opening MLRC-Bench in %q: it has no MLAgentBench/benchmarks_base with env/main.py in a folder", dir)
}

func find(d checkout.Dir) (checkout.Dir, bool) {
	for _, at := range []string{"MLAgentBench/benchmarks_base", "benchmarks_base", "."} {
		sub, err := d.Sub(at)
		if err != nil {
			continue
		}
		for _, name := range sub.Dirs() {
			if task, err := sub.Sub(name); err == nil && isTask(task) {
				return sub, true
			}
		}
	}
	return "", false
}

// isTask reports whether a folder has the entry point and the place for the
// agent's work that make it a task of this suite.
func isTask(d checkout.Dir) bool {
	return d.HasFile("env/main.py") && d.HasDir("env/methods")
}

func (s *suite) Name() string { return suiteName }

// List implements tasks.Suite.
func (s *suite) List(ctx context.Context) ([]*tasks.Task, []tasks.Problem) {
	return s.named().List(ctx)
}

// Open implements tasks.Suite.
func (s *suite) Open(ctx context.Context, name string) (*tasks.Task, error) {
	return s.named().Find(ctx, name)
}

func (s *suite) named() tasks.Named {
	return tasks.Named{Suite: suiteName, Names: s.names(), Open: s.open}
}

// names lists the folders that are meant as tasks, complete or not.
func (s *suite) names() []string {
	if s.only != "" {
		return []string{s.only}
	}
	var names []string
	for _, name := range s.benchmarks.Dirs() {
		if s.benchmarks.HasDir(name+"/env") || s.benchmarks.HasDir(name+"/scripts") {
			names = append(names, name)
		}
	}
	return names
}

func (s *suite) open(name string) (*tasks.Task, error) {
	d, err := s.benchmarks.Sub(name)
	if err != nil {
		return nil, fmt.Errorf("opening task %q: %w", name, err)
	}
	t, err := source{dir: d, name: name}.open()
	if err != nil {
		return nil, fmt.Errorf("opening task %q: %w", name, err)
	}
	return t, nil
}
