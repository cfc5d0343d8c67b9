package search

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"proctor/agents"
)

// trial runs the command, which is the starter at the given setting, and
// enters what came of it. b is the bracket it belongs to, nil for none. The
// error is the host's, and ends the run.
func (w *sweep) trial(ctx context.Context, b *bracket, set setting, command, about string) error {
	w.trials++
	w.plan(b)
	obs, err := w.Run(ctx, agents.Action{
		Kind:    agents.Execute,
		Title:   fmt.Sprintf("trial %d: %s", w.trials, about),
		Shell:   command,
		Timeout: w.timeout(set),
	})
	if err != nil {
		return fmt.Errorf("search: trial %d: %w", w.trials, err)
	}
	w.pace.add(duration{w.space.work(set), obs.Seconds})

	value, why := w.read(obs)
	if why == "" && (w.best == nil || w.Task.Metric.Better(value, w.best.value)) {
		why = w.keep(set, value)
	} else {
		w.idle++
	}
	w.enter(set, value, why)
	return nil
}

// enter notes what the trial came to and whether the search should end.
func (w *sweep) enter(set setting, value float64, why string) {
	w.seen[w.space.text(set)] = outcome{value, why == ""}
	if why != "" {
		w.skipped++
		w.row++
		w.Note(fmt.Sprintf("trial %d skipped: %s (%s)", w.trials, why, w.space.text(set)))
	} else {
		w.row = 0
		w.results = append(w.results, result{set, value})
	}
	if w.row >= w.Failures {
		w.reason = fmt.Sprintf("%d trials in a row failed, the last with %s", w.row, why)
	}
}

// patience is how many trials without a new best end the search: those of
// five full brackets.
func (w *sweep) patience() int {
	trials, n := 0, 1
	for range min(w.space.depth(), w.Rungs-1) + 1 {
		trials += n
		n *= w.Eta
	}
	return max(50, 5*trials)
}

// read takes the metric from what a trial printed; why is not empty when the
// trial does not count.
func (w *sweep) read(obs agents.Observation) (value float64, why string) {
	switch {
	case obs.TimedOut:
		return 0, fmt.Sprintf("stopped after %.1f s, which is more than there was time for", obs.Seconds)
	case obs.ExitCode != 0:
		return 0, fmt.Sprintf("exit code %d", obs.ExitCode)
	case len(obs.Metrics) == 0:
		return 0, fmt.Sprintf("no %s in its output", w.Task.Metric.Name)
	}
	value = obs.Metrics[len(obs.Metrics)-1].Value
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Sprintf("its %s is %v", w.Task.Metric.Name, value)
	}
	return value, ""
}

// keep makes the outputs of the trial just run the ones that stand.
func (w *sweep) keep(set setting, value float64) (why string) {
	label := fmt.Sprintf("trial %d: %s %s", w.trials, w.Task.Metric.Name, w.score(value))
	id, err := w.Checkpoint(label, true)
	if err != nil {
		return fmt.Sprintf("outputs that could not be kept: %v", err)
	}
	w.best = &kept{w.trials, value, w.space.text(set), id}
	w.idle = 0
	return ""
}

// timeout keeps one slow setting from taking all the time that is left. The
// first trial, of which nothing is known, may.
func (w *sweep) timeout(set setting) time.Duration {
	left := w.limit().seconds
	if left == nil {
		return 0
	}
	seconds := *left
	if w.pace.known() {
		seconds = min(seconds, max(seconds/8, 5*w.estimate(set)))
	}
	return max(100*time.Millisecond, time.Duration(seconds*float64(time.Second)))
}

// score writes a value of the task's metric.
func (w *sweep) score(value float64) string {
	return strings.TrimSpace(strconv.FormatFloat(value, 'g', 5, 64) + " " + w.Task.Metric.Unit)
}

// submit puts the best outputs back and says what the search came to.
func (w *sweep) submit() error {
	for _, hint := range w.Hints() {
		w.Delivered(hint.ID, agents.Queued, "too late: the search is over, since "+w.reason)
	}
	if w.best == nil {
		return fmt.Errorf("search: none of %s gave a result: %s", count(w.trials, "trial"), w.reason)
	}
	if err := w.Restore(w.best.checkpoint); err != nil {
		return fmt.Errorf("search: put the outputs of trial %d back: %w", w.best.trial, err)
	}
	w.plan(nil)
	text := fmt.Sprintf("Best %s %s: trial %d of %d (%s). The starter as it is: %s.",
		w.Task.Metric.Name, w.score(w.best.value), w.best.trial, w.trials, w.best.text, w.first)
	if w.skipped > 0 {
		text += fmt.Sprintf(" %s did not count.", count(w.skipped, "trial"))
	}
	w.Message(text + " Finished because " + w.reason + ".")
	return nil
}
