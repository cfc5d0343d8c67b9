package catalog

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeTask makes a task in dir and returns dir.
func writeTask(t *testing.T, dir, settings string) string {
	t.Helper()
	for name, data := range map[string]string{
		"task.toml": settings, "instruction.md": "Do it.", "environment/x": "", "tests/test.sh": "true",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEmbeddedTasksOpenCleanly(t *testing.T) {
	list, problems := New(nil, nil).List(context.Background())
	for _, p := range problems {
		t.Errorf("%s: %v", p.Ref, p.Err)
	}
	var refs []string
	for _, task := range list {
		refs = append(refs, task.Ref)
		for _, w := range task.Warnings {
			t.Errorf("%s warns: %s", task.Ref, w)
		}
		switch {
		case task.Title == task.Name, task.Summary == "", task.Instruction == "", task.Notes == "":
			t.Errorf("%s lacks a title, a summary, an instruction or notes", task.Ref)
		case task.Starter == "", len(task.Knobs) == 0, task.Budget.Time == 0, slices.Contains(task.Outputs, "."):
			t.Errorf("%s lacks a starter, knobs, a budget or outputs", task.Ref)
		case task.Standing.Baseline == nil, len(task.Standing.References) == 0, task.Standing.Thresholds.Gold == nil:
			t.Errorf("%s lacks a baseline, references or thresholds", task.Ref)
		}
	}
	if want := []string{"builtin/diabetes", "builtin/digits", "builtin/speedup"}; !slices.Equal(refs, want) {
		t.Errorf("got %q, want %q", refs, want)
	}
}

// roots makes two suites: "mine" with digits, good and broken, and another
// "mine" with good.
func roots(t *testing.T) (first, second string) {
	t.Helper()
	first, second = filepath.Join(t.TempDir(), "mine"), filepath.Join(t.TempDir(), "mine")
	writeTask(t, filepath.Join(first, "digits"), "")
	writeTask(t, filepath.Join(first, "good"), "")
	writeTask(t, filepath.Join(first, "broken"), "agent = 1")
	writeTask(t, filepath.Join(second, "good"), "")
	writeTask(t, filepath.Join(second, "other"), "")
	return first, second
}

func TestListWithRoots(t *testing.T) {
	first, second := roots(t)
	empty := t.TempDir()
	single := writeTask(t, filepath.Join(t.TempDir(), "lab", "one"), "")
	file := filepath.Join(first, "good", "task.toml")
	list, problems := New([]string{first, second, empty, single, "/no/such/root", file}, nil).List(context.Background())
	var got []string
	for _, task := range list {
		if task.Suite != "builtin" {
			got = append(got, task.Ref)
		}
	}
	if want := []string{"mine/digits", "mine/good", "mine/other", "lab/one"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := map[string]string{
		empty:           `opening tasks in "` + empty + `": it has the files of none of the known formats: MLE-bench (mlebench/competitions/*/config.yaml), MLRC-Bench (MLAgentBench/benchmarks_base/*/env/main.py), MLAgentBench (MLAgentBench/benchmarks/*/scripts/research_problem.txt), ML Research Benchmark (mlrb_agent_tasks/prompts.py), Harbor (task.toml, or folders that have one)`,
		"/no/such/root": `opening tasks in "/no/such/root": no such directory`,
		file:            `opening tasks in "` + file + `": a file, expected a directory`,
		"mine/good":     `listing task "mine/good": another suite called "mine" has one of this name; rename its folder, or open it by its path`,
		"mine/broken":   `opening task "broken": ` + first + `/broken/task.toml:1: agent is 1, expected a table`,
	}
	for _, p := range problems {
		if p.Err.Error() != want[p.Ref] {
			t.Errorf("%s: %v, want %s", p.Ref, p.Err, want[p.Ref])
		}
		delete(want, p.Ref)
	}
	if len(want) > 0 {
		t.Errorf("no problem with %v", want)
	}
}

func TestOpenByName(t *testing.T) {
	first, second := roots(t)
	c := New([]string{first, second}, nil)
	for ref, want := range map[string]string{
		"builtin/digits": "builtin/digits", "speedup": "builtin/speedup",
		"mine/digits": "mine/digits", "mine/other": "mine/other", "other": "mine/other", "good": "mine/good",
	} {
		task, err := c.Open(context.Background(), ref)
		if err != nil || task.Ref != want {
			t.Errorf("%s: %v, want %s", ref, err, want)
		}
	}
	for ref, want := range map[string]string{
		"":               "opening a task: its name is empty; proctor tasks lists them all",
		"digits":         `opening task "digits": 2 tasks have this name; say which: builtin/digits or mine/digits`,
		"digts":          `opening task "digts": no suite has it and no such directory is there; did you mean builtin/digits?`,
		"builtin/digit":  `opening task "builtin/digit": no suite has it and no such directory is there; did you mean builtin/digits?`,
		"bultin/speedup": `opening task "bultin/speedup": no suite has it and no such directory is there; did you mean builtin/speedup?`,
		"xyzzy":          `opening task "xyzzy": no suite has it and no such directory is there; proctor tasks lists them all`,
		"broken":         `opening task "broken": ` + first + `/broken/task.toml:1: agent is 1, expected a table`,
		"mine/broken":    `opening task "broken": ` + first + `/broken/task.toml:1: agent is 1, expected a table`,
	} {
		if task, err := c.Open(context.Background(), ref); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v, want %s", ref, task, err, want)
		}
	}
}

func TestOpenByPath(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	here, err := os.Getwd() // with links resolved, as on macOS
	if err != nil {
		t.Fatal(err)
	}
	writeTask(t, "sub/one", "")
	writeTask(t, "sub/two", "agent = 1")
	writeTask(t, "alone/one", "")
	for ref, want := range map[string]string{
		"./sub/one": "sub/one", "sub/one": "sub/one", "sub/one/": "sub/one",
		filepath.Join(here, "sub/one"): "sub/one", "./sub/../sub/one": "sub/one", "./alone": "alone",
	} {
		task, err := New(nil, nil).Open(context.Background(), ref)
		if err != nil || task.Ref != filepath.Join(here, want) || task.Name != "one" {
			t.Errorf("%s: %+v, %v", ref, task, err)
		}
	}
	for ref, want := range map[string]string{
		"./sub":     `opening task "./sub": it holds 2 tasks; give the directory of one`,
		"./sub/two": "sub/two/task.toml:1: agent is 1, expected a table",
		"./gone":    `opening tasks in "./gone": no such directory`,
		".":         `opening tasks in ".": it has the files of none of the known formats: MLE-bench (mlebench/competitions/*/config.yaml), MLRC-Bench (MLAgentBench/benchmarks_base/*/env/main.py), MLAgentBench (MLAgentBench/benchmarks/*/scripts/research_problem.txt), ML Research Benchmark (mlrb_agent_tasks/prompts.py), Harbor (task.toml, or folders that have one); did you mean "` + filepath.Join(here, "alone") + `"?`,
	} {
		if _, err := New(nil, nil).Open(context.Background(), ref); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", ref, err, want)
		}
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, ref := range []string{"digits", "builtin/digits", writeTask(t, t.TempDir(), "")} {
		if task, err := New(nil, nil).Open(ctx, ref); err != context.Canceled {
			t.Errorf("%s: %v, %v", ref, task, err)
		}
	}
}
