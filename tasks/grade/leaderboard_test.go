package grade

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

// board returns n scores, winner first, such that place k has the score k
// when lower is better and -k when higher is.
func board(n int, higher bool) []float64 {
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = float64(i + 1)
		if higher {
			scores[i] = -scores[i]
		}
	}
	return scores
}

// The places were worked out by hand from the published rule.
var places = []struct {
	teams                int
	gold, silver, bronze float64
	median               float64
}{
	{1, 1, 1, 1, 1},
	{2, 1, 1, 1, 1.5},
	{9, 1, 1, 3, 5},
	{10, 1, 2, 4, 5.5},
	{99, 9, 19, 39, 50},
	{100, 10, 20, 40, 50.5},
	{249, 10, 49, 99, 125},
	{250, 10, 50, 100, 125.5},
	{499, 10, 50, 100, 250},
	{500, 11, 50, 100, 250.5},
	{999, 11, 50, 100, 500},
	{1000, 12, 50, 100, 500.5},
	{1500, 13, 75, 150, 750.5},
	{5000, 20, 250, 500, 2500.5},
}

func TestLeaderboardPlaces(t *testing.T) {
	for _, p := range places {
		for _, higher := range []bool{false, true} {
			sign := 1.0
			if higher {
				sign = -1
			}
			got, gotHigher := Leaderboard(board(p.teams, higher))
			want := tasks.Thresholds{
				Gold: at(sign * p.gold), Silver: at(sign * p.silver),
				Bronze: at(sign * p.bronze), Median: at(sign * p.median),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d teams, higher is better %v: %s", p.teams, higher, diff)
			}
			// One team's leaderboard has no order to tell the direction by.
			if wantHigher := higher || p.teams == 1; gotHigher != wantHigher {
				t.Errorf("%d teams: higher is better = %v, want %v", p.teams, gotHigher, wantHigher)
			}
		}
	}
}

// A score at a medal's last place gets the medal, one a hair behind does not.
func TestMedalAtTheBoundaryOfALeaderboard(t *testing.T) {
	for _, p := range places {
		if p.teams < 10 {
			continue // places coincide
		}
		for _, higher := range []bool{false, true} {
			sign := 1.0
			if higher {
				sign = -1
			}
			thresholds, _ := Leaderboard(board(p.teams, higher))
			metric := tasks.Metric{HigherIsBetter: higher}
			for _, tc := range []struct {
				place float64
				want  string
			}{
				{p.gold, Gold}, {p.gold + 0.001, Silver},
				{p.silver, Silver}, {p.silver + 0.001, Bronze},
				{p.bronze, Bronze}, {p.bronze + 0.001, ""},
			} {
				if got := Medal(thresholds, metric, sign*tc.place); got != tc.want {
					t.Errorf("%d teams, higher %v, place %v: %q, want %q", p.teams, higher, tc.place, got, tc.want)
				}
			}
		}
	}
}

func TestLeaderboardOfNobodyOrOfTies(t *testing.T) {
	got, higher := Leaderboard(nil)
	if diff := cmp.Diff(tasks.Thresholds{}, got); diff != "" || !higher {
		t.Errorf("empty: %s, higher %v", diff, higher)
	}
	// aerial-cactus: nearly everybody has the best score.
	got, higher = Leaderboard([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5})
	want := tasks.Thresholds{Gold: at(1), Silver: at(1), Bronze: at(1), Median: at(1)}
	if diff := cmp.Diff(want, got); diff != "" || !higher {
		t.Errorf("ties: %s, higher %v", diff, higher)
	}
}

func TestMedianPassesOverMissingScores(t *testing.T) {
	got, _ := Leaderboard([]float64{5, math.NaN(), 3, 1})
	if *got.Median != 3 {
		t.Errorf("median %v, want 3", *got.Median)
	}
	if m := median([]float64{math.NaN()}); m != nil {
		t.Errorf("median of nothing is %v", *m)
	}
}
