package sidecar

import (
	"strings"
	"testing"
	"time"

	"proctor/tasks"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		job    tasks.JobResult
		status tasks.Status
		says   string
	}{
		{"no verdict", tasks.JobResult{ExitCode: 1, Output: "Traceback\nboom"}, tasks.GraderFailed, "boom"},
		{"time", tasks.JobResult{TimedOut: true, Verdict: []byte(`{"score": 1}`)}, tasks.GraderFailed, "limit of 1m"},
		{"no python", tasks.JobResult{ExitCode: 127}, tasks.GraderUnavailable, "python3"},
		{"not JSON", tasks.JobResult{Verdict: []byte("0.5 ")}, tasks.GraderFailed, "cannot be read"},
		{"two objects", tasks.JobResult{Verdict: []byte(`{"score": 1}{"score": 2}`)}, tasks.GraderFailed, "follows"},
		{"unknown field", tasks.JobResult{Verdict: []byte(`{"score": 1, "medal": "gold"}`)}, tasks.GraderFailed, "medal"},
		{"both", tasks.JobResult{Verdict: []byte(`{"score": 1, "error": "x"}`)}, tasks.GraderFailed, "score and an error"},
		{"neither", tasks.JobResult{Verdict: []byte(`{}`)}, tasks.GraderFailed, "neither"},
		{"refused", tasks.JobResult{Verdict: []byte(`{"error": "no column", "kind": "invalid_submission"}`)}, tasks.InvalidSubmission, "no column"},
		{"module", tasks.JobResult{Verdict: []byte(`{"error": "needs torch", "kind": "grader_unavailable", "remedy": "install"}`)}, tasks.GraderUnavailable, "torch"},
		{"unknown kind", tasks.JobResult{Verdict: []byte(`{"error": "x", "kind": "graded"}`)}, tasks.GraderFailed, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, v := read(c.job, time.Minute)
			if v == nil || v.Status != c.status || !strings.Contains(v.Reason, c.says) {
				t.Fatalf("verdict %+v, want %s saying %q", v, c.status, c.says)
			}
		})
	}
	r, v := read(tasks.JobResult{Verdict: []byte(`{"score": 0.5, "numbers": {"a": 2}, "flags": ["x\u001b[31m"]}`)}, time.Minute)
	if v != nil || r.Score != 0.5 || r.Numbers["a"] != 2 || len(r.Flags) != 1 || r.Flags[0] != "x" {
		t.Fatalf("reply %+v, verdict %+v", r, v)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"score": 1}`, `{"error": "e", "kind": "k"}`, `{"score": 1e999}`, `[]`, `{"numbers": {"a": null}, "score": 0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parse(data)
		if err == nil && (m.Score == nil) == (m.Error == "") {
			t.Fatalf("%q was read as %+v", data, m)
		}
	})
}
