package mlebench

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
	"proctor/tasks/grade"
)

var reportFields = []string{"competition_id", "score", "gold_threshold", "silver_threshold", "bronze_threshold", "median_threshold",
	"any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median", "submission_exists", "valid_submission",
	"is_lower_better", "created_at", "submission_path"}

func TestReport(t *testing.T) {
	at := time.Date(2026, 1, 21, 11, 59, 33, 788201000, time.UTC)
	f := func(x float64) *float64 { return &x }
	standing := tasks.Standing{Thresholds: tasks.Thresholds{Gold: f(0.34728), Silver: f(0.35175), Bronze: f(0.3534), Median: f(0.363095)}}
	for _, tc := range []struct {
		v    *tasks.Verdict
		want string // the differing fields
	}{
		{grade.Apply(standing, tasks.Metric{}, 0.35), "0.35 any silver above exists valid"},
		{grade.Apply(standing, tasks.Metric{}, 0.34728), "0.34728 any gold above exists valid"},
		{grade.Apply(standing, tasks.Metric{}, 0.363095), "0.363095 exists valid"},
		{&tasks.Verdict{Status: tasks.NoSubmission}, "null"},
		{&tasks.Verdict{Status: tasks.InvalidSubmission}, "null exists"},
	} {
		data, err := json.Marshal(NewReport("stanford-covid-vaccine", "submission.csv", tc.v, at))
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		dec := json.NewDecoder(bytes.NewReader(data))
		for depth := 0; ; {
			token, err := dec.Token()
			if err != nil {
				break
			}
			if depth == 0 {
				depth = 1
				continue
			}
			if key, ok := token.(string); ok {
				keys = append(keys, key)
				_, _ = dec.Token()
			}
		}
		if diff := cmp.Diff(reportFields, keys); diff != "" {
			t.Error(diff)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		score, _ := json.Marshal(m["score"])
		got := []string{string(score)}
		for _, field := range []string{"any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median", "submission_exists", "valid_submission"} {
			if m[field] == true {
				got = append(got, slices.DeleteFunc(strings.Split(field, "_"), func(s string) bool {
					return s == "medal" || s == "median" || s == "submission"
				})[0])
			}
		}
		if strings.Join(got, " ") != tc.want || m["is_lower_better"] != true || m["created_at"] != "2026-01-21T11:59:33.788201" {
			t.Errorf("%s: want %s", data, tc.want)
		}
	}
}

func TestSummarize(t *testing.T) {
	s := Summarize([]Report{
		{SubmissionExists: true, ValidSubmission: true, AnyMedal: true, GoldMedal: true, AboveMedian: true},
		{SubmissionExists: true, ValidSubmission: true, AnyMedal: true, BronzeMedal: true, AboveMedian: true},
		{SubmissionExists: true}, {},
	})
	s.CompetitionReports = nil
	want := Summary{TotalRuns: 4, TotalRunsWithSubmissions: 3, TotalValidSubmissions: 2, TotalMedals: 2, TotalGoldMedals: 1, TotalBronzeMedals: 1, TotalAboveMedian: 2}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

// What WriteAttempts writes, the benchmark's own reader takes.
func TestAttempts(t *testing.T) {
	text := func(s string) *string { return &s }
	var out bytes.Buffer
	err := WriteAttempts(&out, []Attempt{
		{CompetitionID: "spaceship-titanic", SubmissionPath: text("runs/a&b/submission.csv"), CodePath: text("runs/code")},
		{CompetitionID: "leaf-classification"},
	})
	want := `{"competition_id":"spaceship-titanic","submission_path":"runs/a&b/submission.csv","logs_path":null,"code_path":"runs/code"}
{"competition_id":"leaf-classification","submission_path":null,"logs_path":null,"code_path":null}
`
	if err != nil || out.String() != want {
		t.Errorf("%v: %s", err, out.String())
	}
	root := os.Getenv("PROCTOR_MLEBENCH_CHECKOUT")
	if root == "" {
		t.Skip("PROCTOR_MLEBENCH_CHECKOUT names no checkout of mle-bench whose reader could be asked")
	}
	file := filepath.Join(t.TempDir(), "submission.jsonl")
	write(t, file, out.String())
	cmd := exec.CommandContext(t.Context(), python, "-c", `
import sys, types
for name in ("py7zr", "tqdm", "tqdm.auto"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["tqdm.auto"].tqdm = None
from mlebench.utils import read_jsonl
print([s["competition_id"] for s in read_jsonl(sys.argv[1], skip_commented_out_lines=True)])`, file)
	cmd.Dir = root
	if got, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(got), "['spaceship-titanic', 'leaf-classification']") {
		t.Errorf("%v: %s", err, got)
	}
}
