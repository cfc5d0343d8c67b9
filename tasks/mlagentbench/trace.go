package mlagentbench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"proctor/tasks/checkout"
)

// maxTrace bounds the files of a recorded run, in bytes.
const maxTrace = 256 << 20

// A Trace is a run of the suite's own agent, as its log directory has it.
type Trace struct {
	Problem string // the instruction that the agent was given
	Steps   []Step // in the order in which they were taken
	// Finished reports whether the agent submitted a final answer.
	Finished bool
}

// A Step is one action with what led to it and what came of it.
type Step struct {
	Step int       // counted from 0, as the record's own files are
	At   time.Time // when the action had ended; zero when it is not on record
	// Plan, Reflection, FactCheck and Thought are what the research agent
	// wrote with the action; empty for other agents and where its log is gone.
	Plan, Reflection, FactCheck, Thought string
	Action                               string // "Execute Script", "Final Answer", …
	// Input is the action's arguments as a JSON object, or the text that was
	// given in the place of one.
	Input       string
	Observation string
}

// ReadTrace reads a recorded run: its trace.json, or a directory that has it,
// be it env_log or the log directory above that. Plans and thoughts are taken
// from the agent's own log beside it, agent_log, where that is there.
func ReadTrace(path string) (*Trace, error) {
	file, logs, err := locate(path)
	if err != nil {
		return nil, fmt.Errorf("reading the trace %q: %w", path, err)
	}
	data, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("reading the trace %q: %w", file, err)
	}
	t, err := parseTrace(data)
	if err != nil {
		return nil, fmt.Errorf("reading the trace %q: %w", file, err)
	}
	t.attach(readThoughts(checkout.Dir(filepath.Join(logs, "agent_log"))))
	return t, nil
}

// IsTrace reports whether path is something that ReadTrace would look into.
func IsTrace(path string) bool {
	file, _, err := locate(path)
	if err != nil {
		return false
	}
	data, err := readAll(file)
	if err != nil {
		return false
	}
	_, err = parseTrace(data)
	return err == nil
}

// locate finds a trace.json and the log directory that it belongs to.
func locate(path string) (file, logs string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", errors.New("no such file")
	}
	if !info.IsDir() {
		return path, filepath.Dir(filepath.Dir(filepath.Clean(path))), nil
	}
	for _, below := range []string{"env_log/trace.json", "trace.json"} {
		file = filepath.Join(path, filepath.FromSlash(below))
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, filepath.Dir(filepath.Dir(file)), nil
		}
	}
	return "", "", errors.New("neither it nor its env_log has a trace.json")
}

func readAll(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.New("no such file")
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTrace+1))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	if len(data) > maxTrace {
		return nil, fmt.Errorf("it is larger than %d bytes", maxTrace)
	}
	return data, nil
}

// parseTrace reads a trace.json. Fields that are not known are passed over.
func parseTrace(data []byte) (*Trace, error) {
	var raw struct {
		Steps *[]struct {
			Action struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"action"`
			Observation json.RawMessage `json:"observation"`
			Timestamp   float64         `json:"timestamp"`
		} `json:"steps"`
		Problem any `json:"task_description"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("it is no trace: %w", err)
	}
	if raw.Steps == nil {
		return nil, errors.New(`it is no trace: it has no "steps"`)
	}
	t := &Trace{}
	t.Problem, _ = raw.Problem.(string)
	for i, step := range *raw.Steps {
		t.Steps = append(t.Steps, Step{
			Step: i, At: moment(step.Timestamp), Action: step.Action.Name,
			Input: textOf(step.Action.Args), Observation: textOf(step.Observation),
		})
		t.Finished = t.Finished || step.Action.Name == "Final Answer"
	}
	return t, nil
}

// moment turns seconds since 1970 into a time; zero for what is none.
func moment(seconds float64) time.Time {
	if !(seconds > 0 && seconds < 1e11) {
		return time.Time{}
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// textOf returns a JSON string's text, and any other value as compact JSON.
func textOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return string(raw)
	}
	return compact.String()
}
