// Package imported turns the record of a run that another program made into a
// run directory of ours, so that it is shown by the same fold over the same
// kind of log.
package imported

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"proctor/agents"
	"proctor/agents/research"
	"proctor/runner/cast"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/terminal"
	"proctor/tasks/mlagentbench"
)

// Trace writes the trace at path as a run into a directory below parent. The
// trace's own time stamps are kept. A time stamp says when an action had
// ended; what led to the action and the action itself are shown as beginning
// where the one before it ended. Plans and thoughts are those of the agent's
// log, where that lies beside the trace.
func Trace(path, parent string) (rundir.Dir, error) {
	t, err := mlagentbench.ReadTrace(path)
	if err != nil {
		return rundir.Dir{}, err
	}
	if len(t.Steps) == 0 {
		return rundir.Dir{}, fmt.Errorf("reading the trace %q: it has no steps", path)
	}
	dir := rundir.At(filepath.Join(parent, traceID(path)))
	if err := os.Mkdir(dir.Path(), 0o700); err != nil {
		return dir, fmt.Errorf("making room for the trace: %w", err)
	}
	w, err := newWriter(dir)
	if err != nil {
		return dir, err
	}
	return dir, errors.Join(w.trace(path, t), w.close())
}

// traceID names the run after the log directory that the trace lies in.
func traceID(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	name := filepath.Base(abs)
	for name == "trace.json" || name == "env_log" {
		abs = filepath.Dir(abs)
		name = filepath.Base(abs)
	}
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	return "trace-" + strings.Trim(name, ".")
}

// A writer appends to a record at moments that have long passed.
type writer struct {
	log   *event.Writer
	tape  *cast.Writer
	began time.Time
	now   time.Time
}

// The terminal in which a trace is shown.
const cols, rows = 80, 24

func newWriter(dir rundir.Dir) (*writer, error) {
	w := new(writer)
	var err error
	if w.log, err = event.NewWriter(dir.Events(), func() time.Time { return w.now }); err != nil {
		return nil, err
	}
	if w.tape, err = cast.Create(dir.Cast(), cast.Header{Version: 3, Term: cast.Term{Cols: cols, Rows: rows}}, 0); err != nil {
		return nil, errors.Join(err, w.log.Close())
	}
	return w, nil
}

func (w *writer) close() error { return errors.Join(w.tape.Close(), w.log.Close()) }

// worked is the working time now: a trace knows of no pauses.
func (w *writer) worked() time.Duration { return w.now.Sub(w.began) }

func (w *writer) append(t event.Type, payload any) error {
	_, err := w.log.Append(t, w.worked(), payload)
	return err
}

// trace writes the whole record.
func (w *writer) trace(path string, t *mlagentbench.Trace) error {
	w.now = beginning(t.Steps)
	w.began = w.now
	title, _, _ := strings.Cut(strings.TrimSpace(t.Problem), "\n")
	err := errors.Join(
		w.append(event.TypeRunStarted, event.RunStarted{
			ID:    traceID(path),
			Task:  event.TaskInfo{Ref: path, Suite: "mlagentbench", Title: terminal.Clean(title)},
			Agent: "MLAgentBench", Version: "trace.json",
		}),
		w.append(event.TypeState, event.StateChange{From: event.Preparing, To: event.Running}),
	)
	if err == nil && t.Problem != "" {
		err = w.append(event.TypeMessage, event.Text{Text: terminal.Clean(t.Problem)})
	}
	for i, s := range t.Steps {
		if err != nil {
			return err
		}
		err = w.step(i+1, s)
	}
	end := event.StateChange{From: event.Running, To: event.Done, Reason: "the agent gave its final answer; a trace has no score"}
	if !t.Finished {
		end = event.StateChange{From: event.Running, To: event.Interrupted, Reason: "the trace ends without a final answer"}
	}
	return errors.Join(err, w.append(event.TypeState, end), w.append(event.TypeRunEnded, event.RunEnded{Status: string(end.To), Reason: end.Reason}))
}

// beginning is when the first action is taken to have begun: as long before
// its end as the second one took, and at most a minute.
func beginning(steps []mlagentbench.Step) time.Time {
	first := steps[0].At
	if first.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	took := time.Second
	if len(steps) > 1 && steps[1].At.After(first) {
		took = min(steps[1].At.Sub(first), time.Minute)
	}
	return first.Add(-took)
}

// step writes what led to an action, the action, and what came of it.
func (w *writer) step(number int, s mlagentbench.Step) error {
	var all []error
	say := func(heading, text string) {
		if text != "" {
			all = append(all, w.append(event.TypeThought, event.Text{Text: heading + ": " + terminal.Clean(text)}))
		}
	}
	say("Reflection", s.Reflection)
	if s.Plan != "" {
		all = append(all, w.append(event.TypePlan, event.Plan{Entries: research.PlanEntries(terminal.Clean(s.Plan))}))
	}
	say("Fact Check", s.FactCheck)
	say("Thought", s.Thought)

	w.now = w.now.Add(time.Millisecond) // after what led to it, wherever things are sorted by time
	id := fmt.Sprintf("a%d", number)
	input := json.RawMessage(s.Input)
	if !json.Valid(input) {
		input, _ = json.Marshal(s.Input) // a string always marshals
	}
	title := terminal.Clean(s.Action + summary(s.Input))
	all = append(all, w.append(event.TypeActionStarted, event.ActionStarted{ID: id, Step: number, Kind: kind(s.Action), Title: title, Input: input}))
	all = append(all, w.print("\x1b[1m$\x1b[0m "+title))

	from := w.now
	switch {
	case s.At.IsZero():
		w.now = w.now.Add(time.Second)
	case s.At.After(w.now):
		w.now = s.At
	}
	all = append(all, w.print(strings.TrimRight(terminal.Clean(s.Observation), "\n")), w.append(event.TypeActionFinished, event.ActionFinished{ID: id, Observation: agents.Observation{
		ExitCode: exitCode(s.Observation), Seconds: w.now.Sub(from).Seconds(), Text: s.Observation,
	}}))
	return errors.Join(all...)
}

// print shows text in the terminal now.
func (w *writer) print(text string) error {
	w.tape.Output(w.worked(), []byte(strings.ReplaceAll(text, "\n", "\r\n")+"\r\n"))
	_, err := w.tape.Flush()
	return err
}

// summary is the part of an action's arguments that tells it from others: its
// first short one, a file's name for most of them.
func summary(input string) string {
	var args map[string]any
	if json.Unmarshal([]byte(input), &args) != nil {
		return ""
	}
	for _, name := range []string{"script_name", "file_name", "dir_path", "source", "command"} {
		if v, ok := args[name].(string); ok && v != "" {
			line, _, _ := strings.Cut(v, "\n")
			return " " + line
		}
	}
	return ""
}

// exitCode is 1 for what MLAgentBench's environment reports as an error.
func exitCode(observation string) int {
	if strings.HasPrefix(observation, "EnvError") || strings.Contains(observation, "STDERR:\n\nTraceback") {
		return 1
	}
	return 0
}

// kind sorts MLAgentBench's actions by what they do.
func kind(action string) agents.ActionKind {
	switch action {
	case "Execute Script", "Python REPL":
		return agents.Execute
	case "List Files", "Read File", "Understand File", "Inspect Script Lines", "Retrieval from Research Log":
		return agents.Read
	case "Write File", "Append File", "Copy File", "Edit Script (AI)", "Edit Script Segment (AI)", "Undo Edit Script", "Append Summary to Research Log":
		return agents.Edit
	case "Reflection":
		return agents.Think
	}
	return agents.Other
}
