package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
	"proctor/tasks/grade"
)

// A Judgement is a score that a person gives to a run which no grader could
// score.
type Judgement struct {
	Score float64
	By    string // who says so
	Note  string // how they came to it; may be empty
}

// Enter puts a person's judgement on a run's record: as one more verdict in
// its log, after the grader's own, and in verdict.json. It refuses a run that
// is alive (rundir.ErrLocked), one without a verdict, and one that a grader
// or a person has judged already. What the score is worth is read as the
// suite reads its own, from the task if it is still there and else from the
// record.
func Enter(ctx context.Context, dir rundir.Dir, j Judgement, parts Parts, set Settings) error {
	j.By, j.Note = strings.TrimSpace(j.By), strings.TrimSpace(j.Note)
	if math.IsNaN(j.Score) || math.IsInf(j.Score, 0) {
		return errors.New("the score must be a finite number")
	}
	if j.By == "" {
		return errors.New("a score that a person enters needs a name: --by NAME")
	}
	r, lock, err := open(dir, parts, set)
	if errors.Is(err, rundir.ErrLocked) {
		return fmt.Errorf("entering a score for run %s: %w: it is alive, so its own grader comes first", dir.ID(), err)
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	defer r.close()
	if err := enterable(dir, &r.state); err != nil {
		return err
	}
	v := entered(j, *r.state.Verdict, r.worth(ctx, j.Score), time.Now().UTC())
	if err := r.emit(event.TypeVerdict, v); err != nil {
		return err
	}
	if err := r.emit(event.TypeRunEnded, event.RunEnded{Status: string(v.Status)}); err != nil {
		return err
	}
	r.sync()
	return dir.WriteVerdict(v)
}

// enterable says why a person's score cannot stand on a record.
func enterable(dir rundir.Dir, s *event.State) error {
	refuse := func(why string) error { return fmt.Errorf("entering a score for run %s: %s", dir.ID(), why) }
	switch v := s.Verdict; {
	case v == nil:
		return refuse(fmt.Sprintf("it has not been graded yet: proctor grade %s does that first", dir.ID()))
	case v.Entered != nil:
		return refuse(fmt.Sprintf("%s has entered %s already, and a verdict is not changed", v.Entered.By, grade.Format(*v.Score, v.Unit)))
	case v.Status.Counts():
		return refuse(fmt.Sprintf("its grader has judged it (%s), and a verdict is not changed", strings.ReplaceAll(string(v.Status), "_", " ")))
	}
	return nil
}

// worth says what a score means for the run's task.
func (r *Run) worth(ctx context.Context, score float64) *tasks.Verdict {
	if task, err := r.parts.OpenTask(ctx, r.req.Task); err == nil {
		if reader, ok := task.Grader.(tasks.Reader); ok {
			return reader.Read(score)
		}
		return grade.Apply(task.Standing, task.Metric, score)
	}
	t := r.state.Run.Task
	return grade.Apply(
		tasks.Standing{Baseline: t.Baseline, Thresholds: t.Thresholds, References: t.References},
		tasks.Metric{Name: t.Metric, Unit: t.Unit, HigherIsBetter: t.HigherIsBetter}, score)
}

// entered makes a verdict of a person's judgement: what the score is worth,
// with the run's own figures from the grader's verdict, was.
func entered(j Judgement, was tasks.Verdict, v *tasks.Verdict, at time.Time) *tasks.Verdict {
	v.Entered = &tasks.Entry{By: j.By, At: at, Note: j.Note, Instead: was.Status, Why: was.Reason}
	v.Grader = "a person: " + j.By
	v.Flags = was.Flags
	if v.Metric == "" {
		v.Metric = was.Metric
	}
	v.Assisted, v.Hints, v.Extensions, v.Takeovers = was.Assisted, was.Hints, was.Extensions, was.Takeovers
	v.WorkingSeconds, v.WallSeconds, v.GraderSeconds = was.WorkingSeconds, was.WallSeconds, was.GraderSeconds
	v.Tokens, v.Cost, v.GPUHours, v.Steps = was.Tokens, was.Cost, was.GPUHours, was.Steps
	v.SubmissionSHA256 = was.SubmissionSHA256
	return v
}
