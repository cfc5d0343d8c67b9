package wire

import (
	"mime"
	"unicode/utf8"
)

// A Meter reads one reply as it passes. It never holds more than one event,
// or one whole reply of at most 32 MiB. It is not safe for concurrent use.
type Meter struct {
	format  Format
	events  *Splitter // of a stream of events, else nil
	objects objects
	reply   Reply

	// What the usage is made of, as far as it has been said. A negative
	// number has not.
	input, output int64
	final         bool // output is the last word, not a count on the way
	bytes         int64
}

// NewMeter returns a meter for a reply in the given format and with the
// given Content-Type.
func NewMeter(f Format, contentType string) *Meter {
	m := &Meter{format: f, input: -1, output: -1}
	if IsStream(contentType) {
		m.events = new(Splitter)
	}
	return m
}

// IsStream reports whether a Content-Type is that of a stream of events.
func IsStream(contentType string) bool {
	t, _, _ := mime.ParseMediaType(contentType)
	return t == "text/event-stream"
}

// Write reads the next chunk. It never fails.
func (m *Meter) Write(p []byte) (int, error) {
	m.bytes += int64(len(p))
	if m.events != nil {
		m.events.Push(p, m.event)
	} else {
		m.objects.push(p, m.object)
	}
	return len(p), nil
}

// Done reports whether the reply has come to its proper end yet.
func (m *Meter) Done() bool { return m.reply.Done }

// Fault returns the error that the reply has carried so far, or nil.
func (m *Meter) Fault() *Fault { return m.reply.Fault }

// Final reports whether the provider has said the whole usage.
func (m *Meter) Final() bool { return m.final && m.input >= 0 }

// Flush reads what has come of an event that did not end.
func (m *Meter) Flush() {
	if m.events != nil {
		m.events.Flush(m.event)
	}
}

// Finish ends the reply and returns what is known of it.
func (m *Meter) Finish(request []byte) Reply {
	m.Flush()
	return m.Reply(request)
}

// Reply returns what is known of the reply so far. What the provider has not
// said of its usage is estimated, from request (the call's body) and from
// what was generated.
func (m *Meter) Reply(request []byte) Reply {
	r := m.reply
	if m.objects.overflow {
		r.Chars = max(r.Chars, m.bytes)
	}
	if r.Fault != nil && r.Chars == 0 && m.input < 0 {
		return r // refused before anything was done
	}
	u := &r.Usage
	u.Input, u.Output = m.input, m.output
	if u.Input < 0 {
		u.Input, u.Estimated = EstimateRequest(request), true
	}
	if !m.final {
		u.Output, u.Estimated = max(u.Output, EstimateChars(r.Chars)), true
	}
	u.Cached = min(u.Cached, u.Input)
	u.CacheWrite = min(u.CacheWrite, u.Input-u.Cached)
	u.Reasoning = min(u.Reasoning, u.Output)
	return r
}

// event reads one event of a stream.
func (m *Meter) event(e Event) {
	switch {
	case e.Data == nil:
	case string(e.Data) == "[DONE]":
		m.reply.Done = true
	default:
		m.object(e.Data)
	}
}

// object reads one JSON object of the reply.
func (m *Meter) object(data []byte) {
	ok := true
	switch m.format {
	case Chat:
		ok = m.chat(data)
	case Responses:
		ok = m.responses(data)
	case Messages:
		ok = m.messages(data)
	case Gemini:
		ok = m.gemini(data)
	}
	if !ok {
		m.reply.Malformed++
	}
}

// said records the prompt's tokens, wrote the reply's; last is false for a
// count on the way. Counts below zero are nonsense and are ignored.
func (m *Meter) said(input int64) {
	if input >= 0 {
		m.input = input
	}
}

func (m *Meter) wrote(output int64, last bool) {
	if output >= 0 {
		m.output, m.final = output, last
	}
}

func (m *Meter) fault(f *Fault) {
	if m.reply.Fault == nil {
		m.reply.Fault = f
	}
}

func (m *Meter) text(parts ...string) {
	for _, p := range parts {
		m.reply.Chars += int64(utf8.RuneCountInString(p))
	}
}
