package mlagentbench

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// suiteName is the first part of every ref, whatever the checkout's folder is
// called.
const suiteName = "mlagentbench"

// maxText bounds the text files of a task, in bytes.
const maxText = 1 << 20

// A suite is a checkout, or one task's folder of it.
type suite struct {
	benchmarks checkout.Dir // the folder of task folders
	only       string       // set when a single task was opened
	renamed    map[string]alias
	broken     error // why tasks.json could not be read
}

// An alias is an entry of tasks.json: a folder under another name, and maybe
// another instruction.
type alias struct {
	Problem *string `json:"research_problem"`
	Folder  string  `json:"benchmark_folder_name"`
}

// Detect reports whether dir is a checkout of MLAgentBench, its folder of
// tasks, or one task. A checkout of MLRC-Bench, which grew out of it and has
// such a folder too, is none.
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
		s := &suite{benchmarks: benchmarks}
		s.renamed, s.broken = aliases(benchmarks)
		return s, nil
	}
	if isTask(d) {
		return &suite{benchmarks: checkout.Dir(filepath.Dir(dir)), only: filepath.Base(dir)}, nil
	}
	return nil, fmt.Errorf("opening MLAgentBench in %q: it has no MLAgentBench/benchmarks with scripts/research_problem.txt in a folder", dir)
}

// find returns the folder of task folders of a checkout, also when dir is
// that folder or the one between.
func find(d checkout.Dir) (checkout.Dir, bool) {
	for _, at := range []string{"MLAgentBench/benchmarks", "benchmarks", "."} {
		if d.HasDir(at + "_base") {
			return "", false
		}
		sub, err := d.Sub(at)
		if err == nil && slices.ContainsFunc(sub.Dirs(), func(name string) bool { return looksLikeTask(sub, name) }) {
			return sub, true
		}
	}
	return "", false
}

func looksLikeTask(d checkout.Dir, name string) bool {
	return d.HasFile(name + "/scripts/research_problem.txt")
}

func isTask(d checkout.Dir) bool {
	return d.HasFile("scripts/research_problem.txt") && d.HasDir("env") && !d.HasDir("env/methods")
}

// aliases reads tasks.json, where there is one.
func aliases(benchmarks checkout.Dir) (map[string]alias, error) {
	if !benchmarks.HasFile("tasks.json") {
		return nil, nil
	}
	text, err := benchmarks.Text("tasks.json", maxText)
	if err != nil {
		return nil, err
	}
	var named map[string]alias
	if err := json.Unmarshal([]byte(text), &named); err != nil {
		return nil, fmt.Errorf("%q is not the JSON object expected: %w", benchmarks.Path("tasks.json"), err)
	}
	return named, nil
}

func (s *suite) Name() string { return suiteName }

// List implements tasks.Suite.
func (s *suite) List(ctx context.Context) ([]*tasks.Task, []tasks.Problem) {
	list, problems := s.named().List(ctx)
	if s.broken != nil {
		problems = slices.Insert(problems, 0, tasks.Problem{Ref: suiteName + "/tasks.json", Err: s.broken})
	}
	return list, problems
}

// Open implements tasks.Suite.
func (s *suite) Open(ctx context.Context, name string) (*tasks.Task, error) {
	return s.named().Find(ctx, name)
}

func (s *suite) named() tasks.Named {
	return tasks.Named{Suite: suiteName, Names: s.names(), Open: s.open}
}

// names lists the folders that are meant as tasks, complete or not, and the
// entries of tasks.json.
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
	for name := range s.renamed {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	return names
}

func (s *suite) open(name string) (*tasks.Task, error) {
	folder := name
	renamed, ok := s.renamed[name]
	if ok && renamed.Folder != "" {
		folder = renamed.Folder
	}
	if !filepath.IsLocal(folder) || strings.ContainsAny(folder, `/\`) {
		return nil, fmt.Errorf("opening task %q: tasks.json names the folder %q, expected one beside it", name, folder)
	}
	d, err := s.benchmarks.Sub(folder)
	if err != nil {
		return nil, fmt.Errorf("opening task %q: %w", name, err)
	}
	t, err := source{dir: d, name: name, folder: folder, problem: renamed.Problem}.open()
	if err != nil {
		return nil, fmt.Errorf("opening task %q: %w", name, err)
	}
	return t, nil
}
