package mlagentbench

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/tasks/benchtest"
)

const trace = `{
  "steps": [
    {"action": {"name": "List Files", "args": {"dir_path": "."}}, "observation": "train.py", "timestamp": 1700000000.25},
    {"action": {"name": "Execute Script", "args": "not {json"}, "observation": "The script\nran", "timestamp": 1700000060.5},
    {"action": {"name": "Final Answer", "args": "Done!"}, "observation": "end", "timestamp": 1700000090, "later": true}
  ],
  "low_level_steps": [], "action_infos": {}, "task_description": "Improve it."
}`

const state = `{"history_steps": [
  {"step_idx": 1, "action": {"Reflection": "none", "Research Plan and Status": "1. look\n\n", "Thought": "look first", "Action": "List Files\n"}},
  {"step_idx": 1, "action": {"Action": "Understand File", "Thought": "was never run"}},
  {"step_idx": 2, "action": {"Research Plan and Status": "2. run", "Fact Check": "seen", "Action": "Execute Script"}}
]}`

const mainLog = `Enabled Tools in Prompt:[]
Step 0:

Assistant:Reflection: none
Reflection: none
Research Plan and Status: 1. look
   at everything
Fact Check: seen
Thought: look first
Action: List Files
Action Input: {"dir_path": "."}
Observation:

` + "```" + `
Action: Execute Script
` + "```" + `

Step 1:
Thought: run it
Action: Execute Script
Observation:
`

func TestReadTrace(t *testing.T) {
	dir := benchtest.Lay(t, map[string]string{
		"env_log/trace.json": trace,
		// The newest is torn, and read past.
		"agent_log/agent_2_2.json": `{"history_st`, "agent_log/agent_1_1.json": state, "agent_log/agent_0_0.json": `{}`,
	})
	for _, path := range []string{dir, filepath.Join(dir, "env_log"), filepath.Join(dir, "env_log", "trace.json")} {
		got, err := ReadTrace(path)
		if err != nil {
			t.Fatal(err)
		}
		if got.Problem != "Improve it." || len(got.Steps) != 3 || !got.Finished || !IsTrace(path) {
			t.Fatalf("%s: %+v", path, got)
		}
		first, second, last := got.Steps[0], got.Steps[1], got.Steps[2]
		if first.Plan != "1. look" || first.Thought != "look first" || first.Input != `{"dir_path":"."}` || first.Reflection != "none" ||
			!first.At.Equal(time.Unix(1700000000, 250000000)) {
			t.Errorf("first step %+v", first)
		}
		if second.Plan != "2. run" || second.FactCheck != "seen" || second.Input != "not {json" || second.Observation != "The script\nran" {
			t.Errorf("second step %+v", second)
		}
		if last.Step != 2 || last.Plan != "" || last.Input != "Done!" {
			t.Errorf("last step %+v", last)
		}
	}
}

func TestReadTraceMainLog(t *testing.T) {
	dir := benchtest.Lay(t, map[string]string{"env_log/trace.json": trace, "agent_log/main_log": mainLog})
	got, err := ReadTrace(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Steps[0].Plan != "1. look\n   at everything" || got.Steps[0].Thought != "look first" || got.Steps[1].Thought != "run it" {
		t.Errorf("steps %+v", got.Steps)
	}
}

func TestReadTraceErrors(t *testing.T) {
	dir := benchtest.Lay(t, map[string]string{"torn/trace.json": trace[:100], "other/trace.json": `{"nodes": []}`, "none/x": ""})
	for name, says := range map[string]string{"torn": "no trace", "other": `"steps"`, "none": "trace.json", "absent": "no such file"} {
		if _, err := ReadTrace(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
		if IsTrace(filepath.Join(dir, name)) {
			t.Errorf("%s is taken for a trace", name)
		}
	}
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(trace), []byte(state), mainLog)
	f.Add([]byte(`{"steps": [{"timestamp": -1e300}]}`), []byte(`{}`), "Step 0:\nAction: \n")
	f.Fuzz(func(t *testing.T, trace, state []byte, log string) {
		got, err := parseTrace(trace)
		if err != nil {
			return
		}
		got.attach(parseState(state))
		got.attach(parseMainLog(log))
		for i, s := range got.Steps {
			if s.Step != i {
				t.Fatalf("step %d is numbered %d", i, s.Step)
			}
		}
	})
}
