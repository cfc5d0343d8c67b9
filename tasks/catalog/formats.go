package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	// Detect reports, without reading much, whether a directory is a suite or
	// a single task of the format.
	Detect func(dir string) bool
	// Open returns the suite in a directory that Detect accepted. That of a
	// single task's directory has just this task.
	Open func(dir string) (tasks.Suite, error)
}

// formats lists every format. A directory belongs to the first that detects
// it, so the more particular come first.
func formats() []format {
	return []format{
		{"MLE-bench", mlebench.Detect, mlebench.Open},
		{"MLRC-Bench", mlrcbench.Detect, mlrcbench.Open},
		{"MLAgentBench", mlagentbench.Detect, mlagentbench.Open},
		{"ML Research Benchmark", mlrb.Detect, mlrb.Open},
		{"Harbor", harbor.Detect, harbor.Open},
	}
}

// openSuite opens a directory in whichever format it is.
func openSuite(dir string) (tasks.Suite, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening tasks in %q: no such directory", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening tasks: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("opening tasks in %q: a file, expected a directory", dir)
	}
	var names []string
	for _, f := range formats() {
		if f.Detect(dir) {
			return f.Open(dir)
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("opening tasks in %q: neither a task nor a suite in a known format (%s); a Harbor task has a task.toml", dir, strings.Join(names, ", "))
}
