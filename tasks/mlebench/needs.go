package mlebench

import (
	"path/filepath"
	"slices"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// maxScript bounds what is read of a grade.py, in bytes; real ones have a few kB.
const maxScript = 1 << 20

// needs says what grading asks of the machine: nothing where Go can do it,
// else a Python with what grade.py imports.
func (g *Grader) needs() tasks.Grading {
	if g.plan != nil {
		return tasks.Grading{}
	}
	need := tasks.Grading{Modules: []string{"pandas", "sklearn"}, Pythons: []string{"python3", "/usr/bin/python3"}}
	if g.python != "" {
		need.Pythons = []string{g.python}
	}
	script, err := readFile(filepath.Join(g.packageDir, "competitions", g.id, "grade.py"), maxScript)
	if err != nil {
		return need
	}
	for _, name := range grade.Imports(script) {
		// The package itself comes with the checkout, and the sidecar has a
		// stand-in for tqdm, which graders only import.
		if name != "mlebench" && name != "tqdm" && !slices.Contains(need.Modules, name) {
			need.Modules = append(need.Modules, name)
		}
	}
	return need
}
