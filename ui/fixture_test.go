package ui

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/tasks"
)

// epoch is when every synthetic run starts.
var epoch = time.Date(2026, 11, 21, 10, 33, 12, 0, time.UTC)

// A tape records a synthetic run: events as a supervisor would have written
// them.
type tape struct {
	t      testing.TB
	events []event.Event
	wall   time.Time
	work   float64
	frozen bool // the working clock stands still
	step   int
}

func newTape(t testing.TB) *tape { return &tape{t: t, wall: epoch} }

func (p *tape) emit(kind event.Type, data any) *tape {
	p.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		p.t.Fatal(err)
	}
	p.events = append(p.events, event.Event{Seq: uint64(len(p.events) + 1), At: p.wall, Work: p.work, Type: kind, Data: raw})
	return p
}

func (p *tape) wait(seconds float64) *tape {
	p.wall = p.wall.Add(time.Duration(seconds * float64(time.Second)))
	if !p.frozen {
		p.work += seconds
	}
	return p
}

func (p *tape) phase(from, to event.Phase, change event.StateChange) *tape {
	change.From, change.To = from, to
	p.emit(event.TypeState, change)
	p.frozen = to != event.Running
	return p
}

func (p *tape) begin(title, command string) string {
	p.step++
	id := fmt.Sprintf("a%d", p.step)
	input, _ := json.Marshal(map[string]string{"command": command})
	p.emit(event.TypeActionStarted, event.ActionStarted{ID: id, Step: p.step, Kind: agents.Execute, Title: title, Input: input})
	return id
}

func (p *tape) end(id string, code int, seconds float64, text string) *tape {
	return p.emit(event.TypeActionFinished, event.ActionFinished{ID: id, Observation: agents.Observation{ExitCode: code, Seconds: seconds, Text: text}})
}

func (p *tape) metric(value float64) *tape {
	return p.emit(event.TypeMetric, event.Point{Metric: agents.Metric{Name: "accuracy", Value: value, Source: agents.Measured, Step: p.step}})
}

func (p *tape) plan(done int) *tape {
	steps := []string{
		"run the starter code as it is", "rung 1: 16 settings, 1 epoch each", "rung 2: the best 8, 3 epochs", "rung 3: the best 4, 9 epochs",
		"rung 4: the best 2, all epochs", "write the submission of the best",
	}
	var entries []agents.PlanEntry
	for i, s := range steps {
		status := agents.Pending
		switch {
		case i < done:
			status = agents.Completed
		case i == done:
			status = agents.InProgress
		}
		entries = append(entries, agents.PlanEntry{Content: s, Priority: "medium", Status: status})
	}
	return p.emit(event.TypePlan, event.Plan{Entries: entries})
}

// state folds the tape.
func (p *tape) state() *event.State {
	s := &event.State{}
	for _, e := range p.events {
		s.Apply(e)
	}
	return s
}

func ptr[T any](v T) *T { return &v }

var (
	thresholds = tasks.Thresholds{Gold: ptr(0.9833), Silver: ptr(0.9722), Bronze: ptr(0.9556)}
	standings  = []tasks.Reference{
		{Name: "k nearest neighbours", Score: 0.9833, How: "k=3, measured"},
		{Name: "random forest", Score: 0.9722, How: "200 trees, measured"},
		{Name: "logistic regression", Score: 0.9556, How: "measured"},
		{Name: "naive Bayes", Score: 0.8361, How: "measured"},
	}
)

// started opens a run of digits by search with two minutes.
func started(t testing.TB) *tape {
	p := newTape(t)
	p.emit(event.TypeRunStarted, event.RunStarted{
		ID: runID,
		Task: event.TaskInfo{
			Ref: "builtin/digits", Suite: "builtin", Title: "Handwritten digits", Metric: "accuracy", HigherIsBetter: true,
			Baseline: ptr(0.8972), Thresholds: thresholds, References: standings,
		},
		Agent: "search", Sandbox: "bwrap", Budget: tasks.Budget{Time: 2 * time.Minute, Steps: 40}, Soft: 0.8, Version: "v0.1.0", Host: "lab",
	})
	p.wait(1.2)
	return p.phase(event.Preparing, event.Running, event.StateChange{})
}

