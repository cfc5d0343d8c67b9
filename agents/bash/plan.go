package bash

import (
	"encoding/json"
	"fmt"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
)

// mostEntries is more than anybody can take in.
const mostEntries = 100

// planned is an entry as a model writes it: as the schema says, or only a
// text.
type planned agents.PlanEntry

func (p *planned) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &p.Content)
	}
	return json.Unmarshal(text, (*agents.PlanEntry)(p))
}

// plan sets the plan that is shown.
func (l *loop) plan(call llm.ToolCall) outcome {
	var args struct {
		Entries []planned `json:"entries"`
	}
	if err := call.Decode(&args); err != nil {
		return wrong("%v", err)
	}
	entries, err := checked(args.Entries)
	if err != nil {
		return wrong("%v", err)
	}
	l.Plan(entries)
	var now []string
	for _, e := range entries {
		if e.Status == agents.InProgress {
			now = append(now, e.Content)
		}
	}
	o := outcome{text: fmt.Sprintf("The plan has %d entries.", len(entries)), did: talked}
	if now != nil {
		o.trace = "planned; then: " + title(strings.Join(now, ", "))
	}
	return o
}

// checked returns the entries with what was left out filled in.
func checked(list []planned) ([]agents.PlanEntry, error) {
	if len(list) == 0 || len(list) > mostEntries {
		return nil, fmt.Errorf("a plan has from 1 to %d entries, not %d", mostEntries, len(list))
	}
	var entries []agents.PlanEntry
	for i, p := range list {
		e := agents.PlanEntry(p)
		e.Content = title(e.Content)
		e.Status = agents.PlanStatus(or(string(e.Status), string(agents.Pending)))
		e.Priority = or(e.Priority, "medium")
		switch e.Status {
		case agents.Pending, agents.InProgress, agents.Completed:
		default:
			return nil, fmt.Errorf("entry %d has the status %q; use %q, %q or %q", i+1, e.Status, agents.Pending, agents.InProgress, agents.Completed)
		}
		switch e.Priority {
		case "high", "medium", "low":
		default:
			return nil, fmt.Errorf("entry %d has the priority %q; use \"high\", \"medium\" or \"low\"", i+1, e.Priority)
		}
		if e.Content == "" {
			return nil, fmt.Errorf("entry %d has no content", i+1)
		}
		entries = append(entries, e)
	}
	return entries, nil
}
