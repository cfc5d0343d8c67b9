package harbor

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/checkout"
	"proctor/tasks/grade"
)

// Where Harbor's test scripts find their own files and leave their reward.
const (
	testScript = "tests/test.sh"
	testsDir   = "/tests"
	logsDir    = "/logs/verifier"
	rewardJSON = logsDir + "/reward.json"
	rewardText = logsDir + "/reward.txt"
	errorJSON  = logsDir + "/error.json"
)

// A grader runs a task's tests/test.sh over a submission.
type grader struct {
	tests   fs.FS
	workdir string
	outputs []string
	env     []string
	timeout time.Duration
	metric  tasks.Metric
	// standing is what the score is compared with.
	standing tasks.Standing
	// declared: the task says what its outputs are, so they are all that the
	// script needs and stay as they are. A plain Harbor task's script may
	// build and test in the working directory and gets a copy to write to.
	declared bool
	// aware: the script finds its directories by PROCTOR_TESTS and its kin,
	// so it also runs where nothing can be mounted.
	aware bool
}

// grader builds the task's grader from its tests folder.
func (s source) grader(t *tasks.Task, c *config) error {
	script, err := s.text(testScript, maxText)
	if err != nil {
		for _, windows := range []string{"tests/test.bat", "tests/test.ps1", "tests/test.cmd"} {
			if _, statErr := fs.Stat(s.files, windows); statErr == nil {
				return fmt.Errorf("%s: Windows test scripts cannot be honoured, expected %s", s.path(windows), testScript)
			}
		}
		return err
	}
	if strings.TrimSpace(script) == "" {
		return fmt.Errorf("%s: empty, expected the grader's script", s.path(testScript))
	}
	if _, err := fs.Stat(s.files, "tests/Dockerfile"); err == nil && c.separate {
		return fmt.Errorf("%s: a verifier image of its own cannot be honoured: the grader runs with this machine's programs", s.path("tests/Dockerfile"))
	}
	if tool := downloads(script); tool != "" {
		c.warnf("%s calls %s; graders run without network, so what it fetches must be on this machine", testScript, tool)
	}
	tests, err := fs.Sub(s.files, "tests")
	if err != nil {
		return err
	}
	t.Grader = &grader{
		tests:    tests,
		workdir:  t.Workdir,
		outputs:  t.Outputs,
		env:      c.graderEnv,
		timeout:  c.graderTime,
		metric:   t.Metric,
		standing: t.Standing,
		declared: c.own != nil && c.own.outputs != nil,
		aware:    strings.Contains(script, "PROCTOR_"),
	}
	return nil
}

// downloads returns the first program in a script that fetches something.
func downloads(script string) string {
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		for _, tool := range []string{"apt-get", "curl", "wget", "pip install", "uvx", "uv pip", "npm install", "git clone"} {
			if strings.HasPrefix(line, tool+" ") || strings.Contains(line, " "+tool+" ") {
				return tool
			}
		}
	}
	return ""
}

func (g *grader) Grade(ctx context.Context, s tasks.Submission, b tasks.Bench) (*tasks.Verdict, error) {
	if v := g.unusable(s); v != nil {
		return g.sign(v), nil
	}
	if !b.Mounts() && !g.aware {
		return g.sign(&tasks.Verdict{
			Status: tasks.GraderUnavailable,
			Reason: fmt.Sprintf("the task's test.sh needs %s and %s at those very paths, and nothing can be mounted here", testsDir, logsDir),
			Remedy: "grade the run again where bubblewrap works (proctor doctor says what it needs)",
		}), nil
	}
	job, err := g.job(s, b)
	var result tasks.JobResult
	if err == nil {
		result, err = b.Run(ctx, job)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return g.sign(unavailable(err)), nil
	}
	v := g.sign(g.verdict(result))
	v.GraderSeconds = result.Seconds
	if !g.declared {
		v.Flags = leftOut(s)
	}
	return v, nil
}

// unusable returns the verdict on a submission that need not be run, nil if
// it can be.
func (g *grader) unusable(s tasks.Submission) *tasks.Verdict {
	for _, p := range slices.Sorted(maps.Keys(s.Refused)) {
		// In a whole workspace that a plain task takes for its output, a
		// link is nothing unusual; it is left out and the rest is graded.
		if g.declared || p == "." {
			return &tasks.Verdict{
				Status: tasks.InvalidSubmission,
				Reason: grade.OneLine(fmt.Sprintf("%q cannot be taken: %s", p, s.Refused[p]), 300),
			}
		}
	}
	absent := strings.Join(s.Missing, ", ")
	switch {
	case absent == "":
		return nil
	case absent == ".":
		return &tasks.Verdict{Status: tasks.NoSubmission, Reason: "the workspace is gone"}
	case len(s.Missing) >= len(g.outputs):
		return &tasks.Verdict{Status: tasks.NoSubmission, Reason: "the agent left no " + absent}
	}
	return &tasks.Verdict{Status: tasks.InvalidSubmission, Reason: "the submission lacks " + absent}
}

