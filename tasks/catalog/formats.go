package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"proctor/tasks"
	"proctor/tasks/builtin"
	"proctor/tasks/harbor"
	"proctor/tasks/mlagentbench"
	"proctor/tasks/mlebench"
	"proctor/tasks/mlrb"
	"proctor/tasks/mlrcbench"
)

// embedded lists the suites that the binary carries.
func embedded() []tasks.Suite {
	return []tasks.Suite{
		harbor.New("builtin", builtin.FS()),
	}
}

// A format is a way in which suites lie on disk.
type format struct {
	Name string
	// Holds says what a directory of the format has, for people whose
	// directory is none.
	Holds string
	// Detect reports, without reading much, whether a directory is a suite or
	// a single task of the format.
	Detect func(dir string) bool
	// Open returns the suite in a directory that Detect accepted, with what
	// the person has set for the format. That of a single task's directory has
	// just this task.
	Open func(dir string, set map[string]string) (tasks.Suite, error)
	// Table is the format's name in the settings, [suites.TABLE]; "" for one
	// without settings.
	Table string
}

// Settings is what a person has set for each format, by its name in the
// settings and then by key.
type Settings map[string]map[string]string

// harborName is the format whose datasets may be any folder of folders.
const harborName = "Harbor"

// formats lists every format. A directory belongs to the first that detects
// it, so the more particular come first.
func formats() []format {
	return []format{
		{"MLE-bench", "mlebench/competitions/*/config.yaml", mlebench.Detect, func(dir string, set map[string]string) (tasks.Suite, error) {
			return mlebench.OpenWith(dir, mlebench.Options{Data: set["data"], Python: set["python"]})
		}, "mle-bench"},
		{"MLRC-Bench", "MLAgentBench/benchmarks_base/*/env/main.py", mlrcbench.Detect, plain(mlrcbench.Open), ""},
		{"MLAgentBench", "MLAgentBench/benchmarks/*/scripts/research_problem.txt", mlagentbench.Detect, plain(mlagentbench.Open), ""},
		{"ML Research Benchmark", "mlrb_agent_tasks/prompts.py", mlrb.Detect, func(dir string, set map[string]string) (tasks.Suite, error) {
			return mlrb.OpenWith(dir, mlrb.Options{Evaluate: set["evaluate"]})
		}, "mlrb"},
		{harborName, "task.toml, or folders that have one", harbor.Detect, plain(harbor.Open), ""},
	}
}

// plain opens a format that has no settings.
func plain(open func(string) (tasks.Suite, error)) func(string, map[string]string) (tasks.Suite, error) {
	return func(dir string, _ map[string]string) (tasks.Suite, error) { return open(dir) }
}

// recognise opens a directory and returns the format that it is in.
func (set Settings) recognise(dir string) (tasks.Suite, string, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("opening tasks in %q: no such directory", dir)
	}
	if err != nil {
		return nil, "", fmt.Errorf("opening tasks: %w", err)
	}
	if !info.IsDir() {
		return nil, "", fmt.Errorf("opening tasks in %q: a file, expected a directory", dir)
	}
	if f := detect(dir); f != nil {
		s, err := f.Open(dir, set[f.Table])
		return s, f.Name, err
	}
	var holds []string
	for _, f := range formats() {
		holds = append(holds, f.Name+" ("+f.Holds+")")
	}
	hint := ""
	if near := nearby(dir); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, "", fmt.Errorf("opening tasks in %q: it has the files of none of the known formats: %s%s", dir, strings.Join(holds, ", "), hint)
}

// detect returns the format that a directory is in, nil for none.
func detect(dir string) *format {
	for _, f := range formats() {
		if f.Detect(dir) {
			return &f
		}
	}
	return nil
}

// maxChildren bounds how many folders nearby looks into.
const maxChildren = 200

// nearby returns a suite just around or just below a directory that is none.
func nearby(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for up, i := filepath.Dir(dir), 0; i < 3 && up != filepath.Dir(up); up, i = filepath.Dir(up), i+1 {
		if f := detect(up); f != nil && f.Name != harborName {
			return up
		}
	}
	entries, _ := os.ReadDir(dir) // what cannot be read holds none
	for _, e := range entries[:min(len(entries), maxChildren)] {
		if child := filepath.Join(dir, e.Name()); e.IsDir() && detect(child) != nil {
			return child
		}
	}
	return ""
}
