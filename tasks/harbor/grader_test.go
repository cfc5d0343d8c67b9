package harbor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

const ownHead = `
verifier.timeout_sec = 20
[metadata.proctor]
schema = 1
outputs = ["answer.txt"]
metric = {name = "accuracy", higher_is_better = true}
grade = {baseline = 0.5, thresholds = {gold = 0.9, bronze = 0.6}, references = [{name = "r", score = 0.8}]}
`

// graderOf returns the grader of a task with the given settings and script.
func graderOf(t *testing.T, settings, script string) tasks.Grader {
	t.Helper()
	f := goodTask()
	f["task.toml"] = settings
	f["tests/test.sh"] = script
	f["tests/answers.txt"] = "held out\n"
	return openTask(t, f.write(t)).Grader
}

// submission returns a submission whose answer.txt has the given text.
func submission(t *testing.T, answer string) tasks.Submission {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "answer.txt"), []byte(answer), 0o644); err != nil {
		t.Fatal(err)
	}
	return tasks.Submission{Dir: dir}
}

func gradeWith(t *testing.T, g tasks.Grader, s tasks.Submission, b tasks.Bench) *tasks.Verdict {
	t.Helper()
	v, err := g.Grade(context.Background(), s, b)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(v.Reason, "\n\x1b") || len(v.Reason) > 2000 {
		t.Errorf("the reason is not one short line: %q", v.Reason)
	}
	return v
}

