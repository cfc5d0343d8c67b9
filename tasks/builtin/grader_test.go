package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A reward is what a grader wrote: numbers, or an error and its kind.
type reward map[string]any

func (r reward) score(t *testing.T, s spec) float64 {
	t.Helper()
	score, ok := r[s.Metadata.Proctor.Metric.Name].(float64)
	if !ok {
		t.Fatalf("no %s in %v", s.Metadata.Proctor.Metric.Name, r)
	}
	return score
}

// grade runs a task's test.sh on a submission as Proctor does: the result comes
// through a descriptor.
func grade(t *testing.T, name, submission string) reward {
	t.Helper()
	tests := lay(t, name+"/tests")
	return graded(t, tests, submission, nil, "sh", "-eu", filepath.Join(tests, "test.sh"))
}

// quickly grades a step.py with few and short rounds.
func quickly(t *testing.T, submission string, files ...*os.File) reward {
	t.Helper()
	return graded(t, lay(t, "speedup/tests"), submission, files,
		"python3", "-I", "-S", "grade.py", "--rounds", "3", "--steps", "16", "--timeout", "20")
}

// graded runs a grader and returns the line it wrote to PROCTOR_VERDICT_FD.
// files become its descriptors from 4 on.
func graded(t *testing.T, tests, submission string, files []*os.File, argv ...string) reward {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	verdict, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer verdict.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = tests
	cmd.ExtraFiles = append([]*os.File{write}, files...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "PROCTOR_TESTS=" + tests, "PROCTOR_SUBMISSION=" + submission,
		"PROCTOR_LOGS=" + t.TempDir(), "PROCTOR_VERDICT_FD=3",
	}
	if len(files) > 0 {
		cmd.Env = append(cmd.Env, "PROCTOR_INNER_FD=4")
	}
	cmd.WaitDelay = time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	line, readErr := io.ReadAll(verdict)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the grader failed: %v\n%s", err, output.Bytes())
	}
	var r reward
	if readErr != nil || json.Unmarshal(line, &r) != nil {
		t.Fatalf("the grader wrote %q (%v)\n%s", line, readErr, output.Bytes())
	}
	return r
}

// Under Harbor the same grader writes reward.json, or none and fails; a reward
// that lay there before is removed in either case.
func TestGradersUnderHarbor(t *testing.T) {
	python3(t)
	for _, test := range []struct {
		name    string
		content string
		score   bool
		proctor bool // PROCTOR_LOGS is set: the refusal is told in error.json
	}{
		{"scored", "", true, false},
		{"refused", "id,label\n", false, false},
		{"refused under Proctor without a descriptor", "id,label\n", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			tests, submission, logs := lay(t, "digits/tests"), t.TempDir(), t.TempDir()
			if test.score {
				test.content = table(t, "digits", func(i int, id, answer string) string { return id + "," + answer + "\n" })
			}
			submit(t, submission, test.content)
			forged := filepath.Join(logs, "reward.json")
			if err := os.WriteFile(forged, []byte(`{"accuracy": 2}`), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"PATH=" + os.Getenv("PATH"), "PROCTOR_TESTS=" + tests, "PROCTOR_SUBMISSION=" + submission}
			if test.proctor {
				env = append(env, "PROCTOR_LOGS="+logs)
			} else {
				move(t, "/logs/verifier", logs, filepath.Join(tests, "test.sh"), filepath.Join(tests, "verdict.py"))
			}
			cmd := exec.CommandContext(t.Context(), "sh", "test.sh")
			cmd.Dir, cmd.Env = tests, env
			output, err := cmd.CombinedOutput()
			if wantOK := test.score || test.proctor; (err == nil) != wantOK {
				t.Errorf("status %v\n%s", err, output)
			}
			got, err := os.ReadFile(forged)
			if test.score && string(got) != "{\"accuracy\": 1.0}\n" {
				t.Errorf("reward.json is %q", got)
			}
			if !test.score && !os.IsNotExist(err) {
				t.Errorf("a refused submission left the reward %q", got)
			}
			if _, err := os.Stat(filepath.Join(logs, "error.json")); (err == nil) == test.score {
				t.Errorf("error.json: %v", err)
			}
		})
	}
}

// move replaces one of Harbor's own places in files by one where a test may write.
func move(t *testing.T, place, to string, files ...string) {
	t.Helper()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte(place)) {
			t.Fatalf("%s does not name %s", file, place)
		}
		if err := os.WriteFile(file, bytes.ReplaceAll(data, []byte(place), []byte(to)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
