package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"

	"proctor/agents/llm/redact"
)

// Options is how a Client works. The zero value is a good one.
type Options struct {
	Key string
	// Transport carries the requests; nil connects directly. The gateway has
	// one, so that it meters this client too.
	Transport http.RoundTripper
	// Redact hides secrets in all that the model says. Key is hidden anyway.
	Redact *redact.Redactor

	Retries int           // after the first attempt; 0 means 5, negative none
	Backoff time.Duration // before the first retry, doubling; 0 means a second
	// MaxWait is the longest wait before a retry; 0 means two minutes. A
	// provider that asks for more ends the call.
	MaxWait  time.Duration
	MaxReply int // bytes of one reply that are kept; 0 means 1 MiB
}

// A Watch is told of a call as it goes on, in order, from the goroutine that
// made it. Any of its functions may be nil.
type Watch struct {
	Text      func(delta string)
	Reasoning func(delta string)
	// Retry is called before the wait. What Text and Reasoning were told so
	// far is void: the reply begins anew.
	Retry func(Retry)
	// Note is told what a person should know of how the model is used.
	Note func(text string)
}

// A Retry is an attempt that failed and is made again.
type Retry struct {
	Attempt int // the one that failed, from 1
	Of      int // how many there can be
	Wait    time.Duration
	Err     *Error
}

func (r Retry) String() string {
	return fmt.Sprintf("attempt %d of %d: the model %s; next in %s", r.Attempt, r.Of, string(r.Err.Kind), r.Wait.Round(time.Millisecond))
}

// A Client talks to one model. It is safe for concurrent use.
type Client struct {
	model    Model
	options  Options
	redact   *redact.Redactor
	own      *http.Transport // ours to close
	language fantasy.LanguageModel
	text     atomic.Bool
	ids      atomic.Int64
}

