package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/tasks"
	"proctor/tasks/mlebench"
)

var update = flag.Bool("update", false, "write the golden files anew")

var begun = time.Date(2026, 11, 21, 10, 33, 12, 500000000, time.UTC)

// A tape writes the record of a run, a second between events.
type tape struct {
	testing.TB
	dir rundir.Dir
	log *event.Writer
	now time.Time
}

func record(t testing.TB, store rundir.Store, r rundir.Request) *tape {
	t.Helper()
	p := &tape{TB: t, now: begun}
	if r.Attempt != nil {
		p.now = begun.Add(time.Duration(r.Attempt.Number) * time.Minute)
	}
	r.Created, r.Version, r.Sandbox = p.now, "0.1.0", "auto"
	var err error
	if p.dir, err = store.Create(r); err != nil {
		t.Fatal(err)
	}
	p.log, err = event.NewWriter(p.dir.Events(), func() time.Time { p.now = p.now.Add(time.Second); return p.now })
	if err != nil {
		t.Fatal(err)
	}
	suite, _, _ := strings.Cut(r.Task, "/")
	p.emit(event.TypeRunStarted, event.RunStarted{ID: r.ID, Task: event.TaskInfo{Ref: r.Task, Suite: suite}, Agent: r.Agent, Model: r.Model, Sandbox: "bwrap", Seed: r.Seed})
	p.to(event.Running)
	p.file("supervisor.log", "nothing to say\n")
	p.file("terminal.cast", `{"version":3,"term":{"cols":80,"rows":24}}`+"\n")
	return p
}

func (p *tape) emit(kind event.Type, payload any) {
	p.Helper()
	if _, err := p.log.Append(kind, p.now.Sub(begun), payload); err != nil {
		p.Fatal(err)
	}
}

func (p *tape) to(phase event.Phase) { p.emit(event.TypeState, event.StateChange{To: phase}) }

