package tree

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/wire"
)

// mostHints is how many hints, the latest, are passed on with every request.
const mostHints = 20

// unknownContext is the context window taken for a model whose table gives
// none, in tokens. A smaller one shows when the server refuses.
const unknownContext = 128_000

// errInterrupted ends a call so that a hint is heard.
var errInterrupted = errors.New("a hint came")

// ask makes a model call with a request that is built for it: with the hints
// that have come, and squeezed until it fits. A call that a hint interrupts
// is made again with the hint in it.
func (g *grower) ask(ctx context.Context, what string, build func(squeeze) llm.Request) (llm.Reply, error) {
	least, how := 0, agents.Injected
	for {
		if err := g.Ready(ctx); err != nil {
			return llm.Reply{}, err
		}
		g.hear(how, what)
		level := g.fit(build, least)
		reply, err := g.call(ctx, build(squeezes[level]))
		how = agents.Injected
		switch {
		case errors.Is(err, errInterrupted):
			how = agents.Interrupted
			continue
		case errors.Is(err, llm.ContextTooLong) && level+1 < len(squeezes):
			least = level + 1
			continue
		case err != nil:
			return reply, fmt.Errorf("tree: %s: %w", what, err)
		}
		if text := strings.TrimSpace(reply.Reasoning); text != "" {
			g.Thought(clip(text, recorded))
		}
		return reply, nil
	}
}

// fit returns the first squeeze, from least on, under which the request fits
// into the model's context, and says when more is left out than before.
func (g *grower) fit(build func(squeeze) llm.Request, least int) int {
	window := g.Model.Model().Context
	if window <= 0 {
		window = unknownContext
	}
	answer := g.Model.Model().MaxOutput
	if answer <= 0 || answer > window/3 {
		answer = window / 3
	}
	level := least
	for ; level < len(squeezes)-1; level++ {
		r := build(squeezes[level])
		size := wire.EstimateText(r.System)
		for _, m := range r.Messages {
			size += wire.EstimateText(m.Text)
		}
		if size*11/10 <= window-answer {
			break
		}
	}
	if level > g.squeezed {
		g.Note(fmt.Sprintf("the request is compacted to fit the model's context: at most %d earlier solutions and %d bytes of output are told",
			squeezes[level].nodes, squeezes[level].output))
	}
	g.squeezed = level
	return level
}

// hear takes up the hints that have come, which the next request has.
func (g *grower) hear(how agents.Delivery, what string) {
	for _, h := range append(g.waiting, g.Hints()...) {
		g.hints = append(g.hints, h)
		delivered := agents.Injected
		if h.Interrupt {
			delivered = how
		}
		g.Delivered(h.ID, delivered, "told to the model: "+what)
	}
	g.waiting = nil
	g.hints = g.hints[max(0, len(g.hints)-mostHints):]
}

// call makes one call, which a hint may interrupt. Hints that come meanwhile
// wait for the next.
func (g *grower) call(parent context.Context, r llm.Request) (llm.Reply, error) {
	ctx, cancel := context.WithCancelCause(parent)
	heard := make(chan []agents.Hint, 1)
	go func() {
		var hints []agents.Hint
		defer func() { heard <- hints }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-g.HintArrived():
			}
			for _, h := range g.Hints() {
				hints = append(hints, h)
				if h.Interrupt {
					cancel(errInterrupted)
				}
			}
		}
	}()
	reply, err := g.Model.Stream(ctx, r, llm.Watch{
		Retry: func(r llm.Retry) { g.Note(r.String()) },
		Note:  g.Note,
	})
	cancel(nil)
	g.waiting = append(g.waiting, <-heard...)
	if errors.Is(context.Cause(ctx), errInterrupted) && parent.Err() == nil {
		return llm.Reply{}, errInterrupted
	}
	return reply, err
}
