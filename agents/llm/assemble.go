package llm

import (
	"strings"

	"charm.land/fantasy"

	"proctor/agents/llm/redact"
)

// An assembler puts the pieces of a streamed reply together, without the
// secrets, and passes them on as they come.
type assembler struct {
	client    *Client
	watch     Watch
	text      spoken
	reasoning spoken
	calls     []openCall
	thoughts  []fantasy.ReasoningPart
	finish    fantasy.FinishReason
	size      int
	truncated bool
}

// spoken is a text on its way through the redactors.
type spoken struct {
	text strings.Builder
	safe []*redact.Stream
	tell func(string)
}

type openCall struct {
	id, name string
	args     strings.Builder
	whole    string // as the library gives it at the end
}

func newAssembler(c *Client, w Watch) *assembler {
	a := &assembler{client: c, watch: w}
	for _, s := range []*spoken{&a.text, &a.reasoning} {
		s.safe = []*redact.Stream{c.redact.Stream(), c.options.Redact.Stream()}
	}
	a.text.tell, a.reasoning.tell = w.Text, w.Reasoning
	return a
}

// add takes a piece; end lets go of what the redactors held back.
func (s *spoken) add(delta string, end bool) {
	p := []byte(delta)
	for _, r := range s.safe {
		p = r.Next(p)
		if end {
			p = append(p[:len(p):len(p)], r.Rest()...)
		}
	}
	if len(p) == 0 {
		return
	}
	s.text.Write(p)
	if s.tell != nil {
		s.tell(string(p))
	}
}

// read takes the parts of a reply until it ends, fails or grows too long.
func (a *assembler) read(stream fantasy.StreamResponse) error {
	for part := range stream {
		switch part.Type {
		case fantasy.StreamPartTypeError:
			return part.Error
		case fantasy.StreamPartTypeFinish:
			a.finish = part.FinishReason
		default:
			a.part(part)
		}
		if a.size > a.client.options.MaxReply {
			a.truncated = true
			break
		}
	}
	a.text.add("", true)
	a.reasoning.add("", true)
	return nil
}

func (a *assembler) part(p fantasy.StreamPart) {
	switch p.Type {
	case fantasy.StreamPartTypeTextDelta:
		a.size += len(p.Delta)
		a.text.add(p.Delta, false)
	case fantasy.StreamPartTypeReasoningStart:
		a.thoughts = append(a.thoughts, fantasy.ReasoningPart{})
		a.keepThought(p)
	case fantasy.StreamPartTypeReasoningDelta, fantasy.StreamPartTypeReasoningEnd:
		if len(a.thoughts) == 0 {
			a.thoughts = append(a.thoughts, fantasy.ReasoningPart{})
		}
		a.size += len(p.Delta)
		a.reasoning.add(p.Delta, false)
		a.keepThought(p)
	case fantasy.StreamPartTypeToolInputStart:
		a.calls = append(a.calls, openCall{id: p.ID, name: p.ToolCallName})
	case fantasy.StreamPartTypeToolInputDelta:
		if c := a.last(p.ID); c != nil {
			args := p.Delta + p.ToolCallInput // one provider says it here, one there
			a.size += len(args)
			c.args.WriteString(args)
		}
	case fantasy.StreamPartTypeToolCall:
		c := a.last(p.ID)
		if c == nil {
			a.calls = append(a.calls, openCall{id: p.ID, name: p.ToolCallName})
			c = &a.calls[len(a.calls)-1]
		}
		c.whole = p.ToolCallInput
	}
}

// keepThought keeps a thought as the provider wants it back.
func (a *assembler) keepThought(p fantasy.StreamPart) {
	t := &a.thoughts[len(a.thoughts)-1]
	t.Text += p.Delta
	if p.ProviderMetadata != nil {
		t.ProviderOptions = fantasy.ProviderOptions(p.ProviderMetadata)
	}
}

// last returns the call with this id that was begun last.
func (a *assembler) last(id string) *openCall {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if a.calls[i].id == id {
			return &a.calls[i]
		}
	}
	return nil
}

func (a *assembler) empty() bool { return a.size == 0 && len(a.calls) == 0 }

// reply returns what has been put together.
func (a *assembler) reply() Reply {
	r := Reply{Text: a.text.text.String(), Reasoning: strings.TrimSpace(a.reasoning.text.String()),
		Finish: Finish(a.finish), Truncated: a.truncated, reasoning: a.thoughts}
	if a.truncated {
		return r
	}
	taken := map[string]bool{"": true}
	for i := range a.calls {
		c := &a.calls[i]
		if taken[c.id] {
			c.id = a.client.newID()
		}
		taken[c.id] = true
		args := c.args.String()
		if args == "" {
			args = c.whole
		}
		args = a.client.redact.String(a.client.options.Redact.String(args))
		r.Calls = append(r.Calls, newToolCall(c.id, c.name, args))
	}
	return r
}
