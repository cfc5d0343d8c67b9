package mlebench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// places is the medal rule, worked out by hand: the last place that earns
// each medal, by number of teams.
var places = []struct{ teams, gold, silver, bronze int }{
	{1, 1, 1, 1}, {99, 9, 19, 39}, {100, 10, 20, 40}, {249, 10, 49, 99}, {250, 10, 50, 100},
	{999, 11, 50, 100}, {1000, 12, 50, 100}, {5000, 20, 250, 500},
}

// Medals by a leaderboard.csv are those of the rule, at the last place that
// earns each and one behind it.
func TestMedalsByLeaderboard(t *testing.T) {
	for _, p := range places {
		for _, higher := range []bool{true, false} {
			score := func(place int) float64 {
				if higher {
					return float64(10_000 - place)
				}
				return float64(place)
			}
			text := "scoreNullable,teamId,hasTeamName,submissionDate,score,hasScore\n"
			for place := 1; place <= p.teams; place++ {
				text += fmt.Sprintf("%[1]v,%[2]d,True,2026-01-19 07:40:44,%[1]v,True\n", score(place), place)
			}
			file := filepath.Join(t.TempDir(), "leaderboard.csv")
			write(t, file, text)
			s := standingOf("house", file, &plan{higher: higher})
			if s.higher != (higher || p.teams == 1) && p.teams > 1 || len(s.Board) != p.teams || s.note != "" {
				t.Fatalf("%d teams: %+v", p.teams, s)
			}
			metric := tasks.Metric{HigherIsBetter: higher}
			for place := 1; place <= p.teams+1; place++ {
				want := ""
				switch {
				case place <= p.gold:
					want = grade.Gold
				case place <= p.silver:
					want = grade.Silver
				case place <= p.bronze:
					want = grade.Bronze
				}
				v := grade.Apply(s.Standing, metric, score(place))
				if v.Medal != want || v.Rank != place || v.Of != p.teams+1 {
					t.Fatalf("%d teams, higher %v, place %d: medal %q at rank %d, want %q", p.teams, higher, place, v.Medal, v.Rank, want)
				}
			}
		}
	}
}

func TestBadLeaderboards(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "leaderboard.csv is empty",
		"a,b\n1,2\n":                "has no column score",
		"score\n":                   "has no row",
		"score\nhigh\n":             `line 2 of leaderboard.csv has the score "high"`,
		"score\n1\nNaN\n":           `line 3 of leaderboard.csv has the score "NaN"`,
		"score,x\n\"a\nb\",\"c\n":   "cannot be read",
		pointer:                     "git-LFS pointer",
		strings.Repeat("x", 17<<20): "longer than",
	} {
		file := filepath.Join(t.TempDir(), "leaderboard.csv")
		write(t, file, text)
		if scores, err := readLeaderboard(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v", text, scores, err)
		}
	}
	scores, err := parseLeaderboard("\ufeffteam,score\nx,3\nno score\ny,\nz,1\n")
	if err != nil || len(scores) != 2 || scores[0] != 3 || scores[1] != 1 {
		t.Errorf("%v, %v", scores, err)
	}
}

func FuzzLeaderboard(f *testing.F) {
	f.Add("score\n1\n")
	f.Add("a,score\n\"x\n")
	f.Fuzz(func(t *testing.T, text string) {
		scores, err := parseLeaderboard(text)
		if (err == nil) == (len(scores) == 0) {
			t.Errorf("%d scores, %v", len(scores), err)
		}
	})
}
