package mlrcbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/tasks/benchtest"
)

// A task's entry point in the suite's shape.
const mainPy = `
import argparse, os, time
from evaluation import *
from methods import *
from MLAgentBench.utils import save_evals

TASK_NAME = "THIS TASK"
DEFAULT_METHOD_NAME = "my_method"

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", "--method", type=str)
    parser.add_argument("-p", "--phase", type=str, default="dev", choices=["dev", "test"])
    args = parser.parse_args()
    os.makedirs("output", exist_ok=True)
    loaded = all_method_handlers()
    method = loaded[args.method](args.method)
    start = time.time()
    evaluate_model(method, args.phase)
    runtime = time.time() - start
    score = get_score(method, args.phase)
    save_evals(task_name=TASK_NAME, method_name=args.method, method_class=loaded[args.method],
               base_class=loaded[DEFAULT_METHOD_NAME], score=score, phase=args.phase, runtime=runtime, is_debug=True)
`

// Half of the right answers of the test set are "b", all of the dev set "a".
const evaluationPy = `
from constants import questions_path, labels_path

def lines(path):
    with open(path) as f:
        return f.read().split()

def evaluate_model(method, phase):
    with open("output/pred.txt", "w") as f:
        f.write("\n".join(method.run(lines(questions_path))))

def get_score(method, phase):
    labels = lines(labels_path)
    return sum(a == b for a, b in zip(lines("output/pred.txt"), labels)) / len(labels)
`

const initPy = `from methods.MyMethod import MyMethod

def all_method_handlers():
    return {"my_method": MyMethod}
`

const baseMethodPy = "class BaseMethod:\n    def __init__(self, name):\n        self.name = name\n"

const myMethodPy = `from methods.BaseMethod import BaseMethod

class MyMethod(BaseMethod):
    def run(self, questions):
        return ["c" for q in questions]
`

// A better one, under a name of its own.
const betterPy = `from methods.BaseMethod import BaseMethod

class Better(BaseMethod):
    def run(self, questions):
        return ["a" for q in questions]
`

func task(name string) map[string]string {
	at := "MLAgentBench/benchmarks_base/" + name + "/"
	return map[string]string{
		at + "env/main.py":                  strings.ReplaceAll(mainPy, "THIS TASK", name),
		at + "env/evaluation.py":            evaluationPy,
		at + "env/constants.py":             "questions_path, labels_path = 'data/dev_q.txt', 'data/dev_l.txt'\n",
		at + "env/methods/__init__.py":      initPy,
		at + "env/methods/BaseMethod.py":    baseMethodPy,
		at + "env/methods/MyMethod.py":      myMethodPy,
		at + "env/data/dev_q.txt":           "1 2 3 4",
		at + "env/data/dev_l.txt":           "a a a a",
		at + "scripts/test_constants.py":    "questions_path, labels_path = 'data/test_q.txt', 'data/test_l.txt'\n",
		at + "scripts/test_data/test_q.txt": "5 6 7 8",
		at + "scripts/test_data/test_l.txt": "a b a b",
		at + "scripts/research_problem.txt": "# Recommend products\n\nBe good at it.",
		at + "scripts/background.txt":       "It is known that a is frequent.",
		at + "scripts/read_only_files.txt":  "data/*\nmethods/BaseMethod.py\n./main.py\n",
		at + "scripts/prepare.py":           "raise SystemExit('not run')",
	}
}

func layCheckout(t testing.TB, names ...string) string {
	dir := t.TempDir()
	for _, name := range names {
		benchtest.Add(t, dir, task(name))
	}
	return dir
}

func folder(checkout, name string) string {
	return filepath.Join(checkout, "MLAgentBench", "benchmarks_base", name)
}

func openTask(t testing.TB, checkout, name string) *tasks.Task {
	t.Helper()
	s, err := Open(checkout)
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// A workspace is what an agent has of a task.
type workspace struct {
	t   testing.TB
	dir string
}

func seed(t testing.TB, task *tasks.Task) workspace {
	w := workspace{t: t, dir: t.TempDir()}
	for _, s := range task.Seeds {
		to := filepath.Join(w.dir, filepath.FromSlash(s.To))
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, s.From); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// sh runs a command as the agent would and returns what it prints.
func (w workspace) sh(command string) (string, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// submission copies the task's outputs.
func (w workspace) submission(task *tasks.Task) tasks.Submission {
	s := tasks.Submission{Dir: w.t.TempDir()}
	for _, out := range task.Outputs {
		from, to := filepath.Join(w.dir, filepath.FromSlash(out)), filepath.Join(s.Dir, filepath.FromSlash(out))
		info, err := os.Stat(from)
		if err != nil {
			s.Missing = append(s.Missing, out)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			var data []byte
			if data, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return s
}
