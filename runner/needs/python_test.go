package needs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/tasks"
)

func real(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal("python3 is not installed")
		}
		t.Skip("python3 is not installed")
	}
	return path
}

func lacking(t *testing.T, task tasks.Task) []string {
	t.Helper()
	var words []string
	for _, l := range (Machine{Sandbox: box(true)}).Check(context.Background(), []*tasks.Task{&task})[0] {
		words = append(words, l.String())
	}
	return words
}

func TestModules(t *testing.T) {
	real(t)
	// What a sandbox does not show counts for nothing.
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "absent_one.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", own)
	modules := []string{"json", "absent_one", "email.message", "absent_two", "not a name", ""}
	got := lacking(t, tasks.Task{Needs: tasks.Needs{Modules: modules}})
	if len(got) != 1 || !strings.HasPrefix(got[0], "the Python modules absent_one, absent_two, not a name, , for python3") {
		t.Errorf("got %q", got)
	}
	if got := lacking(t, tasks.Task{Needs: tasks.Needs{Modules: []string{"json", "email.message"}}}); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	got = lacking(t, tasks.Task{Needs: tasks.Needs{Modules: []string{"absent_one"}, Network: true}})
	if !slices.Equal(got, []string{"goes without the Python module absent_one, for python3, which the agent would have to install"}) {
		t.Errorf("got %q", got)
	}
}

// Looking for a module imports nothing.
func TestModulesAreNotImported(t *testing.T) {
	python := real(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	hostile := "open(" + quotePython(ran) + ", 'w')"
	for _, name := range []string{"trap.py", "nest/__init__.py"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(hostile), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// -I keeps PYTHONPATH out, so the interpreter is told of the directory.
	wrapper := script(t, "python3", "shift 2\nexec "+python+` -I -c "import sys; sys.path.insert(0, '`+dir+`'); exec(sys.argv[1])" "$1"`)
	t.Setenv("PATH", filepath.Dir(wrapper)+":"+os.Getenv("PATH"))
	got := lacking(t, tasks.Task{Needs: tasks.Needs{Modules: []string{"trap", "nest.inner", "absent"}}})
	if len(got) != 1 || strings.Contains(got[0], "trap") || !strings.Contains(got[0], "absent") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a module was imported")
	}
}

func quotePython(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// An interpreter that says nothing, or nonsense, or hangs until the context
// ends, lacks nothing as far as anybody knows.
func TestPythonThatDoesNotSay(t *testing.T) {
	for _, text := range []string{"exit 1", "echo nonsense", "exec sleep 1000"} {
		fake := script(t, "python3", text)
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		if p := probePython(ctx, fake, []string{"x"}); !p.unknown || p.absent {
			t.Errorf("%s: %+v", text, p)
		}
		cancel()
	}
}

func TestNoPython(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	got := lacking(t, tasks.Task{Needs: tasks.Needs{Modules: []string{"json"}}})
	if len(got) != 1 || !strings.HasPrefix(got[0], "python3, which is not installed") {
		t.Errorf("got %q", got)
	}
}

// A grader takes the first interpreter that has everything, and what is said
// to be missing is what the best of them lacks.
func TestGradersPythons(t *testing.T) {
	none := script(t, "one", `echo '["a","b"]'`)
	some := script(t, "two", `echo '["b"]'`)
	all := script(t, "three", `echo '[]'`)
	for _, tc := range []struct {
		pythons []string
		want    []string
	}{
		{[]string{none, all}, nil},
		{[]string{all, none}, nil},
		{[]string{none, some}, []string{"cannot be graded here: it lacks the Python module b, for " + some}},
		{[]string{none}, []string{"cannot be graded here: it lacks the Python modules a, b, for " + none}},
		{[]string{"/no/python", some}, []string{"cannot be graded here: it lacks the Python module b, for " + some}},
		{[]string{"/no/python", "/nor/this"}, []string{"cannot be graded here: it lacks /no/python or /nor/this, which is not installed (Debian: apt install python3)"}},
	} {
		got := lacking(t, tasks.Task{Needs: tasks.Needs{Grading: tasks.Grading{Modules: []string{"a", "b"}, Pythons: tc.pythons}}})
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q: %q, want %q", tc.pythons, got, tc.want)
		}
	}
}
