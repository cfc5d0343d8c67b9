package export

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"proctor/tasks"
)

// harbor writes a Harbor job: its settings and result, and below it a trial
// for each run with what the agent did, what was handed in and how it was
// rewarded. The layout and the fields are those of Harbor 0.20; what they have
// no place for is in agent_result.metadata.
func harbor(t *tree, runs []*Run) error {
	job := newJob(t.final, runs)
	for _, r := range runs {
		trial := r.trial(job.result.ID, t.final)
		if err := writeTrial(t, r, &trial); err != nil {
			return fmt.Errorf("run %s: %w", r.ID(), err)
		}
		job.add(r, &trial)
	}
	job.finish()
	if err := t.json("config.json", job.config); err != nil {
		return err
	}
	t.next = "harbor view " + filepath.Dir(t.final)
	return t.json("result.json", job.result)
}

func writeTrial(t *tree, r *Run, trial *trialResult) error {
	at := func(name string) string { return path.Join(trial.TrialName, name) }
	if err := t.json(at("config.json"), trial.Config); err != nil {
		return err
	}
	if err := t.json(at("result.json"), trial); err != nil {
		return err
	}
	for name, from := range map[string]string{
		"trial.log": r.SupervisorLog(), "agent/recording.cast": r.Cast(), "agent/events.jsonl": r.Events(), "verifier/verdict.json": r.Verdict(),
	} {
		if _, err := t.copy(at(name), from); err != nil {
			return err
		}
	}
	told, err := r.trajectory()
	if err != nil {
		return err
	}
	if err := t.json(at("agent/trajectory.json"), told); err != nil {
		return err
	}
	if e := trial.ExceptionInfo; e != nil {
		if err := t.text(at("exception.txt"), e.Message+"\n"); err != nil {
			return err
		}
	}
	if v := trial.VerifierResult; v != nil {
		if err := t.json(at("verifier/reward.json"), v.Rewards); err != nil {
			return err
		}
		if reward, ok := v.Rewards["reward"]; ok {
			if err := t.text(at("verifier/reward.txt"), fmt.Sprintln(reward)); err != nil {
				return err
			}
		}
	}
	return writeArtifacts(t, r, trial.TrialName)
}

// An artifact is one entry of a trial's artifacts/manifest.json.
type artifact struct {
	Source      string  `json:"source"`
	Destination string  `json:"destination"`
	Type        string  `json:"type"`
	Status      string  `json:"status"`
	Service     *string `json:"service"`
}

func writeArtifacts(t *tree, r *Run, trial string) error {
	names, err := t.copyAll(path.Join(trial, "artifacts"), r.Submission())
	if err != nil {
		return fmt.Errorf("copying the submission: %w", err)
	}
	manifest := []artifact{}
	for _, name := range names {
		manifest = append(manifest, artifact{Source: name, Destination: "artifacts/" + name, Type: "file", Status: "ok"})
	}
	return t.json(path.Join(trial, "artifacts/manifest.json"), manifest)
}

// trial says what Harbor says of one trial.
func (r *Run) trial(job, dir string) trialResult {
	suite, name, ok := tasks.SplitRef(r.request.Task)
	if !ok {
		name = path.Base(filepath.ToSlash(r.request.Task))
	}
	s, at := &r.state, r.times
	config := trialConfig{
		Task:      harborTask{Path: r.request.Task, Source: text(suite)},
		TrialName: trialName(name, r.ID()), TrialsDir: dir, TimeoutMultiplier: 1,
		Agent:       harborAgent{Name: r.request.Agent, ModelName: text(r.request.Model), Kwargs: map[string]any{"seed": r.request.Seed}},
		Environment: map[string]any{"kwargs": map[string]string{"sandbox": s.Run.Sandbox}},
		JobID:       job,
	}
	if d := r.request.Budget.Time; d > 0 {
		seconds := d.Seconds()
		config.Agent.Override = &seconds
	}
	trial := trialResult{
		ID: uuid(r.ID()), TaskName: r.request.Task, TrialName: config.TrialName, TrialURI: "file://" + filepath.ToSlash(filepath.Join(dir, config.TrialName)),
		TaskID: harborTaskID{r.request.Task}, Source: text(suite), Config: config,
		AgentInfo: agentInfo{Name: r.request.Agent, Version: r.request.Version},
		Started:   moment(at.started), Finished: moment(at.ended),
		EnvironmentSetup: span(at.started, at.running), AgentExecution: span(at.running, at.finishing), Verifier: span(at.grading, at.ended),
		AgentResult: r.agentResult(), VerifierResult: rewards(s.Verdict), ExceptionInfo: r.exception(),
	}
	if r.request.Model != "" {
		trial.AgentInfo.ModelInfo = &modelInfo{Name: r.request.Model}
	}
	return trial
}