// New returns a client for a model. It does not connect yet.
func New(m Model, o Options) (*Client, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	o.Retries = max(0, or(o.Retries, 5))
	o.Backoff = or(o.Backoff, time.Second)
	o.MaxWait = or(o.MaxWait, 2*time.Minute)
	o.MaxReply = or(o.MaxReply, 1<<20)
	c := &Client{model: m, options: o, redact: redact.New(o.Key)}
	c.text.Store(m.TextMode)
	base := o.Transport
	if base == nil {
		c.own = http.DefaultTransport.(*http.Transport).Clone()
		base = c.own
	}
	web := &http.Client{Transport: &transport{base: base, client: c}}

	// The library wants a key, or takes one from the environment; the
	// transport puts the right one in its place.
	const noKey = "none"
	var provider fantasy.Provider
	var err error
	switch m.Provider {
	case Compatible:
		provider, err = openaicompat.New(openaicompat.WithBaseURL(m.Address()), openaicompat.WithAPIKey(noKey), openaicompat.WithHTTPClient(web))
	case OpenAI:
		provider, err = openai.New(openai.WithBaseURL(m.Address()), openai.WithAPIKey(noKey), openai.WithHTTPClient(web),
			openai.WithUseResponsesAPI(), openai.WithResponsesAPIFunc(func(string) bool { return true }))
	case Anthropic:
		provider, err = anthropic.New(anthropic.WithBaseURL(m.Address()), anthropic.WithAPIKey(noKey), anthropic.WithHTTPClient(web))
	default:
		return nil, fmt.Errorf("model %q: provider %q serves other people's agents only; use %q with its OpenAI-compatible address", m.Name, m.Provider, Compatible)
	}
	if err == nil {
		c.language, err = provider.LanguageModel(context.Background(), m.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", m.Name, err)
	}
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Model returns the model that the client talks to.
func (c *Client) Model() Model { return c.model }

// TextMode reports whether tools are asked for in fenced blocks, because the
// model's table says so or its server refused tool calls.
func (c *Client) TextMode() bool { return c.text.Load() }

// Close ends idle connections.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// authorize adds the key as the provider takes it.
func (c *Client) authorize(h http.Header) {
	switch {
	case c.options.Key == "":
	case c.model.Provider == Anthropic:
		h.Set("X-Api-Key", c.options.Key)
	default:
		h.Set("Authorization", "Bearer "+c.options.Key)
	}
}

func (c *Client) newID() string { return fmt.Sprintf("proctor_%d", c.ids.Add(1)) }

// Stream asks the model and returns its whole reply, telling w of it as it
// comes. Its error is ctx's when ctx ended, else an *Error.
func (c *Client) Stream(ctx context.Context, r Request, w Watch) (Reply, error) {
	wait := c.options.Backoff
	for n := 1; ; n++ {
		reply, err := c.once(ctx, r, w)
		if err == nil {
			reply.Attempts = n
			return reply, nil
		}
		var e *Error
		if !errors.As(err, &e) {
			return Reply{}, err
		}
		e.Attempts = n
		pause := e.RetryAfter
		if pause == 0 { // a little uneven, so that several runs do not come back at once
			pause = min(wait+rand.N(wait/4+1), c.options.MaxWait)
			wait *= 2
		}
		if !retried[e.Kind] || n > c.options.Retries || pause > c.options.MaxWait {
			return Reply{}, e
		}
		if w.Retry != nil {
			w.Retry(Retry{Attempt: n, Of: c.options.Retries + 1, Wait: pause, Err: e})
		}
		if err := sleep(ctx, pause); err != nil {
			return Reply{}, err
		}
	}
}

// once makes one attempt, and a second one in text mode when it turns out
// that the server cannot do tool calls.
func (c *Client) once(ctx context.Context, r Request, w Watch) (Reply, error) {
	inText := c.TextMode() && len(r.Tools) > 0
	reply, err := c.attempt(ctx, r, w, inText)
	var e *Error
	if inText || len(r.Tools) == 0 || !errors.As(err, &e) || !e.refusesTools() {
		return reply, err
	}
	c.text.Store(true)
	if w.Note != nil {
		w.Note(fmt.Sprintf("model %q has no tool calling (%s): it acts by one fenced block per reply", c.model.Name, e.Message))
	}
	return c.attempt(ctx, r, w, true)
}

// attempt makes one request and reads its reply.
func (c *Client) attempt(parent context.Context, r Request, w Watch, inText bool) (Reply, error) {
	if err := context.Cause(parent); err != nil {
		return Reply{}, err
	}
	x := new(exchange)
	ctx, cancel := context.WithCancel(context.WithValue(parent, exchangeKey{}, x))
	defer cancel()
	a := newAssembler(c, w)
	stream, err := c.language.Stream(ctx, c.call(r, inText))
	if err == nil {
		err = a.read(stream)
	}
	seen := x.finish(a.truncated)
	switch {
	case context.Cause(parent) != nil:
		return Reply{}, context.Cause(parent)
	case x.err != nil:
		return Reply{}, x.err
	case x.body == nil: // it did not come to a request
		return Reply{}, c.fail(BadRequest, err)
	case seen.Fault != nil:
		e := faultError(c.model, seen.Fault)
		e.Message = c.redact.String(e.Message)
		return Reply{}, e
	case a.truncated:
	case !seen.Done:
		return Reply{}, c.fail(StreamCut, err)
	case err != nil || seen.Malformed > 0 && a.empty():
		return Reply{}, c.fail(BadReply, err)
	}
	reply := a.reply()
	if inText {
		reply.Calls = blockCalls(reply.Text, r.Tools, c.newID)
	}
	reply.Usage = seen.Usage
	reply.Cost = c.model.Price.Cost(seen.Usage)
	return reply, nil
}

// fail is an error of this kind about this model.
func (c *Client) fail(k Kind, err error) *Error {
	e := &Error{Kind: k, Model: c.model.Name, Address: c.model.Address(), Err: err}
	if err != nil {
		e.Message = c.redact.String(clip(err.Error(), 300))
	}
	return e
}

// sleep waits, or returns ctx's reason to end.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
