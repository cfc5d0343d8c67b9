package bash

import (
	"encoding/json"

	"proctor/agents/llm"
)

// The tools by name.
const (
	bashTool   = "bash"
	planTool   = "plan"
	submitTool = "submit"
)

// tools returns what the model is offered, the same bytes every time.
func tools() []llm.Tool {
	return []llm.Tool{
		{
			Name: bashTool,
			Description: "Run a command with sh -c in the workspace. Each command has a new shell: directory and variables do not carry over. " +
				"You get its exit code and its output as a terminal shows it; of a long output, head and tail.",
			Schema: json.RawMessage(`{"type":"object","properties":{` +
				`"command":{"type":"string","description":"the command"},` +
				`"timeout_s":{"type":"number","description":"end it after so many seconds instead of the default"},` +
				`"background":{"type":"boolean","description":"start it and do not wait; its output goes to a file that you are told"}` +
				`},"required":["command"]}`),
			Block: "command",
		},
		{
			Name:        planTool,
			Description: "Set your plan, which the people who watch see: all of its entries, each time that one changes.",
			Schema: json.RawMessage(`{"type":"object","properties":{"entries":{"type":"array","items":{"type":"object","properties":{` +
				`"content":{"type":"string"},` +
				`"status":{"type":"string","enum":["pending","in_progress","completed"]},` +
				`"priority":{"type":"string","enum":["high","medium","low"]}` +
				`},"required":["content","status"]}}},"required":["entries"]}`),
		},
		{
			Name:        submitTool,
			Description: "Finish. What the task asks for must be in place. This ends the run; nothing can be done afterwards.",
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string",` +
				`"description":"workspace path of what you submit, if it is not yet where the task wants it"}}}`),
		},
	}
}
