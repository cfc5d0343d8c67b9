package mlebench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "competitions", "some")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "from typing import Any\nimport pandas as pd\nimport tqdm\nfrom mlebench.grade_helpers import X\nfrom Levenshtein import distance\nfrom .classes import C\n"
	if err := os.WriteFile(filepath.Join(folder, "grade.py"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	g := &Grader{id: "some", packageDir: dir}
	if n := g.needs(); !slices.Equal(n.Modules, []string{"pandas", "sklearn", "typing", "Levenshtein"}) || len(n.Pythons) != 2 {
		t.Errorf("%+v", n)
	}
	g.python = "/venv/bin/python"
	if n := g.needs(); !slices.Equal(n.Pythons, []string{"/venv/bin/python"}) {
		t.Errorf("%+v", n)
	}
	g.plan = &plan{}
	if n := g.needs(); len(n.Modules) > 0 {
		t.Errorf("what Go can grade asks for %+v", n)
	}
}
