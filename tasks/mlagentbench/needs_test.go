package mlagentbench

import (
	"slices"
	"testing"

	"proctor/tasks/benchtest"
	"proctor/tasks/checkout"
)

// A grader's modules are those that eval.py imports and nobody else has said,
// without the task's own files.
func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	benchtest.Add(t, dir, map[string]string{
		"scripts/eval.py":   "import sys\nimport pandas as pd\nfrom metric import f\nfrom helper import g\nimport numpy\n",
		"scripts/helper.py": "", "env/metric.py": "",
	})
	s := source{dir: checkout.Dir(dir), name: "some", folder: "some"}
	env := checkout.Dir(dir + "/env")
	if n := s.needs(known{modules: []string{"pandas"}}, env); !slices.Equal(n.Grading.Modules, []string{"sys", "numpy"}) {
		t.Errorf("offline: %+v", n)
	}
	n := s.needs(known{modules: []string{"pandas"}, network: true, gpu: true, terms: "a licence"}, env)
	if !slices.Equal(n.Grading.Modules, []string{"sys", "pandas", "numpy"}) || !n.Network || n.GPUs != 1 || n.Terms != "a licence" {
		t.Errorf("with a network: %+v", n)
	}
	if n := (source{dir: checkout.Dir(t.TempDir())}).needs(known{}, env); len(n.Grading.Modules) > 0 {
		t.Errorf("without an eval.py: %+v", n)
	}
}