func (p *tape) file(name, content string) {
	p.Helper()
	path := filepath.Join(p.dir.Path(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.Fatal(err)
	}
}

// works is a little of everything that an agent and a person do.
func (p *tape) works() {
	p.Helper()
	p.emit(event.TypePlan, event.Plan{Entries: []agents.PlanEntry{{Content: "look", Status: agents.InProgress}}})
	p.emit(event.TypeThought, event.Text{Text: "where is it?"})
	p.emit(event.TypeMessage, event.Text{Text: "I look \x1b[31maround\x1b[0m"})
	p.emit(event.TypeActionStarted, event.ActionStarted{ID: "a1", Step: 1, Kind: agents.Execute, Title: "ls", Input: json.RawMessage(`{"command":"ls"}`)})
	p.emit(event.TypeActionFinished, event.ActionFinished{ID: "a1", Observation: agents.Observation{ExitCode: 0, Seconds: 0.5, Text: "app\n"}})
	p.emit(event.TypeHint, event.Hint{ID: "h1", Text: "look in app", Author: "ada"})
	p.emit(event.TypeState, event.StateChange{From: event.Running, To: event.Paused, Actor: "ada", Frozen: true})
	p.emit(event.TypeState, event.StateChange{From: event.Paused, To: event.Running, Actor: "ada"})
	p.emit(event.TypeActionStarted, event.ActionStarted{ID: "a2", Step: 2, Kind: agents.Read, Title: "read out.txt", Input: json.RawMessage(`["out.txt"]`)})
	p.emit(event.TypeActionFinished, event.ActionFinished{ID: "a2", Error: "no such file"})
	p.emit(event.TypeActionFinished, event.ActionFinished{ID: "a9"})
	p.emit(event.TypeActionStarted, event.ActionStarted{ID: "a3", Step: 3, Kind: agents.Think, Title: "think"})
	p.emit(event.TypeHint, "not a hint")
}

// graded ends the run with a verdict.
func (p *tape) graded(v tasks.Verdict) *Run {
	p.Helper()
	p.to(event.Finishing)
	p.to(event.Grading)
	p.to(event.Done)
	p.emit(event.TypeVerdict, v)
	p.emit(event.TypeRunEnded, event.RunEnded{Status: string(v.Status)})
	data, err := json.Marshal(v)
	if err != nil {
		p.Fatal(err)
	}
	p.file("verdict.json", string(data)+"\n")
	return p.load()
}

func (p *tape) load() *Run {
	p.Helper()
	r, err := Load(p.dir)
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func num(x float64) *float64 { return &x }

// competition makes three attempts at one competition and a run of another:
// a medal, nothing handed in, a score that a person entered, and one that no
// grader could judge.
func competition(t testing.TB, store rundir.Store) []*Run {
	const group = "20261121-103312-spaceship_titanic-tree-x3-cded"
	verdict := tasks.Verdict{Status: tasks.Graded, Score: num(0.81), Valid: true, HigherIsBetter: true, Medal: "bronze", Grader: "grade.py",
		Thresholds: tasks.Thresholds{Gold: num(0.83), Silver: num(0.82), Bronze: num(0.8), Median: num(0.79)}, AboveMedian: new(bool)}
	*verdict.AboveMedian = true
	var runs []*Run
	for i := range 3 {
		p := record(t, store, rundir.Request{
			ID: fmt.Sprintf("20261121-10331%d-spaceship_titanic-tree-000%d", i, i), Task: "mle-bench/spaceship-titanic", Agent: "tree", Model: "local", Seed: int64(i + 1),
			Attempt: &rundir.Attempt{Group: group, Number: i + 1, Of: 3},
		})
		v := verdict
		p.file("submission/"+submissionCSV, "PassengerId,Transported\n0001,True\n")
		switch i {
		case 1:
			v = tasks.Verdict{Status: tasks.NoSubmission, HigherIsBetter: true, Thresholds: v.Thresholds, Reason: "submission/submission.csv was not there"}
			if err := os.RemoveAll(p.dir.Submission()); err != nil {
				t.Fatal(err)
			}
		case 2:
			p.emit(event.TypeHint, event.Hint{ID: "h1", Text: "try the cabin", Author: "ada"})
			v.Entered, v.Assisted = &tasks.Entry{By: "ada", At: begun, Instead: tasks.GraderFailed}, true
			v.Score, v.Medal = num(0.8301), "gold"
		}
		runs = append(runs, p.graded(v))
	}
	p := record(t, store, rundir.Request{ID: "20261121-103319-leaf_classification-baseline-0009", Task: "mle-bench/leaf-classification", Agent: "baseline", Seed: 1})
	p.file("submission/"+submissionCSV, "id,a\n1,0.5\n")
	return append(runs, p.graded(tasks.Verdict{Status: tasks.GraderUnavailable, Reason: "no module pandas"}))
}

// trials makes runs whose grader rewards with 0 or 1, one whose time ran out,
// and one that a person stopped.
func trials(t testing.TB, store rundir.Store) []*Run {
	var runs []*Run
	for i, reward := range []float64{1, 0, 1, 0} {
		p := record(t, store, rundir.Request{
			ID: fmt.Sprintf("20261121-10331%d-fix-bash-000%d", i, i), Task: "terminal-bench/fix-the-very-long-name-of-this-task", Agent: "bash", Model: "local", Seed: int64(i + 1),
			Budget: tasks.Budget{Time: 15 * time.Minute}, Attempt: &rundir.Attempt{Group: "g", Number: i + 1, Of: 4},
		})
		if i == 0 {
			p.works()
		}
		p.emit(event.TypeUsage, event.Usage{Model: "local", Input: 1000, Cached: 200, Output: 50, Cost: num(0.25)})
		if i == 1 {
			p.emit(event.TypeBudget, event.Budget{Dimension: "time", Used: 900, Limit: 900, What: "hard"})
		}
		p.file("submission/app/out.txt", "42\n")
		p.file("submission/app/<b>&.txt", "")
		runs = append(runs, p.graded(tasks.Verdict{Status: tasks.Graded, Score: num(reward), HigherIsBetter: true, Rewards: map[string]float64{"reward": reward}}))
	}
	p := record(t, store, rundir.Request{ID: "20261121-103319-fix-bash-0009", Task: "terminal-bench/fix-the-very-long-name-of-this-task", Agent: "bash", Model: "local", Seed: 9})
	p.emit(event.TypeState, event.StateChange{To: event.Failed, Reason: "a person stopped the run"})
	p.emit(event.TypeRunEnded, event.RunEnded{Status: "failed"})
	return append(runs, p.load())
}

// dump is a tree as text: every file's name, and its content where that is
// short and not a copy of the record.
func dump(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&out, "== %s\n", filepath.ToSlash(name))
		if filepath.Base(name) == "events.jsonl" {
			return nil
		}
		data, err := os.ReadFile(path)
		out.Write(bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(dir), []byte("$OUT")), []byte(filepath.Dir(dir)), []byte("$JOBS")))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the export changed (-want +got); run with -update if that is meant:\n%s", diff)
	}
}

