package conversation

import (
	"context"
	"errors"
	"slices"

	"proctor/agents"
	"proctor/agents/llm"
)

// errInterrupted ends a call for the sake of a hint.
var errInterrupted = errors.New("a hint interrupted the model")

// hear says the hints that have come to the model.
func (c *Conversation) hear() {
	c.take()
	for _, h := range c.waiting {
		text := "A person who is watching says: " + h.Text
		if h.how == agents.Interrupted {
			text = "A person who is watching interrupted you and says: " + h.Text
		}
		c.say(entry{Message: llm.Say(text), hints: []string{h.Text}})
		c.session.Delivered(h.ID, h.how, "")
	}
	c.waiting = nil
}

// take takes the host's hints and reports whether one of them interrupts.
func (c *Conversation) take() bool {
	hints := c.session.Hints()
	for _, h := range hints {
		c.waiting = append(c.waiting, hint{h, agents.Injected})
	}
	return slices.ContainsFunc(hints, func(h agents.Hint) bool { return h.Interrupt })
}

// listen takes hints while a call is in flight, until ctx ends, and gives
// the call up for one that interrupts. The others wait for the next call.
func (c *Conversation) listen(ctx context.Context, giveUp context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.session.HintArrived():
			if c.take() {
				giveUp(errInterrupted)
				return
			}
		}
	}
}

// interrupted keeps what the model had said when its call was given up, and
// marks the hints for which it was.
func (c *Conversation) interrupted(said string) {
	if said != "" {
		said += " … (interrupted)"
		c.session.Message(clip(said, recorded))
		c.add(entry{Message: llm.Message{Role: llm.Assistant, Text: clip(said, recorded)}, trace: line(said, 120)})
	}
	for i := range c.waiting {
		if c.waiting[i].Interrupt {
			c.waiting[i].how = agents.Interrupted
		}
	}
}
