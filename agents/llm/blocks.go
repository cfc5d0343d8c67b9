package llm

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Text mode: a model whose server has no tool calling acts by writing one
// fenced block, whose word after the fence is the tool. Whoever uses the
// Client sees tool calls all the same.

// shells are what models write instead of bash.
var shells = []string{"sh", "shell", "console", "zsh"}

// blockRules tells the model how to act.
func blockRules(tools []Tool) string {
	var b strings.Builder
	b.WriteString("\n\nTo act, write exactly one fenced block and nothing after it. " +
		"You are then told what came of it. These are the blocks you can write:\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n%s\n```%s\n", t.Description, t.Name)
		if t.Block != "" {
			fmt.Fprintf(&b, "%s\n```\n", t.Block)
		} else {
			fmt.Fprintf(&b, "{…}\n```\nwith a JSON object of this schema: %s\n", or(string(t.Schema), "{}"))
		}
	}
	return b.String()
}

// A block is a fenced block of a text.
type block struct{ word, body string }

// blocks returns the fenced blocks of a text. One that is not closed counts
// when it is the last thing said.
func blocks(text string) []block {
	var found []block
	var open *block
	fence := ""
	var body []string
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, " \t\r\n")
		ticks := len(bare) - len(strings.TrimLeft(bare, "`"))
		switch {
		case open == nil && ticks >= 3:
			word, _, _ := strings.Cut(strings.TrimSpace(bare[ticks:]), " ")
			open, fence, body = &block{word: word}, bare[:ticks], nil
		case open != nil && ticks == len(bare) && ticks >= len(fence):
			open.body = strings.Join(body, "")
			found, open = append(found, *open), nil
		case open != nil:
			body = append(body, line)
		}
	}
	if open != nil {
		open.body = strings.Join(body, "")
		found = append(found, *open)
	}
	return found
}

// calling returns the tool that a block calls, nil when it is only text.
func (b block) calling(tools []Tool) *Tool {
	named := func(name string) *Tool {
		if i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
			return &tools[i]
		}
		return nil
	}
	word := strings.ToLower(b.word)
	if t := named(word); t != nil {
		return t
	}
	if slices.Contains(shells, word) {
		return named("bash")
	}
	return nil
}

// blockCalls reads the call in a reply: the first block that is one. Others
// were written without knowing what came of the first.
func blockCalls(text string, tools []Tool, newID func() string) []ToolCall {
	for _, b := range blocks(text) {
		t := b.calling(tools)
		if t == nil {
			continue
		}
		args := b.body
		if t.Block != "" {
			raw, err := json.Marshal(map[string]string{t.Block: strings.TrimRight(b.body, "\n")})
			if err != nil { // strings only: cannot be
				return nil
			}
			args = string(raw)
		}
		return []ToolCall{newToolCall(newID(), t.Name, args)}
	}
	return nil
}

// inBlocks rewrites a conversation for a model in text mode: calls are the
// blocks that they were or would have been, results are said by the user.
func inBlocks(messages []Message, tools []Tool) []Message {
	var out []Message
	written := 0 // blocks in the last reply
	for _, m := range messages {
		switch {
		case m.Role == Assistant:
			calling := slices.DeleteFunc(blocks(m.Text), func(b block) bool { return b.calling(tools) == nil })
			written = len(calling)
			if written == 0 {
				for _, c := range m.Calls {
					m.Text += "\n```" + c.Name + "\n" + blockBody(c, tools) + "\n```\n"
				}
			}
			m.Calls, m.reasoning = nil, nil
		case m.Role == Result:
			text := fmt.Sprintf("Result of %s:\n%s", m.Name, or(m.Text, "(no output)"))
			if written > 1 {
				text += fmt.Sprintf("\n(Only the first of your %d blocks was executed.)", written)
			}
			m = Say(text)
		}
		if n := len(out); n > 0 && m.Role == User && out[n-1].Role == User {
			out[n-1].Text += "\n\n" + m.Text // some servers refuse two in a row
			continue
		}
		out = append(out, m)
	}
	return out
}

// blockBody is what a block for a call says.
func blockBody(c ToolCall, tools []Tool) string {
	for _, t := range tools {
		var args map[string]any
		if t.Name != c.Name || t.Block == "" || json.Unmarshal(c.Args, &args) != nil {
			continue
		}
		if s, ok := args[t.Block].(string); ok {
			return s
		}
	}
	return string(c.Args)
}
