package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/sandbox/outputs"
	"proctor/tasks"
)

// finish ends a run whose agent has stopped working: everything in the
// sandbox is killed, the outputs are copied out, and the copy is graded.
// cause says why the agent stopped; nil when it finished by itself.
func (r *Run) finish(cause error) {
	r.phase(event.StateChange{To: event.Finishing, Reason: reason(cause), Actor: "proctor"})
	r.clock.Stop()
	if err := r.box.Close(); err != nil {
		r.fail(fmt.Errorf("ending the sandbox: %w", err))
		return
	}
	r.closeServices()
	r.shells.Wait()
	if fatal(cause) {
		r.fail(fmt.Errorf("%w: nothing was graded; proctor grade %s grades what is there", cause, r.dir.ID()))
		return
	}
	var limit errLimit
	if cause != nil && !errors.Is(cause, errGradeNow) && !errors.As(cause, &limit) {
		_ = r.emit(event.TypeNote, event.Note{Level: "error", Text: reason(cause)})
	}
	stand := r.stand
	if cause == nil {
		stand = "" // an agent that finished by itself left what it wants graded
	}
	r.grade(context.Background(), stand)
}

// fatal reports whether a run that ended so is not graded by itself.
func fatal(cause error) bool {
	for _, end := range []error{errStopped, errRecord, errSandboxGone, context.Canceled} {
		if errors.Is(cause, end) {
			return true
		}
	}
	var missing missingError
	return errors.As(cause, &missing)
}

func reason(cause error) string {
	if cause == nil {
		return "the agent finished"
	}
	return cause.Error()
}

// grade copies the outputs, of a checkpoint or of the workspace, and judges
// the copy.
func (r *Run) grade(ctx context.Context, stand string) {
	submission, took, err := r.submission(stand)
	if err != nil {
		r.fail(err)
		return
	}
	if len(took.Files) > 0 {
		_ = r.emit(event.TypeSubmission, event.Submission{
			Path: r.dir.Submission(), SHA256: took.SHA256, Bytes: took.Bytes, Files: len(took.Files), From: stand,
		})
	}
	r.phase(event.StateChange{To: event.Grading, Actor: "proctor"})
	bench := newBench(r, "grade")
	started := time.Now()
	verdict, err := r.task.Grader.Grade(ctx, submission, bench)
	if closeErr := bench.close(); closeErr != nil {
		r.trouble.Error("clearing up after the grader", "err", closeErr)
	}
	if err != nil {
		r.fail(fmt.Errorf("grading: %w", err))
		return
	}
	verdict.GraderSeconds = time.Since(started).Seconds()
	if len(took.Files) > 0 {
		verdict.SubmissionSHA256 = took.SHA256
	}
	r.conclude(verdict)
}

// conclude adds the run's own figures to a verdict and ends the run.
func (r *Run) conclude(v *tasks.Verdict) {
	r.record.Lock()
	r.fill(v)
	r.record.Unlock()
	if err := r.dir.WriteVerdict(v); err != nil {
		r.trouble.Error("writing the verdict", "err", err)
	}
	r.phase(event.StateChange{To: event.Done, Actor: "proctor"})
	// Every graded run's log ends with these two.
	_ = r.emit(event.TypeVerdict, v)
	r.screen.exit(v.Status)
	_ = r.emit(event.TypeRunEnded, event.RunEnded{Status: string(v.Status), Reason: v.Reason})
}

// fill sets what the record knows. r.record is held.
func (r *Run) fill(v *tasks.Verdict) {
	s := &r.state
	v.Assisted, v.Hints, v.Extensions, v.Takeovers = s.Assisted(), s.HintsGiven(), s.Extensions, s.Takeovers
	v.WorkingSeconds, v.WallSeconds = r.clock.Worked().Seconds(), time.Since(s.Started).Seconds()
	if s.Verdict != nil { // which is replaced: the run itself ended with it
		v.WallSeconds = s.Verdict.WallSeconds
	}
	v.GPUHours = s.GPU.GPUHours()
	v.Steps, v.Tokens = s.Steps, s.Usage.Tokens()
	if !s.Usage.UnknownCost {
		cost := s.Usage.Cost
		v.Cost = &cost
	}
}

// submission makes the copy that is graded.
func (r *Run) submission(stand string) (tasks.Submission, outputs.Taken, error) {
	dest := r.dir.Submission()
	if err := os.RemoveAll(dest); err != nil {
		return tasks.Submission{}, outputs.Taken{}, fmt.Errorf("clearing an earlier submission: %w", err)
	}
	from := r.dir.Workspace()
	if stand != "" {
		from = r.dir.Checkpoint(stand)
	}
	took, err := r.collectFrom(from, dest)
	if err != nil {
		return tasks.Submission{}, took, fmt.Errorf("copying the outputs out: %w", err)
	}
	return tasks.Submission{Dir: dest, Refused: took.Refused, Missing: took.Missing}, took, nil
}

// collect copies the workspace's outputs.
func (r *Run) collect(dest string) (outputs.Taken, error) {
	return r.collectFrom(r.dir.Workspace(), dest)
}

func (r *Run) collectFrom(from, dest string) (outputs.Taken, error) {
	most := r.set.OutputBytes
	if most > 0 {
		most = max(most, r.task.OutputBytes)
	}
	return outputs.Collect(from, r.task.Outputs, dest, outputs.Caps{Bytes: most, Files: r.set.OutputFiles})
}

// ErrGraded means that a run has a verdict on its agent already.
var ErrGraded = errors.New("the run has been graded")

// Grade judges a run whose supervisor has ended without a verdict: what is
// in its standing checkpoint or its workspace. It judges anew where the grader
// failed or was not available, by what it was given then.
func Grade(ctx context.Context, dir rundir.Dir, parts Parts, set Settings) error {
	r, lock, err := open(dir, parts, set)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	defer r.close()
	was := r.state.Verdict
	if was != nil && was.Status.Counts() {
		return ErrGraded
	}
	if r.task, err = parts.OpenTask(ctx, r.req.Task); err != nil {
		return fmt.Errorf("opening the task %q: %w", r.req.Task, err)
	}
	if r.kind, err = parts.PickSandbox(ctx, r.req.Sandbox); err != nil {
		return err
	}
	r.isolation = r.kind.Probe(ctx).Isolation
	if !r.state.Phase.Over() {
		r.phase(event.StateChange{To: event.Interrupted, Reason: "the supervisor died", Actor: "proctor"})
	}
	stand := ""
	switch {
	case was != nil && r.state.Submission != nil:
		stand = r.state.Submission.From
	case was == nil && r.state.Checkpoint != nil:
		stand = r.state.Checkpoint.ID
	}
	r.grade(ctx, stand)
	return nil
}
