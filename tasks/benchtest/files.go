package benchtest

import (
	"os"
	"path/filepath"
	"testing"

	"proctor/tasks"
)

// Lay writes files, by slash-separated path, below a new directory of the
// test and returns it.
func Lay(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	Add(t, dir, files)
	return dir
}

// Add writes files below dir. A path that ends in "/" is a directory.
func Add(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if name[len(name)-1] == '/' {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Grade runs a task's grader on a submission and returns the verdict.
func Grade(t testing.TB, task *tasks.Task, s tasks.Submission, b tasks.Bench) *tasks.Verdict {
	t.Helper()
	v, err := task.Grader.Grade(t.Context(), s, b)
	if err != nil {
		t.Fatal(err)
	}
	if v == nil {
		t.Fatal("the grader gave no verdict")
	}
	return v
}
