package mlebench

import (
	_ "embed"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"sync"

	"proctor/tasks"
)

// The benchmark's competitions with their split, metric, direction, medal
// thresholds and the score of their own sample submission. Thresholds are
// those that the real leaderboards set, medians rounded to five decimals.
//
//go:embed competitions.csv
var competitionsCSV string

// A known is what is known of a competition without its data or leaderboard.
type known struct {
	split      string // low, medium, high or dev
	metric     string // its name for people
	higher     bool
	thresholds tasks.Thresholds
	sample     *float64 // of the sample submission; nil when undefined
}

// knownCompetitions returns the embedded table by id. It must not be changed.
var knownCompetitions = sync.OnceValue(func() map[string]known {
	rows, err := csv.NewReader(strings.NewReader(competitionsCSV)).ReadAll()
	if err != nil {
		panic("mlebench: the embedded table: " + err.Error())
	}
	table := make(map[string]known, len(rows))
	for _, row := range rows[1:] {
		table[row[1]] = known{
			split:  row[0],
			metric: row[2],
			higher: row[3] == "higher",
			thresholds: tasks.Thresholds{
				Gold: number(row[4]), Silver: number(row[5]), Bronze: number(row[6]), Median: number(row[7]),
			},
			sample: number(row[8]),
		}
	}
	return table
})

func number(text string) *float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) {
		return nil
	}
	return &x
}

// flaws returns what is known to be wrong with a competition, one line each,
// to be shown before a run and beside its verdict.
func flaws(id string) []string {
	switch id {
	case "aerial-cactus-identification":
		return []string{"leaderboard: its medal places all have a perfect score, so any medal takes exactly 1"}
	case "champs-scalar-coupling":
		return []string{"broken: reported by MLE-bench as having a defect in its data or grading"}
	case "detecting-insults-in-social-commentary":
		return []string{"data: its rules can no longer be accepted, so it cannot be downloaded afresh"}
	case "dog-breed-identification":
		return []string{"leak: its images are those of a public data set with labels"}
	case "hubmap-kidney-segmentation":
		return []string{"broken: reported by MLE-bench as having a defect in its data or grading"}
	case "icecube-neutrinos-in-deep-ice":
		return []string{"broken: reported by MLE-bench as having a defect in its data or grading"}
	case "jigsaw-toxic-comment-classification-challenge", "tabular-playground-series-dec-2021", "tabular-playground-series-may-2022":
		return []string{"leaderboard: its scores crowd so closely together that a medal says little"}
	case "multi-modal-gesture-recognition":
		return []string{"leak: agents have found the test labels in its public files"}
	case "random-acts-of-pizza":
		return []string{"leak: the column giver_username_if_known gives the label away"}
	case "ranzcr-clip-catheter-line-classification":
		return []string{"broken: its answers and metric differ from the original competition's"}
	case "smartphone-decimeter-2022":
		return []string{"leak: span_log.nmea in the public test data gives a perfect 0"}
	case "tensorflow-speech-recognition-challenge":
		return []string{"broken: its metric and its leaderboard do not agree"}
	}
	return nil
}

// published lists the best results published for a split, as the share of
// its competitions in which any medal was won.
func published(split string) []tasks.Reference {
	const all = "any medal, in % of all 75 competitions"
	const lite = "any medal, in % of the 22 of low complexity"
	const leak = "known leakage"
	switch split {
	case "dev":
		return nil // not part of what is reported
	case "low":
		return []tasks.Reference{
			{Name: "Disarray ensemble", Score: 90.91, How: leak, Scale: lite},
			{Name: "Famou-Agent 2.0, Gemini 3 Pro", Score: 80.3, Scale: lite},
			{Name: "AIDE, o1-preview", Score: 35.91, How: "24 hours", Scale: lite},
		}
	}
	return []tasks.Reference{
		{Name: "Disarray ensemble", Score: 77.78, How: leak, Scale: all},
		{Name: "Famou-Agent 2.0, Gemini 3 Pro", Score: 64.44, Scale: all},
		{Name: "AIBuildAI, Claude Opus 4.6", Score: 63.11, Scale: all},
		{Name: "MLEvolve", Score: 61.33, How: "12 hours", Scale: all},
		{Name: "AIDE, o1-preview", Score: 17.12, How: "24 hours", Scale: all},
	}
}