const runID = "20261121-103312-digits-search-7f3a"

// scores are what the trials of the synthetic search reach.
var scores = []float64{0.8972, 0.7111, 0.9028, 0.4194, 0.9250, 0.9139, 0.9361, 0.8806, 0.9417, 0.9583, 0.9472, 0.9611, 0.9639, 0.9750, 0.9694}

// searched plays the first n trials.
func searched(t testing.TB, n int) *tape {
	p := started(t)
	p.plan(0)
	p.emit(event.TypeMessage, event.Text{Text: "16 settings of 4 knobs, halved three times; seed 0"})
	for i := range n {
		command := fmt.Sprintf("python3 train.py --model %s --lr %.3f --epochs %d", []string{"softmax", "mlp", "knn"}[i%3], 0.3/float64(i+1), 1+i/4*2)
		id := p.begin(command, command)
		p.wait(2.6 + float64(i%4)*0.7)
		if i == 3 {
			p.end(id, 1, 2.6, "Traceback (most recent call last):\n  File \"train.py\", line 88\nValueError: k must be odd")
		} else {
			p.metric(scores[i%len(scores)])
			p.end(id, 0, 2.6+float64(i%4)*0.7, fmt.Sprintf("epoch 1 loss 0.41\naccuracy: %.4f", scores[i%len(scores)]))
		}
		p.emit(event.TypeResources, event.Resources{CPU: 0.7 + float64(i%3)*0.13, Memory: int64(41+3*i) << 20, Pids: 4, Disk: int64(300+40*i) << 10})
		switch i {
		case 4:
			p.plan(1)
		case 6:
			p.emit(event.TypeHint, event.Hint{ID: "h1", Text: "the mlp looks strong, try model=mlp", Author: "ada"})
			p.wait(0.8)
			p.emit(event.TypeHintDelivered, event.HintDelivered{ID: "h1", How: agents.Queued, Reply: "from now on only model=mlp"})
		case 8:
			p.plan(2)
		}
		p.wait(0.3)
	}
	return p
}

// running is in the middle of an action.
func running(t testing.TB) *tape {
	p := searched(t, 11).plan(3)
	p.begin("python3 train.py --model mlp --lr 0.020 --epochs 9", "python3 train.py --model mlp --lr 0.020 --epochs 9")
	return p.wait(3.4)
}

// graded ends the run with a verdict.
func graded(t testing.TB, v tasks.Verdict) *tape {
	p := searched(t, len(scores)).plan(6)
	p.phase(event.Running, event.Finishing, event.StateChange{Reason: "the agent is finished"})
	p.emit(event.TypeSubmission, event.Submission{Path: "submission", SHA256: "9f2c4a7be01d", Bytes: 2048, Files: 1})
	p.phase(event.Finishing, event.Grading, event.StateChange{}).wait(1.3)
	v.HigherIsBetter, v.Metric = true, "accuracy"
	v.WorkingSeconds, v.WallSeconds, v.Steps, v.GraderSeconds = p.work, p.wall.Sub(epoch).Seconds(), p.step, 1.3
	v.Assisted, v.Hints = true, 1
	p.emit(event.TypeVerdict, v)
	p.phase(event.Grading, event.Done, event.StateChange{})
	return p.emit(event.TypeRunEnded, event.RunEnded{Status: string(v.Status)})
}

func gold() tasks.Verdict {
	return tasks.Verdict{
		Status: tasks.Graded, Valid: true, Score: ptr(0.9861), Medal: "gold", Rank: 1, Of: 5, Improvement: ptr(0.0991), AboveMedian: ptr(true),
		Baseline: ptr(0.8972), Thresholds: thresholds, Reference: standings,
		SubmissionSHA256: "9f2c4a7be01d3c5577a8e4b2f0916d3c8e7a5b4c3d2e1f00112233445566778899",
	}
}
