package grade

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"proctor/tasks"
)

func TestNoReward(t *testing.T) {
	for _, tc := range []struct {
		job  tasks.JobResult
		want string
	}{
		{tasks.JobResult{TimedOut: true, Signal: "SIGKILL", Output: "epoch 3\n"},
			"the grader did not end within its limit of 10m0s and was stopped: epoch 3"},
		{tasks.JobResult{Signal: "SIGSEGV"}, "the grader was killed by SIGSEGV and wrote no reward"},
		{tasks.JobResult{ExitCode: 1, Output: "Traceback\n  File x\n\nValueError: bad\n"},
			"the grader ended with status 1 and wrote no reward: Traceback | File x | ValueError: bad"},
		{tasks.JobResult{}, "the grader ended without writing a reward"},
	} {
		v := NoReward(tc.job, 10*time.Minute)
		if v.Status != tasks.GraderFailed || v.Reason != tc.want {
			t.Errorf("got %s %q, want %q", v.Status, v.Reason, tc.want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	got := Tail(strings.Repeat("é", 5000) + "\n" + strings.Repeat("ü", 290) + "\nthe end")
	if !strings.HasSuffix(got, "ü | the end") || !strings.HasPrefix(got, "…") || utf8.RuneCountInString(got) != maxReason {
		t.Errorf("%d runes: %q", utf8.RuneCountInString(got), got)
	}
}

func TestOneLine(t *testing.T) {
	for _, tc := range []struct {
		text  string
		limit int
		want  string
	}{
		{"plain", 10, "plain"},
		{" a\r\n\tb\x00\x7f ", 10, "a b"},
		{"\x1b[1;31mred\x1b[0m \x1b]52;c;AAAA\x07", 10, "red"},
		{"abcdefghijk", 10, "abcdefghi…"},
		{"\xff", 10, "\uFFFD"},
		{"a\u202eb", 10, "ab"},
	} {
		if got := OneLine(tc.text, tc.limit); got != tc.want {
			t.Errorf("OneLine(%q) = %q, want %q", tc.text, got, tc.want)
		}
	}
}
