// Package wire reads what model providers say over HTTP, in the four formats
// in use: OpenAI's chat completions and responses, Anthropic's messages and
// Gemini's generateContent, each streamed or whole.
//
// It knows just enough of each to meter a call: which model answered, how
// many tokens it counted, whether the reply came to its proper end, and what
// error it carries. Whoever needs the text itself has a client for that. The
// bytes it reads come from elsewhere and may be anything; nothing in here
// fails on them, a reply that makes no sense is one without usage.
package wire

// Format is one of the four wire formats.
type Format string

// The wire formats, by the last part of their request paths.
const (
	Chat      Format = "chat"      // OpenAI: /v1/chat/completions
	Responses Format = "responses" // OpenAI: /v1/responses
	Messages  Format = "messages"  // Anthropic: /v1/messages
	Gemini    Format = "gemini"    // Google: /v1beta/models/M:generateContent
)

// Usage is what one model call consumed, in tokens, counted the same way
// whoever served it: Input includes what was read from and written to a
// cache (Anthropic's own figure excludes both), Output includes reasoning
// (Gemini's own excludes it).
type Usage struct {
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached"`                // part of Input, read from a cache
	CacheWrite int64 `json:"cache_write,omitempty"` // part of Input, written to a cache
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning,omitempty"` // part of Output
	// Cost is what the provider says it charged, in US dollars; most do not.
	Cost *float64 `json:"cost,omitempty"`
	// Estimated is set when the provider did not say, or not all of it, and
	// the missing figures were worked out from the length of the text.
	Estimated bool `json:"estimated,omitempty"`
}

// Add returns the sum of two usages. Its Cost is known only where both are.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Input:      u.Input + v.Input,
		Cached:     u.Cached + v.Cached,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		Estimated:  u.Estimated || v.Estimated,
	}
	if u.Cost != nil && v.Cost != nil {
		c := *u.Cost + *v.Cost
		sum.Cost = &c
	}
	return sum
}

// A Fault is an error that a provider reported in a body or in a stream.
type Fault struct {
	Type    string // such as "rate_limit_error"
	Code    string // such as "insufficient_quota"
	Message string
}

// A Reply is what a Meter learned from one reply.
type Reply struct {
	Model string // as the provider names it; "" when it did not
	Usage Usage
	Done  bool   // the reply came to its proper end
	Fault *Fault // the first error inside the reply
	Chars int64  // characters of text, reasoning and tool arguments
	Calls int    // tool calls begun
	// Malformed counts parts that were not JSON.
	Malformed int
}
