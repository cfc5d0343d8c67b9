package tasks

import (
	"context"
	"io/fs"
	"time"
)

// Status says how grading ended.
type Status string

// The outcomes that are kept apart.
const (
	Graded            Status = "graded"
	NoSubmission      Status = "no_submission"
	InvalidSubmission Status = "invalid_submission"
	GraderFailed      Status = "grader_failed"
	GraderUnavailable Status = "grader_unavailable"
	DataMissing       Status = "data_missing"
)

// A Verdict is the grader's result together with what it cost. A grader
// fills in the judgement; the runner adds the run's own figures.
type Verdict struct {
	Status         Status   `json:"status"`
	Metric         string   `json:"metric,omitempty"`
	Unit           string   `json:"unit,omitempty"`
	Score          *float64 `json:"score"`
	HigherIsBetter bool     `json:"higher_is_better"`
	Valid          bool     `json:"valid"`
	Reason         string   `json:"reason,omitempty"`
	Grader         string   `json:"grader,omitempty"` // which grader was used, where there is a choice
	Remedy         string   `json:"remedy,omitempty"` // what to do when it could not be graded

	Baseline     *float64           `json:"baseline,omitempty"`
	Reference    []Reference        `json:"reference,omitempty"`
	Medal        string             `json:"medal,omitempty"` // gold, silver, bronze or ""
	AboveMedian  *bool              `json:"above_median,omitempty"`
	Thresholds   Thresholds         `json:"thresholds,omitzero"`
	Rank         int                `json:"rank,omitempty"`
	Of           int                `json:"of,omitempty"`
	Improvement  *float64           `json:"improvement,omitempty"`   // fraction over the baseline
	MarginClosed *float64           `json:"margin_closed,omitempty"` // fraction between baseline and top human
	Success      *bool              `json:"success,omitempty"`
	Rewards      map[string]float64 `json:"rewards,omitempty"` // every number the grader wrote
	Flags        []string           `json:"flags,omitempty"`   // known leaks and broken parts of the task

	Assisted       bool     `json:"assisted"`
	Hints          int      `json:"hints"`
	Extensions     int      `json:"extensions"`
	Takeovers      int      `json:"takeovers"`
	WorkingSeconds float64  `json:"working_seconds"`
	WallSeconds    float64  `json:"wall_seconds"`
	Tokens         int64    `json:"tokens"`
	Cost           *float64 `json:"cost"` // nil when unknown
	GPUHours       float64  `json:"gpu_hours"`
	Steps          int      `json:"steps"`

	SubmissionSHA256 string  `json:"submission_sha256,omitempty"`
	GraderSeconds    float64 `json:"grader_seconds"`

	Entered *Entry `json:"entered,omitempty"` // set when a person gave the score
}

// An Entry is a person's word for a score that no grader could give. A
// verdict with one is marked wherever it is shown.
type Entry struct {
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Note    string    `json:"note,omitempty"`
	Instead Status    `json:"instead"`       // what the grader had come to
	Why     string    `json:"why,omitempty"` // and its reason
}

// A Reader is a Grader that can say what a score is worth without having
// measured it, for one that a person enters.
type Reader interface {
	Read(score float64) *Verdict
}

// Passed reports whether the attempt counts as a success when attempts are
// counted, as in pass@k, and by what: a success as the suite defines it, any
// medal, a gain over the baseline, or a full reward. by is "" where neither
// suite nor task says what a success is. A submission that was missing or
// invalid never passes.
func (v *Verdict) Passed() (passed bool, by string) {
	switch {
	case v.Success != nil:
		return *v.Success, "success"
	case v.Thresholds.Bronze != nil || v.Thresholds.Silver != nil || v.Thresholds.Gold != nil:
		return v.Medal != "", "any medal"
	case v.Improvement != nil:
		return *v.Improvement > 0, "better than the baseline"
	}
	reward, ok := v.Rewards["reward"]
	if !ok {
		return false, ""
	}
	return reward >= 1, "reward 1"
}

// Counts reports whether the verdict says something about the agent: that
// the grader failed or was not there does not.
func (s Status) Counts() bool {
	return s == Graded || s == NoSubmission || s == InvalidSubmission
}

// A Grader judges a submission. It returns an error only when ctx ended;
// everything that can go wrong with a submission or a grader is a Verdict.
type Grader interface {
	Grade(ctx context.Context, s Submission, b Bench) (*Verdict, error)
}

// A Submission is the copy of a run's declared outputs, made after the
// agent's last process was gone. Only regular files are in it.
type Submission struct {
	Dir string // absolute host path; outputs lie at their workspace-relative paths
	// Refused names declared outputs that were there but could not be taken,
	// with the reason, such as a link or a file over the size cap.
	Refused map[string]string
	// Missing lists declared outputs that were not there.
	Missing []string
}

// A Bench is where a grader runs programs: a fresh sandbox for each job,
// without network or GPUs unless the job asks for them, apart from the
// agent's.
type Bench interface {
	// Stage copies a tree to a private directory that jobs can mount and
	// returns its absolute path; it is removed with the bench.
	Stage(name string, files fs.FS) (dir string, err error)
	// Mounts reports whether mounts appear at their targets. Where they do
	// not, a job finds them through the variables named in Mount.Env.
	Mounts() bool
	// Run runs one job to its end. The error is of the bench itself; a
	// program that fails is a JobResult.
	Run(ctx context.Context, j Job) (JobResult, error)
}

// A Job is one program of a grader.
type Job struct {
	Argv    []string
	Dir     string // working directory, a mount's Target
	Mounts  []Mount
	Env     []string      // KEY=value
	Timeout time.Duration // wall time; 0 means an hour
	// Network lets the program reach the world, and GPUs gives it the run's
	// GPUs: for graders that fetch their data or run a model. Neither is
	// there by default.
	Network, GPUs bool
	// Inner offers the program an inner sandbox for submitted code, through
	// the socket named by PROCTOR_INNER_FD.
	Inner bool
	// Collect lists files, relative to a writable mount's Target joined
	// before them, to be read back after the job: absolute paths inside.
	Collect []string
}

// A JobResult is what became of a job.
type JobResult struct {
	ExitCode  int
	Signal    string
	TimedOut  bool
	Seconds   float64
	Output    string            // both streams as a terminal would have shown them, capped
	Verdict   []byte            // what was written to PROCTOR_VERDICT_FD, at most 1 MiB
	Collected map[string][]byte // by the path asked for; absent when not there or not a regular file
}
