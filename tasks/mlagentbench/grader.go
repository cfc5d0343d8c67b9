package mlagentbench

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/checkout"
	"proctor/tasks/grade"
	"proctor/tasks/sidecar"
)

//go:embed graders/*.py
var graders embed.FS

// Where the benchmark's folder and the submission are found inside.
const (
	benchmarkDir  = "/benchmark"
	submissionDir = "/submission"
)

// limit is the most that an eval.py may take: those that run a model over a
// test set need long.
const limit = 2 * time.Hour

// A grader runs a task's own eval.py, or times it where that is what counts.
type grader struct {
	dir      checkout.Dir
	name     string
	known    known
	metric   tasks.Metric
	standing tasks.Standing
	retimed  bool
	rounds   int // of timing
}

// retimed reports whether the task is graded by running it.
func (s source) retimed() bool { return s.folder == "vectorization" }

func (s source) grader(t *tasks.Task, k known) tasks.Grader {
	return &grader{dir: s.dir, name: s.name, known: k, metric: t.Metric, standing: t.Standing, retimed: s.retimed(), rounds: 5}
}

// Grade implements tasks.Grader.
func (g *grader) Grade(ctx context.Context, s tasks.Submission, b tasks.Bench) (*tasks.Verdict, error) {
	if v := g.unready(s); v != nil {
		return g.sign(v), nil
	}
	if v := g.unusable(s); v != nil {
		return g.sign(v), nil
	}
	files, err := fs.Sub(graders, "graders")
	if err != nil {
		return nil, err
	}
	program := sidecar.Program{
		Files: files,
		Main:  "proctor_eval.py",
		Mounts: []tasks.Mount{
			{Source: string(g.dir), Target: benchmarkDir, Env: "PROCTOR_BENCHMARK"},
			{Source: s.Dir, Target: submissionDir, Env: "PROCTOR_SUBMISSION"},
		},
		Timeout: limit,
	}
	if g.retimed {
		program.Main, program.Inner = "proctor_vectorization.py", true
		program.Args = []string{strconv.Itoa(g.rounds)}
	} else {
		outputs, err := json.Marshal(g.known.outputs)
		if err != nil {
			return nil, err
		}
		program.Args = []string{string(outputs)}
	}
	reply, v, err := sidecar.Run(ctx, b, program)
	if err != nil {
		return nil, err
	}
	if v == nil {
		v = g.judge(reply)
	}
	return g.sign(v), nil
}

// Read implements [tasks.Reader].
func (g *grader) Read(score float64) *tasks.Verdict { return g.judge(sidecar.Reply{Score: score}) }

// judge says what a score is worth.
func (g *grader) judge(r sidecar.Reply) *tasks.Verdict {
	standing := g.standing
	if measured, ok := r.Numbers["starter_seconds"]; ok && g.retimed {
		standing.Baseline = &measured
	}
	v := grade.Apply(standing, g.metric, r.Score)
	v.Rewards = map[string]float64{g.metric.Name: r.Score}
	maps.Copy(v.Rewards, r.Numbers)
	v.GraderSeconds = r.Seconds
	v.Flags = r.Flags
	if v.Improvement != nil {
		succeeded := *v.Improvement > success
		v.Success = &succeeded
	}
	return v
}

// unready returns the verdict where nothing could be graded at all.
func (g *grader) unready(s tasks.Submission) *tasks.Verdict {
	switch {
	case g.dir.HasFile("scripts/prepare.py") && !g.dir.HasFile("scripts/prepared"):
		return &tasks.Verdict{Status: tasks.DataMissing,
			Reason: "the task's data are not prepared, and the answers are among them",
			Remedy: fmt.Sprintf("in the checkout, run python -u -m MLAgentBench.prepare_task %s python, then grade the run again", path.Base(string(g.dir)))}
	case g.retimed && !g.dir.HasFile("env/train.py"):
		return &tasks.Verdict{Status: tasks.GraderUnavailable, Reason: "the checkout has no env/train.py to time the submission against",
			Remedy: "restore the checkout, then grade the run again"}
	case g.retimed || g.dir.HasFile("scripts/eval.py"):
		return nil
	}
	return &tasks.Verdict{Status: tasks.GraderUnavailable,
		Reason: "the suite has no eval.py for this task and so no score",
		Remedy: fmt.Sprintf("look at %q and enter a judgement: proctor grade RUN --score X --by NAME", s.Dir)}
}

// unusable returns the verdict on a submission that need not be run, nil if
// it can be.
func (g *grader) unusable(s tasks.Submission) *tasks.Verdict {
	for _, p := range slices.Sorted(maps.Keys(s.Refused)) {
		if g.reads(p) {
			return refusal(tasks.InvalidSubmission, "%q cannot be taken: %s", p, s.Refused[p])
		}
	}
	switch absent := strings.Join(s.Missing, ", "); {
	case absent == "":
	case len(s.Missing) >= len(g.known.outputs):
		return refusal(tasks.NoSubmission, "the agent left no %s", absent)
	default:
		return refusal(tasks.InvalidSubmission, "the submission lacks %s", absent)
	}
	if g.known.table == nil {
		return nil
	}
	if status, err := g.known.table.check(checkout.Dir(s.Dir), g.dir); err != nil {
		return refusal(status, "submission.csv %v", err)
	}
	return nil
}

// reads reports whether the grader would look at a path. In a whole
// workspace that is taken because nobody knows better, a link is left out.
func (g *grader) reads(p string) bool {
	return p == "." || !slices.Equal(g.known.outputs, []string{"."})
}

func refusal(status tasks.Status, format string, args ...any) *tasks.Verdict {
	return &tasks.Verdict{Status: status, Reason: grade.OneLine(fmt.Sprintf(format, args...), 300)}
}

// sign completes a verdict with what holds for all of this grader's.
func (g *grader) sign(v *tasks.Verdict) *tasks.Verdict {
	v.Metric, v.Unit, v.HigherIsBetter = g.metric.Name, g.metric.Unit, g.metric.HigherIsBetter
	if v.Baseline == nil {
		v.Baseline = g.standing.Baseline
	}
	v.Grader = "eval.py"
	if g.retimed {
		v.Grader = "timed by Proctor"
	}
	v.Flags = append(slices.Clone(g.known.flags), v.Flags...)
	return v
}
