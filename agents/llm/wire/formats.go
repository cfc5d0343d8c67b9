package wire

import (
	"encoding/json"
	"errors"
)

// decode reads JSON into v. A field of an unexpected type is skipped and the
// rest is read; it reports only whether data was JSON at all.
func decode(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	var mismatch *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch)
}

// loose is a string, or anything else in a place where servers differ: a
// list of parts, or an object where text was due.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil { // null leaves s empty
		*l = loose(s)
	} else {
		*l = loose(data)
	}
	return nil
}

// chatMessage is a message of chat completions, or a part of one.
type chatMessage struct {
	Content          loose `json:"content"`
	Refusal          loose `json:"refusal"`
	ReasoningContent loose `json:"reasoning_content"`
	Reasoning        loose `json:"reasoning"`
	ToolCalls        []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments loose  `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// chat reads a chunk or a whole reply of OpenAI's chat completions.
func (m *Meter) chat(data []byte) bool {
	var v struct {
		Model   string `json:"model"`
		Choices []struct {
			FinishReason string      `json:"finish_reason"`
			Delta        chatMessage `json:"delta"`
			Message      chatMessage `json:"message"`
		} `json:"choices"`
		Usage *struct {
			Prompt     *int64 `json:"prompt_tokens"`
			Completion *int64 `json:"completion_tokens"`
			Details    struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			CacheHit int64 `json:"prompt_cache_hit_tokens"` // DeepSeek's name for it
			Output   struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
			Cost *float64 `json:"cost"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	ok := decode(data, &v)
	m.model(v.Model)
	for _, c := range v.Choices {
		for _, d := range []chatMessage{c.Delta, c.Message} {
			m.text(string(d.Content), string(d.Refusal), string(d.ReasoningContent), string(d.Reasoning))
			for _, t := range d.ToolCalls {
				m.call(t.Function.Name)
				m.text(string(t.Function.Arguments))
			}
		}
		m.reply.Done = m.reply.Done || c.FinishReason != "" || m.events == nil
	}
	if u := v.Usage; u != nil {
		if u.Prompt != nil {
			m.said(*u.Prompt)
			m.reply.Usage.Cached = max(0, u.Details.Cached, u.CacheHit)
		}
		if u.Completion != nil {
			// Some servers count along in every chunk; the last one is right.
			m.wrote(*u.Completion, m.reply.Done)
			m.reply.Usage.Reasoning = max(0, u.Output.Reasoning)
		}
		if u.Cost != nil && *u.Cost >= 0 {
			m.reply.Usage.Cost = u.Cost
		}
	}
	m.fault(faultOf(v.Error))
	return ok
}