// What a grader's script does, and the verdict that it makes; the same on
// both benches.
var matrix = map[string]struct {
	script string
	status tasks.Status
	score  float64
	reason string // the verdict's reason, or its beginning when it ends in …
}{
	"verdict descriptor":          {`echo '{"accuracy": 0.75}' >&3`, tasks.Graded, 0.75, ""},
	"reward.json":                 {`echo '{"accuracy": 0.75, "f1": 0.5}' >"$PROCTOR_LOGS/reward.json"`, tasks.Graded, 0.75, ""},
	"reward.txt":                  {`echo 0.75 >"$PROCTOR_LOGS/reward.txt"`, tasks.Graded, 0.75, ""},
	"single key of another name":  {`echo '{"reward": 1}' >"$PROCTOR_LOGS/reward.json"`, tasks.Graded, 1, ""},
	"negative zero":               {`echo -0.0 >"$PROCTOR_LOGS/reward.txt"`, tasks.Graded, 0, ""},
	"a reward despite its status": {`echo 0.5 >"$PROCTOR_LOGS/reward.txt"; exit 1`, tasks.Graded, 0.5, ""},
	"descriptor before files":     {`echo 0.1 >"$PROCTOR_LOGS/reward.txt"; echo '{"accuracy": 0.75}' >&3`, tasks.Graded, 0.75, ""},
	"json before text":            {`echo 0.1 >"$PROCTOR_LOGS/reward.txt"; echo '{"accuracy": 0.75}' >"$PROCTOR_LOGS/reward.json"`, tasks.Graded, 0.75, ""},
	"reads its own files":         {`read a b <"$PROCTOR_TESTS/answers.txt"; [ "$a $b" = "held out" ] && echo 1 >"$PROCTOR_LOGS/reward.txt"`, tasks.Graded, 1, ""},
	"reads the submission":        {`read x <"$PROCTOR_SUBMISSION/answer.txt"; echo "$x" >"$PROCTOR_LOGS/reward.txt"`, tasks.Graded, 0.625, ""},

	"says no submission": {`echo '{"error": "answer.txt is empty", "kind": "no_submission"}' >&3`,
		tasks.NoSubmission, 0, "answer.txt is empty"},
	"says invalid submission": {`echo '{"error": "row 3: not a digit", "kind": "invalid_submission"}' >"$PROCTOR_LOGS/error.json"; echo 1 >"$PROCTOR_LOGS/reward.txt"`,
		tasks.InvalidSubmission, 0, "row 3: not a digit"},
	"says it failed": {`echo '{"error": "out of disk"}' >&3`, tasks.GraderFailed, 0, "out of disk"},

	"crash": {`echo hello; echo "Error: no module named x" >&2; exit 3`,
		tasks.GraderFailed, 0, "the grader ended with status 3 and wrote no reward: hello | Error: no module named x"},
	"killed": {`kill -SEGV $$`, tasks.GraderFailed, 0, "the grader was killed by …"},
	"nothing": {`true`,
		tasks.GraderFailed, 0, "the grader ended without writing a reward"},
	"empty json":       {`: >"$PROCTOR_LOGS/reward.json"`, tasks.GraderFailed, 0, "the grader's reward.json is no reward: it is empty"},
	"empty text":       {`: >"$PROCTOR_LOGS/reward.txt"`, tasks.GraderFailed, 0, "the grader's reward.txt is no reward: it is empty"},
	"garbage text":     {`echo ok >"$PROCTOR_LOGS/reward.txt"`, tasks.GraderFailed, 0, `the grader's reward.txt is no reward: it holds "ok", expected one number`},
	"NaN text":         {`echo nan >"$PROCTOR_LOGS/reward.txt"`, tasks.GraderFailed, 0, `the grader's reward.txt is no reward: it holds "nan", expected one number`},
	"NaN json":         {`echo '{"accuracy": NaN}' >"$PROCTOR_LOGS/reward.json"`, tasks.GraderFailed, 0, `the grader's reward.json is no reward: the value of "accuracy": it has NaN or Infinity, which is no finite number`},
	"infinite verdict": {`echo '{"accuracy": 1e400}' >&3`, tasks.GraderFailed, 0, `the grader's verdict is no reward: its value of "accuracy" is "1e400", which is no finite number`},
	"boolean":          {`echo '{"accuracy": true}' >&3`, tasks.GraderFailed, 0, `the grader's verdict is no reward: its value of "accuracy" is true, expected a number`},
	"nested":           {`echo '{"accuracy": {"mean": 1}}' >&3`, tasks.GraderFailed, 0, `the grader's verdict is no reward: its value of "accuracy" is an object, expected a number`},
	"garbage verdict does not fall back": {`echo 1 >"$PROCTOR_LOGS/reward.txt"; echo '{"accuracy": ' >&3`,
		tasks.GraderFailed, 0, `the grader's verdict is no reward: the value of "accuracy": it is JSON that ends too early`},
	"10 MB": {`{ printf '{"a": "'; head -c 10485760 /dev/zero | tr '\0' x; printf '"}'; } >"$PROCTOR_LOGS/reward.json"`,
		tasks.GraderFailed, 0, "the grader's reward.json is no reward: it is 10485769 bytes long, more than the 1048576 allowed"},
	"metric missing": {`echo '{"f1": 1, "auc": 0.5}' >&3`,
		tasks.GraderFailed, 0, `the grader's reward cannot be read: there is no value named "accuracy" among "auc", "f1"`},
	"reward is a link": {`ln -s /etc/hostname "$PROCTOR_LOGS/reward.txt"`,
		tasks.GraderFailed, 0, "the grader ended without writing a reward"},
	"terminal escapes": {`printf '\033]0;x\007\033[31mbad\033[0m\n'; exit 1`,
		tasks.GraderFailed, 0, "the grader ended with status 1 and wrote no reward: bad"},
}

func TestGraderMatrix(t *testing.T) {
	for name, tc := range matrix {
		for _, mounts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, mounts %v", name, mounts), func(t *testing.T) {
				t.Parallel()
				g := graderOf(t, ownHead, "# finds things by PROCTOR_TESTS\n"+tc.script+"\n")
				v := gradeWith(t, g, submission(t, "0.625\n"), newBench(t, mounts))
				if v.Status != tc.status {
					t.Fatalf("status %s (%s), want %s", v.Status, v.Reason, tc.status)
				}
				begin, open := strings.CutSuffix(tc.reason, "…")
				if v.Reason != tc.reason && !(open && strings.HasPrefix(v.Reason, begin)) {
					t.Errorf("reason %q, want %q", v.Reason, tc.reason)
				}
				if tc.status != tasks.Graded {
					if v.Score != nil || v.Valid {
						t.Errorf("score %v, valid %v", v.Score, v.Valid)
					}
					return
				}
				if *v.Score != tc.score || !v.Valid || len(v.Rewards) == 0 {
					t.Errorf("score %v, want %v; valid %v, rewards %v", *v.Score, tc.score, v.Valid, v.Rewards)
				}
			})
		}
	}
}