// leftOut flags what the copy of a workspace could not hold.
func leftOut(s tasks.Submission) []string {
	var flags []string
	for _, p := range slices.Sorted(maps.Keys(s.Refused)) {
		if len(flags) == 10 {
			flags = append(flags, fmt.Sprintf("and %d more files left out", len(s.Refused)-10))
			break
		}
		flags = append(flags, grade.OneLine(fmt.Sprintf("not graded: %s (%s)", p, s.Refused[p]), 200))
	}
	return flags
}

// runScript prefers bash, for which test scripts are written.
const runScript = `if command -v bash >/dev/null 2>&1; then exec bash "$0"; else exec sh "$0"; fi`

func (g *grader) job(s tasks.Submission, b tasks.Bench) (tasks.Job, error) {
	tests, err := b.Stage("tests", g.tests)
	if err != nil {
		return tasks.Job{}, fmt.Errorf("copying the task's tests: %w", err)
	}
	logs, err := b.Stage("logs", flat{})
	if err != nil {
		return tasks.Job{}, fmt.Errorf("making the grader's log directory: %w", err)
	}
	submission := s.Dir
	if !g.declared {
		if submission, err = b.Stage("submission", checkout.Dir(s.Dir)); err != nil {
			return tasks.Job{}, fmt.Errorf("copying the submission for the grader: %w", err)
		}
	}
	script := path.Join(testsDir, "test.sh")
	if !b.Mounts() {
		script = path.Join(tests, "test.sh")
	}
	dir := testsDir // away from the submission, whose files a program there might import
	if !g.declared {
		dir = g.workdir
	}
	return tasks.Job{
		Argv: []string{"sh", "-c", runScript, script},
		Dir:  dir,
		Mounts: []tasks.Mount{
			{Source: tests, Target: testsDir, Env: "PROCTOR_TESTS"},
			{Source: submission, Target: g.workdir, Writable: !g.declared, Env: "PROCTOR_SUBMISSION"},
			{Source: logs, Target: logsDir, Writable: true, Env: "PROCTOR_LOGS"},
		},
		Env:     g.env,
		Timeout: g.timeout,
		Inner:   g.aware,
		Collect: []string{rewardJSON, rewardText, errorJSON},
	}, nil
}

// verdict reads what the job left. A script that ran out of time is not
// believed, whatever it wrote before; otherwise its first word counts, from
// the descriptor that no submission can write to down to reward.txt.
func (g *grader) verdict(j tasks.JobResult) *tasks.Verdict {
	if j.TimedOut {
		return grade.NoReward(j, g.timeout)
	}
	if len(j.Verdict) > 0 {
		return g.reward("verdict", j.Verdict, j.Output)
	}
	for _, file := range []string{errorJSON, rewardJSON} {
		if data, ok := j.Collected[file]; ok {
			return g.reward(path.Base(file), data, j.Output)
		}
	}
	if data, ok := j.Collected[rewardText]; ok {
		x, err := grade.ParseRewardText(data)
		if err != nil {
			return grade.Failed(fmt.Sprintf("the grader's reward.txt is no reward: %v", err), j.Output)
		}
		return g.score(grade.Reward{Values: map[string]float64{defaultMetric().Name: x}}, j.Output)
	}
	return grade.NoReward(j, g.timeout)
}

// reward reads a JSON object that the grader wrote.
func (g *grader) reward(what string, data []byte, output string) *tasks.Verdict {
	r, err := grade.ParseReward(data)
	if err != nil {
		return grade.Failed(fmt.Sprintf("the grader's %s is no reward: %v", what, err), output)
	}
	if r.Error != "" {
		return &tasks.Verdict{Status: r.Status, Reason: r.Error}
	}
	return g.score(r, output)
}

func (g *grader) score(r grade.Reward, output string) *tasks.Verdict {
	score, err := r.Pick(g.metric.Name)
	if err != nil {
		return grade.Failed("the grader's reward cannot be read: "+err.Error(), output)
	}
	v := grade.Apply(g.standing, g.metric, score)
	v.Rewards = r.Values
	return v
}

// sign completes a verdict with what holds for all of this grader's.
func (g *grader) sign(v *tasks.Verdict) *tasks.Verdict {
	v.Metric = g.metric.Name
	v.Unit = g.metric.Unit
	v.HigherIsBetter = g.metric.HigherIsBetter
	v.Baseline = g.standing.Baseline
	v.Reference = g.standing.References
	v.Thresholds = g.standing.Thresholds
	return v
}

// unavailable is the verdict when the bench itself failed.
func unavailable(err error) *tasks.Verdict {
	return &tasks.Verdict{
		Status: tasks.GraderUnavailable,
		Reason: grade.OneLine("the grader could not be run: "+err.Error(), 300),
		Remedy: "see proctor doctor for what a sandbox needs here, then grade the run again",
	}
}
