package mlebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// maxSubmission bounds the submissions that are graded, in bytes; the
// longest real ones are below 1 GB.
const maxSubmission = 2 << 30

// A Grader judges submissions to one competition. Its methods may be called
// concurrently.
type Grader struct {
	id         string
	gradeFn    string // module:function
	packageDir string // the checkout's mlebench
	python     string // "" for the first that has pandas
	data       dataset
	plan       *plan // nil if only grade.py can
	metric     tasks.Metric
	standing   tasks.Standing
	flags      []string
}

// An outcome is what grading one file came to.
type outcome struct {
	status tasks.Status
	score  float64
	reason string
	remedy string
	by     string // the grader that was used
	took   float64
}

// Grade implements [tasks.Grader].
func (g *Grader) Grade(ctx context.Context, s tasks.Submission, b tasks.Bench) (*tasks.Verdict, error) {
	o, err := g.judge(ctx, s, b, false)
	if err != nil {
		return nil, err
	}
	v := &tasks.Verdict{Status: o.status, Reason: o.reason, Remedy: o.remedy}
	if o.status == tasks.Graded {
		v = grade.Apply(g.standing, g.metric, o.score)
	}
	v.Metric = g.metric.Name
	v.HigherIsBetter = g.metric.HigherIsBetter
	v.Baseline = g.standing.Baseline
	v.Thresholds = g.standing.Thresholds
	v.Grader = o.by
	v.GraderSeconds = o.took
	v.Flags = g.flags
	return v, nil
}

// judge grades or, if it is to validate only, asks the grader whether it
// would. The score of a validation is 0.
func (g *Grader) judge(ctx context.Context, s tasks.Submission, b tasks.Bench, validate bool) (outcome, error) {
	if o := unusable(s); o != nil {
		return *o, nil
	}
	if problem := g.data.unanswered(); problem != nil {
		return outcome{
			status: tasks.DataMissing,
			reason: fmt.Sprintf("the answers %s %v", g.data.answers, problem),
			remedy: fmt.Sprintf("run mlebench prepare -c %s, or say where the prepared data is as data in [suites.mle-bench] of the settings, and grade the run again", g.id),
		}, nil
	}
	o, err := g.sidecar(ctx, s, b, validate)
	if err != nil {
		return outcome{}, err
	}
	if o.status != tasks.GraderUnavailable || g.plan == nil {
		return o, nil
	}
	native := g.native(filepath.Join(s.Dir, filepath.FromSlash(output)))
	native.by += " (" + o.reason + ")"
	native.took = o.took
	if validate {
		native.score = 0
	}
	return native, ctx.Err()
}

// native grades a file in Go.
func (g *Grader) native(file string) outcome {
	o := outcome{status: tasks.Graded, by: "Proctor's own " + g.plan.metric + " in place of grade.py"}
	if why := g.bloated(file); why != "" {
		o.status, o.reason = tasks.InvalidSubmission, why
		return o
	}
	var err error
	o.score, err = g.plan.gradeFile(file, g.data.answers)
	switch {
	case errors.As(err, new(invalidError)):
		o.status, o.reason = tasks.InvalidSubmission, err.Error()
	case err != nil:
		o.status, o.reason = tasks.GraderFailed, grade.OneLine(err.Error(), 300)
		o.remedy = "prepare the competition's data again and grade the run again"
	}
	return o
}

// bloated says why a file is too long to be read here, outside any sandbox's
// limits, "" if it is not. What a submission holds is what the sample holds,
// if in more digits.
func (g *Grader) bloated(file string) string {
	const (
		always = 64 << 20 // bytes that are read in any case
		times  = 50
	)
	sample, err := os.Stat(g.data.sample)
	if err != nil {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() <= max(always, times*sample.Size()) {
		return ""
	}
	return fmt.Sprintf("it has %d bytes, more than %d times as many as the sample submission's %d", info.Size(), times, sample.Size())
}

// unusable returns the outcome for a submission that no grader need see, nil
// if one can.
func unusable(s tasks.Submission) *outcome {
	for name, why := range s.Refused {
		return &outcome{
			status: tasks.InvalidSubmission,
			reason: grade.OneLine(fmt.Sprintf("%q cannot be taken: %s", name, why), 300),
		}
	}
	info, err := os.Lstat(filepath.Join(s.Dir, filepath.FromSlash(output)))
	invalid := func(why string) *outcome {
		return &outcome{status: tasks.InvalidSubmission, reason: output + " " + why}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &outcome{status: tasks.NoSubmission, reason: "the agent left no " + output}
	case err != nil:
		return invalid(fmt.Sprintf("cannot be read: %v", cause(err)))
	case info.IsDir():
		return invalid("is not a regular file but a directory")
	case !info.Mode().IsRegular():
		return invalid("is not a regular file")
	case info.Size() == 0:
		return invalid("is empty")
	case info.Size() > maxSubmission:
		return invalid(fmt.Sprintf("has %d bytes, more than the %d that are graded", info.Size(), int64(maxSubmission)))
	}
	return nil
}