func TestVerdictHoldsTheStanding(t *testing.T) {
	g := graderOf(t, ownHead, "echo '{\"accuracy\": 0.75, \"f1\": 0.5}' >\"$PROCTOR_LOGS/reward.json\"\n")
	v := gradeWith(t, g, submission(t, "x"), newBench(t, false))
	baseline, gold, bronze, gain, score := 0.5, 0.9, 0.6, 0.5, 0.75
	want := &tasks.Verdict{
		Status: tasks.Graded, Valid: true, Metric: "accuracy", HigherIsBetter: true, Score: &score,
		Baseline: &baseline, Thresholds: tasks.Thresholds{Gold: &gold, Bronze: &bronze}, Medal: "bronze",
		Reference: []tasks.Reference{{Name: "r", Score: 0.8}}, Rank: 2, Of: 2, Improvement: &gain,
		Rewards: map[string]float64{"accuracy": 0.75, "f1": 0.5}, GraderSeconds: v.GraderSeconds,
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
	if v.GraderSeconds <= 0 {
		t.Errorf("the grader took %v s", v.GraderSeconds)
	}
}

func TestGraderHangs(t *testing.T) {
	settings := strings.Replace(ownHead, "timeout_sec = 20", "timeout_sec = 0.5", 1)
	g := graderOf(t, settings, "echo 1 >\"$PROCTOR_LOGS/reward.txt\"; echo working; sleep 600 & wait\n")
	v := gradeWith(t, g, submission(t, "x"), newBench(t, false))
	want := "the grader did not end within its limit of 500ms and was stopped: working"
	if v.Status != tasks.GraderFailed || v.Reason != want || v.Score != nil {
		t.Errorf("%s: %q, score %v", v.Status, v.Reason, v.Score)
	}
}

// A plain task's script expects Harbor's own paths, and may write where it
// works without changing the submission.
func TestPlainTask(t *testing.T) {
	script := `#!/bin/bash
[[ $(pwd -P) == "$(cd "$ROOT/app"; pwd -P)" ]] || exit 1
[[ $JUDGE == j ]] || exit 2
echo built >built.txt && read x <answer.txt
echo "$x" >"$ROOT/logs/verifier/reward.txt"
`
	g := graderOf(t, "environment.workdir = '/app'\nverifier.env.JUDGE = 'j'\n", script)
	s := submission(t, "0.625\n")
	v := gradeWith(t, g, s, newBench(t, true))
	if v.Status != tasks.Graded || *v.Score != 0.625 || v.Metric != "reward" || !v.HigherIsBetter {
		t.Errorf("%+v", v)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "built.txt")); err == nil {
		t.Error("the script wrote into the submission")
	}
}

func TestPlainTaskNeedsMounts(t *testing.T) {
	g := graderOf(t, "", "echo 1 > /logs/verifier/reward.txt\n")
	v := gradeWith(t, g, submission(t, "x"), newBench(t, false))
	if v.Status != tasks.GraderUnavailable || !strings.Contains(v.Reason, "/logs/verifier") || v.Remedy == "" {
		t.Errorf("%+v", v)
	}
}

func TestJob(t *testing.T) {
	b := newBench(t, false)
	g := graderOf(t, ownHead, "echo 1 >\"$PROCTOR_LOGS/reward.txt\"\n")
	s := submission(t, "x")
	gradeWith(t, g, s, b)
	for _, m := range b.job.Mounts {
		if want := m.Target == logsDir; m.Writable != want {
			t.Errorf("%s: writable %v", m.Target, m.Writable)
		}
		if m.Target == "/workspace" && m.Source != s.Dir {
			t.Errorf("the submission is mounted from %s", m.Source)
		}
	}
	if b.job.Dir != testsDir || !b.job.Inner {
		t.Errorf("dir %s, inner %v", b.job.Dir, b.job.Inner)
	}
}

