package mlagentbench

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/tasks/benchtest"
)

func TestList(t *testing.T) {
	dir := layCheckout(t)
	for _, at := range []string{dir, filepath.Join(dir, "MLAgentBench"), filepath.Join(dir, "MLAgentBench", "benchmarks")} {
		if !Detect(at) {
			t.Errorf("%q is not detected", at)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	var names []string
	for _, task := range list {
		names = append(names, task.Name)
		if task.Grader == nil || task.Instruction == "" || len(task.Outputs) == 0 {
			t.Errorf("%s is incomplete: %+v", task.Ref, task)
		}
		if task.Budget.Time != 5*time.Hour || task.Budget.Steps != 50 {
			t.Errorf("%s: budget %+v", task.Ref, task.Budget)
		}
	}
	if want := []string{"cifar10", "debug", "house-price", "llama-inference", "novel"}; !slices.Equal(names, want) {
		t.Errorf("tasks %q, want %q", names, want)
	}
	want := map[string]string{
		"bytes": "not UTF-8", "empty": "empty", "no-env": "env", "no-problem": "research_problem.txt", "patterns": "../../secrets/*",
	}
	for _, p := range problems {
		name := strings.TrimPrefix(p.Ref, "mlagentbench/")
		if says, ok := want[name]; !ok || !strings.Contains(p.Err.Error(), says) {
			t.Errorf("problem %s: %v, want %q", p.Ref, p.Err, says)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not named as problems: %v", want)
	}
}

func TestTask(t *testing.T) {
	dir := layCheckout(t)
	task := openTask(t, dir, "house-price")
	if task.Summary != "Predict prices." || !strings.HasPrefix(task.Instruction, "Predict prices. Be quick.") {
		t.Errorf("summary %q, instruction %q", task.Summary, task.Instruction)
	}
	if want := []string{"data", "train.csv"}; !slices.Equal(task.ReadOnly, want) {
		t.Errorf("read-only %q, want %q", task.ReadOnly, want)
	}
	if task.Metric.Name != "MAE" || task.Metric.HigherIsBetter || task.Standing.Baseline == nil || *task.Standing.Baseline != 1e10 {
		t.Errorf("metric %+v, standing %+v", task.Metric, task.Standing)
	}
	if task.Starter != "" || len(task.Warnings) != 1 || len(task.Missing) != 0 {
		t.Errorf("starter %q, warnings %q, missing %q", task.Starter, task.Warnings, task.Missing)
	}
	if novel := openTask(t, dir, "novel"); novel.Starter != "python3 -u train.py" || len(novel.Warnings) != 1 {
		t.Errorf("starter %q, warnings %q", novel.Starter, novel.Warnings)
	}
	if cifar := openTask(t, dir, "cifar10"); len(cifar.Missing) != 1 || !strings.Contains(cifar.Missing[0], "prepare_task cifar10") {
		t.Errorf("missing %q", cifar.Missing)
	}
	if debug := openTask(t, dir, "debug"); !strings.HasPrefix(debug.Instruction, "Another problem.") || debug.Metric.Name != "MAE" {
		t.Errorf("debug: %q, %+v", debug.Instruction, debug.Metric)
	}
	s, _ := Open(dir)
	if _, err := s.Open(t.Context(), "house-prize"); err == nil || !strings.Contains(err.Error(), "house-price") {
		t.Errorf("a misspelt name: %v", err)
	}
}

func TestSingleTask(t *testing.T) {
	dir := folder(layCheckout(t), "novel")
	if !Detect(dir) {
		t.Fatal("not detected")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	if len(list) != 1 || len(problems) != 0 || list[0].Name != "novel" {
		t.Errorf("%d tasks, problems %v", len(list), problems)
	}
}

func TestDetectOthers(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing":    {"readme.txt": ""},
		"MLRC-Bench": {"MLAgentBench/benchmarks/x/scripts/research_problem.txt": "x", "MLAgentBench/benchmarks_base/": ""},
		"its task":   {"scripts/research_problem.txt": "x", "env/methods/": ""},
	} {
		if Detect(benchtest.Lay(t, files)) {
			t.Errorf("%s is taken for MLAgentBench", name)
		}
	}
	if Detect("/nonexistent") {
		t.Error("a directory that is not there is taken for MLAgentBench")
	}
}

func TestBrokenTasksJSON(t *testing.T) {
	dir := layCheckout(t)
	benchtest.Add(t, dir, map[string]string{"MLAgentBench/benchmarks/tasks.json": `{"debug": 3`})
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	if len(list) != 4 || len(problems) != 6 || !strings.Contains(problems[0].Err.Error(), "tasks.json") {
		t.Errorf("%d tasks, problems %v", len(list), problems)
	}
	benchtest.Add(t, dir, map[string]string{"MLAgentBench/benchmarks/tasks.json": `{"out": {"benchmark_folder_name": "../../x"}}`})
	s, _ = Open(dir)
	if _, err := s.Open(t.Context(), "out"); err == nil || !strings.Contains(err.Error(), "expected one beside it") {
		t.Errorf("a folder outside: %v", err)
	}
}

// An agent gets env/ and nothing that leads elsewhere.
func TestNothingOfTheAnswers(t *testing.T) {
	dir := layCheckout(t)
	env := filepath.Join(folder(dir, "house-price"), "env")
	for name, target := range map[string]string{
		"answers": "../scripts", "answer.csv": "../scripts/answer.csv", "passwd": "/etc/passwd", "same.csv": "train.csv",
	} {
		if err := os.Symlink(target, filepath.Join(env, name)); err != nil {
			t.Fatal(err)
		}
	}
	task := openTask(t, dir, "house-price")
	if len(task.Mounts) != 0 {
		t.Errorf("mounts: %v", task.Mounts)
	}
	if len(task.Missing) != 3 {
		t.Errorf("links that lead out are not named: %q", task.Missing)
	}
	var seen []string
	for _, seed := range task.Seeds {
		err := fs.WalkDir(seed.From, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if !entry.Type().IsRegular() {
				if _, err := fs.ReadFile(seed.From, name); err == nil {
					t.Errorf("%s can be read although it leads out", name)
				}
				return nil
			}
			data, err := fs.ReadFile(seed.From, name)
			if strings.Contains(string(data), "300") || strings.Contains(string(data), "get_score") {
				t.Errorf("%s shows what the grader knows", name)
			}
			seen = append(seen, name)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if want := []string{"data/scale.txt", "metric.py", "same.csv", "train.csv", "train.py"}; !slices.Equal(seen, want) {
		t.Errorf("the agent gets %q, want %q", seen, want)
	}
}

func TestRealList(t *testing.T) {
	s, err := Open(realCheckout(t))
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	known := table()
	for _, task := range list {
		if _, ok := known[task.Name]; !ok && task.Name != "debug" {
			t.Errorf("%s is not in the table", task.Name)
		}
	}
	if len(list) < 15 || len(problems) > 0 {
		t.Errorf("%d tasks, problems %v", len(list), problems)
	}
}
