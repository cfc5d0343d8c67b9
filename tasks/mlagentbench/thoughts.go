package mlagentbench

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks/checkout"
)

// entries is what the research agent writes at each step, by the names that
// its prompt demands.
type entries map[string]string

// attach adds what the agent wrote to the steps it wrote it for. The two
// records number their steps differently and either may lack some, but both
// are in order: each entry goes to the next step with its action.
func (t *Trace) attach(written []entries) {
	next := 0
	for _, e := range written {
		action := strings.TrimSpace(e["Action"])
		for i := next; i < len(t.Steps); i++ {
			step := &t.Steps[i]
			if step.Action != action {
				continue
			}
			step.Plan = strings.TrimSpace(e["Research Plan and Status"])
			step.Reflection = strings.TrimSpace(e["Reflection"])
			step.FactCheck = strings.TrimSpace(e["Fact Check"])
			step.Thought = strings.TrimSpace(e["Thought"])
			next = i + 1
			break
		}
	}
}

// agentState matches the files in which the agent saved itself after every
// step: agent_<trace step>_<own step>.json.
var agentState = regexp.MustCompile(`^agent_([0-9]{1,9})_([0-9]{1,9})\.json$`)

// readThoughts reads the agent's log: its last saved state or, where none can
// be read, main_log. It returns nothing where there is neither.
func readThoughts(logs checkout.Dir) []entries {
	list, err := logs.ReadDir(".")
	if err != nil {
		return nil
	}
	type state struct {
		name      string
		step, own int
	}
	var states []state
	for _, e := range list {
		if m := agentState.FindStringSubmatch(e.Name()); m != nil {
			step, _ := strconv.Atoi(m[1])
			own, _ := strconv.Atoi(m[2])
			states = append(states, state{e.Name(), step, own})
		}
	}
	slices.SortFunc(states, func(a, b state) int { return cmp.Or(b.own-a.own, b.step-a.step) })
	for _, s := range states[:min(3, len(states))] { // the last may be torn
		if text, err := logs.Text(s.name, maxTrace); err == nil {
			if written := parseState([]byte(text)); len(written) > 0 {
				return written
			}
		}
	}
	text, err := logs.Text("main_log", maxTrace)
	if err != nil {
		return nil
	}
	return parseMainLog(text)
}

// parseState reads an agent's saved state.
func parseState(data []byte) []entries {
	var raw struct {
		History []struct {
			Action map[string]any `json:"action"`
		} `json:"history_steps"`
	}
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	var written []entries
	for _, step := range raw.History {
		e := entries{}
		for name, value := range step.Action {
			if text, ok := value.(string); ok {
				e[name] = text
			}
		}
		written = append(written, e)
	}
	return written
}

var (
	logStep  = regexp.MustCompile(`(?m)^Step [0-9]+:$`)
	logEntry = regexp.MustCompile(`(?m)^(Reflection|Research Plan and Status|Fact Check|Thought|Action|Action Input|Observation): ?`)
)

// parseMainLog reads the text that the agent logged for people: after each
// "Step N:" the entries, and then the observation, which may hold anything.
func parseMainLog(text string) []entries {
	var written []entries
	starts := logStep.FindAllStringIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		e := entries{}
		block := text[at[1]:end]
		marks := logEntry.FindAllStringSubmatchIndex(block, -1)
		for j, m := range marks {
			name := block[m[2]:m[3]]
			if _, again := e[name]; again || name == "Observation" {
				break
			}
			stop := len(block)
			if j+1 < len(marks) {
				stop = marks[j+1][0]
			}
			e[name] = strings.TrimSpace(block[m[1]:stop])
		}
		if e["Action"] != "" {
			written = append(written, e)
		}
	}
	return written
}
