package guest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMerge(t *testing.T) {
	got := merge([]string{"A=1", "B=2", "junk", "=x"}, []string{"B=3", "C="}, nil, []string{"A=4"})
	if want := []string{"A=4", "B=3", "C="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	for path, mode := range map[string]os.FileMode{program: 0o755, filepath.Join(dir, "text"): 0o644} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"X=1", "PATH=relative:/nowhere:" + dir}
	if got, err := lookPath("program", env); got != program || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := lookPath("./x", env); got != "./x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"text", "dir", "absent"} {
		if got, err := lookPath(name, env); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
