package mlagentbench

import (
	"slices"

	"proctor/tasks"
	"proctor/tasks/checkout"
	"proctor/tasks/grade"
)

// needs says what a task asks of the machine: what the table knows of its
// starter, and the modules that its eval.py imports.
func (s source) needs(k known, env checkout.Dir) tasks.Needs {
	n := tasks.Needs{Network: k.network, Modules: k.modules, Terms: k.terms}
	if k.gpu {
		n.GPUs = 1
	}
	if s.retimed() {
		return n // Proctor times it itself, with what the task needs anyway
	}
	script, err := s.dir.Text("scripts/eval.py", maxText)
	if err != nil {
		return n // it has none: a person judges
	}
	for _, name := range grade.Imports([]byte(script)) {
		local := env.HasFile(name+".py") || s.dir.HasFile("scripts/"+name+".py")
		// Where the agent cannot install anything, its own modules say it.
		if !local && (k.network || !slices.Contains(k.modules, name)) {
			n.Grading.Modules = append(n.Grading.Modules, name)
		}
	}
	return n
}
