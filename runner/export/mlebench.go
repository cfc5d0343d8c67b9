package export

import (
	"fmt"
	"io"
	"path"
	"time"

	"proctor/tasks"
	"proctor/tasks/mlebench"
)

// suiteMLEBench is how a run's record names the suite.
const suiteMLEBench = "mle-bench"

// The names of MLE-bench's own files; a run's submission lies below its
// workspace as it lies below a run there.
const (
	submissionCSV   = "submission/submission.csv"
	submissionLines = "submission.jsonl"
	reportTime      = "2006-01-02T15-04-05-MST"
)

// A note says of a run what MLE-bench's own files have no place for.
type note struct {
	Run           string       `json:"run"`
	CompetitionID string       `json:"competition_id"`
	Path          *string      `json:"submission_path"`
	Agent         string       `json:"agent"`
	Model         string       `json:"model,omitempty"`
	Seed          int64        `json:"seed"`
	Attempt       int          `json:"attempt,omitempty"`
	Status        tasks.Status `json:"status"`
	Grader        string       `json:"grader,omitempty"`
	Assisted      bool         `json:"assisted"`
	Entered       *tasks.Entry `json:"entered,omitempty"` // set when a person gave the score
	Flags         []string     `json:"flags,omitempty"`
}

// mleBench writes submission.jsonl with the submissions that it names, the
// grading report of Proctor's own verdicts, a metadata.json for each group as
// run_agent.py leaves one, and proctor.json with what those cannot say.
func mleBench(t *tree, runs []*Run) error {
	for _, r := range runs {
		if r.state.Run.Task.Suite != suiteMLEBench {
			return fmt.Errorf("run %s is of %s, not of a competition of MLE-bench", r.ID(), r.request.Task)
		}
		if r.state.Verdict == nil {
			return fmt.Errorf("run %s is not done: it %s without a verdict; proctor grade %s grades what is there", r.ID(), r.state.Phase, r.ID())
		}
	}
	var (
		attempts []mlebench.Attempt
		reports  []mlebench.Report
		notes    []note
		groups   = map[string]*runGroup{}
		order    []string
		newest   time.Time
	)
	for _, r := range runs {
		_, competition, _ := tasks.SplitRef(r.request.Task)
		name := competition + "_" + r.ID()
		folder := path.Join("runs", r.label(), name)
		file, err := submission(t, r, folder)
		if err != nil {
			return err
		}
		a := mlebench.Attempt{CompetitionID: competition, LogsPath: text(t.at(path.Join(folder, "logs")))}
		reported := "None" // as Python writes a path that is not there
		if file != "" {
			reported = t.at(file)
			a.SubmissionPath = &reported
		}
		attempts = append(attempts, a)
		v := r.state.Verdict
		if v.Status.Counts() {
			at := r.times.ended
			if v.Entered != nil {
				at = v.Entered.At
			}
			reports = append(reports, mlebench.NewReport(competition, reported, v, at))
		} else {
			t.note("run %s has no verdict on its submission (%s): it is in %s, not in the report", r.ID(), v.Status, submissionLines)
		}
		if v.Entered != nil {
			t.note("the score of run %s was entered by %s: MLE-bench's report cannot say so, proctor.json does", r.ID(), v.Entered.By)
		}
		notes = append(notes, r.note(competition, a.SubmissionPath))
		if groups[r.label()] == nil {
			order = append(order, r.label())
			groups[r.label()] = &runGroup{RunGroup: r.label(), CreatedAt: r.times.started.UTC().Format(reportTime), Runs: map[string]success{}}
		}
		groups[r.label()].Runs[name] = success{v.Status == tasks.Graded}
		if r.times.ended.After(newest) {
			newest = r.times.ended
		}
	}
	if err := t.write(submissionLines, func(w io.Writer) error { return mlebench.WriteAttempts(w, attempts) }); err != nil {
		return err
	}
	for _, id := range order {
		if err := t.json(path.Join("runs", id, "metadata.json"), groups[id]); err != nil {
			return err
		}
	}
	if reports == nil {
		reports = []mlebench.Report{}
	}
	if err := t.json(newest.UTC().Format(reportTime)+"_grading_report.json", mlebench.Summarize(reports)); err != nil {
		return err
	}
	t.next = fmt.Sprintf("mlebench grade --submission %s --output-dir %s", t.at(submissionLines), t.at("graded"))
	return t.json("proctor.json", notes)
}

// A runGroup is what run_agent.py writes about the runs that it made together.
type runGroup struct {
	RunGroup  string             `json:"run_group"`
	CreatedAt string             `json:"created_at"`
	Runs      map[string]success `json:"runs"`
}

type success struct {
	Success bool `json:"success"`
}

// submission copies what was graded and the log, and returns the submission's
// name in the tree; "" when there is none.
func submission(t *tree, r *Run, folder string) (string, error) {
	names, err := t.copyAll(folder, r.Submission())
	if err != nil {
		return "", fmt.Errorf("copying the submission of run %s: %w", r.ID(), err)
	}
	if _, err := t.copy(path.Join(folder, "logs/events.jsonl"), r.Events()); err != nil {
		return "", fmt.Errorf("copying the record of run %s: %w", r.ID(), err)
	}
	for _, name := range names {
		if name == submissionCSV {
			return path.Join(folder, submissionCSV), nil
		}
	}
	return "", nil
}

func (r *Run) note(competition string, file *string) note {
	v := r.state.Verdict
	n := note{
		Run: r.ID(), CompetitionID: competition, Path: file, Agent: r.request.Agent, Model: r.request.Model, Seed: r.request.Seed,
		Status: v.Status, Grader: v.Grader, Assisted: v.Assisted, Entered: v.Entered, Flags: v.Flags,
	}
	if a := r.request.Attempt; a != nil {
		n.Attempt = a.Number
	}
	return n
}