func write(t testing.TB, format, dir string, runs []*Run, force bool) Result {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Write(dir, runs, force)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMLEBench(t *testing.T) {
	out := filepath.Join(t.TempDir(), "deep", "out")
	r := write(t, "mle-bench", out, competition(t, rundir.NewStore(t.TempDir())), false)
	golden(t, "mle-bench.txt", dump(t, out))
	if len(r.Notes) != 2 || !strings.Contains(r.Notes[0], "entered by ada") || !strings.Contains(r.Notes[1], "not in the report") || !strings.HasPrefix(r.Next, "mlebench grade --submission "+out) {
		t.Errorf("%+v", r)
	}

	// Read as the benchmark reads it: every path is there, or is none.
	lines, err := os.ReadFile(filepath.Join(out, "submission.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for line := range strings.Lines(string(lines)) {
		var a mlebench.Attempt
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if a.SubmissionPath == nil {
			continue
		}
		there++
		if data, err := os.ReadFile(*a.SubmissionPath); err != nil || len(data) == 0 || filepath.Ext(*a.SubmissionPath) != ".csv" {
			t.Errorf("%s: %d bytes, %v", *a.SubmissionPath, len(data), err)
		}
	}
	if there != 3 {
		t.Errorf("%d submissions, want 3", there)
	}
	var s mlebench.Summary
	data, err := os.ReadFile(filepath.Join(out, "2026-11-21T10-36-20-UTC_grading_report.json"))
	if err != nil || json.Unmarshal(data, &s) != nil {
		t.Fatal(err)
	}
	if s.TotalRuns != 3 || s.TotalRunsWithSubmissions != 2 || s.TotalMedals != 2 || s.TotalGoldMedals != 1 || s.CompetitionReports[1].SubmissionExists {
		t.Errorf("%+v", s)
	}
}

func TestHarbor(t *testing.T) {
	out := filepath.Join(t.TempDir(), "jobs", "fix")
	write(t, "harbor", out, trials(t, rundir.NewStore(t.TempDir())), false)
	golden(t, "harbor.txt", dump(t, out))
	var job jobResult
	data, err := os.ReadFile(filepath.Join(out, "result.json"))
	if err != nil || json.Unmarshal(data, &job) != nil {
		t.Fatal(err)
	}
	e := job.Stats.Evals["bash__local__terminal-bench"]
	if job.Stats.Completed != 5 || job.Stats.Errored != 2 || job.Stats.Cancelled != 1 || *job.Stats.Cost != 1 || e == nil {
		t.Fatalf("%s", data)
	}
	// Two of five pass: pass@2 is 1 - 3/10, pass@4 and pass@5 are 1.
	if diff := cmp.Diff(map[int]float64{2: 0.7, 4: 1, 5: 1}, e.PassAtK, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
		t.Error(diff)
	}
	if e.Metrics[0]["mean"] != 0.4 || len(e.Rewards["reward"]["1"]) != 2 {
		t.Errorf("%+v", e)
	}
}

// A trajectory keeps the format's rules: steps from 1 without gaps, what is
// the agent's only in the agent's steps, arguments that are objects, and
// observations of a call of the same step.
func TestTrajectory(t *testing.T) {
	r := trials(t, rundir.NewStore(t.TempDir()))[0]
	told, err := r.trajectory()
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]bool{}
	for i, s := range told.Steps {
		if s.ID != i+1 || s.At == nil {
			t.Errorf("step %d has the number %d, %v", i+1, s.ID, s.At)
		}
		if s.Source != "agent" && (s.Reasoning != "" || s.Calls != nil || s.Metrics != nil) {
			t.Errorf("step %d of %s has what is an agent's", s.ID, s.Source)
		}
		own := map[string]bool{}
		for _, c := range s.Calls {
			var arguments map[string]any
			if err := json.Unmarshal(c.Arguments, &arguments); err != nil || calls[c.ID] {
				t.Errorf("call %q: %s, %v", c.ID, c.Arguments, err)
			}
			calls[c.ID], own[c.ID] = true, true
		}
		if s.Observation != nil && !own[s.Observation.Results[0].Call] {
			t.Errorf("step %d observes %q of another", s.ID, s.Observation.Results[0].Call)
		}
	}
	if len(calls) != 4 || told.Extra["unreadable_events"] != 1 || told.Final.Prompt != 1000 || told.Final.Steps != len(told.Steps) {
		t.Errorf("%d calls, %+v, %+v", len(calls), told.Extra, told.Final)
	}
}

// What one score is worth to Harbor is not always between 0 and 1, and none is
// not 0: that would be the best of all where lower is better.
func TestHarborOfAScore(t *testing.T) {
	store := rundir.NewStore(t.TempDir())
	p := record(t, store, rundir.Request{ID: "a", Task: "/somewhere/speedup", Agent: "baseline"})
	q := record(t, store, rundir.Request{ID: "b", Task: "/somewhere/speedup", Agent: "baseline"})
	runs := []*Run{p.graded(tasks.Verdict{Status: tasks.Graded, Score: num(1.25), Unit: "s"}), q.graded(tasks.Verdict{Status: tasks.InvalidSubmission, Reason: "other results"})}
	out := filepath.Join(t.TempDir(), "out")
	r := write(t, "harbor", out, runs, false)
	for i, want := range []string{"1.25\n", ""} {
		data, _ := os.ReadFile(filepath.Join(out, trialName("speedup", runs[i].ID()), "verifier", "reward.txt"))
		if string(data) != want {
			t.Errorf("reward %q, want %q in %q", data, want, r.Files)
		}
	}
}

func TestWriteKeepsWhatIsThere(t *testing.T) {
	runs := trials(t, rundir.NewStore(t.TempDir()))[:1]
	parent := t.TempDir()
	out := filepath.Join(parent, "out")
	f, err := Find("harbor")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(out, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine/note.txt", "config.json"} {
		if err := os.WriteFile(filepath.Join(out, name), []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write(out, runs, false); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("into a folder with files: %v", err)
	}
	if data, _ := os.ReadFile(filepath.Join(out, "config.json")); string(data) != "precious" {
		t.Errorf("config.json became %q", data)
	}
	if _, err := f.Write(out, runs, true); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(out, "mine", "note.txt")); string(data) != "precious" {
		t.Errorf("somebody else's file became %q", data)
	}
	if data, _ := os.ReadFile(filepath.Join(out, "config.json")); !strings.Contains(string(data), "job_name") {
		t.Errorf("config.json is still %q", data)
	}
	empty := filepath.Join(parent, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(empty, runs, false); err != nil {
		t.Errorf("into an empty folder: %v", err)
	}
	file := filepath.Join(out, "config.json")
	if _, err := f.Write(file, runs, true); err == nil {
		t.Error("a file was taken for a folder")
	}
	if left, _ := filepath.Glob(filepath.Join(parent, ".proctor-export-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestRefusals(t *testing.T) {
	store := rundir.NewStore(t.TempDir())
	mle, err := Find("mle-bench")
	if err != nil {
		t.Fatal(err)
	}
	other := trials(t, store)[:1]
	out := filepath.Join(t.TempDir(), "out")
	if _, err := mle.Write(out, other, false); err == nil || !strings.Contains(err.Error(), "not of a competition of MLE-bench") {
		t.Errorf("another suite's: %v", err)
	}
	p := record(t, store, rundir.Request{ID: "stopped", Task: "mle-bench/x", Agent: "a"})
	p.emit(event.TypeState, event.StateChange{To: event.Failed, Reason: "a person stopped the run"})
	if _, err := mle.Write(out, []*Run{p.load()}, false); err == nil || !strings.Contains(err.Error(), "run stopped is not done: it failed without a verdict") {
		t.Errorf("without a verdict: %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused export left a folder")
	}
	died := record(t, store, rundir.Request{ID: "died", Task: "mle-bench/x", Agent: "a"})
	if _, err := Load(died.dir); err == nil || !strings.Contains(err.Error(), "its supervisor died") {
		t.Errorf("a run that died: %v", err)
	}
	lock, err := died.dir.Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if _, err := Load(died.dir); err == nil || !strings.Contains(err.Error(), "is not done: wait for its end") {
		t.Errorf("a run that is alive: %v", err)
	}
	if _, err := Find("mlebench"); err == nil || !strings.Contains(err.Error(), `did you mean "mle-bench"?`) {
		t.Errorf("a slip of the finger: %v", err)
	}
}

// A link that got into a run's directory is not followed.
func TestLinksAreNotFollowed(t *testing.T) {
	store := rundir.NewStore(t.TempDir())
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := record(t, store, rundir.Request{ID: "a", Task: "mle-bench/x", Agent: "a"})
	p.file("submission/submission/other.csv", "a\n")
	if err := os.Symlink(secret, filepath.Join(p.dir.Submission(), submissionCSV)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	r := write(t, "mle-bench", out, []*Run{p.graded(tasks.Verdict{Status: tasks.InvalidSubmission})}, false)
	if text := dump(t, out); strings.Contains(text, "secret") || !strings.Contains(text, `"submission_path":null`) {
		t.Errorf("%q\n%s", r.Files, text)
	}
}
