package mlrcbench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/tasks/benchtest"
	"proctor/tasks/sidecar"
)

// A whole run: the baseline, a better method, then one that spoils it. The
// better one is tested, as it was.
func TestRun(t *testing.T) {
	b := benchtest.New(t)
	task := openTask(t, layCheckout(t, "product-recommendation"), "product-recommendation")
	w := seed(t, task)
	out, err := w.sh(task.Starter)
	if err != nil {
		t.Fatal(err, out)
	}
	if m := task.Metric.Pattern.FindStringSubmatch(out); m == nil || m[1] != "0.0" {
		t.Fatalf("no metric in %q", out)
	}
	benchtest.Add(t, w.dir, map[string]string{
		"methods/Better.py":   betterPy,
		"methods/__init__.py": strings.Replace(initPy, `"my_method": MyMethod`, `"my_method": MyMethod, "better": __import__("methods.Better").Better.Better`, 1),
	})
	out, err = w.sh("python3 main.py -m better -p dev")
	if m := task.Metric.Pattern.FindStringSubmatch(out); err != nil || m == nil || m[1] != "1.0" {
		t.Fatalf("no metric in %q: %v", out, err)
	}
	benchtest.Add(t, w.dir, map[string]string{"methods/Better.py": strings.Replace(betterPy, `"a"`, `"z"`, 1)})
	if out, err = w.sh("python3 main.py -m better -p dev"); err != nil || !strings.Contains(out, "dev_performance=0.0") {
		t.Fatal(err, out)
	}
	v := benchtest.Grade(t, task, w.submission(task), b)
	if v.Status != tasks.Graded || v.Score == nil || *v.Score != 0.5 {
		t.Fatalf("verdict %+v", v)
	}
	if j := b.Jobs[0]; j.GPUs != (task.Needs.GPUs > 0) || j.Network {
		t.Errorf("the test phase gets GPUs: %v, network: %v", j.GPUs, j.Network)
	}
	margin := (0.5 - 0.08039049179) / (0.41208 - 0.08039049179)
	if v.MarginClosed == nil || math.Abs(*v.MarginClosed-margin) > 1e-9 || !*v.Success || v.Rewards["dev"] != 1 ||
		v.Rewards["capability_level"] != 7 || v.Rewards["statements"] != 3 {
		t.Errorf("margin %v, rewards %v", v.MarginClosed, v.Rewards)
	}
	if len(v.Flags) != 1 {
		t.Errorf("flags %q", v.Flags)
	}
}

// The suite's own smoke test: the template, with nothing but Python.
func TestTemplate(t *testing.T) {
	b := benchtest.New(t)
	dir := benchtest.Lay(t, map[string]string{
		"MLAgentBench/benchmarks_base/base-competition/env/main.py":               strings.ReplaceAll(mainPy, "THIS TASK", "base-competition"),
		"MLAgentBench/benchmarks_base/base-competition/env/evaluation.py":         "from constants import *\ndef evaluate_model(m, phase): pass\ndef get_score(m, phase): return 0.5\n",
		"MLAgentBench/benchmarks_base/base-competition/env/constants.py":          "model = 'x'\n",
		"MLAgentBench/benchmarks_base/base-competition/env/methods/__init__.py":   initPy,
		"MLAgentBench/benchmarks_base/base-competition/env/methods/BaseMethod.py": baseMethodPy,
		"MLAgentBench/benchmarks_base/base-competition/env/methods/MyMethod.py":   myMethodPy,
		"MLAgentBench/benchmarks_base/base-competition/scripts/prepare.py":        "",
	})
	task := openTask(t, dir, "base-competition")
	if len(task.Missing)+len(task.Warnings) != 0 {
		t.Errorf("missing %q, warnings %q", task.Missing, task.Warnings)
	}
	w := seed(t, task)
	if out, err := w.sh(task.Starter); err != nil {
		t.Fatal(err, out)
	}
	v := benchtest.Grade(t, task, w.submission(task), b)
	if v.Status != tasks.Graded || *v.Score != 0.5 || *v.Improvement != 0 || v.MarginClosed != nil {
		t.Errorf("verdict %+v", v)
	}
}

const devRecord = `{"implementations": [{"method_name": "my_method", "phase": "dev", "performance": 0.1}]}`

