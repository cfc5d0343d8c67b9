package mlagentbench

import (
	"os"
	"path/filepath"
	"testing"

	"proctor/tasks"
	"proctor/tasks/benchtest"
)

// The grader of a toy in the suite's shape: it looks for its answers beside
// itself, for a module of env/, and for data in the directory it runs in.
const toyEval = `
import csv, os, sys
sys.path.append("../env")
sys.path.append(os.path.join(os.path.dirname(__file__), "../env"))
from metric import distance

def get_score(submission_folder="../env"):
    with open("data/scale.txt") as f:
        scale = float(f.read())
    def column(path):
        with open(path, newline="") as f:
            return [float(row["SalePrice"]) for row in csv.DictReader(f)]
    ours = column(os.path.join(os.path.dirname(__file__), "answer.csv"))
    theirs = column(os.path.join(submission_folder, "submission.csv"))
    print("scored")
    return distance(ours, theirs) * scale
`

const toyMetric = "def distance(a, b):\n    return sum(abs(x - y) for x, y in zip(a, b)) / len(a)\n"

const answers = "Id,SalePrice\n11,100\n12,200\n13,300\n"

// A checkout in the suite's shape: two tasks that can be graded, and others
// that are in some way not right.
func layCheckout(t testing.TB) string {
	return benchtest.Lay(t, map[string]string{
		"MLAgentBench/benchmarks/tasks.json": `{"debug": {"research_problem": "Another problem.", "benchmark_folder_name": "house-price"}}`,

		"MLAgentBench/benchmarks/house-price/scripts/research_problem.txt": "Predict prices. Be quick.\n",
		"MLAgentBench/benchmarks/house-price/scripts/read_only_files.txt":  "./train.csv\ndata/*",
		"MLAgentBench/benchmarks/house-price/scripts/prepare.py":           "raise SystemExit('not run')",
		"MLAgentBench/benchmarks/house-price/scripts/prepared":             "",
		"MLAgentBench/benchmarks/house-price/scripts/eval.py":              toyEval,
		"MLAgentBench/benchmarks/house-price/scripts/answer.csv":           answers,
		"MLAgentBench/benchmarks/house-price/env/train.py":                 "print('train')\n",
		"MLAgentBench/benchmarks/house-price/env/train.csv":                "Id,SalePrice\n1,50\n",
		"MLAgentBench/benchmarks/house-price/env/metric.py":                toyMetric,
		"MLAgentBench/benchmarks/house-price/env/data/scale.txt":           "1.0",
		"MLAgentBench/benchmarks/house-price/env/__pycache__/x.pyc":        "x",

		"MLAgentBench/benchmarks/novel/scripts/research_problem.txt": "Something of a later version.",
		"MLAgentBench/benchmarks/novel/scripts/eval.py":              "def get_score(folder):\n    return float(open(folder + '/guess.txt').read())\n",
		"MLAgentBench/benchmarks/novel/env/train.py":                 "print('guess')\n",

		"MLAgentBench/benchmarks/cifar10/scripts/research_problem.txt": "Improve train.py.",
		"MLAgentBench/benchmarks/cifar10/scripts/prepare.py":           "",
		"MLAgentBench/benchmarks/cifar10/scripts/eval.py":              "import torchvision\n",
		"MLAgentBench/benchmarks/cifar10/env/train.py":                 "",

		"MLAgentBench/benchmarks/llama-inference/scripts/research_problem.txt": "Make it fast.",
		"MLAgentBench/benchmarks/llama-inference/env/inference.py":             "",

		"MLAgentBench/benchmarks/no-problem/env/train.py":               "",
		"MLAgentBench/benchmarks/empty/env/train.py":                    "",
		"MLAgentBench/benchmarks/empty/scripts/research_problem.txt":    " \n",
		"MLAgentBench/benchmarks/no-env/scripts/research_problem.txt":   "Do it.",
		"MLAgentBench/benchmarks/bytes/scripts/research_problem.txt":    "\xff\xfe",
		"MLAgentBench/benchmarks/bytes/env/":                            "",
		"MLAgentBench/benchmarks/patterns/scripts/research_problem.txt": "Do it.",
		"MLAgentBench/benchmarks/patterns/scripts/read_only_files.txt":  "../../secrets/*",
		"MLAgentBench/benchmarks/patterns/env/":                         "",
		"MLAgentBench/benchmarks/no-task/readme.txt":                    "",
	})
}

func folder(checkout, task string) string {
	return filepath.Join(checkout, "MLAgentBench", "benchmarks", task)
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

// submit is a submission of the given files.
func submit(t testing.TB, files map[string]string) tasks.Submission {
	return tasks.Submission{Dir: benchtest.Lay(t, files)}
}

// real returns the checkout that an opt-in test is pointed to.
func realCheckout(t testing.TB) string {
	dir := os.Getenv("PROCTOR_MLAGENTBENCH")
	if dir == "" {
		t.Skip("PROCTOR_MLAGENTBENCH is not set to a checkout of MLAgentBench")
	}
	return dir
}
