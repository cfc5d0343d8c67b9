package mlebench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"proctor/tasks"
)

func gradeIt(t *testing.T, task *tasks.Task, s tasks.Submission, b tasks.Bench) *tasks.Verdict {
	t.Helper()
	v, err := task.Grader.Grade(t.Context(), s, b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Every metric of the benchmark's low split gives one score, whoever grades.
func TestSidecarAndGoAgree(t *testing.T) {
	needPython(t)
	h := newHouse(t)
	for id, text := range h.submissions {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			s := submission(t, text)
			theirs := gradeIt(t, h.task(t, id, python), s, newBench(t))
			ours := gradeIt(t, h.task(t, id, noPython), s, newBench(t))
			if theirs.Status != tasks.Graded || ours.Status != tasks.Graded {
				t.Fatalf("grade.py: %+v\nGo: %+v", theirs, ours)
			}
			if *theirs.Score != *ours.Score || theirs.Medal != ours.Medal || theirs.Rank != ours.Rank {
				t.Errorf("grade.py %v (%s, rank %d), Go %v (%s, rank %d)",
					*theirs.Score, theirs.Medal, theirs.Rank, *ours.Score, ours.Medal, ours.Rank)
			}
			if !strings.HasPrefix(theirs.Grader, "grade.py with Python 3") || !strings.Contains(theirs.Grader, "scikit-learn") {
				t.Errorf("graded by %q", theirs.Grader)
			}
			if !strings.Contains(ours.Grader, "Proctor's own") || !strings.Contains(ours.Grader, "no python3") {
				t.Errorf("graded by %q", ours.Grader)
			}
			t.Logf("%s = %v, medal %q, rank %d of %d", theirs.Metric, *theirs.Score, theirs.Medal, theirs.Rank, theirs.Of)
		})
	}
}

// alsoPython are the bad submissions that grade.py sees too, which takes a
// second each: one of every way to be wrong.
var alsoPython = []string{"shuffled", "extra row", "duplicate id", "wrong column", "NaN", "word", "too many fields"}

// A damaged submission is refused, whoever grades.
func TestBadSubmissions(t *testing.T) {
	needPython(t)
	h := newHouse(t)
	good := h.submissions["house-tumors"]
	rows := strings.Split(strings.TrimSpace(good), "\n")
	reversed := []string{rows[0]}
	for i := len(rows) - 1; i > 0; i-- {
		reversed = append(reversed, rows[i])
	}
	replaced := func(value string) string {
		id, _, _ := strings.Cut(rows[7], ",")
		return lines(append(append(append([]string{}, rows[:7]...), id+","+value), rows[8:]...))
	}
	for name, tc := range map[string]struct {
		text   string
		status tasks.Status
		reason string // of the Go grader
	}{
		"shuffled":        {lines(reversed), tasks.Graded, ""},
		"empty":           {"", tasks.InvalidSubmission, "submission/submission.csv is empty"},
		"header only":     {rows[0] + "\n", tasks.InvalidSubmission, "it has 0 rows, expected 121"},
		"extra row":       {good + "t999,0.5\n", tasks.InvalidSubmission, "it has 122 rows, expected 121"},
		"missing row":     {lines(rows[:len(rows)-1]), tasks.InvalidSubmission, "it has 120 rows, expected 121"},
		"duplicate id":    {lines(append(append([]string{}, rows[:len(rows)-1]...), rows[1])), tasks.InvalidSubmission, `1 rows repeat an "id" that came before, such as "t000"`},
		"unknown id":      {strings.Replace(good, "t004,", "x004,", 1), tasks.InvalidSubmission, `1 rows have an "id" that is not in the test set, such as "x004"`},
		"wrong column":    {strings.Replace(good, "benign", "label", 1), tasks.InvalidSubmission, `it lacks the column "benign"; it has "id", "label"`},
		"no id":           {strings.Replace(good, "id,", "row,", 1), tasks.InvalidSubmission, `it lacks the column "id"; it has "row", "benign"`},
		"NaN":             {replaced("NaN"), tasks.InvalidSubmission, `the column "benign" has no value (or NaN) in row 7`},
		"blank":           {replaced(""), tasks.InvalidSubmission, `the column "benign" has no value (or NaN) in row 7`},
		"infinity":        {replaced("inf"), tasks.InvalidSubmission, `the column "benign" has an infinite value in row 7`},
		"out of range":    {replaced("1.5"), tasks.InvalidSubmission, `the column "benign" has 1.5 in row 7, expected values from 0 to 1`},
		"word":            {replaced("high"), tasks.InvalidSubmission, `the column "benign" has "high" in row 7, expected numbers`},
		"too many fields": {replaced("0.5,0.5,0.5"), tasks.InvalidSubmission, "it cannot be read as CSV: line 8 has 4 fields, the header has 2"},
		"binary":          {"\x00\x01\xff\xfe\x00", tasks.InvalidSubmission, "it lacks the column"},
		"HTML":            {"<html>no</html>", tasks.InvalidSubmission, "it lacks the column"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := submission(t, tc.text)
			graders := []string{noPython}
			if slices.Contains(alsoPython, name) {
				graders = append(graders, python)
			}
			for _, with := range graders {
				v := gradeIt(t, h.task(t, "house-tumors", with), s, newBench(t))
				if v.Status != tc.status || (v.Score != nil) != (tc.status == tasks.Graded) {
					t.Errorf("with %s: %+v", with, v)
				}
				if with == noPython && !strings.HasPrefix(v.Reason, tc.reason) {
					t.Errorf("reason %q, want %q", v.Reason, tc.reason)
				}
				if tc.status != tasks.Graded && v.Reason == "" {
					t.Error("no reason")
				}
			}
		})
	}
}