func submit(t testing.TB, files map[string]string) tasks.Submission {
	all := map[string]string{
		"methods/__init__.py": initPy, "methods/BaseMethod.py": baseMethodPy, "methods/MyMethod.py": myMethodPy,
		"output/idea_evals.json": devRecord,
	}
	for name, text := range files {
		all[name] = text
	}
	return tasks.Submission{Dir: benchtest.Lay(t, all)}
}

func TestTestPhaseFails(t *testing.T) {
	b := benchtest.New(t)
	for _, c := range []struct {
		name   string
		files  map[string]string // of the submission
		task   map[string]string // of the checkout
		status tasks.Status
		says   string
	}{
		{"no such method", map[string]string{"output/idea_evals.json": strings.Replace(devRecord, "my_method", "gone", 1)}, nil, tasks.InvalidSubmission, "no method named gone"},
		{"a crash in the method", map[string]string{"methods/MyMethod.py": strings.Replace(myMethodPy, `["c" for q in questions]`, "1 / 0", 1)}, nil, tasks.InvalidSubmission, "ZeroDivisionError"},
		{"a module of the method", map[string]string{"methods/MyMethod.py": "import nosuchmodule\n" + myMethodPy}, nil, tasks.InvalidSubmission, "nosuchmodule"},
		{"a module of the suite", nil, map[string]string{"env/evaluation.py": "import nosuchmodule.part\n" + evaluationPy}, tasks.GraderUnavailable, "nosuchmodule"},
		{"lost data", nil, map[string]string{"scripts/test_constants.py": "questions_path, labels_path = 'data/gone.txt', 'data/gone.txt'\n"}, tasks.DataMissing, "data/gone.txt"},
		{"a crash of the suite", nil, map[string]string{"env/evaluation.py": evaluationPy + "\nraise RuntimeError('boom')\n"}, tasks.GraderFailed, "boom"},
		{"not a number", nil, map[string]string{"env/evaluation.py": evaluationPy + "\ndef get_score(m, p): return float('nan')\n"}, tasks.InvalidSubmission, "no finite number"},
		{"a quiet end", map[string]string{"methods/MyMethod.py": "import os\nos._exit(0)\n"}, nil, tasks.GraderFailed, "no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := layCheckout(t, "product-recommendation")
			benchtest.Add(t, folder(dir, "product-recommendation"), c.task)
			v := benchtest.Grade(t, openTask(t, dir, "product-recommendation"), submit(t, c.files), b)
			if v.Status != c.status || v.Score != nil || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %s %q, want %s saying %q", v.Status, v.Reason, c.status, c.says)
			}
			if (v.Status == tasks.GraderUnavailable || v.Status == tasks.DataMissing) && v.Remedy == "" {
				t.Error("no remedy")
			}
		})
	}
}

// What the agent changed beyond methods/ changes nothing, and neither does
// what in methods/ is the task's own.
func TestOnlyMethodsCount(t *testing.T) {
	b := benchtest.New(t)
	task := openTask(t, layCheckout(t, "product-recommendation"), "product-recommendation")
	v := benchtest.Grade(t, task, submit(t, map[string]string{
		"evaluation.py":           "def get_score(m, p): return 99\n",
		"data/test_l.txt":         "c c c c",
		"MLAgentBench/utils.py":   "raise SystemExit\n",
		"methods/BaseMethod.py":   "class BaseMethod:\n    def __init__(self, name): raise SystemExit('not mine')\n",
		"methods/evaluation.py":   "def get_score(m, p): return 98\n",
		"output/best/placeholder": "",
	}), b)
	if v.Status != tasks.Graded || *v.Score != 0 {
		t.Fatalf("verdict %+v", v)
	}
	if len(v.Flags) != 2 || !strings.Contains(v.Flags[0], "last state") {
		t.Errorf("flags %q", v.Flags)
	}
}

