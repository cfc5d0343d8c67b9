// Package sidecar runs a short Python program of Proctor's own as a grader:
// beside the benchmark's code, in the bench's sandbox, with the Python that
// the person's PATH finds first. The program says what came of it in one JSON
// object on a descriptor that no submission can write to.
package sidecar

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"time"

	"proctor/tasks"
	"proctor/tasks/grade"
)

//go:embed common/*.py
var common embed.FS

// Where a program's own files are found inside.
const (
	programDir = "/sidecar/program"
	commonDir  = "/sidecar/common"
)

// A Program is a grader in Python.
type Program struct {
	Files fs.FS  // its own files
	Main  string // the one that is run, with "import proctor_verdict" at hand
	Args  []string
	// Mounts are what it works on. Each is found through the variable that
	// its Env names.
	Mounts  []tasks.Mount
	Env     []string      // KEY=value
	Timeout time.Duration // 0 means an hour
	Inner   bool          // offer an inner sandbox for submitted code
	// Network and GPUs are asked of the bench; see [tasks.Job].
	Network, GPUs bool
}

// A Reply is what a program that could score found.
type Reply struct {
	Score   float64
	Numbers map[string]float64 // others that belong to it
	Flags   []string           // what a person should know about them
	Seconds float64            // that the job took
}

// Run runs the program to its end. Without a score the verdict says why,
// with status, reason and remedy set. The error is ctx's.
func Run(ctx context.Context, b tasks.Bench, p Program) (Reply, *tasks.Verdict, error) {
	if p.Timeout <= 0 {
		p.Timeout = time.Hour
	}
	job, err := p.job(b)
	var result tasks.JobResult
	if err == nil {
		result, err = b.Run(ctx, job)
	}
	if ctx.Err() != nil {
		return Reply{}, nil, ctx.Err()
	}
	if err != nil {
		return Reply{}, unavailable("the grader could not be run: "+err.Error(),
			"see proctor doctor for what a sandbox needs here, then grade the run again"), nil
	}
	reply, v := read(result, p.Timeout)
	reply.Seconds = result.Seconds
	if v != nil {
		v.GraderSeconds = result.Seconds
	}
	return reply, v, nil
}

func (p Program) job(b tasks.Bench) (tasks.Job, error) {
	program, err := b.Stage("program", p.Files)
	if err != nil {
		return tasks.Job{}, fmt.Errorf("copying the grader: %w", err)
	}
	shared, err := fs.Sub(common, "common")
	if err != nil {
		return tasks.Job{}, err
	}
	library, err := b.Stage("common", shared)
	if err != nil {
		return tasks.Job{}, fmt.Errorf("copying the grader: %w", err)
	}
	main, search := path.Join(program, p.Main), library
	if b.Mounts() {
		main, search = path.Join(programDir, p.Main), commonDir
	}
	mounts := []tasks.Mount{
		{Source: program, Target: programDir, Env: "PROCTOR_PROGRAM"},
		{Source: library, Target: commonDir, Env: "PROCTOR_COMMON"},
	}
	return tasks.Job{
		Argv:    append([]string{"python3", main}, p.Args...),
		Dir:     programDir,
		Mounts:  append(mounts, p.Mounts...),
		Env:     append([]string{"PYTHONPATH=" + search, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1"}, p.Env...),
		Timeout: p.Timeout,
		Inner:   p.Inner,
		Network: p.Network,
		GPUs:    p.GPUs,
	}, nil
}

// message is the JSON object that a program writes: a score, or why there is
// none.
type message struct {
	Score   *float64           `json:"score"`
	Numbers map[string]float64 `json:"numbers"`
	Flags   []string           `json:"flags"`

	Error  string `json:"error"`
	Kind   string `json:"kind"`
	Remedy string `json:"remedy"`
}

// read makes sense of a job's end. A program that ran out of time is not
// believed, whatever it said before.
func read(j tasks.JobResult, limit time.Duration) (Reply, *tasks.Verdict) {
	if len(j.Verdict) == 0 || j.TimedOut {
		if j.ExitCode == 127 && !j.TimedOut {
			return Reply{}, unavailable("python3 could not be started", "install Python 3, then grade the run again")
		}
		return Reply{}, grade.NoReward(j, limit)
	}
	m, err := parse(j.Verdict)
	if err != nil {
		return Reply{}, grade.Failed("the grader's verdict cannot be read: "+err.Error(), j.Output)
	}
	if m.Score == nil {
		return Reply{}, m.verdict()
	}
	r := Reply{Score: *m.Score, Numbers: m.Numbers}
	for _, flag := range m.Flags {
		r.Flags = append(r.Flags, grade.OneLine(flag, 300))
	}
	return r, nil
}

// parse reads a message. Its error completes "cannot be read:".
func parse(data []byte) (message, error) {
	var m message
	if len(data) > grade.MaxRewardBytes {
		return m, fmt.Errorf("it is %d bytes long, more than the %d allowed", len(data), grade.MaxRewardBytes)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return message{}, errors.New(grade.OneLine(err.Error(), 200))
	}
	if _, err := dec.Token(); err != io.EOF {
		return message{}, errors.New("something follows its JSON object")
	}
	switch {
	case m.Score != nil && m.Error != "":
		return message{}, errors.New("it has a score and an error")
	case m.Score == nil && m.Error == "":
		return message{}, errors.New("it has neither a score nor an error")
	case m.Score != nil && (math.IsNaN(*m.Score) || math.IsInf(*m.Score, 0)):
		return message{}, errors.New("its score is no finite number")
	}
	return m, nil
}

// verdict is that of a program which says why it has no score.
func (m message) verdict() *tasks.Verdict {
	v := &tasks.Verdict{Reason: grade.OneLine(m.Error, 300), Remedy: grade.OneLine(m.Remedy, 1000)}
	switch status := tasks.Status(m.Kind); status {
	case tasks.NoSubmission, tasks.InvalidSubmission, tasks.GraderUnavailable, tasks.DataMissing:
		v.Status = status
	default:
		v.Status = tasks.GraderFailed
	}
	return v
}

func unavailable(reason, remedy string) *tasks.Verdict {
	return &tasks.Verdict{Status: tasks.GraderUnavailable, Reason: grade.OneLine(reason, 300), Remedy: remedy}
}
