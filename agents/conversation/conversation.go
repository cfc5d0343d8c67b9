// Package conversation is what an agent and its model say to each other: a
// history that only grows, so that a provider's cache holds its beginning,
// until it comes near the model's context window and is made shorter.
//
// Ask makes a call and takes care of everything around it: the budget is
// looked at first, hints are heard first, a hint that interrupts gives up
// the call in flight, retries become notes, what the model thinks and says
// goes into the run's record. What the reply asks for is the agent's own.
package conversation

import (
	"context"
	"errors"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/wire"
)

// unknownWindow is taken for the context window of a model whose table does
// not give one, in tokens. A smaller one shows when the server refuses.
const unknownWindow = 128_000

// recorded is how much of one thing that a model says goes into the record,
// in bytes.
const recorded = 16 << 10

// A Conversation is one agent's with its model. It is not safe for
// concurrent use.
type Conversation struct {
	session *agents.Session
	system  string
	tools   []llm.Tool
	task    string // the first message, as it was given

	entries []entry // the first is the task
	gone    gone    // what entries no longer has
	window  int64   // tokens that fit
	scale   float64 // the provider's tokens to our estimate of them
	fixed   int64   // estimate of system and tools
	sum     int64   // estimate of the entries

	waiting []hint // taken from the host, not yet said to the model
}

// An entry is a message and what remains of it once it is left out.
type entry struct {
	llm.Message
	trace  string   // one line; "" leaves nothing
	hints  []string // what a person said in it, which always remains
	tokens int64    // estimated
}

type hint struct {
	agents.Hint
	how agents.Delivery
}

// New begins a conversation with the session's model, about task. The same
// system, task and tools give the same first bytes in every run.
func New(s *agents.Session, system, task string, tools []llm.Tool) *Conversation {
	c := &Conversation{session: s, system: system, tools: tools, task: task, scale: 1}
	c.window = s.Model.Model().Context
	if c.window <= 0 {
		c.window = unknownWindow
	}
	c.fixed = wire.EstimateText(system)
	for _, t := range tools {
		c.fixed += wire.EstimateText(t.Name + t.Description + string(t.Schema))
	}
	c.add(entry{Message: llm.Say(task)})
	return c
}

// Say tells the model something as the user. trace is what remains of it
// when the conversation has been made shorter; "" leaves nothing.
func (c *Conversation) Say(text, trace string) {
	c.say(entry{Message: llm.Say(text), trace: trace})
}

// Answer gives the result of a call of the last reply. trace is what remains
// of call and result when the conversation has been made shorter.
func (c *Conversation) Answer(call llm.ToolCall, text, trace string) {
	c.add(entry{Message: llm.Answer(call, text), trace: trace})
}

// Ask has the model answer. Hints that have come are said to it first. The
// reply is in the conversation when Ask returns; each of its calls must be
// answered before the next Ask. The error is ctx's, a spent budget, or an
// *llm.Error.
func (c *Conversation) Ask(ctx context.Context) (llm.Reply, error) {
	refused := false // for its length
	for {
		if err := c.session.Ready(ctx); err != nil {
			return llm.Reply{}, err
		}
		if err := Spent(c.session.Remaining()); err != nil {
			return llm.Reply{}, err
		}
		c.hear()
		c.fit()
		reply, err := c.call(ctx)
		switch {
		case err == nil:
			c.keep(reply)
			return reply, nil
		case errors.Is(err, errInterrupted) && ctx.Err() == nil:
		case errors.Is(err, llm.ContextTooLong) && !refused && c.learnWindow():
			refused = true
		default:
			return llm.Reply{}, err
		}
	}
}

// call makes one call of the model.
func (c *Conversation) call(ctx context.Context) (llm.Reply, error) {
	calling, giveUp := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		c.listen(calling, giveUp)
	}()
	var said strings.Builder
	reply, err := c.session.Model.Stream(calling, c.request(), llm.Watch{
		Text: func(delta string) { said.WriteString(delta) },
		Retry: func(r llm.Retry) {
			said.Reset()
			c.session.Note(r.String())
		},
		Note: c.session.Note,
	})
	giveUp(nil)
	<-listening
	if err != nil && context.Cause(calling) == errInterrupted {
		c.interrupted(said.String())
		return llm.Reply{}, errInterrupted
	}
	return reply, err
}

func (c *Conversation) request() llm.Request {
	r := llm.Request{System: c.system, Tools: c.tools, Messages: make([]llm.Message, len(c.entries))}
	for i, e := range c.entries {
		r.Messages[i] = e.Message
	}
	return r
}

// keep records a reply and makes it part of the conversation.
func (c *Conversation) keep(r llm.Reply) {
	if !r.Usage.Estimated && r.Usage.Input > 0 {
		c.scale = min(4, max(0.25, float64(r.Usage.Input)/float64(c.fixed+c.sum)))
	}
	if r.Reasoning != "" {
		c.session.Thought(clip(r.Reasoning, recorded))
	}
	aloud := r.Text
	if len(r.Calls) > 0 && c.session.Model.TextMode() {
		aloud, _, _ = strings.Cut(aloud, "```") // the block is shown as the action
	}
	if aloud = strings.TrimSpace(aloud); aloud != "" {
		c.session.Message(clip(aloud, recorded))
	}
	m := r.Message()
	if most := int(c.room()); len(m.Text) > most { // about a quarter of the room
		m.Text = clip(m.Text, most)
	}
	c.add(entry{Message: m, trace: line(aloud, 120)})
}

// say adds a message of the user to the last one if that is the user's too:
// some servers refuse two in a row.
func (c *Conversation) say(e entry) {
	last := &c.entries[len(c.entries)-1]
	if last.Role != llm.User {
		c.add(e)
		return
	}
	if len(c.entries) == 1 {
		c.task += "\n\n" + e.Text
	}
	last.Text += "\n\n" + e.Text
	last.trace = strings.Trim(last.trace+"; "+e.trace, "; ")
	last.hints = append(last.hints, e.hints...)
	c.estimate(last)
}

func (c *Conversation) add(e entry) {
	c.entries = append(c.entries, e)
	c.estimate(&c.entries[len(c.entries)-1])
}

// perMessage is about what a message costs beside its text, in tokens.
const perMessage = 4

// estimate works out an entry's tokens anew, and the sum with it.
func (c *Conversation) estimate(e *entry) {
	n := perMessage + wire.EstimateText(e.Text)
	for _, call := range e.Calls {
		n += perMessage + wire.EstimateText(call.Name) + wire.EstimateText(string(call.Args))
	}
	c.sum += n - e.tokens
	e.tokens = n
}

// Tokens returns about how many tokens the model's next call has, in the
// provider's own count as far as that is known.
func (c *Conversation) Tokens() int64 { return int64(float64(c.fixed+c.sum) * c.scale) }
