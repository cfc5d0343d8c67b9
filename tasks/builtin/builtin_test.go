package builtin_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"proctor/tasks/builtin"
)

// A spec is what these tests need of a task.toml.
type spec struct {
	Task     struct{ Name string }
	Metadata struct {
		Proctor struct {
			Outputs []string
			Starter string
			Metric  struct {
				Name           string
				HigherIsBetter bool `toml:"higher_is_better"`
				Pattern        string
			}
			Knobs []knob
			Grade struct {
				Baseline   float64
				Thresholds struct{ Gold, Silver, Bronze, Median float64 }
				References []struct {
					Name  string
					Score float64
					How   string
				}
			}
		}
	}
}

type knob struct {
	Name, Type string
	Values     []string
	Default    any
	Min, Max   any
	Fidelity   bool
	When       map[string][]string
}

func names() []string { return []string{"diabetes", "digits", "speedup"} }

func readSpec(t *testing.T, name string) spec {
	t.Helper()
	var s spec
	if _, err := toml.DecodeFS(builtin.FS(), name+"/task.toml", &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := fs.ReadFile(builtin.FS(), path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// python3 skips the test where there is no python3, unless one is required.
func python3(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal("python3 is required here and is not on PATH")
		}
		t.Skip("python3 is not on PATH; the embedded tasks' starters and graders are Python")
	}
}

// lay copies a directory of the suite into a fresh one and returns its path.
func lay(t *testing.T, path string) string {
	t.Helper()
	tree, err := fs.Sub(builtin.FS(), path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return dir
}

// in runs a command in dir and returns its standard output.
func in(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(argv, " "), err, out, stderr.Bytes())
	}
	return string(out)
}

func TestEveryTaskIsWhole(t *testing.T) {
	for _, name := range names() {
		for _, path := range []string{
			"task.toml", "instruction.md", "NOTES.md", "environment/Dockerfile", "tests/test.sh", "solution/solve.sh",
		} {
			if len(readFile(t, name+"/"+path)) == 0 {
				t.Errorf("%s/%s is empty", name, path)
			}
		}
		if got, want := readSpec(t, name).Task.Name, "proctor/"+name; got != want {
			t.Errorf("%s is called %q, want %q", name, got, want)
		}
	}
}

// What has to be there twice, because a task directory stands alone, is the
// same both times.
func TestCopiesAgree(t *testing.T) {
	for _, pair := range [][2]string{
		{"digits/tests/verdict.py", "diabetes/tests/verdict.py"},
		{"digits/tests/verdict.py", "speedup/tests/verdict.py"},
		{"digits/tests/table.py", "diabetes/tests/table.py"},
		{"digits/tests/test.sh", "diabetes/tests/test.sh"},
		{"digits/tests/test.sh", "speedup/tests/test.sh"},
		{"speedup/environment/starter.py", "speedup/environment/step.py"},
		{"speedup/environment/starter.py", "speedup/tests/starter.py"},
		{"speedup/environment/workload.py", "speedup/tests/workload.py"},
	} {
		if !bytes.Equal(readFile(t, pair[0]), readFile(t, pair[1])) {
			t.Errorf("%s and %s differ", pair[0], pair[1])
		}
	}
}

// The agent sees neither the held-out answers nor the row that a patient or an
// image has in the public table.
func TestAnswersStayOutOfTheEnvironment(t *testing.T) {
	for name, target := range map[string]string{"digits": "label", "diabetes": "progression"} {
		header, _, _ := strings.Cut(string(readFile(t, name+"/environment/data/test.csv")), "\n")
		if strings.Contains(header, target) {
			t.Errorf("%s: test.csv has the column %s", name, target)
		}
		answers := strings.Fields(string(readFile(t, name+"/tests/answers.csv")))[1:]
		train := "\n" + string(readFile(t, name+"/environment/data/train.csv"))
		for _, line := range answers {
			id, _, _ := strings.Cut(line, ",")
			if strings.Contains(train, "\n"+id+",") {
				t.Fatalf("%s: the held-out row %s is in train.csv", name, id)
			}
		}
		err := fs.WalkDir(builtin.FS(), name+"/environment", func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.Contains(filepath.Base(path), "answer") {
				t.Errorf("%s is shown to the agent", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestThresholdsAreInOrder(t *testing.T) {
	for _, name := range names() {
		p := readSpec(t, name).Metadata.Proctor
		steps := []float64{
			p.Grade.Baseline, p.Grade.Thresholds.Median, p.Grade.Thresholds.Bronze,
			p.Grade.Thresholds.Silver, p.Grade.Thresholds.Gold,
		}
		best := steps[len(steps)-1]
		reached := false
		for _, r := range p.Grade.References {
			if r.Name == "" || r.How == "" {
				t.Errorf("%s: a reference without name or how: %+v", name, r)
			}
			reached = reached || (r.Score >= best) == p.Metric.HigherIsBetter || r.Score == best
		}
		if !reached {
			t.Errorf("%s: no reference reaches gold, %v", name, best)
		}
		for i := 1; i < len(steps); i++ {
			if steps[i] == steps[i-1] || (steps[i] > steps[i-1]) != p.Metric.HigherIsBetter {
				t.Errorf("%s: baseline, median, bronze, silver, gold are %v", name, steps)
				break
			}
		}
	}
}
