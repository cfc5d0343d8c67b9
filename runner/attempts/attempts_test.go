package attempts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/runner/rundir"
	"proctor/tasks"
)

var begun = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// group makes the runs of a group from what each came to: a score, or a word.
func group(id string, lower bool, outcomes ...any) []rundir.Summary {
	var runs []rundir.Summary
	bronze := 0.6
	for i, o := range outcomes {
		s := rundir.Summary{
			ID: fmt.Sprintf("%s-run%d", id, i+1), Task: "suite/task", Agent: "search", Phase: "done", Seed: int64(i + 5),
			Created: begun.Add(time.Duration(i) * time.Minute), Attempt: &rundir.Attempt{Group: id, Number: i + 1, Of: len(outcomes)},
		}
		v := &tasks.Verdict{Status: tasks.Graded, Metric: "m", HigherIsBetter: !lower, Thresholds: tasks.Thresholds{Bronze: &bronze}}
		switch o := o.(type) {
		case float64:
			v.Score, v.Valid = &o, true
			if (o >= bronze) != lower {
				v.Medal = "bronze"
			}
		case tasks.Status:
			v.Status = o
		default:
			s.Phase, s.Alive, v = o.(string), o == "running", nil
		}
		s.Verdict = v
		runs = append(runs, s)
	}
	return runs
}

func words(g Group) string {
	return strings.Join(g.Words(func(x float64) string { return fmt.Sprint(x) }), " · ")
}

func TestSum(t *testing.T) {
	for name, tc := range map[string]struct {
		runs            []rundir.Summary
		counted, passed int
		words, state    string
	}{
		"three of six":           {group("g", false, 0.9, 0.1, 0.8, 0.2, 0.3, 0.7), 6, 3, "pass@1 0.50 ± 0.22 · best 0.9 · 3/6 medals", "6 attempts"},
		"lower is better":        {group("g", true, 0.9, 0.1), 2, 1, "pass@1 0.50 ± 0.50 · best 0.1 · 1/2 medals", "2 attempts"},
		"one":                    {group("g", false, 0.9), 1, 1, "pass@1 1.00 · best 0.9 · 1/1 medals", "1 attempt"},
		"nothing handed in":      {group("g", false, 0.9, tasks.NoSubmission, tasks.InvalidSubmission), 3, 1, "pass@1 0.33 ± 0.33 · best 0.9 · 1/3 medals", "3 attempts"},
		"a grader that failed":   {group("g", false, 0.9, tasks.GraderFailed, tasks.GraderUnavailable), 1, 1, "pass@1 1.00 · best 0.9 · 1/1 medals", "3 attempts"},
		"one that was stopped":   {group("g", false, 0.9, "failed"), 1, 1, "pass@1 1.00 · best 0.9 · 1/1 medals", "2 attempts"},
		"going on":               {group("g", false, 0.1, "running", "running"), 1, 0, "pass@1 0.00 · best 0.1 · 0/1 medals", "1 of 3 over"},
		"none graded":            {group("g", false, tasks.GraderFailed, "failed"), 0, 0, "0/2 graded", "2 attempts"},
		"stopped before the end": {group("g", false, 0.9, 0.8, 0.7)[:2], 2, 2, "pass@1 1.00 ± 0.00 · best 0.9 · 2/2 medals", "2 of 3 made"},
	} {
		g := Sum("g", tc.runs)
		if g.Counted != tc.counted || g.Passed != tc.passed || words(g) != tc.words || g.State() != tc.state || len(g.PassAt) != tc.counted {
			t.Errorf("%s: %d of %d passed, %q, %q, %d rates", name, g.Passed, g.Counted, words(g), g.State(), len(g.PassAt))
		}
	}
}

// Where nothing says what a pass is there is a mean, and no pass@k.
func TestSumWithoutAPass(t *testing.T) {
	runs := group("g", false, 0.5, 0.7)
	for _, r := range runs {
		r.Verdict.Thresholds, r.Verdict.Medal = tasks.Thresholds{}, ""
	}
	g := Sum("g", runs)
	if text := words(g); text != "mean 0.6 ± 0.09999999999999998 · best 0.7 · 2/2 graded" || g.Attempts[0].Passed != nil || g.PassBy != "" {
		t.Errorf("%q, %+v", text, g)
	}
	data, err := json.Marshal(g)
	if err != nil || !strings.Contains(string(data), `"pass_at":[]`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestSumOrdersAndMarks(t *testing.T) {
	runs := group("g", false, 0.9, 0.1)
	runs[1].Verdict.Entered = &tasks.Entry{By: "ada"}
	slices.Reverse(runs)
	g := Sum("g", runs)
	if g.Attempts[0].Number != 1 || g.Attempts[0].Seed != 5 || g.Attempts[1].Entered == nil || g.Entered != 1 || !g.Created.Equal(begun) || g.Of != 2 {
		t.Errorf("%+v", g)
	}
	if details := strings.Join(g.Details(func(x float64) string { return fmt.Sprint(x) }), "; "); details != "pass@1 0.50 ± 0.50; pass@2 1.00; mean 0.5 ± 0.4" {
		t.Errorf("details %q", details)
	}
}

func TestGroupsAndFind(t *testing.T) {
	alone := group("", false, 0.5)
	alone[0].Attempt = nil
	older, newer := group("20261121-a-x2-1111", false, 0.1, 0.2), group("20261122-b-x1-2222", false, 0.3)
	newer[0].Created = begun.Add(time.Hour)
	groups := Groups(append(append(append([]rundir.Summary{}, older...), newer...), alone...))
	if len(groups) != 2 || groups[0].ID != newer[0].Attempt.Group || len(groups[1].Attempts) != 2 {
		t.Fatalf("%+v", groups)
	}
	for key, want := range map[string]string{
		"1111": "20261121-a-x2-1111", "20261122": "20261122-b-x1-2222", "20261121-a-x2-1111": "20261121-a-x2-1111",
		"2026": "could be any of 2", "nothing": "no group of attempts is called",
	} {
		g, err := Find(groups, key)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && g.ID != want {
			t.Errorf("Find(%q) = %q, %v; want %q", key, g.ID, err, want)
		}
	}
}
