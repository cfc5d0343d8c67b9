package runner

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"proctor/agents"
	"proctor/runner/budget"
	"proctor/runner/event"
	"proctor/tasks"
)

// watchTime ends the run when its working time is spent, and asks when the
// soft limit is reached.
func (r *Run) watchTime(ctx context.Context) {
	for {
		mark, ok := r.nextMark()
		if !ok {
			// Without a limit there is nothing to wait for but an extension,
			// which cannot give one.
			return
		}
		if r.clock.WaitUntil(ctx, mark) != nil {
			return
		}
		if r.checkLimits(ctx) != nil {
			return
		}
	}
}

// nextMark is the working time at which a time limit is next reached.
func (r *Run) nextMark() (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := r.limit.Time
	if limit <= 0 {
		return 0, false
	}
	if soft := time.Duration(float64(limit) * r.req.Soft); r.hasSoft() && !r.warned[event.Time] {
		return soft, true
	}
	return limit, true
}

func (r *Run) hasSoft() bool { return r.req.Soft > 0 && r.req.Soft < 1 }

// checkLimits ends the run at a hard limit, with the limit as its cause, and
// asks or warns at a soft one. It is called before every action and model
// call and when the time comes.
func (r *Run) checkLimits(ctx context.Context) error {
	worked := r.clock.Worked()
	r.mu.Lock()
	used := r.usedAt(worked)
	hard, spent := budget.Reached(r.limit, used, 1)
	soft, warn := event.Budget{}, false
	if !spent && r.hasSoft() {
		soft, warn = budget.Reached(r.unwarned(), used, r.req.Soft)
		if warn {
			r.warned[soft.Dimension] = true
		}
	}
	r.mu.Unlock()
	switch {
	case spent:
		hard.What = "hard"
		return r.spentLimit(hard)
	case warn:
		soft.What = "soft"
		return r.softLimit(ctx, soft)
	}
	return nil
}

// unwarned is the budget without the dimensions that have been asked about.
// r.mu is held.
func (r *Run) unwarned() tasks.Budget {
	b := r.limit
	for dimension := range r.warned {
		event.SetLimit(&b, dimension, 0)
	}
	return b
}

// reached returns the hard limit that is reached, if one is.
func (r *Run) reached() (event.Budget, bool) {
	used := r.usedNow()
	r.mu.Lock()
	defer r.mu.Unlock()
	hard, spent := budget.Reached(r.limit, used, 1)
	hard.What = "hard"
	return hard, spent
}

func (r *Run) spentLimit(b event.Budget) error {
	r.mu.Lock()
	first := !r.over
	r.over = true
	r.mu.Unlock()
	err := errLimit{b}
	if first {
		_ = r.emit(event.TypeBudget, b)
		r.finished(err)
	}
	return err
}

// The answers to a soft limit.
const (
	choiceContinue = "carry on"
	choiceExtend   = "extend"
	choiceGrade    = "grade now"
	choiceStop     = "stop"
)

func (r *Run) softLimit(ctx context.Context, b event.Budget) error {
	if err := r.emit(event.TypeBudget, b); err != nil {
		return err
	}
	if r.req.OnSoft != "ask" {
		return nil
	}
	answer, err := r.ask(ctx, agents.Question{
		Kind:    "limit",
		Text:    fmt.Sprintf("%.0f %% of the %s budget is used: what now?", 100*b.Used/b.Limit, b.Dimension),
		Options: []string{choiceContinue, choiceExtend, choiceGrade, choiceStop},
		Default: choiceContinue,
	})
	if err != nil {
		return err
	}
	switch answer.Choice {
	case choiceExtend:
		return r.extend(extension(b, answer.Text), answer.Author)
	case choiceGrade:
		r.finished(errGradeNow)
		return errGradeNow
	case choiceStop:
		r.finished(errStopped)
		return errStopped
	}
	return nil
}

// extension reads how much a person adds to a limit: a duration or a number;
// half of the limit when they do not say.
func extension(b event.Budget, text string) tasks.Budget {
	var by tasks.Budget
	more := b.Limit / 2
	if d, err := time.ParseDuration(text); err == nil && b.Dimension == event.Time {
		more = d.Seconds()
	} else if n, err := strconv.ParseFloat(text, 64); err == nil {
		more = n
	}
	event.SetLimit(&by, b.Dimension, max(more, 1))
	return by
}

// extend adds to the limits that the run has.
func (r *Run) extend(by tasks.Budget, author string) error {
	used := r.usedNow()
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := budget.Extend(&r.limit, used, by)
	if len(changed) == 0 {
		return fmt.Errorf("nothing was extended: the run has no limit there")
	}
	for _, b := range changed {
		b.Actor = author
		delete(r.warned, b.Dimension)
		if err := r.emit(event.TypeBudget, b); err != nil {
			return err
		}
	}
	r.sync()
	return nil
}

// watchBox ends the run when its sandbox has died.
func (r *Run) watchBox(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-r.box.Done():
		r.finished(errSandboxGone)
	}
}

// sample records what the run uses and makes the log safe against a crash,
// over and over. While the run stands still there is nothing to sample.
func (r *Run) sample(ctx context.Context) {
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	var last sampled
	for next := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-flush.C:
		}
		grown, err := r.screen.flush()
		if err != nil {
			r.finished(fmt.Errorf("%w: %w", errRecord, err))
			return
		}
		if grown {
			r.notify()
		}
		if time.Now().Before(next) {
			continue
		}
		next = time.Now().Add(r.set.Sample)
		r.keyframeIfDue()
		if !r.standing() {
			last = r.sampleOnce(last)
			r.sync()
		}
	}
}

// flushEvery is how long output may wait to be seen.
const flushEvery = 25 * time.Millisecond

func (r *Run) standing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hold.stopped
}

// sampled is the sample before, which the next is compared with.
type sampled struct {
	at   time.Time
	cpu  float64
	disk int64
	dirs time.Time
}

func (r *Run) sampleOnce(last sampled) sampled {
	usage, err := r.box.Usage()
	if err != nil {
		return last
	}
	now := sampled{at: time.Now(), cpu: usage.CPUSeconds, disk: last.disk, dirs: last.dirs}
	if now.at.Sub(last.dirs) > diskEvery {
		now.disk, now.dirs = diskUse(r.dir.Workspace()), now.at
		r.checkDisk(now.disk)
	}
	sample := event.Resources{CPU: -1, Memory: usage.MemoryBytes, Pids: usage.Pids, Disk: now.disk}
	if !last.at.IsZero() && usage.CPUSeconds >= 0 {
		sample.CPU = max(0, now.cpu-last.cpu) / now.at.Sub(last.at).Seconds()
	}
	_ = r.emit(event.TypeResources, sample)
	return now
}

// checkDisk ends a run whose workspace has outgrown its limit.
func (r *Run) checkDisk(used int64) {
	if limit := r.set.Limits.DiskBytes; limit > 0 && used > limit {
		r.finished(errLimit{event.Budget{Dimension: "disk", Used: float64(used), Limit: float64(limit), What: "hard"}})
	}
}

// diskEvery is how often the workspace's size is measured: that reads every
// directory in it.
const diskEvery = 10 * time.Second

// diskUse returns the bytes that the files below dir hold. What disappears
// meanwhile does not count.
func diskUse(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
