package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
)

func recognised(t *testing.T, dir string) Found {
	t.Helper()
	f, err := Recognise(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lay writes files below a new directory.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Every format is told by its own files, and one that is incomplete is still
// that format.
func TestRecogniseEveryFormat(t *testing.T) {
	for format, file := range map[string]string{
		"MLE-bench":             "mlebench/competitions/some/config.yaml",
		"MLRC-Bench":            "MLAgentBench/benchmarks_base/some/env/main.py",
		"MLAgentBench":          "MLAgentBench/benchmarks/some/scripts/research_problem.txt",
		"ML Research Benchmark": "mlrb_agent_tasks/prompts.py",
		"Harbor":                "some/task.toml",
	} {
		files := map[string]string{file: "x"}
		if format == "MLRC-Bench" {
			files["MLAgentBench/benchmarks_base/some/env/methods/__init__.py"] = ""
		}
		f := recognised(t, lay(t, files))
		if f.Format != format || !filepath.IsAbs(f.Path) || f.Suite == "" {
			t.Errorf("%s was recognised as %+v", format, f)
		}
		if format != "MLAgentBench" && len(f.Tasks) == 0 && len(f.Problems) == 0 {
			t.Errorf("%s: nothing says what is wrong with %s", format, file)
		}
	}
}

func TestRecogniseNear(t *testing.T) {
	root := lay(t, map[string]string{"bench/mlebench/competitions/some/config.yaml": "", "bench/docs/x": ""})
	for dir, want := range map[string]string{"bench/mlebench": "bench", "bench/docs": "bench", ".": "bench"} {
		_, err := Recognise(context.Background(), filepath.Join(root, dir), nil)
		if err == nil || !strings.HasSuffix(err.Error(), `; did you mean "`+filepath.Join(root, want)+`"?`) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestOffering(t *testing.T) {
	root := filepath.Join(t.TempDir(), "mine")
	one := writeTask(t, filepath.Join(root, "one"), "")
	other := writeTask(t, filepath.Join(t.TempDir(), "mine", "one"), "")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		dir   string
		roots []string
		want  string
	}{
		{root, nil, ""},
		{root, []string{root}, root},
		{root + "/", []string{root}, root},
		{link, []string{root}, root},
		{root, []string{other, link}, link},
		{one, []string{root}, root},
		{one, []string{other, root}, root},
		{other, []string{root}, ""},
		{one, []string{filepath.Dir(root)}, ""}, // around it, and no suite
	} {
		if got := recognised(t, tc.dir).Offering(context.Background(), tc.roots); got != tc.want {
			t.Errorf("%s among %s: offered by %q, want %q", tc.dir, tc.roots, got, tc.want)
		}
	}
}

func TestSelect(t *testing.T) {
	first, second := roots(t)
	prompts := `task_templates = [
		{"name": "one", "task": "do one"},
		{"name": "two", "task": "do two"},
	]`
	bench := lay(t, map[string]string{"mlrb_agent_tasks/prompts.py": prompts, "mlrb_agent_tasks/mini_benchmark/two/README.md": "x"})
	c := New([]string{first, second, bench}, nil)
	t.Chdir(first)
	for words, want := range map[string]string{
		"":                           "builtin/diabetes builtin/digits builtin/speedup mine/digits mine/good mine/other mlrb/one mlrb/two !mine/broken !mine/good",
		"builtin":                    "builtin/diabetes builtin/digits builtin/speedup",
		"builtin/":                   "builtin/diabetes builtin/digits builtin/speedup",
		"digits":                     "builtin/digits mine/digits",
		"mlrb/mini":                  "mlrb/two",
		"mlrb/mini builtin/digits":   "builtin/digits mlrb/two",
		"mlrb mlrb/one":              "mlrb/one mlrb/two",
		"mine/broken":                "!mine/broken",
		"broken":                     "!mine/broken",
		"./digits":                   "mine/digits",
		filepath.Join(first, "good"): "mine/good",
		"mini":                       `no suite, part of a suite or task is called "mini"`,
		"mlrb/minni":                 "did you mean mlrb/mini",
		"bultin":                     "did you mean builtin?",
		"builtin nowhere":            `called "nowhere"`,
		"./nowhere":                  "no such directory",
	} {
		list, problems, err := c.Select(context.Background(), strings.Fields(words))
		got := names(list, problems)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%q: got %s, want %s", words, got, want)
		}
	}
}

func names(list []*tasks.Task, problems []tasks.Problem) string {
	var refs []string
	for _, t := range list {
		refs = append(refs, t.Ref)
	}
	for _, p := range problems {
		refs = append(refs, "!"+p.Ref)
	}
	return strings.Join(refs, " ")
}
