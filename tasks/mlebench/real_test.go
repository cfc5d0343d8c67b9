package mlebench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realCheckout is the benchmark's own repository, where there is one.
func realCheckout(t *testing.T) string {
	t.Helper()
	root := os.Getenv("PROCTOR_MLEBENCH_CHECKOUT")
	if root == "" {
		t.Skip("PROCTOR_MLEBENCH_CHECKOUT names no checkout of mle-bench")
	}
	return root
}

// All 82 competitions open, with what the table knows of them.
func TestRealCheckout(t *testing.T) {
	root := realCheckout(t)
	s, err := OpenWith(root, Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(t.Context())
	if len(list) != 82 || len(problems) > 0 {
		t.Fatalf("%d tasks, problems %v", len(list), problems)
	}
	for _, task := range list {
		k, ok := knownCompetitions()[task.Name]
		if !ok || !slices.Contains(task.Keywords, k.split) || task.Metric.HigherIsBetter != k.higher {
			t.Errorf("%s: %v %+v", task.Name, task.Keywords, task.Metric)
		}
		if len(task.Missing) != 1 || task.Standing.Thresholds.Gold == nil {
			t.Errorf("%s: missing %q", task.Name, task.Missing)
		}
	}
}

// realAnswers grades on stdin's list of {id, submission, answers} with the
// competitions' own grade.py and prints a list of scores, null for a refusal.
const realAnswers = `
import json, sys, types, importlib
import numpy as np
for name in ("py7zr", "tqdm", "tqdm.auto"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["tqdm.auto"].tqdm = lambda x=None, *a, **k: x
from sklearn import metrics
for new, old in (("root_mean_squared_error", "mean_squared_error"), ("root_mean_squared_log_error", "mean_squared_log_error")):
    if not hasattr(metrics, new):
        setattr(metrics, new, lambda y_true, y_pred, f=getattr(metrics, old): f(y_true, y_pred, squared=False))
import warnings
warnings.simplefilter("ignore")
from mlebench.utils import read_csv
out = []
for case in json.load(sys.stdin):
    try:
        grade = importlib.import_module("mlebench.competitions." + case["id"] + ".grade").grade
        score = float(round(grade(read_csv(case["submission"]), read_csv(case["answers"])), 5))
        out.append({"score": score} if np.isfinite(score) else {"why": str(score)})
    except Exception as e:
        out.append({"why": repr(e)})
json.dump(out, sys.stdout)
`

// realColumns prints the class columns that graders keep in Python.
const realColumns = `
import json, importlib
def of(id, module, name):
    return list(getattr(importlib.import_module("mlebench.competitions." + id + "." + module), name))
print(json.dumps({
    "dog-breed-identification": of("dog-breed-identification", "dogs", "DOGS_LIST"),
    "leaf-classification": of("leaf-classification", "classes", "CLASSES"),
    "spooky-author-identification": ["EAP", "HPL", "MWS"],
    "google-quest-challenge": of("google-quest-challenge", "classes", "CLASSES"),
    "freesound-audio-tagging-2019": of("freesound-audio-tagging-2019", "vocabulary", "CLASS_NAMES"),
    "plant-pathology-2020-fgvc7": ["healthy", "multiple_diseases", "rust", "scab"],
}))
`

// Each plan gives the score that the benchmark's own grade.py gives, on made-up
// submissions: in order, shuffled, with a value missing, and a row short.
func TestPlansAgainstRealGraders(t *testing.T) {
	root := realCheckout(t)
	needPython(t)
	run := func(script string, stdin []byte) []byte {
		cmd := exec.CommandContext(t.Context(), python, "-c", script)
		cmd.Dir, cmd.Stdin, cmd.Stderr = root, bytes.NewReader(stdin), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	classes := map[string][]string{}
	if err := json.Unmarshal(run(realColumns, nil), &classes); err != nil {
		t.Fatal(err)
	}
	type realCase struct {
		ID         string `json:"id"`
		Submission string `json:"submission"`
		Answers    string `json:"answers"`
		kind       string
		plan       *plan
	}
	var cases []realCase
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	for id, p := range plans() {
		answers, good := invent(r, p, classes[id])
		a := filepath.Join(dir, id+".answers.csv")
		write(t, a, lines(answers))
		shuffled := slices.Clone(good)
		r.Shuffle(len(shuffled)-1, func(i, j int) { shuffled[1+i], shuffled[1+j] = shuffled[1+j], shuffled[1+i] })
		gap := slices.Clone(good)
		gap[5] = gap[5][:strings.LastIndex(gap[5], ",")+1]
		for kind, rows := range map[string][]string{"good": good, "shuffled": shuffled, "gap": gap, "short": good[:len(good)-1]} {
			s := filepath.Join(dir, id+"."+kind+".csv")
			write(t, s, lines(rows))
			cases = append(cases, realCase{id, s, a, kind, p})
		}
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	var theirs []struct {
		Score *float64
		Why   string
	}
	if err := json.Unmarshal(run(realAnswers, input), &theirs); err != nil {
		t.Fatal(err)
	}
	scored := 0
	for i, c := range cases {
		ours, err := c.plan.gradeFile(c.Submission, c.Answers)
		switch want := theirs[i]; {
		case err == nil && want.Score == nil:
			t.Errorf("%s, %s: %v, grade.py says %s", c.ID, c.kind, ours, want.Why)
		case err != nil && want.Score != nil:
			t.Errorf("%s, %s: %v, grade.py says %v", c.ID, c.kind, err, *want.Score)
		case err == nil && math.Abs(ours-*want.Score) > 1.5e-5:
			t.Errorf("%s, %s: %v, grade.py says %v", c.ID, c.kind, ours, *want.Score)
		case err == nil:
			scored++
		}
	}
	t.Logf("%d cases of %d competitions, %d with equal scores", len(cases), len(plans()), scored)
}

// invent makes answers and a fair submission that a plan's metric can judge.
func invent(r *rand.Rand, p *plan, classes []string) (answers, submission []string) {
	columns := p.columns
	if columns == nil {
		columns = classes
	}
	id := p.id
	if id == "" {
		id = "id"
	}
	header := append([]string{id}, columns...)
	truthHeader := slices.Clone(header)
	if p.only != nil && !slices.Contains(header, p.only.column) {
		truthHeader = append(truthHeader, p.only.column)
	}
	if p.metric == "mean log MAE" {
		truthHeader = append(truthHeader, "type")
	}
	answers = []string{strings.Join(truthHeader, ",")}
	submission = []string{strings.Join(append(header, p.extra...), ",")}
	for i := range 60 {
		truth, guess := inventRow(r, p, i, len(columns))
		key := fmt.Sprintf("k%03d", i)
		if p.only != nil && len(truthHeader) > len(header) {
			truth = append(truth, map[string][]string{"keep": {"True", "False"}, "u_out": {"0", "1"}}[p.only.column][i%2])
		}
		if p.metric == "mean log MAE" {
			truth = append(truth, []string{"1JHC", "2JHH"}[i%2])
		}
		for range p.extra {
			guess = append(guess, "0")
		}
		answers = append(answers, key+","+strings.Join(truth, ","))
		submission = append(submission, key+","+strings.Join(guess, ","))
	}
	return answers, submission
}

// inventRow makes one row's true and predicted values.
func inventRow(r *rand.Rand, p *plan, i, columns int) (truth, guess []string) {
	wordsOf := func(n int) string {
		list := make([]string, n)
		for j := range list {
			list[j] = fmt.Sprintf("w%d", r.IntN(9))
		}
		return strings.Join(list, " ")
	}
	real := func(x float64) string { return fmt.Sprintf("%.4f", x) }
	switch p.metric {
	case "AUROC", "label-ranking AP", "mean Spearman":
		for c := range columns {
			truth = append(truth, fmt.Sprint((i+c*i/3+r.IntN(2))%2))
			guess = append(guess, real(math.Round(r.Float64()*50)/50))
		}
	case "log loss":
		if columns == 1 {
			return []string{fmt.Sprint(i % 2)}, []string{real(r.Float64())}
		}
		hot := i % columns
		for c := range columns {
			truth = append(truth, map[bool]string{true: "1", false: "0"}[c == hot])
			guess = append(guess, fmt.Sprintf("%.17g", map[bool]float64{true: 0.5, false: 0.5 / float64(columns-1)}[c == (hot+i/30)%columns]))
		}
	case "accuracy", "QWK", "MCC", "macro F1", "top-1 error":
		if p.gaps || p.metric == "accuracy" && p.id[0]%2 == 0 { // labels are words
			return []string{fmt.Sprint("c", r.IntN(4))}, []string{fmt.Sprint("c", r.IntN(5))}
		}
		return []string{fmt.Sprint(r.IntN(4))}, []string{fmt.Sprint(r.IntN(5))}
	case "micro F1", "mean word Jaccard":
		return []string{wordsOf(1 + r.IntN(3))}, []string{wordsOf(1 + r.IntN(3))}
	case "MAP@5":
		return []string{wordsOf(1)}, []string{wordsOf(6)}
	default:
		for range columns {
			truth, guess = append(truth, real(1+50*r.Float64())), append(guess, real(1+50*r.Float64()))
		}
	}
	return truth, guess
}
