package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/tasks"
)

// trajectoryVersion is the version of the Agent Trajectory Interchange Format
// that is written. The format allows no fields but its own; what it has no
// place for is in an "extra".
const trajectoryVersion = "ATIF-v1.7"

type trajectory struct {
	Version string           `json:"schema_version"`
	Session string           `json:"session_id"`
	Agent   trajectoryAgent  `json:"agent"`
	Steps   []*step          `json:"steps"`
	Final   *finalMetrics    `json:"final_metrics,omitempty"`
	Extra   map[string]int64 `json:"extra,omitempty"`
}

type trajectoryAgent struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   string `json:"model_name,omitempty"`
}

type step struct {
	ID          int            `json:"step_id"`
	At          *string        `json:"timestamp"`
	Source      string         `json:"source"` // system, user or agent
	Message     string         `json:"message"`
	Reasoning   string         `json:"reasoning_content,omitempty"` // of the agent only, as are the next two
	Calls       []toolCall     `json:"tool_calls,omitempty"`
	Metrics     *stepMetrics   `json:"metrics,omitempty"`
	Observation *observation   `json:"observation,omitempty"`
	Extra       map[string]any `json:"extra,omitempty"`
}

type toolCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"` // an object
}

type observation struct {
	Results []observed `json:"results"`
}

type observed struct {
	Call    string         `json:"source_call_id"`
	Content string         `json:"content"`
	Extra   map[string]any `json:"extra,omitempty"`
}

type stepMetrics struct {
	Prompt     int64    `json:"prompt_tokens"` // cached ones included
	Completion int64    `json:"completion_tokens"`
	Cached     int64    `json:"cached_tokens"`
	Cost       *float64 `json:"cost_usd,omitempty"`
}

type finalMetrics struct {
	Prompt     int64    `json:"total_prompt_tokens"`
	Completion int64    `json:"total_completion_tokens"`
	Cached     int64    `json:"total_cached_tokens"`
	Cost       *float64 `json:"total_cost_usd,omitempty"`
	Steps      int      `json:"total_steps"`
}

// A teller makes a trajectory of a log. What an agent thought, said and spent
// belongs to the action that comes next.
type teller struct {
	trajectory
	byCall            map[string]*step
	thoughts, message []string
	spent             *stepMetrics
	plans             int
}

// trajectory tells a run as a trajectory.
func (r *Run) trajectory() (*trajectory, error) {
	file, err := os.Open(r.Events())
	if err != nil {
		return nil, fmt.Errorf("opening the record: %w", err)
	}
	defer file.Close()
	t := &teller{byCall: map[string]*step{}}
	t.Version, t.Session = trajectoryVersion, r.ID()
	t.Agent = trajectoryAgent{r.request.Agent, r.request.Version, r.request.Model}
	events := event.NewReader(file, 0)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := t.tell(e); err != nil {
			t.skipped()
		}
	}
	t.said(r.times.ended)
	if u := r.state.Usage; u.Calls > 0 {
		t.Final = &finalMetrics{Prompt: u.Input, Completion: u.Output, Cached: u.Cached, Steps: len(t.Steps)}
		if !u.UnknownCost {
			t.Final.Cost = &u.Cost
		}
	}
	return &t.trajectory, nil
}

// skipped counts an event whose payload cannot be read.
func (t *teller) skipped() {
	if t.Extra == nil {
		t.Extra = map[string]int64{}
	}
	t.Extra["unreadable_events"]++
}

func (t *teller) step(at time.Time, source, message string) *step {
	s := &step{ID: len(t.Steps) + 1, At: moment(at), Source: source, Message: terminal.Clean(message)}
	t.Steps = append(t.Steps, s)
	return s
}

// agent makes a step of the agent's with all that was held back for it.
func (t *teller) agent(at time.Time) *step {
	s := t.step(at, "agent", strings.Join(t.message, "\n"))
	s.Reasoning, s.Metrics = terminal.Clean(strings.Join(t.thoughts, "\n")), t.spent
	t.message, t.thoughts, t.spent = nil, nil, nil
	return s
}

