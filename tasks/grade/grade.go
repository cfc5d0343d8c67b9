// Package grade turns a score into a verdict: what it is worth against a
// baseline, references, a leaderboard and medal thresholds, and what a
// grader's own output means.
//
// Everything here is a pure function. A suite decides what to measure and
// runs its grader; this package says what the number means, one idea to a
// file: grade.go puts a score beside a task's standing, leaderboard.go makes
// thresholds of a leaderboard, reward.go reads what a grader wrote, job.go
// says why a grader gave nothing, format.go prints a score.
package grade

import (
	"math"

	"proctor/tasks"
)

// The medals, best first.
const (
	Gold   = "gold"
	Silver = "silver"
	Bronze = "bronze"
)

// Apply returns the verdict on a score under a task's metric and standing.
// Its status is Graded; the caller adds flags, rewards and the time it took.
// A score that is no finite number cannot be compared or stored, and makes
// the verdict GraderFailed.
func Apply(s tasks.Standing, m tasks.Metric, score float64) *tasks.Verdict {
	v := &tasks.Verdict{
		Metric:         m.Name,
		Unit:           m.Unit,
		HigherIsBetter: m.HigherIsBetter,
		Baseline:       s.Baseline,
		Reference:      s.References,
		Thresholds:     s.Thresholds,
	}
	if math.IsNaN(score) || math.IsInf(score, 0) {
		v.Status = tasks.GraderFailed
		v.Reason = "the grader's score is " + Format(score, "") + ", which is not a finite number"
		return v
	}
	score += 0 // makes a negative zero positive
	v.Status = tasks.Graded
	v.Valid = true
	v.Score = &score
	v.Medal = Medal(s.Thresholds, m, score)
	v.Improvement = improvement(s.Baseline, m, score)
	v.MarginClosed = marginClosed(s, m, score)
	if median := s.Thresholds.Median; median != nil {
		above := m.Better(score, *median)
		v.AboveMedian = &above
	}
	v.Rank, v.Of = rank(s, m, score)
	return v
}

// Medal returns the best medal whose threshold the score reaches, or "". A
// score equal to a threshold reaches it; an absent threshold awards nothing.
func Medal(t tasks.Thresholds, m tasks.Metric, score float64) string {
	for _, step := range []struct {
		name string
		from *float64
	}{{Gold, t.Gold}, {Silver, t.Silver}, {Bronze, t.Bronze}} {
		if step.from != nil && !m.Better(*step.from, score) {
			return step.name
		}
	}
	return ""
}

// improvement is the gain over the baseline as a fraction of the baseline's
// magnitude, positive when the score is better. It is nil without a baseline
// and for a baseline of zero, of which nothing is a fraction.
func improvement(baseline *float64, m tasks.Metric, score float64) *float64 {
	if baseline == nil || *baseline == 0 {
		return nil
	}
	gain := score - *baseline
	if !m.HigherIsBetter {
		gain = -gain
	}
	return finite(gain / math.Abs(*baseline))
}

// marginClosed is how far the score has come from the baseline (0) to the
// top human (1), as MLRC-Bench reports it; it may lie outside that range. It
// is nil unless the top human beats the baseline.
func marginClosed(s tasks.Standing, m tasks.Metric, score float64) *float64 {
	if s.Baseline == nil || s.TopHuman == nil || !m.Better(*s.TopHuman, *s.Baseline) {
		return nil
	}
	return finite((score - *s.Baseline) / (*s.TopHuman - *s.Baseline))
}

// rank places the score among the references and the leaderboard: one more
// than the number of results that beat it, so equals share the better place.
// Both are 0 when there is nobody to compare with.
func rank(s tasks.Standing, m tasks.Metric, score float64) (rank, of int) {
	others := make([]float64, 0, len(s.References)+len(s.Board))
	for _, r := range s.References {
		others = append(others, r.Score)
	}
	others = append(others, s.Board...)
	if len(others) == 0 {
		return 0, 0
	}
	rank = 1
	for _, other := range others {
		if m.Better(other, score) {
			rank++
		}
	}
	return rank, len(others) + 1
}

// finite keeps a quotient that overflowed out of the verdict, which JSON
// could not hold.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x += 0
	return &x
}