func TestUngradable(t *testing.T) {
	dir := layCheckout(t, "product-recommendation", "machine_unlearning")
	task := openTask(t, dir, "product-recommendation")
	missing := func(names ...string) tasks.Submission { return tasks.Submission{Dir: t.TempDir(), Missing: names} }
	for _, c := range []struct {
		name   string
		sub    tasks.Submission
		status tasks.Status
		says   string
	}{
		{"nothing", missing("methods", "output/idea_evals.json", "output/best"), tasks.NoSubmission, "methods"},
		{"no dev result", missing("output/idea_evals.json", "output/best"), tasks.NoSubmission, "dev phase"},
		{"a link", tasks.Submission{Dir: t.TempDir(), Refused: map[string]string{"methods/x": "a symbolic link"}}, tasks.InvalidSubmission, "symbolic link"},
		{"a file for methods", tasks.Submission{Dir: benchtest.Lay(t, map[string]string{"methods": ""})}, tasks.InvalidSubmission, "not a directory"},
		{"no JSON", submit(t, map[string]string{"output/idea_evals.json": "NaN"}), tasks.InvalidSubmission, "not the JSON"},
		{"no results", submit(t, map[string]string{"output/idea_evals.json": "{}"}), tasks.NoSubmission, "dev phase"},
		{"test results only", submit(t, map[string]string{"output/idea_evals.json": strings.Replace(devRecord, "dev", "test", 1)}), tasks.NoSubmission, "dev phase"},
		{"an option for a name", submit(t, map[string]string{"output/idea_evals.json": strings.Replace(devRecord, "my_method", "--phase=dev", 1)}), tasks.InvalidSubmission, "cannot be a name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := benchtest.Grade(t, task, c.sub, nil)
			if v.Status != c.status || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %s %q, want %s saying %q", v.Status, v.Reason, c.status, c.says)
			}
		})
	}
	v := benchtest.Grade(t, openTask(t, dir, "machine_unlearning"), submit(t, nil), nil)
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Remedy, "--score X --by NAME") || v.Rewards["dev"] != 0.1 {
		t.Errorf("verdict %+v", v)
	}
	b := benchtest.New(t)
	b.Fail = errors.New("no sandbox today")
	if v := benchtest.Grade(t, task, submit(t, nil), b); v.Status != tasks.GraderUnavailable {
		t.Errorf("verdict %+v", v)
	}
}

func TestMargin(t *testing.T) {
	k := table()["erasing_invisible_watermarks"]
	all, err := bases()
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if _, ok := table()[name]; !ok {
			t.Errorf("a baseline of %q, which is no task", name)
		}
	}
	g := &grader{known: k, standing: k.standing(all["erasing_invisible_watermarks"]), metric: tasks.Metric{Name: "x", HigherIsBetter: true}}
	for _, c := range []struct {
		score, margin, level float64
		success              bool
	}{
		{-1.001120229, 0, 5, false},
		{-0.043634, 1, 6, true},
		{0, 1.0455709, 7, true},
		{-1.2, -0.2077, 0, false},
		{-0.95, 0.05339, 6, true},
	} {
		v := g.judge(sidecar.Reply{Score: c.score})
		if math.Abs(*v.MarginClosed-c.margin) > 1e-4 || *v.Success != c.success || v.Rewards["capability_level"] != c.level {
			t.Errorf("%v: margin %v, success %v, %v", c.score, *v.MarginClosed, *v.Success, v.Rewards)
		}
	}
}

// The harness survives what an agent may have made of its record.
func TestHarness(t *testing.T) {
	benchtest.New(t)
	for i, record := range []string{"", "{", `{"implementations": 3}`, `{"implementations": [1, {"phase": "dev"}, {"phase": "dev", "performance": "x"}]}`} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := seed(t, openTask(t, layCheckout(t, "product-recommendation"), "product-recommendation"))
			benchtest.Add(t, w.dir, map[string]string{"output/idea_evals.json": record})
			if out, err := w.sh("python3 main.py -m my_method -p dev"); err != nil || !strings.Contains(out, "dev_performance=0.0") {
				t.Fatal(err, out)
			}
			data, err := os.ReadFile(filepath.Join(w.dir, "output", "idea_evals.json"))
			if err != nil {
				t.Fatal(err)
			}
			if r, err := parseRecord(data); err != nil || r.Method != "my_method" {
				t.Errorf("%+v, %v", r, err)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "output", "best", "methods", "MyMethod.py")); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzRecord(f *testing.F) {
	for _, s := range []string{devRecord, `{"implementations": [null, 1, {}]}`, `[]`, `{"implementations": [{"phase": "dev", "performance": 1e308, "method_name": "-x"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err == nil && (r == nil || r.Performance == nil || strings.HasPrefix(r.Method, "-") || strings.ContainsAny(r.Method, "/ ")) {
			t.Fatalf("%q gives %+v", data, r)
		}
	})
}
