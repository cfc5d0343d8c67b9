// Package gateway is the metering proxy between any agent and its model.
//
// It listens where the supervisor tells it to, usually a unix socket that a
// forwarder inside the sandbox turns into a loopback port, and serves the
// paths of the four wire formats: OpenAI's chat completions and responses,
// Anthropic's messages, Gemini's generateContent. Each call goes to the one
// upstream that the configuration names for its model, with the key that
// the sandbox never sees. Nothing in a request chooses the host: paths and
// queries are rebuilt, headers are picked, the rest is refused.
//
// On the way back the reply is read for its usage, recorded without keys,
// and passed on chunk by chunk. A spent budget is answered with 402 before a
// call is made; a frozen run's replies wait here, also in the middle, while
// the upstream is still read, so that nothing of them is lost.
//
// The gateway is not a general proxy. It makes no connection but to the
// upstreams it was given, and knows no tunnel.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"proctor/agents/llm"
	"proctor/agents/llm/redact"
	"proctor/agents/llm/wire"
)

// Code is the word for a spent budget in the body of a 402, in the place
// where the provider's own errors have theirs.
const Code = "budget_spent"

// A Route is where the calls of one model go.
type Route struct {
	Model llm.Model
	Key   string // "" adds none
	// Any lets calls of models that no route names come here too, under the
	// name they ask for. What they cost is not known then.
	Any bool
}

// Config is how a gateway works.
type Config struct {
	Routes []Route
	// Record is the directory where exchanges are recorded; "" records none.
	Record string
	// RecordBody is how much of one body is kept, in bytes; 0 means 4 MiB.
	// RecordTotal is how much of all is; 0 means 512 MiB.
	RecordBody, RecordTotal int64

	// Budget is asked before each call. An error ends the call with 402, and
	// its text is what the agent is told. It may be called concurrently.
	Budget func() error
	// OnUsage is told what each call consumed, before the agent has the end
	// of the reply, so that the budget of its next call knows. It may be
	// called concurrently.
	OnUsage func(Usage)
	// OnExchange is told of every request when it is over, those that were
	// refused too. It may be called concurrently.
	OnExchange func(Exchange)
	// OnError is told what goes wrong in the gateway itself, such as a full
	// disk: once for each kind.
	OnError func(error)

	Redact *redact.Redactor // hides more than the routes' keys
	// Transport calls the upstreams; nil means a usual one.
	Transport http.RoundTripper
	// Silence is how long an upstream may say nothing in the middle of a
	// reply or before it; 0 means ten minutes.
	Silence time.Duration
}

// Usage is what one call consumed.
type Usage struct {
	Model  string // as the agent asked for it
	Tokens llm.Usage
	Cost   *float64 // US dollars by the route's prices; nil when not known
}

// An Exchange is one request and what became of it.
type Exchange struct {
	N        int64         `json:"n"` // from 1
	At       time.Time     `json:"at"`
	Seconds  float64       `json:"seconds"` // until it was over
	First    float64       `json:"first"`   // seconds until the reply began; 0 when it did not
	Method   string        `json:"method"`
	Path     string        `json:"path"`
	Format   wire.Format   `json:"format,omitempty"`
	Model    string        `json:"model,omitempty"`
	Status   int           `json:"status"` // as the agent got it; 0 when it had gone away
	Streamed bool          `json:"streamed,omitempty"`
	Usage    *llm.Usage    `json:"usage,omitempty"`
	Cost     *float64      `json:"cost,omitempty"` // US dollars
	Cut      bool          `json:"cut,omitempty"`  // the reply did not come to its end
	Gone     bool          `json:"gone,omitempty"` // because the agent went away
	Error    string        `json:"error,omitempty"`
	Request  *RecordedBody `json:"request,omitempty"`
	Response *RecordedBody `json:"response,omitempty"`
}

// A Gateway meters calls. It is safe for concurrent use.
type Gateway struct {
	config Config
	routes []route
	redact *redact.Redactor
	web    http.RoundTripper
	gate   gate
	record *recorder
	server *http.Server
	n      atomic.Int64
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup  // requests, none of which begins after closed
	told    map[string]bool // kinds of OnError
}

var errClosed = errors.New("the gateway is closed")

// New returns a gateway for the routes of c.
func New(c Config) (*Gateway, error) {
	g := &Gateway{config: c, web: c.Transport, told: map[string]bool{}}
	var secrets []string
	for _, r := range c.Routes {
		made, err := newRoute(r)
		if err != nil {
			return nil, fmt.Errorf("the gateway: %w", err)
		}
		g.routes = append(g.routes, made)
		secrets = append(secrets, r.Key)
	}
	g.redact = redact.New(secrets...)
	if g.config.Silence == 0 {
		g.config.Silence = 10 * time.Minute
	}
	if g.web == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableCompression = true // it would hold chunks back
		t.MaxIdleConnsPerHost = 8
		g.web = t
	}
	if c.Record != "" {
		g.record = newRecorder(c)
	}
	g.ctx, g.cancel = context.WithCancelCause(context.Background())
	g.server = &http.Server{
		Handler:           http.HandlerFunc(g.serve),
		ReadHeaderTimeout: time.Minute,
		MaxHeaderBytes:    64 << 10,
		// Everything is answered, and recorded, by serve.
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return g.ctx },
	}
	return g, nil
}

// Serve answers on l until Close, and then returns nil.
func (g *Gateway) Serve(l net.Listener) error {
	err := g.server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("the gateway on %s: %w", l.Addr(), err)
}

// Freeze holds every reply, those that have begun too, and lets no call
// begin. Upstreams that are answering are still read.
func (g *Gateway) Freeze() { g.gate.close() }

// Resume lets go what Freeze held.
func (g *Gateway) Resume() { g.gate.open() }

// Close ends all calls, waits until they are over, and returns what kept the
// record from being whole.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel(errClosed)
	err := g.server.Close()
	g.running.Wait()
	if t, ok := g.web.(*http.Transport); ok && g.config.Transport == nil {
		t.CloseIdleConnections()
	}
	if g.record != nil {
		err = errors.Join(err, g.record.close())
	}
	return err
}

// begin counts a request in, unless the gateway is closed.
func (g *Gateway) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.running.Add(1)
	return true
}

// fail tells of something wrong in the gateway, once for each kind.
func (g *Gateway) fail(kind string, err error) {
	g.mu.Lock()
	told := g.told[kind]
	g.told[kind] = true
	g.mu.Unlock()
	if !told && g.config.OnError != nil {
		g.config.OnError(fmt.Errorf("%s: %w", kind, err))
	}
}

// names returns the models of the routes that serve a format, in order.
func (g *Gateway) names(f wire.Format) []string {
	var names []string
	for _, r := range g.routes {
		if r.serves(f) && !slices.Contains(names, r.Model.Name) {
			names = append(names, r.Model.Name)
		}
	}
	return names
}

// gate is what a freeze closes. The zero value is open.
type gate struct {
	mu     sync.Mutex
	closed chan struct{} // nil while open; closed when it opens
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

// wait returns when the gate is open, or with ctx's reason to end.
func (g *gate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		closed := g.closed
		g.mu.Unlock()
		if closed == nil {
			return nil
		}
		select {
		case <-closed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
