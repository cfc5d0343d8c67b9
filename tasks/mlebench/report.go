package mlebench

import (
	"encoding/json"
	"io"
	"time"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// A Report is MLE-bench's own record of one graded submission, field by
// field. Where MLE-bench would write NaN, which JSON does not have, it holds
// null: a score that is undefined, a threshold that is unknown.
type Report struct {
	CompetitionID    string   `json:"competition_id"`
	Score            *float64 `json:"score"`
	GoldThreshold    *float64 `json:"gold_threshold"`
	SilverThreshold  *float64 `json:"silver_threshold"`
	BronzeThreshold  *float64 `json:"bronze_threshold"`
	MedianThreshold  *float64 `json:"median_threshold"`
	AnyMedal         bool     `json:"any_medal"`
	GoldMedal        bool     `json:"gold_medal"`
	SilverMedal      bool     `json:"silver_medal"`
	BronzeMedal      bool     `json:"bronze_medal"`
	AboveMedian      bool     `json:"above_median"`
	SubmissionExists bool     `json:"submission_exists"`
	ValidSubmission  bool     `json:"valid_submission"`
	IsLowerBetter    bool     `json:"is_lower_better"`
	CreatedAt        string   `json:"created_at"` // UTC, without a zone, as Python's isoformat
	SubmissionPath   string   `json:"submission_path"`
}

// NewReport makes the record of a verdict on a competition's submission at
// path, graded at a time.
func NewReport(competition, path string, v *tasks.Verdict, at time.Time) Report {
	return Report{
		CompetitionID:    competition,
		Score:            v.Score,
		GoldThreshold:    v.Thresholds.Gold,
		SilverThreshold:  v.Thresholds.Silver,
		BronzeThreshold:  v.Thresholds.Bronze,
		MedianThreshold:  v.Thresholds.Median,
		AnyMedal:         v.Medal != "",
		GoldMedal:        v.Medal == grade.Gold,
		SilverMedal:      v.Medal == grade.Silver,
		BronzeMedal:      v.Medal == grade.Bronze,
		AboveMedian:      v.AboveMedian != nil && *v.AboveMedian,
		SubmissionExists: v.Status != tasks.NoSubmission,
		ValidSubmission:  v.Score != nil,
		IsLowerBetter:    !v.HigherIsBetter,
		CreatedAt:        at.UTC().Format("2006-01-02T15:04:05.000000"),
		SubmissionPath:   path,
	}
}

// A Summary is the grading report that "mlebench grade" writes of several
// submissions.
type Summary struct {
	TotalRuns                int      `json:"total_runs"`
	TotalRunsWithSubmissions int      `json:"total_runs_with_submissions"`
	TotalValidSubmissions    int      `json:"total_valid_submissions"`
	TotalMedals              int      `json:"total_medals"`
	TotalGoldMedals          int      `json:"total_gold_medals"`
	TotalSilverMedals        int      `json:"total_silver_medals"`
	TotalBronzeMedals        int      `json:"total_bronze_medals"`
	TotalAboveMedian         int      `json:"total_above_median"`
	CompetitionReports       []Report `json:"competition_reports"`
}

// Summarize counts up reports.
func Summarize(reports []Report) Summary {
	s := Summary{TotalRuns: len(reports), CompetitionReports: reports}
	for _, r := range reports {
		for _, count := range []struct {
			holds bool
			total *int
		}{
			{r.SubmissionExists, &s.TotalRunsWithSubmissions},
			{r.ValidSubmission, &s.TotalValidSubmissions},
			{r.AnyMedal, &s.TotalMedals},
			{r.GoldMedal, &s.TotalGoldMedals},
			{r.SilverMedal, &s.TotalSilverMedals},
			{r.BronzeMedal, &s.TotalBronzeMedals},
			{r.AboveMedian, &s.TotalAboveMedian},
		} {
			if count.holds {
				*count.total++
			}
		}
	}
	return s
}

// An Attempt is one line of the file that "mlebench grade --submission"
// reads. Paths are nil where there is nothing.
type Attempt struct {
	CompetitionID  string  `json:"competition_id"`
	SubmissionPath *string `json:"submission_path"`
	LogsPath       *string `json:"logs_path"`
	CodePath       *string `json:"code_path"`
}

// WriteAttempts writes attempts as a submission.jsonl.
func WriteAttempts(w io.Writer, attempts []Attempt) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, a := range attempts {
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
	return nil
}
