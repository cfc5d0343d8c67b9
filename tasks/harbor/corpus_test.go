package harbor

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"proctor/tasks"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// golden is the file of an archive that says what its task is read as.
const golden = "want"

// The corpus holds tasks of every schema, each with what Proctor makes of it.
func TestCorpus(t *testing.T) {
	archives, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "suite", "task")
			want := ""
			archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
				if f.Name == golden {
					want = string(f.Data)
				}
				return f.Name == golden
			})
			if err := txtar.Write(archive, dir); err != nil {
				t.Fatal(err)
			}
			got := describeTask(t, openTask(t, dir))
			if *update {
				archive.Files = append(archive.Files, txtar.File{Name: golden, Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// openTask opens the one task that a directory is.
func openTask(t *testing.T, dir string) *tasks.Task {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(context.Background())
	if len(list) != 1 || len(problems) != 0 {
		t.Fatalf("%d tasks, problems %v", len(list), problems)
	}
	return list[0]
}

// describeTask prints a task for comparison, with the files that it seeds.
func describeTask(t *testing.T, task *tasks.Task) string {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	line("ref", task.Ref)
	line("title", task.Title)
	line("summary", task.Summary)
	fmt.Fprintf(&b, "instruction: %q\nnotes: %q\n", task.Instruction, task.Notes)
	line("keywords", strings.Join(task.Keywords, ", "))
	line("workdir", task.Workdir)
	for _, seed := range task.Seeds {
		err := fs.WalkDir(seed.From, ".", func(p string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				data, err := fs.ReadFile(seed.From, p)
				fmt.Fprintf(&b, "seed: %s (%d bytes, %v)\n", filepath.ToSlash(filepath.Join(seed.To, p)), len(data), err)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	line("read-only", strings.Join(task.ReadOnly, ", "))
	line("outputs", strings.Join(task.Outputs, ", "))
	line("env", strings.Join(task.Env, ", "))
	line("starter", task.Starter)
	for _, k := range task.Knobs {
		line("knob", fmt.Sprintf("%+v", k))
	}
	line("metric", fmt.Sprintf("%+v", task.Metric))
	line("budget", fmt.Sprintf("%+v", task.Budget))
	line("needs", fmt.Sprintf("%+v", task.Needs))
	line("baseline", number(task.Standing.Baseline))
	medals := task.Standing.Thresholds
	line("thresholds", strings.Join([]string{number(medals.Gold), number(medals.Silver), number(medals.Bronze), number(medals.Median)}, " "))
	line("references", fmt.Sprintf("%+v", task.Standing.References))
	g := task.Grader.(*grader)
	line("grader", fmt.Sprintf("%v, env %q, outputs declared %v, aware %v", g.timeout, g.env, g.declared, g.aware))
	for _, w := range task.Warnings {
		line("warning", w)
	}
	return b.String()
}

func number(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprint(*x)
}