func TestUnusableSubmissions(t *testing.T) {
	two := strings.Replace(ownHead, `["answer.txt"]`, `["answer.txt", "model"]`, 1)
	for name, tc := range map[string]struct {
		settings   string
		submission tasks.Submission
		status     tasks.Status
		reason     string
	}{
		"nothing there": {two, tasks.Submission{Missing: []string{"answer.txt", "model"}},
			tasks.NoSubmission, "the agent left no answer.txt, model"},
		"half of it": {two, tasks.Submission{Missing: []string{"model"}},
			tasks.InvalidSubmission, "the submission lacks model"},
		"a link": {two, tasks.Submission{Refused: map[string]string{"answer.txt": "a symbolic link"}},
			tasks.InvalidSubmission, `"answer.txt" cannot be taken: a symbolic link`},
		"a fifo with a hostile name": {two, tasks.Submission{Refused: map[string]string{"model/\x1b[31m\n": "a FIFO"}},
			tasks.InvalidSubmission, `"model/\x1b[31m\n" cannot be taken: a FIFO`},
		"too large beats missing": {two, tasks.Submission{Refused: map[string]string{"model": "2 TB, over the cap of 1 GB"}, Missing: []string{"answer.txt"}},
			tasks.InvalidSubmission, `"model" cannot be taken: 2 TB, over the cap of 1 GB`},
		"no workspace": {"", tasks.Submission{Missing: []string{"."}},
			tasks.NoSubmission, "the workspace is gone"},
		"a workspace that is a link": {"", tasks.Submission{Refused: map[string]string{".": "a symbolic link"}},
			tasks.InvalidSubmission, `"." cannot be taken: a symbolic link`},
	} {
		t.Run(name, func(t *testing.T) {
			g := graderOf(t, tc.settings, "echo PROCTOR_; exit 1\n")
			b := newBench(t, true)
			v := gradeWith(t, g, tc.submission, b)
			if v.Status != tc.status || v.Reason != tc.reason {
				t.Errorf("%s: %q, want %s: %q", v.Status, v.Reason, tc.status, tc.reason)
			}
			if b.job.Argv != nil {
				t.Error("the grader ran all the same")
			}
		})
	}
}

// Links in a whole workspace are left out, and the verdict says so.
func TestPlainTaskLeavesOutWhatCannotBeTaken(t *testing.T) {
	g := graderOf(t, "", "echo 1 >\"$PROCTOR_LOGS/reward.txt\"\n")
	s := submission(t, "x")
	s.Refused = map[string]string{}
	for i := range 30 {
		s.Refused[fmt.Sprintf("venv/%02d", i)] = "a symbolic link"
	}
	v := gradeWith(t, g, s, newBench(t, true))
	if v.Status != tasks.Graded || len(v.Flags) != 11 ||
		v.Flags[0] != "not graded: venv/00 (a symbolic link)" || v.Flags[10] != "and 20 more files left out" {
		t.Errorf("%s %q", v.Status, v.Flags)
	}
}

func TestBenchFails(t *testing.T) {
	b := newBench(t, true)
	b.fail = errors.New("no namespaces\nhere")
	v := gradeWith(t, graderOf(t, ownHead, "echo PROCTOR_\n"), submission(t, "x"), b)
	if v.Status != tasks.GraderUnavailable || v.Reason != "the grader could not be run: no namespaces here" || v.Remedy == "" {
		t.Errorf("%+v", v)
	}
	s := tasks.Submission{Dir: filepath.Join(t.TempDir(), "gone")}
	v = gradeWith(t, graderOf(t, "", "echo PROCTOR_\n"), s, newBench(t, true))
	if v.Status != tasks.GraderUnavailable {
		t.Errorf("%+v", v)
	}
}

func TestGradeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := &cancelBench{procBench: newBench(t, true), cancel: cancel}
	v, err := graderOf(t, ownHead, "echo PROCTOR_; sleep 600 & wait\n").Grade(ctx, submission(t, "x"), b)
	if v != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", v, err)
	}
}

// cancelBench ends the context while the job is running.
type cancelBench struct {
	*procBench
	cancel func()
}

func (b *cancelBench) Run(ctx context.Context, j tasks.Job) (tasks.JobResult, error) {
	b.cancel()
	return b.procBench.Run(ctx, j)
}
