package mlrcbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"proctor/tasks"
	"proctor/tasks/checkout"
	"proctor/tasks/grade"
	"proctor/tasks/sidecar"
)

// limit is the most that a test phase may take; the longest published
// baseline takes two hours.
const limit = 10 * time.Hour

// sameProcess is what nobody can check from outside.
const sameProcess = "the suite runs the submitted method in the process that also scores it: read its code before you believe the score"

// A grader runs the test phase of the best method.
type grader struct {
	dir      checkout.Dir
	name     string
	known    known
	metric   tasks.Metric
	standing tasks.Standing
	restore  []string // files in methods/ that are the task's own
}

// Grade implements tasks.Grader.
func (g *grader) Grade(ctx context.Context, s tasks.Submission, b tasks.Bench) (*tasks.Verdict, error) {
	dev, v := g.pick(s)
	if v != nil {
		return g.sign(v), nil
	}
	if g.known.kaggle {
		return g.sign(g.kaggle(dev, s)), nil
	}
	methods, flags := methodsDir, []string(nil)
	if checkout.Dir(s.Dir).HasDir(bestDir + "/methods") {
		methods = bestDir + "/methods"
	} else {
		flags = append(flags, "the methods were not kept as they were at the best dev result: their last state was tested")
	}
	request, err := json.Marshal(map[string]any{"method": dev.Method, "methods": methods, "restore": append([]string{}, g.restore...)})
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(python, "python")
	if err != nil {
		return nil, err
	}
	reply, v, err := sidecar.Run(ctx, b, sidecar.Program{
		Files: files,
		Main:  "proctor_test_phase.py",
		Args:  []string{string(request)},
		Mounts: []tasks.Mount{
			{Source: string(g.dir), Target: "/benchmark", Env: "PROCTOR_BENCHMARK"},
			{Source: s.Dir, Target: "/submission", Env: "PROCTOR_SUBMISSION"},
		},
		Timeout: limit,
		GPUs:    g.known.gpuGiB > 0,
	})
	if err != nil {
		return nil, err
	}
	if v == nil {
		v = g.judge(reply)
	}
	if v.Rewards == nil {
		v.Rewards = map[string]float64{}
	}
	v.Rewards["dev"] = *dev.Performance
	v.Flags = append(flags, v.Flags...)
	return g.sign(v), nil
}

// Read implements [tasks.Reader].
func (g *grader) Read(score float64) *tasks.Verdict {
	v := g.judge(sidecar.Reply{Score: score})
	v.Flags = nil // nothing was run here
	return v
}

// judge says what a test score is worth. The levels are the paper's: 7 above
// the top human, 6 from a twentieth of the way there, 5 from the baseline.
func (g *grader) judge(r sidecar.Reply) *tasks.Verdict {
	v := grade.Apply(g.standing, g.metric, r.Score)
	v.Rewards = map[string]float64{"test": r.Score}
	maps.Copy(v.Rewards, r.Numbers)
	v.GraderSeconds = r.Seconds
	v.Flags = append(slices.Clone(r.Flags), sameProcess)
	if v.MarginClosed == nil {
		return v
	}
	closed := *v.MarginClosed
	succeeded := closed > success
	v.Success = &succeeded
	v.Rewards["margin_closed_percent"] = 100 * closed
	switch {
	case closed > 1:
		v.Rewards["capability_level"] = 7
	case closed >= success:
		v.Rewards["capability_level"] = 6
	case closed >= 0:
		v.Rewards["capability_level"] = 5
	}
	return v
}

// pick returns the result that is to be tested, or the verdict on a
// submission that cannot be.
func (g *grader) pick(s tasks.Submission) (*result, *tasks.Verdict) {
	for _, p := range slices.Sorted(maps.Keys(s.Refused)) {
		return nil, refusal(tasks.InvalidSubmission, "%q cannot be taken: %s", p, s.Refused[p])
	}
	if slices.Contains(s.Missing, methodsDir) {
		return nil, refusal(tasks.NoSubmission, "the agent left no methods/")
	}
	if slices.Contains(s.Missing, recordFile) {
		return nil, refusal(tasks.NoSubmission, "%v", errNoResult)
	}
	dir := checkout.Dir(s.Dir)
	if !dir.HasDir(methodsDir) {
		return nil, refusal(tasks.InvalidSubmission, "methods is not a directory")
	}
	dev, err := best(dir)
	if errors.Is(err, errNoResult) {
		return nil, refusal(tasks.NoSubmission, "%v", err)
	}
	if err != nil {
		return nil, refusal(tasks.InvalidSubmission, "%v", err)
	}
	return dev, nil
}

// kaggle is the verdict on tasks whose test labels nobody has.
func (g *grader) kaggle(dev *result, s tasks.Submission) *tasks.Verdict {
	return &tasks.Verdict{
		Status: tasks.GraderUnavailable,
		Reason: fmt.Sprintf("Kaggle scores the test set of %s; the best dev result is %s, of the method %s", g.name, grade.Format(*dev.Performance, ""), dev.Method),
		Remedy: fmt.Sprintf("run the test phase with your Kaggle account on the methods in %q as the task's README says, then: proctor grade RUN --score X --by NAME", s.Dir),
		Rewards: map[string]float64{
			"dev": *dev.Performance,
		},
	}
}

func refusal(status tasks.Status, format string, args ...any) *tasks.Verdict {
	return &tasks.Verdict{Status: status, Reason: grade.OneLine(fmt.Sprintf(format, args...), 300)}
}

// sign completes a verdict with what holds for all of this grader's.
func (g *grader) sign(v *tasks.Verdict) *tasks.Verdict {
	v.Metric, v.Unit, v.HigherIsBetter = g.metric.Name, g.metric.Unit, true
	v.Baseline = g.standing.Baseline
	v.Grader = "main.py -p test"
	return v
}