// responses reads an event or a whole reply of OpenAI's responses.
func (m *Meter) responses(data []byte) bool {
	type response struct {
		Object string `json:"object"`
		Model  string `json:"model"`
		Status string `json:"status"`
		Output []struct {
			Type      string `json:"type"`
			Arguments loose  `json:"arguments"`
			Name      string `json:"name"`
			Content   []struct {
				Text string `json:"text"`
			} `json:"content"`
			Summary []struct {
				Text string `json:"text"`
			} `json:"summary"`
		} `json:"output"`
		Usage *struct {
			Input   *int64 `json:"input_tokens"`
			Output  *int64 `json:"output_tokens"`
			Details struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			OutputDetails struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	var v struct {
		response
		Type     string    `json:"type"`
		Code     string    `json:"code"`
		Message  string    `json:"message"`
		Delta    loose     `json:"delta"`
		Response *response `json:"response"`
		Item     struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"item"`
	}
	ok := decode(data, &v)
	r := v.Response
	if r == nil {
		r = &v.response
	}
	m.model(r.Model)
	m.text(string(v.Delta))
	if v.Type == "error" && v.Message != "" {
		m.fault(&Fault{Type: v.Code, Code: v.Code, Message: v.Message})
	}
	if v.Type == "response.output_item.added" && v.Item.Type == "function_call" {
		m.call(v.Item.Name)
	}
	if r.Status == "completed" || r.Status == "incomplete" ||
		v.Type == "response.completed" || v.Type == "response.incomplete" {
		m.reply.Done = true
	}
	if v.Response == nil { // a whole reply repeats nothing that was streamed
		for _, o := range r.Output {
			m.call(o.Name)
			m.text(string(o.Arguments))
			for _, c := range o.Content {
				m.text(c.Text)
			}
			for _, s := range o.Summary {
				m.text(s.Text)
			}
		}
	}
	if u := r.Usage; u != nil {
		if u.Input != nil {
			m.said(*u.Input)
			m.reply.Usage.Cached = max(0, u.Details.Cached)
		}
		if u.Output != nil {
			m.wrote(*u.Output, true)
			m.reply.Usage.Reasoning = max(0, u.OutputDetails.Reasoning)
		}
	}
	m.fault(faultOf(r.Error))
	return ok
}

// messagesUsage is Anthropic's count, in which nothing includes the rest.
type messagesUsage struct {
	Input      *int64 `json:"input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

// messages reads an event or a whole reply of Anthropic's messages.
func (m *Meter) messages(data []byte) bool {
	type message struct {
		Type       string         `json:"type"`
		Model      string         `json:"model"`
		StopReason string         `json:"stop_reason"`
		Usage      *messagesUsage `json:"usage"`
		Content    []struct {
			Type     string          `json:"type"`
			Text     string          `json:"text"`
			Thinking string          `json:"thinking"`
			Name     string          `json:"name"`
			Input    json.RawMessage `json:"input"`
		} `json:"content"`
	}
	var v struct {
		message
		Message *message `json:"message"`
		Block   struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"content_block"`
		Delta struct {
			Text        string `json:"text"`
			Thinking    string `json:"thinking"`
			PartialJSON string `json:"partial_json"`
		} `json:"delta"`
		Error json.RawMessage `json:"error"`
	}
	ok := decode(data, &v)
	switch v.Type {
	case "message_start":
		if v.Message != nil {
			m.model(v.Message.Model)
			m.messagesUsage(v.Message.Usage, false)
		}
	case "content_block_start":
		if v.Block.Type == "tool_use" {
			m.call(v.Block.Name)
		}
	case "content_block_delta":
		m.text(v.Delta.Text, v.Delta.Thinking, v.Delta.PartialJSON)
	case "message_delta":
		m.messagesUsage(v.Usage, true)
	case "message_stop":
		m.reply.Done = true
	case "message": // a whole reply
		m.model(v.Model)
		for _, c := range v.Content {
			m.text(c.Text, c.Thinking, string(c.Input))
			if c.Type == "tool_use" {
				m.call(c.Name)
			}
		}
		m.messagesUsage(v.Usage, true)
		m.reply.Done = true
	case "error":
		m.fault(faultOf(v.Error))
	}
	return ok
}

func (m *Meter) messagesUsage(u *messagesUsage, last bool) {
	if u == nil {
		return
	}
	r := &m.reply.Usage
	fresh := max(0, m.input) - r.Cached - r.CacheWrite
	known := m.input >= 0
	for _, f := range []struct {
		said *int64
		into *int64
	}{{u.Input, &fresh}, {u.CacheRead, &r.Cached}, {u.CacheWrite, &r.CacheWrite}} {
		if f.said != nil && *f.said >= 0 {
			*f.into, known = *f.said, true
		}
	}
	if known {
		m.said(fresh + r.Cached + r.CacheWrite)
	}
	if u.Output != nil {
		m.wrote(*u.Output, last)
	}
}

// gemini reads a chunk or a whole reply of Gemini's generateContent.
func (m *Meter) gemini(data []byte) bool {
	var v struct {
		Model      string `json:"modelVersion"`
		Candidates []struct {
			FinishReason string `json:"finishReason"`
			Content      struct {
				Parts []struct {
					Text string `json:"text"`
					Call *struct {
						Name string          `json:"name"`
						Args json.RawMessage `json:"args"`
					} `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
		Feedback struct {
			BlockReason string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage *struct {
			Prompt     *int64 `json:"promptTokenCount"`
			Candidates int64  `json:"candidatesTokenCount"`
			Thoughts   int64  `json:"thoughtsTokenCount"`
			Cached     int64  `json:"cachedContentTokenCount"`
			ToolPrompt int64  `json:"toolUsePromptTokenCount"`
		} `json:"usageMetadata"`
		Error json.RawMessage `json:"error"`
	}
	ok := decode(data, &v)
	m.model(v.Model)
	m.reply.Done = m.reply.Done || v.Feedback.BlockReason != ""
	for _, c := range v.Candidates {
		for _, p := range c.Content.Parts {
			m.text(p.Text)
			if p.Call != nil {
				m.call(p.Call.Name)
				m.text(string(p.Call.Args))
			}
		}
		m.reply.Done = m.reply.Done || c.FinishReason != ""
	}
	if u := v.Usage; u != nil && u.Prompt != nil {
		m.said(*u.Prompt + max(0, u.ToolPrompt))
		m.wrote(max(0, u.Candidates)+max(0, u.Thoughts), m.reply.Done)
		m.reply.Usage.Cached = max(0, u.Cached)
		m.reply.Usage.Reasoning = max(0, u.Thoughts)
	}
	m.fault(faultOf(v.Error))
	return ok
}

func (m *Meter) model(name string) {
	if name != "" {
		m.reply.Model = name
	}
}

func (m *Meter) call(name string) {
	if name != "" {
		m.reply.Calls++
	}
}