func TestSubmissionsThatNoGraderSees(t *testing.T) {
	h := newHouse(t)
	task := h.task(t, "house-tumors", noPython)
	dir := func(make func(file string)) tasks.Submission {
		s := tasks.Submission{Dir: t.TempDir()}
		file := filepath.Join(s.Dir, filepath.FromSlash(output))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		make(file)
		return s
	}
	huge := dir(func(file string) {
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(5 << 30); err != nil { // sparse
			t.Fatal(err)
		}
	})
	refused := tasks.Submission{Dir: t.TempDir(), Refused: map[string]string{output: "a link, which is not followed"}}
	for name, tc := range map[string]struct {
		s      tasks.Submission
		status tasks.Status
		reason string
	}{
		"none":      {dir(func(string) {}), tasks.NoSubmission, "the agent left no submission/submission.csv"},
		"no folder": {tasks.Submission{Dir: t.TempDir(), Missing: []string{output}}, tasks.NoSubmission, "the agent left no"},
		"refused":   {refused, tasks.InvalidSubmission, `"submission/submission.csv" cannot be taken: a link`},
		"directory": {dir(func(f string) { _ = os.Mkdir(f, 0o755) }), tasks.InvalidSubmission, "is not a regular file"},
		"link":      {dir(func(f string) { _ = os.Symlink("/etc/passwd", f) }), tasks.InvalidSubmission, "is not a regular file"},
		"5 GB":      {huge, tasks.InvalidSubmission, "has 5368709120 bytes, more than the 2147483648 that are graded"},
	} {
		b := newBench(t)
		v := gradeIt(t, task, tc.s, b)
		if v.Status != tc.status || !strings.Contains(v.Reason, tc.reason) || v.Score != nil {
			t.Errorf("%s: %+v", name, v)
		}
		if len(b.jobs) > 0 {
			t.Errorf("%s: the grader was run", name)
		}
	}
}

// A file that would fill the memory of whoever reads it is not read in Go.
func TestBloatedSubmission(t *testing.T) {
	h := newHouse(t)
	s := submission(t, h.submissions["house-tumors"])
	if err := os.Truncate(filepath.Join(s.Dir, filepath.FromSlash(output)), 1<<30); err != nil { // sparse
		t.Fatal(err)
	}
	v := gradeIt(t, h.task(t, "house-tumors", noPython), s, newBench(t))
	if v.Status != tasks.InvalidSubmission || !strings.Contains(v.Reason, "it has 1073741824 bytes, more than 50 times as many as the sample submission's 1099") {
		t.Errorf("%+v", v)
	}
}

