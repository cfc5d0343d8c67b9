package mlebench

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// The script that calls a grade.py.
//
//go:embed sidecar.py
var sidecarFiles embed.FS

// graderTime bounds one grading; the slowest real graders take minutes.
const graderTime = time.Hour

// Where a grader's sandbox shows what it needs.
const (
	packageTarget    = "/mle-bench/mlebench"
	answersTarget    = "/mle-bench-answers"
	sampleTarget     = "/mle-bench-sample"
	submissionTarget = "/mle-bench-submission"
	sidecarTarget    = "/mle-bench-sidecar"
)

// launch runs the sidecar by the first interpreter that has pandas or, when
// none has, by the first there is, which will then name what it lacks. Status
// 127 means that there is none.
const launch = `
probe='import sys; from importlib.util import find_spec as f; sys.exit(not (f("pandas") and f("sklearn")))'
set -- python3 /usr/bin/python3
[ -z "$MLEBENCH_PYTHON" ] || set -- "$MLEBENCH_PYTHON"
found=
for python; do
	command -v "$python" >/dev/null 2>&1 || continue
	if "$python" -c "$probe" >/dev/null 2>&1; then
		found=$python
		break
	fi
	[ -n "$found" ] || found=$python
done
[ -n "$found" ] || exit 127
exec "$found" -B "$PROCTOR_SIDECAR/sidecar.py"
`

// sidecar has the competition's grade.py judge a submission. The outcome is
// GraderUnavailable when there is no Python, or a module is missing; the
// reason says which. The error is that of ctx.
func (g *Grader) sidecar(ctx context.Context, s tasks.Submission, b tasks.Bench, validate bool) (outcome, error) {
	if _, err := os.Stat(filepath.Join(g.packageDir, "competitions", g.id, "grade.py")); err != nil {
		return unavailable("the checkout has no grade.py for it", "get the whole checkout and grade the run again"), nil
	}
	job, err := g.job(s, b, validate)
	if err != nil {
		return unavailable("the grader could not be run: "+err.Error(), "see proctor doctor for what a sandbox needs here"), nil
	}
	result, err := b.Run(ctx, job)
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if err != nil {
		return unavailable("the grader could not be run: "+err.Error(), "see proctor doctor for what a sandbox needs here"), nil
	}
	o := answered(result)
	o.took = result.Seconds
	return o, nil
}

func unavailable(reason, remedy string) outcome {
	return outcome{status: tasks.GraderUnavailable, reason: grade.OneLine(reason, 300), remedy: remedy}
}

func (g *Grader) job(s tasks.Submission, b tasks.Bench, validate bool) (tasks.Job, error) {
	script, err := b.Stage("mle-bench-sidecar", sidecarFiles)
	if err != nil {
		return tasks.Job{}, err
	}
	order, err := json.Marshal(map[string]any{
		"grade_fn":   g.gradeFn,
		"answers":    filepath.Base(g.data.answers),
		"sample":     filepath.Base(g.data.sample),
		"submission": output,
		"validate":   validate,
	})
	if err != nil {
		return tasks.Job{}, err
	}
	mounts := []tasks.Mount{
		{Source: script, Target: sidecarTarget, Env: "PROCTOR_SIDECAR"},
		{Source: resolved(g.packageDir), Target: packageTarget, Env: "PROCTOR_MLEBENCH"},
		{Source: resolved(filepath.Dir(g.data.answers)), Target: answersTarget, Env: "PROCTOR_ANSWERS"},
		{Source: s.Dir, Target: submissionTarget, Env: "PROCTOR_SUBMISSION"},
	}
	if isRegular(g.data.sample) {
		mounts = append(mounts, tasks.Mount{Source: resolved(filepath.Dir(g.data.sample)), Target: sampleTarget, Env: "PROCTOR_SAMPLE"})
	}
	return tasks.Job{
		Argv:    []string{"sh", "-c", launch},
		Mounts:  append(mounts, interpreter(g.python)...),
		Env:     []string{"PROCTOR_MLEBENCH_JOB=" + string(order), "MLEBENCH_PYTHON=" + g.python, "PYTHONDONTWRITEBYTECODE=1"},
		Timeout: graderTime,
	}, nil
}

// interpreter returns the mounts without which a Python that was given by its
// path could not start in a sandbox: its environment and, when that is a
// virtual one, the installation it was made from.
func interpreter(python string) []tasks.Mount {
	if !filepath.IsAbs(python) {
		return nil
	}
	var mounts []tasks.Mount
	for _, bin := range []string{python, resolved(python)} {
		prefix := filepath.Dir(filepath.Dir(bin))
		if prefix == "/" || prefix == "/usr" || len(mounts) > 0 && mounts[0].Source == prefix {
			continue
		}
		mounts = append(mounts, tasks.Mount{Source: prefix, Target: prefix})
	}
	return mounts
}

// An answer is what the sidecar wrote.
type answer struct {
	By      string   `json:"by"`
	Score   *float64 `json:"score"`
	Valid   bool     `json:"valid"`
	Invalid string   `json:"invalid"`
	Failed  string   `json:"failed"`
	Module  string   `json:"module"`
}

// answered reads the sidecar's answer, or says why there is none.
func answered(r tasks.JobResult) outcome {
	if r.TimedOut || len(r.Verdict) == 0 {
		if r.ExitCode == 127 {
			return unavailable("there is no python3", "install Python 3 with pandas and scikit-learn, or name one as python in [suites.mle-bench] of the settings, and grade the run again")
		}
		return outcome{status: tasks.GraderFailed, reason: grade.NoReward(r, graderTime).Reason}
	}
	var a answer
	if err := json.Unmarshal(r.Verdict, &a); err != nil {
		return outcome{status: tasks.GraderFailed, reason: grade.Failed("the grader's answer is not JSON", r.Output).Reason}
	}
	by := "grade.py with " + grade.OneLine(a.By, 100)
	switch {
	case a.Score != nil:
		return outcome{status: tasks.Graded, score: *a.Score, by: by}
	case a.Valid:
		return outcome{status: tasks.Graded, by: by}
	case a.Invalid != "":
		return outcome{status: tasks.InvalidSubmission, reason: grade.OneLine(a.Invalid, 300), by: by}
	case a.Module != "":
		name := grade.OneLine(a.Module, 60)
		return unavailable("Python module "+name+" is missing",
			fmt.Sprintf("install it (pip install %s) for the Python in [suites.mle-bench] of the settings, and grade the run again", distribution(name)))
	}
	return outcome{status: tasks.GraderFailed, reason: grade.Failed(grade.OneLine(a.Failed, 200), "").Reason, by: by}
}

// distribution returns what to install for a module.
func distribution(module string) string {
	top, _, _ := strings.Cut(module, ".")
	switch top {
	case "sklearn":
		return "scikit-learn"
	case "Levenshtein":
		return "levenshtein"
	case "PIL":
		return "pillow"
	case "cv2":
		return "opencv-python"
	}
	return top
}