// said makes a step of what was held back and had no action after it.
func (t *teller) said(at time.Time) {
	if len(t.message) > 0 || len(t.thoughts) > 0 || t.spent != nil {
		t.agent(at)
	}
}

// other makes a step that is not the agent's.
func (t *teller) other(e event.Event, source, message string, extra map[string]any) {
	t.said(e.At)
	t.step(e.At, source, message).Extra = extra
}

// tell adds what an event says.
func (t *teller) tell(e event.Event) error {
	switch e.Type {
	case event.TypeRunStarted:
		return with(e, func(r event.RunStarted) {
			t.other(e, "system", strings.TrimSuffix("task "+r.Task.Ref+": "+r.Task.Title, ": "), map[string]any{"seed": r.Seed, "sandbox": r.Sandbox})
		})
	case event.TypeThought:
		return with(e, func(x event.Text) { t.thoughts = append(t.thoughts, x.Text) })
	case event.TypeMessage:
		return with(e, func(x event.Text) { t.message = append(t.message, x.Text) })
	case event.TypeUsage:
		return with(e, t.usage)
	case event.TypePlan:
		t.plans++
		s := t.agent(e.At)
		s.Calls = []toolCall{{fmt.Sprintf("plan%d", t.plans), "update_plan", object(e.Data)}}
	case event.TypeActionStarted:
		return with(e, func(a event.ActionStarted) {
			s := t.agent(e.At)
			s.Calls = []toolCall{{a.ID, string(a.Kind), arguments(a)}}
			t.byCall[a.ID] = s
		})
	case event.TypeActionFinished:
		return with(e, t.finished)
	case event.TypeHint:
		return with(e, func(h event.Hint) { t.other(e, "user", h.Text, map[string]any{"hint": h.ID, "author": h.Author}) })
	case event.TypeState:
		return with(e, func(c event.StateChange) {
			if c.To == event.Paused || c.From == event.Paused {
				t.other(e, "system", string(c.To), map[string]any{"reason": c.Reason, "actor": c.Actor, "frozen": c.Frozen})
			}
		})
	case event.TypeBudget:
		return with(e, func(b event.Budget) {
			t.other(e, "system", fmt.Sprintf("budget of %s: %s", b.Dimension, b.What), map[string]any{"used": b.Used, "limit": b.Limit})
		})
	case event.TypeVerdict:
		return with(e, func(v tasks.Verdict) {
			t.other(e, "system", "verdict: "+string(v.Status), map[string]any{"score": v.Score, "metric": v.Metric, "medal": v.Medal, "entered": v.Entered})
		})
	}
	return nil
}

func with[T any](e event.Event, do func(T)) error {
	v, err := event.Decode[T](e)
	if err == nil {
		do(v)
	}
	return err
}

func (t *teller) usage(u event.Usage) {
	if t.spent == nil {
		t.spent = &stepMetrics{}
	}
	t.spent.Prompt += u.Input
	t.spent.Completion += u.Output
	t.spent.Cached += u.Cached
	if u.Cost != nil {
		if t.spent.Cost == nil {
			t.spent.Cost = new(float64)
		}
		*t.spent.Cost += *u.Cost
	}
}

func (t *teller) finished(f event.ActionFinished) {
	s := t.byCall[f.ID]
	if s == nil {
		return
	}
	text := f.Text
	if f.Error != "" {
		text = strings.TrimPrefix(text+"\n"+f.Error, "\n")
	}
	s.Observation = &observation{[]observed{{f.ID, terminal.Clean(text), map[string]any{
		"exit_code": f.ExitCode, "seconds": f.Seconds, "truncated": f.Truncated,
	}}}}
}

// arguments are an action's input, or its title where it has none.
func arguments(a event.ActionStarted) json.RawMessage {
	if len(a.Input) > 0 {
		return object(a.Input)
	}
	data, err := json.Marshal(map[string]string{"title": terminal.Clean(a.Title)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}

// object makes an object of a value that is none.
func object(data json.RawMessage) json.RawMessage {
	if data = json.RawMessage(strings.TrimSpace(string(data))); strings.HasPrefix(string(data), "{") {
		return data
	}
	return json.RawMessage(`{"input":` + string(data) + `}`)
}
