package research

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"proctor/agents"
	"proctor/agents/conversation"
	"proctor/agents/llm"
)

// errInterrupted is a call that was given up because a person wants to be
// heard at once.
var errInterrupted = errors.New("a hint interrupted the call of the model")

// decide asks the model for the next step until its reply can be read.
func (r *run) decide(ctx context.Context) (reply, error) {
	var trouble []llm.Message
	for attempt := 1; ; attempt++ {
		got, err := r.think(ctx, trouble)
		if err != nil {
			return reply{}, err
		}
		if got.Reasoning != "" {
			r.Thought(got.Reasoning)
		}
		p, bad := parse(got.Text)
		switch {
		case got.Truncated:
			bad = malformed("Your reply was far too long and its end is lost.")
		case bad != nil && got.Finish == llm.Length:
			bad = malformed(bad.Error() + " It was cut off at the limit on its length: be shorter.")
		}
		if bad == nil {
			if p.more {
				r.Note("what the model wrote after its action was left out: it has not happened")
			}
			return p, nil
		}
		if attempt > r.options.Retries {
			return reply{}, fmt.Errorf("the model gave %d replies in a row that cannot be read; the last: %w", attempt, bad)
		}
		r.Note(fmt.Sprintf("the reply cannot be read, retry %d of %d: %v", attempt, r.options.Retries, bad))
		trouble = append(trouble, llm.Message{Role: llm.Assistant, Text: headTail(got.Text, mostTrouble)},
			llm.Say(bad.Error()+" Nothing was done. Reply again, in the format:\n\n"+format))
	}
}

// mostTrouble is how much of a reply that cannot be read the model is shown
// again, in bytes.
const mostTrouble = 2000

// think makes the call for a step, again after a hint that interrupted it
// and with less history when that is too long for the model.
func (r *run) think(ctx context.Context, trouble []llm.Message) (llm.Reply, error) {
	interrupted := false
	for {
		if err := r.Ready(ctx); err != nil {
			return llm.Reply{}, err
		}
		if err := r.condense(ctx); errors.Is(err, errInterrupted) {
			interrupted = true
		} else if err != nil {
			return llm.Reply{}, err
		}
		r.hear(interrupted)
		got, err := r.call(ctx, r.request(trouble), true)
		switch {
		case errors.Is(err, errInterrupted):
			interrupted = true
			continue
		case errors.Is(err, llm.ContextTooLong) && r.squeeze < r.mostSqueeze():
			r.squeeze++
			r.Note("the history was too long for the model and is compacted")
			continue
		}
		return got, err
	}
}

// call makes one call of the model. Hints that come meanwhile are kept, and
// one that interrupts ends the call. Only the step's own call has what
// waited before in it; any other gives way at once.
func (r *run) call(ctx context.Context, q llm.Request, own bool) (llm.Reply, error) {
	if err := r.limits(ctx); err != nil {
		return llm.Reply{}, err
	}
	if !own && r.urgent() {
		return llm.Reply{}, errInterrupted
	}
	calling, cancel := context.WithCancelCause(ctx)
	var listener sync.WaitGroup
	listener.Go(func() {
		for {
			select {
			case <-calling.Done():
				return
			case <-r.HintArrived():
			}
			r.waiting = append(r.waiting, r.Hints()...)
			if r.urgent() {
				cancel(errInterrupted)
				return
			}
		}
	})
	got, err := r.Model.Stream(calling, q, llm.Watch{
		Retry: func(retry llm.Retry) { r.Note(retry.String()) },
		Note:  r.Note,
	})
	gaveUp := context.Cause(calling)
	cancel(nil)
	listener.Wait()
	if err != nil && errors.Is(gaveUp, errInterrupted) && ctx.Err() == nil {
		return llm.Reply{}, errInterrupted
	}
	return got, err
}

// urgent reports whether a hint waits that interrupts.
func (r *run) urgent() bool {
	for _, h := range r.waiting {
		if h.Interrupt {
			return true
		}
	}
	return false
}

// hear puts the hints that have come behind what the model was last told.
// interrupted says that they ended the call that was under way.
func (r *run) hear(interrupted bool) {
	heard := append(r.waiting, r.Hints()...)
	r.waiting = nil
	for _, h := range heard {
		to := &r.opening
		if n := len(r.steps); n > 0 {
			to = &r.steps[n-1].hints
		}
		*to = append(*to, h.Text)
		how := agents.Injected
		if h.Interrupt && interrupted {
			how = agents.Interrupted
		}
		r.Delivered(h.ID, how, "")
	}
}

// limits is asked before every call of the model. Ending a run at its limit
// is the host's part, which an action that cannot be started makes it do.
func (r *run) limits(ctx context.Context) error {
	spent := conversation.Spent(r.Remaining())
	if spent == nil {
		return ctx.Err()
	}
	if _, err := r.act(ctx, agents.Other, "go on: "+spent.Error(), nil, outcome{text: "the budget was extended"}); err != nil {
		return err
	}
	return conversation.Spent(r.Remaining())
}

// softened turns an error of a call that the step can do without into what
// the model is told of it.
func softened(err error) (outcome, error) {
	switch {
	case errors.Is(err, errInterrupted):
		return outcome{failed: true, text: "LLMError: a hint of the person who oversees the run interrupted this before anything was done."}, nil
	case errors.Is(err, llm.ContextTooLong), errors.Is(err, llm.BadRequest):
		return outcome{text: "LLMError: " + err.Error(), failed: true}, nil
	}
	return outcome{}, err
}
