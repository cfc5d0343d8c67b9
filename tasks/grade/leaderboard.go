package grade

import (
	"math"
	"slices"

	"proctor/tasks"
)

// Leaderboard returns the thresholds that a leaderboard sets and its
// direction. The scores are in the leaderboard's own order, winner first; the
// direction is read from that order, and lower is better when the first score
// is below the last.
//
// Which place earns which medal follows from the number of teams n, as in
// MLE-bench (grade_helpers, rank_score), which took it from Kaggle:
//
//	n          gold         silver  bronze
//	1–99       10 %         20 %    40 %
//	100–249    10           20 %    40 %
//	250–999    10 + 0.2 %   50      100
//	1000–      10 + 0.2 %   5 %     10 %
//
// Fractions of teams are cut to whole places, never below the first. The
// median is that of all scores, the mean of the middle two when n is even.
// An empty leaderboard sets no thresholds.
func Leaderboard(scores []float64) (t tasks.Thresholds, higherIsBetter bool) {
	n := len(scores)
	if n == 0 {
		return tasks.Thresholds{}, true
	}
	gold, silver, bronze := medalPlaces(n)
	at := func(place int) *float64 {
		score := scores[place-1]
		return &score
	}
	return tasks.Thresholds{
		Gold:   at(gold),
		Silver: at(silver),
		Bronze: at(bronze),
		Median: median(scores),
	}, !(scores[0] < scores[n-1])
}

// medalPlaces returns the last place, counted from 1, that earns each medal
// among n ≥ 1 teams.
func medalPlaces(n int) (gold, silver, bronze int) {
	share := func(fraction float64) int { return int(fraction * float64(n)) }
	switch {
	case n < 100:
		return max(1, share(0.1)), max(1, share(0.2)), max(1, share(0.4))
	case n < 250:
		return 10, max(1, share(0.2)), max(1, share(0.4))
	case n < 1000:
		return 10 + share(0.002), 50, 100
	default:
		return 10 + share(0.002), max(1, share(0.05)), max(1, share(0.1))
	}
}

// median ignores scores that are not numbers and is nil when none is.
func median(scores []float64) *float64 {
	sorted := slices.DeleteFunc(slices.Clone(scores), math.IsNaN)
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	mid := len(sorted) / 2
	m := sorted[mid]
	if len(sorted)%2 == 0 {
		m = (sorted[mid-1] + sorted[mid]) / 2
	}
	return &m
}
