package runner

import (
	"context"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/tasks"
)

// Whatever an agent leaves in the place of its submission comes to a status
// and a reason of its own.
func TestBadSubmissions(t *testing.T) {
	v := victims[0]
	task := v.opened(t, v.lay(t, "canary"))
	const header = `printf 'id,kind\n`
	for name, tc := range map[string]struct {
		leave  string // in the directory of the submission
		status tasks.Status
		reason string
	}{
		"missing":       {"true", tasks.NoSubmission, "the agent left no submission/submission.csv"},
		"empty":         {"touch submission.csv", tasks.InvalidSubmission, "submission/submission.csv is empty"},
		"wrong columns": {"printf 'a,b\n1,2\n' >submission.csv", tasks.InvalidSubmission, `it lacks the column "id", "kind"; it has "a", "b"`},
		"extra rows":    {header + `1,0\n2,0\n3,0\n4,0\n5,0\n' >submission.csv`, tasks.InvalidSubmission, "it has 5 rows, expected 4"},
		"duplicates":    {header + `1,0\n1,0\n3,0\n4,0\n' >submission.csv`, tasks.InvalidSubmission, `1 rows repeat an "id" that came before, such as "1"`},
		"shuffled":      {header + `4,1\n2,1\n1,0\n3,1\n' >submission.csv`, tasks.Graded, ""},
		"NaN":           {header + `1,NaN\n2,0\n3,0\n4,0\n' >submission.csv`, tasks.InvalidSubmission, `the column "kind" has no value (or NaN) in row 1`},
		"infinity":      {header + `1,inf\n2,0\n3,0\n4,0\n' >submission.csv`, tasks.InvalidSubmission, `the column "kind" has an infinite value in row 1`},
		"5 GB":          {"truncate -s 5G submission.csv", tasks.InvalidSubmission, `"submission/submission.csv" cannot be taken: with its 5368709120 bytes, the outputs exceed 2147483648`},
		"link":          {"ln -s /etc/passwd submission.csv", tasks.InvalidSubmission, `"submission/submission.csv" cannot be taken: a symbolic link, or behind one`},
		"link inside":   {"echo x >x; ln -s x submission.csv", tasks.InvalidSubmission, "cannot be taken: a symbolic link"},
		"linked folder": {"cd ..; rm -r submission; ln -s /etc submission", tasks.InvalidSubmission, `"submission/submission.csv" cannot be taken: a symbolic link, or behind one`},
		"FIFO":          {"mkfifo submission.csv", tasks.InvalidSubmission, "cannot be taken: not a regular file but a FIFO"},
		"socket":        {`python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("submission.csv")'`, tasks.InvalidSubmission, "cannot be taken: not a regular file but a socket"},
		"directory":     {"mkdir submission.csv; echo x >submission.csv/x", tasks.InvalidSubmission, "submission/submission.csv is not a regular file but a directory"},
		"empty folder":  {"mkdir submission.csv", tasks.InvalidSubmission, "submission/submission.csv is not a regular file but a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, func(ctx context.Context, s *agents.Session) error {
				o, err := s.Run(ctx, shell("cd submission; "+tc.leave))
				if o.ExitCode != 0 {
					return errorf("%s: %s", tc.leave, o.Text)
				}
				return err
			}, realTask(task, "auto"))
			end := l.ends()
			if end.Verdict == nil {
				t.Fatalf("%s: %s", end.Phase, end.Reason)
			}
			got := end.Verdict
			if got.Status != tc.status || !strings.Contains(got.Reason, tc.reason) || (got.Score != nil) != (tc.status == tasks.Graded) {
				t.Errorf("%s: %s", got.Status, got.Reason)
			}
		})
	}
}
