package llm

import (
	"encoding/json"
	"regexp"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
)

// anthropicOutput is the limit on a reply where the provider insists on one
// and nobody has set it, in tokens.
const anthropicOutput = 8192

// call translates a request. The same messages always give the same bytes,
// so that a conversation that only grows hits the provider's cache.
func (c *Client) call(r Request, inText bool) fantasy.Call {
	messages := r.Messages
	system := r.System
	call := fantasy.Call{Temperature: r.Temperature, UserAgent: "proctor", ProviderOptions: c.effort()}
	if inText {
		system += blockRules(r.Tools)
		messages = inBlocks(messages, r.Tools)
	} else {
		messages = answered(messages)
		for _, t := range r.Tools {
			call.Tools = append(call.Tools, fantasy.FunctionTool{Name: t.Name, Description: t.Description, InputSchema: schema(t)})
		}
	}
	if n := or(r.MaxOutput, c.model.MaxOutput); n > 0 {
		call.MaxOutputTokens = &n
	} else if c.model.Provider == Anthropic {
		n := int64(anthropicOutput)
		call.MaxOutputTokens = &n
	}
	if system != "" {
		call.Prompt = append(call.Prompt, fantasy.NewSystemMessage(system))
	}
	for _, m := range messages {
		call.Prompt = append(call.Prompt, translate(m))
	}
	if n := len(call.Prompt); n > 0 && c.model.Provider == Anthropic {
		// Anthropic caches only what it is told to, up to a mark.
		mark := anthropic.NewProviderCacheControlOptions(&anthropic.ProviderCacheControlOptions{
			CacheControl: anthropic.CacheControl{Type: "ephemeral"}})
		call.Prompt[0].ProviderOptions = mark
		call.Prompt[n-1].ProviderOptions = mark
	}
	return call
}

// effort is how hard to think, in the provider's options.
func (c *Client) effort() fantasy.ProviderOptions {
	word := c.model.Effort
	if word == "" {
		return nil
	}
	switch c.model.Provider {
	case OpenAI:
		e := openai.ReasoningEffort(word)
		summary := "auto"
		return fantasy.ProviderOptions{openai.Name: &openai.ResponsesProviderOptions{ReasoningEffort: &e, ReasoningSummary: &summary}}
	case Anthropic:
		e := anthropic.Effort(word)
		return fantasy.ProviderOptions{anthropic.Name: &anthropic.ProviderOptions{Effort: &e}}
	}
	e := openai.ReasoningEffort(word)
	return fantasy.ProviderOptions{openaicompat.Name: &openaicompat.ProviderOptions{ReasoningEffort: &e}}
}

// schema returns a tool's arguments as the library takes them; a tool
// without a schema has none.
func schema(t Tool) map[string]any {
	var s map[string]any
	if json.Unmarshal(t.Schema, &s) != nil || s == nil {
		s = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	return s
}

// badName is what no provider takes in the name of a tool. A model that
// invents a tool may use it, and the invention is sent back to it.
var badName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func translate(m Message) fantasy.Message {
	switch m.Role {
	case Result:
		return fantasy.Message{Role: fantasy.MessageRoleTool, Content: []fantasy.MessagePart{
			fantasy.ToolResultPart{ToolCallID: m.CallID, Output: fantasy.ToolResultOutputContentText{Text: or(m.Text, "(no output)")}}}}
	case Assistant:
		out := fantasy.Message{Role: fantasy.MessageRoleAssistant}
		if len(m.Calls) > 0 {
			for _, t := range m.reasoning {
				out.Content = append(out.Content, t)
			}
		}
		if m.Text != "" {
			out.Content = append(out.Content, fantasy.TextPart{Text: m.Text})
		}
		for _, c := range m.Calls {
			name := badName.ReplaceAllString(c.Name, "_")
			out.Content = append(out.Content, fantasy.ToolCallPart{ToolCallID: c.ID, ToolName: or(name[:min(len(name), 64)], "_"), Input: string(c.Args)})
		}
		if out.Content == nil {
			out.Content = []fantasy.MessagePart{fantasy.TextPart{Text: "(nothing)"}}
		}
		return out
	}
	return fantasy.NewUserMessage(or(m.Text, "(nothing)"))
}

// answered returns the messages with every call answered, right after it:
// providers refuse a conversation in which one is not, as after a call that
// was interrupted.
func answered(messages []Message) []Message {
	var out []Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		out = append(out, m)
		if m.Role != Assistant || len(m.Calls) == 0 {
			continue
		}
		done := map[string]bool{}
		for i+1 < len(messages) && messages[i+1].Role == Result {
			i++
			done[messages[i].CallID] = true
			out = append(out, messages[i])
		}
		for _, c := range m.Calls {
			if !done[c.ID] {
				out = append(out, Answer(c, "(not executed)"))
			}
		}
	}
	return out
}
