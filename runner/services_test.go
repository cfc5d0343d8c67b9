package runner

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/sandbox/kinds"
	"proctor/tasks"
)

var everyKind = []string{"bwrap", "landlock", kinds.None}

// said are the texts of a run's notes of a kind.
func (l *live) said(kind string) []string {
	var all []string
	for _, n := range payloads[event.Note](l.TB, l.Dir, event.TypeNote) {
		if n.Kind == kind {
			all = append(all, n.Text)
		}
	}
	return all
}

// MLE-bench's validation server answers at its port in every sandbox, from
// the competition's answers, which stay out of it; each call is on record.
func TestValidationInside(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	v := victims[0]
	for _, kind := range everyKind {
		task := v.opened(t, v.lay(t, "canary"))
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			needKind(t, kind)
			var instruction string
			var shown []string
			l := begin(t, func(ctx context.Context, s *agents.Session) error {
				instruction = s.Task.Instruction
				for _, line := range []string{
					`python3 -c 'import os, urllib.request as u; print(u.urlopen(os.environ["VALIDATION_URL"].replace("/validate", "/health")).read().decode())'`,
					v.submit + " && sh validate_submission.sh submission/submission.csv",
					`mkdir t; ln -s "$(python3 -c 'import sys; print(sys.executable)')" t/python3; printf 'id,kind\n1,0\n' >bad.csv; PATH=$PWD/t /bin/sh validate_submission.sh bad.csv`,
					`truncate -s 5G huge.csv; curl -sS -F file=@huge.csv "$VALIDATION_URL"; rm huge.csv`,
					`echo "$DATA_DIR"; ls "$DATA_DIR"; cat "$DATA_DIR/test.csv" | head -n 1; echo spoil >>"$DATA_DIR/test.csv"`,
				} {
					o, err := s.Run(ctx, shell(line))
					if err != nil {
						return err
					}
					shown = append(shown, o.Text)
				}
				return nil
			}, realTask(task, kind))
			end := l.ends()
			if len(shown) < 5 || end.Verdict == nil || *end.Verdict.Score != 0.25 {
				t.Fatalf("%q; %s %s", shown, end.Phase, end.Reason)
			}
			for i, want := range []string{
				`{"status":"running"}`, "Submission is valid.", "it has 1 rows, expected 4", "it is longer than the 2147483648 bytes", "sample_submission.csv",
			} {
				if !strings.Contains(shown[i], want) {
					t.Errorf("command %d: %q, want %q", i+1, shown[i], want)
				}
			}
			if strings.Contains(strings.Join(shown[:4], ""), "0.25") {
				t.Errorf("the score is told: %q", shown)
			}
			moved := strings.Contains(instruction, "IN THIS SANDBOX")
			if moved != (kind != "bwrap") || moved && !strings.Contains(instruction, "- /home/data is at "+task.Mounts[0].Source+", which $DATA_DIR holds") {
				t.Errorf("instruction ends: %s", instruction[max(0, len(instruction)-500):])
			}
			notes := l.said("validation")
			if len(notes) != 3 || notes[0] != "validation: Submission is valid." || notes[1] != "validation: Submission invalid! it has 1 rows, expected 4" || !strings.Contains(notes[2], "longer than") {
				t.Errorf("on record: %q", notes)
			}
			if kind != kinds.None {
				if data, err := os.ReadFile(filepath.Join(task.Mounts[0].Source, "test.csv")); err != nil || strings.Contains(string(data), "spoil") {
					t.Errorf("the data were changed: %q, %v", data, err)
				}
			}
		})
	}
}

// Two runs at once whose tasks want the same port: where they share a
// loopback, one is told of another.
func TestServicesSharePorts(t *testing.T) {
	t.Parallel()
	needKind(t, kinds.None)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	var instruction, shown string
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		instruction = s.Task.Instruction
		o, err := s.Run(ctx, shell(`python3 -c 'import os, urllib.request as u; print(u.urlopen(os.environ["ECHO"], b"word").read().decode())'; echo 1 >out.txt`))
		shown = strings.TrimSpace(o.Text)
		return err
	}, func(req *rundir.Request, task *tasks.Task, _ *Settings) {
		req.ID, req.Sandbox = "20261121-000000-share-ports", kinds.None
		task.Services = []tasks.Service{{
			Name: "echo", Port: port, Env: "ECHO=http://{address}/",
			Handler: func(_ tasks.Bench, note func(string)) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					data, _ := io.ReadAll(r.Body)
					note("\x1b[31m" + string(data))
					fmt.Fprintf(w, "%s heard", data)
				})
			},
		}}
	})
	if end := l.ends(); end.Phase != event.Done || shown != "word heard" {
		t.Errorf("%s %s: %q", end.Phase, end.Reason, shown)
	}
	if !strings.Contains(instruction, fmt.Sprintf("- localhost:%d is at 127.0.0.1:", port)) || !strings.Contains(instruction, "which $ECHO holds") {
		t.Errorf("instruction %q", instruction)
	}
	if notes := l.said("echo"); len(notes) != 1 || notes[0] != "echo: word" {
		t.Errorf("on record: %q", notes)
	}
}

// A request that is still being answered when the run ends does not hold it.
func TestServiceEndsWithTheRun(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	l := begin(t, func(ctx context.Context, s *agents.Session) error {
		if _, err := s.Run(ctx, shell(`echo 0.5 >out.txt; setsid python3 -c 'import os, urllib.request as u; open("up", "w"); u.urlopen(os.environ["SLOW"])' >/dev/null 2>&1 & while [ ! -e up ]; do :; done`)); err != nil {
			return err
		}
		<-asked
		return nil
	}, func(req *rundir.Request, task *tasks.Task, _ *Settings) {
		req.ID = "20261121-000000-service-ends"
		task.Services = []tasks.Service{{
			Name: "slow", Port: 5001, Env: "SLOW=http://{address}/",
			Handler: func(tasks.Bench, func(string)) http.Handler {
				return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					close(asked)
					<-r.Context().Done()
				})
			},
		}}
	})
	if end := l.ends(); end.Phase != event.Done || *end.Verdict.Score != 0.5 {
		t.Errorf("%s %s", end.Phase, end.Reason)
	}
}
