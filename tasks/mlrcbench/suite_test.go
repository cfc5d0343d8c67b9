package mlrcbench

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/tasks/benchtest"
	"proctor/tasks/mlagentbench"
)

func TestList(t *testing.T) {
	dir := layCheckout(t, "product-recommendation", "base-competition", "novel", "weather_forcast")
	benchtest.Add(t, dir, map[string]string{
		"MLAgentBench/benchmarks_base/no-methods/env/main.py":                "",
		"MLAgentBench/benchmarks_base/no-methods/scripts/prepare.py":         "",
		"MLAgentBench/benchmarks_base/no-problem/env/main.py":                "",
		"MLAgentBench/benchmarks_base/no-problem/env/methods/":               "",
		"MLAgentBench/benchmarks/old/scripts/research_problem.txt":           "An idea's folder.",
		"MLAgentBench/benchmarks_base/patterns/env/main.py":                  "",
		"MLAgentBench/benchmarks_base/patterns/env/methods/":                 "",
		"MLAgentBench/benchmarks_base/patterns/scripts/research_problem.txt": "x",
		"MLAgentBench/benchmarks_base/patterns/scripts/read_only_files.txt":  "/etc/*",
	})
	if mlagentbench.Detect(dir) || !Detect(dir) || !Detect(filepath.Join(dir, "MLAgentBench")) {
		t.Error("the checkout is taken for another")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	var names []string
	for _, task := range list {
		names = append(names, task.Name)
	}
	if want := []string{"base-competition", "novel", "product-recommendation", "weather_forcast"}; !slices.Equal(names, want) {
		t.Errorf("tasks %q, want %q", names, want)
	}
	want := map[string]string{"no-methods": "env/methods", "no-problem": "research_problem.txt", "patterns": "/etc/*"}
	for _, p := range problems {
		name := strings.TrimPrefix(p.Ref, "mlrc-bench/")
		if says, ok := want[name]; !ok || !strings.Contains(p.Err.Error(), says) {
			t.Errorf("problem %s: %v, want %q", p.Ref, p.Err, says)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not named as problems: %v", want)
	}
	if Detect(benchtest.Lay(t, map[string]string{"x": ""})) {
		t.Error("any directory is taken for a checkout")
	}
}

func TestTask(t *testing.T) {
	dir := layCheckout(t, "product-recommendation", "weather_forcast", "novel")
	task := openTask(t, dir, "product-recommendation")
	if want := []string{"MLAgentBench", "constants.py", "data", "evaluation.py", "main.py", "methods/BaseMethod.py"}; !slices.Equal(task.ReadOnly, want) {
		t.Errorf("read-only %q, want %q", task.ReadOnly, want)
	}
	if task.Starter != "python3 main.py -m my_method -p dev" || task.Summary != "Recommend products" ||
		!strings.Contains(task.Instruction, "a is frequent") {
		t.Errorf("starter %q, summary %q, instruction %q", task.Starter, task.Summary, task.Instruction)
	}
	if *task.Standing.Baseline != 0.08039049179 || *task.Standing.TopHuman != 0.41208 || len(task.Missing) != 0 || !task.Metric.HigherIsBetter {
		t.Errorf("standing %+v, missing %q", task.Standing, task.Missing)
	}
	if b := task.Budget; b.Time != 5*time.Hour || b.Steps != 50 || b.Cost != 10 {
		t.Errorf("budget %+v", b)
	}
	if b := openTask(t, dir, "weather_forcast").Budget; b.Time != 10*time.Hour || b.Steps != 100 || b.Cost != 20 {
		t.Errorf("budget %+v", b)
	}
	if novel := openTask(t, dir, "novel"); len(novel.Warnings) != 1 || novel.Standing.Baseline != nil {
		t.Errorf("warnings %q, standing %+v", novel.Warnings, novel.Standing)
	}
	if err := os.RemoveAll(filepath.Join(folder(dir, "novel"), "env", "data")); err != nil {
		t.Fatal(err)
	}
	if novel := openTask(t, dir, "novel"); len(novel.Missing) != 1 || !strings.Contains(novel.Missing[0], "prepare.py") {
		t.Errorf("missing %q", novel.Missing)
	}
	if single, err := Open(folder(dir, "novel")); err != nil {
		t.Error(err)
	} else if list, _ := single.List(t.Context()); len(list) != 1 || list[0].Name != "novel" {
		t.Errorf("a single task: %v", list)
	}
}

// An agent gets env/ without the test set, and nothing that leads to it.
func TestNothingOfTheAnswers(t *testing.T) {
	dir := layCheckout(t, "product-recommendation")
	env := filepath.Join(folder(dir, "product-recommendation"), "env")
	for name, target := range map[string]string{"test": "../scripts/test_data", "data/labels": "../../scripts/test_data/test_l.txt"} {
		if err := os.Symlink(target, filepath.Join(env, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	task := openTask(t, dir, "product-recommendation")
	if len(task.Missing) != 2 || len(task.Mounts) != 0 {
		t.Errorf("missing %q, mounts %v", task.Missing, task.Mounts)
	}
	for _, s := range task.Seeds {
		_ = fs.WalkDir(s.From, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(s.From, name)
			if strings.Contains(string(data), "a b a b") || strings.Contains(name, "test_constants") {
				t.Errorf("%s shows the test set", name)
			}
			if err == nil && !entry.Type().IsRegular() {
				t.Errorf("%s can be read through a link", name)
			}
			return nil
		})
	}
}

func TestRealList(t *testing.T) {
	dir := os.Getenv("PROCTOR_MLRCBENCH")
	if dir == "" {
		t.Skip("PROCTOR_MLRCBENCH is not set to a checkout of MLRC-Bench")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	for _, p := range problems {
		t.Logf("%s: %v", p.Ref, p.Err)
	}
	if len(list) == 0 {
		t.Error("no tasks")
	}
}
