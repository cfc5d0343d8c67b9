package llm

import (
	"bytes"
	"encoding/json"
	"fmt"

	"charm.land/fantasy"
)

// Role says whose a message is.
type Role string

// The roles. What the system says is Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Result    Role = "tool" // of a tool call
)

// A Message is one turn of a conversation.
type Message struct {
	Role   Role       `json:"role"`
	Text   string     `json:"text"`
	Calls  []ToolCall `json:"calls,omitempty"`   // of Assistant
	CallID string     `json:"call_id,omitempty"` // of Result: which call it answers
	Name   string     `json:"name,omitempty"`    // of Result: the tool's

	// reasoning goes back to the provider with the calls that came of it;
	// some insist.
	reasoning []fantasy.ReasoningPart
}

// Say is a message of the user.
func Say(text string) Message { return Message{Role: User, Text: text} }

// Answer is the result of a call.
func Answer(c ToolCall, text string) Message {
	return Message{Role: Result, CallID: c.ID, Name: c.Name, Text: text}
}

// A Tool is something a model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of its arguments, an object
	// Block names the argument that holds what a fenced block says in text
	// mode, such as "command" for bash. With "" the block is the arguments.
	Block string
}

// A ToolCall is a model asking for a tool.
type ToolCall struct {
	ID   string `json:"id"` // never empty, unique in the life of a Client
	Name string `json:"name"`
	// Args is always a JSON object. When what the model sent was not one, it
	// is empty and Malformed has what the model sent.
	Args      json.RawMessage `json:"args"`
	Malformed string          `json:"malformed,omitempty"`
}

// Decode reads the arguments into v. Its error is written for the model to
// read.
func (c ToolCall) Decode(v any) error {
	if c.Malformed != "" {
		return fmt.Errorf("the arguments of %s are not a JSON object: %s", c.Name, clip(c.Malformed, 200))
	}
	if err := json.Unmarshal(c.Args, v); err != nil {
		return fmt.Errorf("the arguments of %s do not fit: %w", c.Name, err)
	}
	return nil
}

// newToolCall checks what a model sent as arguments.
func newToolCall(id, name, args string) ToolCall {
	c := ToolCall{ID: id, Name: name, Args: json.RawMessage("{}")}
	trimmed := bytes.TrimSpace([]byte(args))
	switch {
	case len(trimmed) == 0 || string(trimmed) == "null":
	case trimmed[0] == '{' && json.Valid(trimmed):
		c.Args = trimmed
	default:
		c.Malformed = args
	}
	return c
}

// A Request is what a model is asked.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
	// MaxOutput limits the reply, in tokens; 0 means the model's MaxOutput.
	MaxOutput   int64
	Temperature *float64
}

// A Reply is what a model answered.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []ToolCall
	Finish    Finish
	Usage     Usage
	Cost      *float64 // US dollars; nil is unknown
	// Truncated is set when the reply was longer than Options.MaxReply; the
	// rest was not kept, and no calls were.
	Truncated bool
	Attempts  int // 1 when the first went well

	reasoning []fantasy.ReasoningPart
}

// Finish says why a model stopped.
type Finish string

// The reasons. A provider may have others.
const (
	Stopped   Finish = "stop"
	WantsCall Finish = "tool-calls"
	Length    Finish = "length" // the limit on output tokens
	Filtered  Finish = "content-filter"
)

// Empty reports whether the model said and asked for nothing.
func (r Reply) Empty() bool { return r.Text == "" && len(r.Calls) == 0 }

// Message returns the reply as a message of the conversation.
func (r Reply) Message() Message {
	return Message{Role: Assistant, Text: r.Text, Calls: r.Calls, reasoning: r.reasoning}
}

// clip shortens a text to about n bytes for a message on one line.
func clip(s string, n int) string {
	s = string(bytes.Join(bytes.Fields([]byte(s)), []byte(" ")))
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
