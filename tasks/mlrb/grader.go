package mlrb

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"proctor/tasks"
	"proctor/tasks/checkout"
	"proctor/tasks/grade"
	"proctor/tasks/sidecar"
)

//go:embed graders/*.py
var graders embed.FS

// limit is the most that an evaluation may take.
const limit = 6 * time.Hour

// A grader runs a task's evaluation command on what the agent left.
type grader struct {
	name       string
	metric     tasks.Metric
	evaluation evaluation
	gpus       bool // the evaluation runs a model that needs one
}

// Grade implements tasks.Grader.
func (g *grader) Grade(ctx context.Context, s tasks.Submission, b tasks.Bench) (*tasks.Verdict, error) {
	if v := unusable(s); v != nil {
		return g.sign(v), nil
	}
	remedy := g.remedy(s)
	if g.evaluation.Kind == "" {
		return g.sign(&tasks.Verdict{Status: tasks.GraderUnavailable,
			Reason: "the suite has no command that grades this task", Remedy: remedy}), nil
	}
	request, err := json.Marshal(map[string]string{
		"kind": g.evaluation.Kind, "task": g.evaluation.Task, "command": g.evaluation.Command,
		"metric": g.metric.Name, "result": resultDir, "remedy": remedy,
	})
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(graders, "graders")
	if err != nil {
		return nil, err
	}
	reply, v, err := sidecar.Run(ctx, b, sidecar.Program{
		Files:   files,
		Main:    "proctor_command.py",
		Args:    []string{string(request)},
		Mounts:  []tasks.Mount{{Source: s.Dir, Target: "/submission", Env: "PROCTOR_SUBMISSION"}},
		Timeout: limit,
		// The suite's own programs fetch their data sets.
		Network: g.evaluation.Kind == harness || g.evaluation.Kind == agentEval,
		GPUs:    g.gpus,
	})
	if err != nil {
		return nil, err
	}
	if v == nil {
		v = grade.Apply(tasks.Standing{}, g.metric, reply.Score)
		v.Rewards = map[string]float64{g.metric.Name: reply.Score}
		maps.Copy(v.Rewards, reply.Numbers)
		v.Flags, v.GraderSeconds = reply.Flags, reply.Seconds
	}
	return g.sign(v), nil
}

// remedy says how a person grades the submission.
func (g *grader) remedy(s tasks.Submission) string {
	const enter = "proctor grade RUN --score X --by NAME"
	result := filepath.Join(s.Dir, resultDir)
	if g.evaluation.Kind == "" {
		return fmt.Sprintf("look at %q and enter a judgement: %s", result, enter)
	}
	return fmt.Sprintf("run %s, then enter its result: %s", g.evaluation.example(result), enter)
}

// unusable returns the verdict on a submission that need not be run, nil if
// it can be.
func unusable(s tasks.Submission) *tasks.Verdict {
	for _, p := range slices.Sorted(maps.Keys(s.Refused)) {
		return refusal(tasks.InvalidSubmission, "%q cannot be taken: %s", p, s.Refused[p])
	}
	dir := checkout.Dir(s.Dir)
	if _, err := dir.Lstat(resultDir); err != nil || len(s.Missing) > 0 {
		return refusal(tasks.NoSubmission, "the agent left no %s/", resultDir)
	}
	if !dir.HasDir(resultDir) {
		return refusal(tasks.InvalidSubmission, "%s is not a directory", resultDir)
	}
	if entries, err := dir.ReadDir(resultDir); err != nil || len(entries) == 0 {
		return refusal(tasks.NoSubmission, "%s/ is empty", resultDir)
	}
	return nil
}

func refusal(status tasks.Status, format string, args ...any) *tasks.Verdict {
	return &tasks.Verdict{Status: status, Reason: grade.OneLine(fmt.Sprintf(format, args...), 300)}
}

// sign completes a verdict with what holds for all of this grader's.
func (g *grader) sign(v *tasks.Verdict) *tasks.Verdict {
	v.Metric, v.HigherIsBetter = g.metric.Name, g.metric.HigherIsBetter
	v.Grader = g.evaluation.Kind
	return v
}