func TestGraderTroubles(t *testing.T) {
	needPython(t)
	h := newHouse(t)
	good := h.submissions["house-tumors"]
	gradePy := h.file("house-tumors", "grade.py")
	original, err := os.ReadFile(gradePy)
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(h.file("house-tumors", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, source, metric string
		status               tasks.Status
		want, remedy         string
	}{
		{"imports what is not there", "import pycocotools_missing\n", "auc-roc", tasks.Graded, "Python module pycocotools_missing is missing", ""},
		{"imports it late", "def grade(submission, answers):\n    import shapely_missing\n", "mAP", tasks.GraderUnavailable, "Python module shapely_missing is missing", "pip install"},
		{"always fails", "def grade(submission, answers):\n    return answers['nothing'].mean()\n", "mAP", tasks.GraderFailed, "grade.py fails on the sample submission too: KeyError", ""},
		{"returns NaN", "def grade(submission, answers):\n    return float('nan')\n", "mAP", tasks.InvalidSubmission, "its score is nan", ""},
		{"ends early", "import os\n\ndef grade(submission, answers):\n    os._exit(3)\n", "mAP", tasks.GraderFailed, "ended with status 3", ""},
	} {
		write(t, h.file("house-tumors", "config.yaml"), strings.Replace(string(config), "auc-roc", tc.metric, 1))
		write(t, gradePy, tc.source)
		v := gradeIt(t, h.task(t, "house-tumors", python), submission(t, good), newBench(t))
		said := v.Reason + v.Grader
		if v.Status != tc.status || !strings.Contains(said, tc.want) || !strings.Contains(v.Remedy, tc.remedy) {
			t.Errorf("%s: %+v", tc.name, v)
		}
	}
	write(t, gradePy, string(original))
	write(t, h.file("house-tumors", "config.yaml"), string(config))

	b := newBench(t)
	b.fail = errors.New("no sandbox today")
	v := gradeIt(t, h.task(t, "house-tumors", python), submission(t, good), b)
	if v.Status != tasks.Graded || !strings.Contains(v.Grader, "no sandbox today") {
		t.Errorf("a broken bench: %+v", v)
	}

	task := h.task(t, "house-tumors", python)
	if err := os.RemoveAll(filepath.Join(h.data, "house-tumors", "prepared", "private")); err != nil {
		t.Fatal(err)
	}
	v = gradeIt(t, task, submission(t, good), newBench(t))
	if v.Status != tasks.DataMissing || !strings.Contains(v.Remedy, "mlebench prepare -c house-tumors") {
		t.Errorf("no answers: %+v", v)
	}
}

func TestGradingEndsWithItsContext(t *testing.T) {
	h := newHouse(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, with := range []string{python, noPython} {
		if _, err := h.task(t, "house-tumors", with).Grader.Grade(ctx, submission(t, "x\n"), newBench(t)); !errors.Is(err, context.Canceled) {
			t.Errorf("with %s: %v", with, err)
		}
	}
}

// The agent's mounts hold nothing of the answers, and the grader's nothing of
// the rest of the data directory.
func TestAnswersAreMountedForTheGraderOnly(t *testing.T) {
	h := newHouse(t)
	task := h.task(t, "house-tumors", noPython)
	private := filepath.Join(resolved(h.data), "house-tumors", "prepared", "private")
	for _, m := range task.Mounts {
		if strings.HasPrefix(private+"/", m.Source+"/") || m.Writable {
			t.Errorf("the agent gets %+v", m)
		}
	}
	b := newBench(t)
	gradeIt(t, task, submission(t, h.submissions["house-tumors"]), b)
	if got := mounted(b.jobs[0]); !strings.Contains(got, private) || strings.Contains(got+"\n", resolved(h.data)+"\n") {
		t.Errorf("the grader gets\n%s", got)
	}
}