func (r *Run) agentResult() *agentResult {
	s := &r.state
	a := &agentResult{Metadata: map[string]any{
		"proctor_run": r.ID(), "proctor_version": r.request.Version, "seed": r.request.Seed, "steps": s.Steps, "working_seconds": s.Work,
		"assisted": s.Assisted(), "hints": len(s.Hints), "extensions": s.Extensions, "takeovers": s.Takeovers, "gpu_hours": s.GPU.GPUHours(),
	}}
	if at := r.request.Attempt; at != nil {
		a.Metadata["group"], a.Metadata["attempt"] = at.Group, at.Number
	}
	if v := s.Verdict; v != nil {
		a.Metadata["status"], a.Metadata["medal"] = v.Status, v.Medal
		if v.Entered != nil {
			a.Metadata["entered_by"] = v.Entered.By
		}
	}
	if u := s.Usage; u.Calls > 0 {
		a.Input, a.Cache, a.Output = &u.Input, &u.Cached, &u.Output
		if !u.UnknownCost {
			a.Cost = &u.Cost
		}
	}
	return a
}

// rewards are what the grader wrote, or the score under Harbor's own name for
// it. A run without a score has none: a made-up 0 would be the best of all
// where lower is better.
func rewards(v *tasks.Verdict) *verifierResult {
	switch {
	case v == nil || v.Score == nil:
		return nil
	case len(v.Rewards) > 0:
		return &verifierResult{v.Rewards}
	}
	return &verifierResult{map[string]float64{"reward": *v.Score}}
}

// exception is what Harbor would have raised, by its own names where it has
// one: a trial whose time ran out has this and a reward.
func (r *Run) exception() *exceptionInfo {
	s := &r.state
	as := func(kind, message string) *exceptionInfo {
		return &exceptionInfo{Type: kind, Message: message, At: moment(r.times.ended)}
	}
	switch v := s.Verdict; {
	case v == nil && strings.Contains(s.Reason, "stopped"):
		return as("CancelledError", s.Reason)
	case v == nil:
		return as("RunFailed", s.Reason)
	case v.Status == tasks.GraderFailed:
		return as("VerifierOutputParseError", v.Reason)
	case v.Status == tasks.GraderUnavailable, v.Status == tasks.DataMissing:
		return as("VerifierUnavailable", v.Reason)
	}
	for _, limit := range s.Fired {
		if limit.What == "hard" && limit.Dimension == "time" {
			return as("AgentTimeoutError", fmt.Sprintf("the agent's %.0f seconds were spent", limit.Limit))
		}
	}
	return nil
}

// trialName is the task's name, cut, and seven letters that tell trials of
// one task apart.
func trialName(task, run string) string {
	task = strings.ReplaceAll(task, "/", "_")
	if len(task) > 32 {
		task = strings.ToValidUTF8(task[:32], "")
	}
	sum := sha256.Sum256([]byte(run))
	return task + "__" + base32.StdEncoding.EncodeToString(sum[:])[:7]
}

// uuid makes an identity of a run's name, the same at every export.
func uuid(name string) string {
	b := sha256.Sum256([]byte("proctor:" + name))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format("2006-01-02T15:04:05.000000Z")
	return &text
}

func span(from, to time.Time) *timing {
	if from.IsZero() {
		return nil
	}
	return &timing{moment(from), moment(to)}
}
