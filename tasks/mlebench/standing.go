package mlebench

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// maxLeaderboard bounds what is read of a leaderboard.csv; the longest real
// ones have a few hundred kB.
const maxLeaderboard = 16 << 20

// errPointer: the leaderboard has not been fetched.
var errPointer = errors.New("leaderboard.csv is a git-LFS pointer")

// A standing is what a competition's scores are compared with.
type standing struct {
	tasks.Standing
	higher bool
	// note says where the thresholds come from when that is not the
	// competition's leaderboard; it goes beside the verdict.
	note string
	// doubt says why the leaderboard's thresholds may be wrong.
	doubt string
}

// standingOf makes a standing of a competition's leaderboard or, without one,
// of the embedded table. plan is how it is graded in Go, if it is.
func standingOf(id, leaderboard string, plan *plan) standing {
	table, isKnown := knownCompetitions()[id]
	s := standing{higher: true}
	if plan != nil {
		s.higher = plan.higher
	}
	if isKnown {
		s.higher = table.higher
		s.Baseline = table.sample
	}
	scores, err := readLeaderboard(leaderboard)
	if err == nil {
		thresholds, higher := grade.Leaderboard(scores)
		s.Thresholds, s.Board = thresholds, scores
		if len(scores) > 1 {
			s.higher = higher
		}
		s.doubt = doubt(len(scores), thresholds, table, isKnown)
		return s
	}
	switch {
	case isKnown:
		s.Thresholds = table.thresholds
		s.note = fmt.Sprintf("medal thresholds: built-in table, since %v", err)
	default:
		s.note = fmt.Sprintf("no medals: %v, and the built-in table does not have this competition", err)
	}
	return s
}

// doubt compares a leaderboard's thresholds with the published ones. A
// leaderboard that was downloaded anew has only its first 20 rows.
func doubt(teams int, t tasks.Thresholds, table known, isKnown bool) string {
	if !isKnown {
		return ""
	}
	for _, pair := range [][2]*float64{
		{t.Gold, table.thresholds.Gold}, {t.Silver, table.thresholds.Silver}, {t.Bronze, table.thresholds.Bronze},
	} {
		if math.Abs(*pair[0]-*pair[1]) > 1e-5*max(1, math.Abs(*pair[1])) {
			return fmt.Sprintf("leaderboard.csv has %d teams and sets other medal thresholds than the benchmark's own (bronze %s, published %s)",
				teams, grade.Format(*t.Bronze, ""), grade.Format(*table.thresholds.Bronze, ""))
		}
	}
	return ""
}

// readLeaderboard reads the scores of a leaderboard.csv, winner first. Its
// errors complete "no thresholds, since …".
func readLeaderboard(file string) ([]float64, error) {
	data, err := readFile(file, maxLeaderboard)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("leaderboard.csv is missing")
	case err != nil:
		return nil, fmt.Errorf("leaderboard.csv cannot be read: %w", err)
	case isPointer(data):
		return nil, errPointer
	}
	return parseLeaderboard(string(data))
}

// parseLeaderboard reads the column called score. Rows are in order of rank;
// one without a score is passed over.
func parseLeaderboard(text string) ([]float64, error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.ReuseRecord = true
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, errors.New("leaderboard.csv is empty")
	}
	column := slices.Index(header, "score")
	if column < 0 {
		return nil, errors.New("leaderboard.csv has no column score")
	}
	var scores []float64
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("leaderboard.csv cannot be read: %w", err)
		}
		if column >= len(row) || row[column] == "" {
			continue
		}
		x, err := strconv.ParseFloat(row[column], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			line, _ := r.FieldPos(column)
			return nil, fmt.Errorf("line %d of leaderboard.csv has the score %q, which is no number", line, grade.OneLine(row[column], 40))
		}
		scores = append(scores, x)
	}
	if len(scores) == 0 {
		return nil, errors.New("leaderboard.csv has no row")
	}
	return scores, nil
}

// isRegular reports whether a regular file is there, not looking through
// links.
func isRegular(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}
