package mlrb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/tasks/benchtest"
)

func submit(t testing.TB) tasks.Submission {
	return tasks.Submission{Dir: benchtest.Lay(t, map[string]string{"submission/config.json": "{}"})}
}

func TestUngraded(t *testing.T) {
	b := benchtest.New(t)
	dir := layCheckout(t)
	s := submit(t)
	v := benchtest.Grade(t, openTask(t, dir, "baby_lm"), s, b)
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Reason, "lm_eval is not installed") {
		t.Errorf("verdict %+v", v)
	}
	for _, says := range []string{"lm_eval --model hf --model_args pretrained=" + s.Dir, "--tasks blimp", "proctor grade RUN --score X --by NAME"} {
		if !strings.Contains(v.Remedy, says) {
			t.Errorf("the remedy %q lacks %q", v.Remedy, says)
		}
	}
	v = benchtest.Grade(t, openTask(t, dir, "mini_pile"), s, nil)
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Remedy, "--by NAME") {
		t.Errorf("no evaluation at all: %+v", v)
	}
}

func TestBadSubmissions(t *testing.T) {
	task := openTask(t, layCheckout(t), "baby_lm")
	for name, c := range map[string]struct {
		sub    tasks.Submission
		status tasks.Status
		says   string
	}{
		"missing":     {tasks.Submission{Dir: t.TempDir(), Missing: []string{"submission"}}, tasks.NoSubmission, "left no submission/"},
		"empty":       {tasks.Submission{Dir: benchtest.Lay(t, map[string]string{"submission/": ""})}, tasks.NoSubmission, "is empty"},
		"a file":      {tasks.Submission{Dir: benchtest.Lay(t, map[string]string{"submission": "x"})}, tasks.InvalidSubmission, "not a directory"},
		"a huge file": {tasks.Submission{Dir: t.TempDir(), Refused: map[string]string{"submission/model.bin": "larger than 2 GiB"}}, tasks.InvalidSubmission, "larger than 2 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			v := benchtest.Grade(t, task, c.sub, nil)
			if v.Status != c.status || !strings.Contains(v.Reason, c.says) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// A person's own command grades, and each way in which it does not is told.
func TestOwnCommand(t *testing.T) {
	b := benchtest.New(t)
	dir := layCheckout(t)
	for _, c := range []struct {
		command string
		status  tasks.Status
		says    string
		score   float64
	}{
		{`test -f "$RESULT/config.json" && echo $TASK && echo 0.25`, tasks.Graded, "", 0.25},
		{`echo '{"score": 0.5, "loss": 3, "note": "x"}'; echo`, tasks.Graded, "", 0.5},
		{`echo fine`, tasks.GraderFailed, "no number", 0},
		{`echo NaN`, tasks.GraderFailed, "no finite number", 0},
		{`echo '{"score": "high"}'`, tasks.GraderFailed, "high", 0},
		{`echo 0.9; exit 4`, tasks.GraderFailed, "status 4", 0},
		{`nosuchprogram --model x`, tasks.GraderUnavailable, "nosuchprogram", 0},
		{`python3 -c 'import nosuchmodule'`, tasks.GraderUnavailable, "nosuchmodule", 0},
		{`echo 'requests.exceptions.ConnectionError: no route'; exit 1`, tasks.GraderUnavailable, "download", 0},
	} {
		t.Run(c.command, func(t *testing.T) {
			v := benchtest.Grade(t, openTaskWith(t, dir, "baby_lm", Options{Evaluate: c.command}), submit(t), b)
			if v.Status != c.status || !strings.Contains(v.Reason, c.says) {
				t.Fatalf("verdict %s %q, want %s saying %q", v.Status, v.Reason, c.status, c.says)
			}
			if v.Status == tasks.Graded && (*v.Score != c.score || v.Grader != "command") {
				t.Errorf("score %v by %q, want %v", *v.Score, v.Grader, c.score)
			}
			if v.Status == tasks.GraderUnavailable && !strings.Contains(v.Remedy, "--score X") {
				t.Errorf("remedy %q", v.Remedy)
			}
		})
	}
}

// Programs that behave as lm_eval and agent-eval do.
const fakeHarness = `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    --output_path) out="$2" ;;
    --model_args) model="${2#pretrained=}" ;;
  esac
  shift
done
test -f "$model/config.json" || exit 9
mkdir -p "$out/model"
echo '{"results": {"blimp": {"acc,none": 0.625, "alias": "blimp"}, "blimp_a": {"acc,none": 0.5}}, "later": 1}' > "$out/model/results_2024.json"
`

const fakeAgentEval = "#!/bin/sh\necho 'params: 30'\necho \"Tokens per second: 255.5\"\n"

func TestInstalledPrograms(t *testing.T) {
	b := benchtest.New(t)
	bin := t.TempDir()
	for name, text := range map[string]string{"lm_eval": fakeHarness, "agent-eval": fakeAgentEval} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	dir := layCheckout(t)
	v := benchtest.Grade(t, openTask(t, dir, "baby_lm"), submit(t), b)
	if v.Status != tasks.Graded || *v.Score != 0.625 || v.Rewards["blimp_a"] != 0.5 || v.Grader != "lm_eval" {
		t.Errorf("verdict %+v", v)
	}
	v = benchtest.Grade(t, openTask(t, dir, "mini_budget_inference"), submit(t), b)
	if v.Status != tasks.Graded || *v.Score != 255.5 {
		t.Errorf("verdict %+v", v)
	}
}

// The suite's own programs fetch their data and run the model; a person's
// command gets no network unasked.
func TestWhatEvaluationsAreGiven(t *testing.T) {
	b := benchtest.New(t)
	dir := layCheckout(t)
	for _, c := range []struct {
		task, own string
		network   bool
		gpus      bool
	}{{"baby_lm", "", true, true}, {"mini_budget_inference", "", true, false}, {"baby_lm", "echo 1", false, true}} {
		task := openTaskWith(t, dir, c.task, Options{Evaluate: c.own})
		benchtest.Grade(t, task, submit(t), b)
		if j := b.Jobs[len(b.Jobs)-1]; j.Network != c.network || j.GPUs != c.gpus || task.OutputBytes != outputBytes {
			t.Errorf("%s %q: network %v, GPUs %v, %d bytes", c.task, c.own, j.Network, j.GPUs, task.OutputBytes)
		}
	}
}
