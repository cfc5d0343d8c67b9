package gateway

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"proctor/agents/llm"
	"proctor/agents/llm/redact"
	"proctor/agents/llm/wire"
)

var errSilent = errors.New("the upstream has said nothing for too long")

// A call is one request on its way.
type call struct {
	g     *Gateway
	w     http.ResponseWriter
	r     *http.Request
	begun time.Time
	end   endpoint
	route *route
	body  body
	x     Exchange

	hideUsage bool // the client did not ask for it
	meter     *wire.Meter
	told      bool // OnUsage
	kept      *keeper
	aborted   bool // the reply must not look whole
}

// serve answers one request.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	if !g.begin() {
		panic(http.ErrAbortHandler)
	}
	defer g.running.Done()
	c := &call{g: g, w: w, r: r, begun: time.Now()}
	c.x = Exchange{N: g.n.Add(1), At: c.begun, Method: r.Method, Path: g.hide(r.URL.Path)}
	c.answer()
	c.over()
	if c.aborted {
		panic(http.ErrAbortHandler) // closes the connection in the middle
	}
}

// answer checks the request and, when it may, makes the call.
func (c *call) answer() {
	// An address in the request line, or a tunnel, asks for another host.
	if c.r.Method == http.MethodConnect || c.r.URL.IsAbs() || c.r.URL.Host != "" {
		c.refuse(http.StatusBadRequest, "no_proxy", "the gateway calls the run's models and nothing else")
		return
	}
	end, ok := match(c.r)
	c.end, c.x.Format = end, end.format
	switch {
	case !ok:
		c.refuse(http.StatusNotFound, "no_such_path", fmt.Sprintf("the gateway does not serve %s %s", c.r.Method, c.x.Path))
		return
	case end.list:
		c.list()
		return
	case c.r.Header.Get("Content-Encoding") != "" && c.r.Header.Get("Content-Encoding") != "identity":
		c.refuse(http.StatusUnsupportedMediaType, "encoded", "the gateway takes requests without Content-Encoding only")
		return
	}
	var err error
	if c.body, err = readBody(c.r.Body); err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errTooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		c.refuse(status, "bad_request", err.Error())
		return
	}
	c.x.Model = end.model
	if c.x.Model == "" {
		c.x.Model = c.body.text("model")
	}
	c.x.Request = c.g.keep(c.body.raw)
	if c.route = c.g.route(end.format, c.x.Model); c.route == nil {
		c.refuse(http.StatusNotFound, "model_not_found", fmt.Sprintf("model %q is not one of this run's: %s",
			c.x.Model, strings.Join(c.g.names(end.format), ", ")))
		return
	}
	if c.x.Model == "" {
		c.x.Model = c.route.Model.Name
	}
	if c.g.gate.wait(c.r.Context()) != nil {
		c.gone()
		return
	}
	if end.metered && c.g.config.Budget != nil {
		if err := c.g.config.Budget(); err != nil {
			c.refuse(http.StatusPaymentRequired, Code, err.Error())
			return
		}
	}
	if end.format == wire.Chat {
		if c.hideUsage, err = c.body.askForUsage(); err != nil {
			c.refuse(http.StatusBadRequest, "bad_request", err.Error())
			return
		}
	}
	c.forward()
}

// forward makes the call and passes the reply on.
func (c *call) forward() {
	ctx, cancel := context.WithCancelCause(c.r.Context())
	defer cancel(nil)
	silence := time.AfterFunc(c.g.config.Silence, func() { cancel(errSilent) })
	defer silence.Stop()

	u := c.route.url(c.end, c.r.URL.Query())
	req := (&http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.route.headers(c.end.format, c.r.Header), Body: io.NopCloser(bytes.NewReader(c.body.raw)),
		ContentLength: int64(len(c.body.raw))}).WithContext(ctx)
	resp, err := c.g.web.RoundTrip(req) // follows no redirect
	if err != nil {
		c.unreachable(ctx, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	c.x.First = time.Since(c.begun).Seconds()
	from, err := decoded(resp)
	if err != nil {
		c.refuse(http.StatusBadGateway, "upstream_encoding", err.Error())
		return
	}
	kind := resp.Header.Get("Content-Type")
	c.x.Streamed = wire.IsStream(kind)
	if c.end.metered && resp.StatusCode < 300 {
		c.meter = wire.NewMeter(c.end.format, kind)
	}
	c.kept = newKeeper(c.g)
	c.g.copyHeaders(c.w.Header(), resp.Header)
	c.x.Status = resp.StatusCode
	out := newRelay(ctx, cancel, &c.g.gate, c.w, resp.StatusCode)
	err = c.pump(out, from, silence)
	if c.meter != nil {
		c.meter.Flush()
		c.x.Cut = !c.meter.Done()
	}
	c.tell(true) // before the client has the end
	if gone := out.finish(); gone != nil {
		c.x.Gone = !errors.Is(gone, errSilent)
		err = errors.Join(err, gone)
	}
	if err != nil {
		c.x.Cut, c.aborted = true, true
		c.x.Error = c.g.hide(err.Error())
	}
}

// pump reads the reply to its end. Each chunk is metered, then passed on
// without secrets. A nil error means that all of it came.
func (c *call) pump(out io.Writer, from io.Reader, silence *time.Timer) error {
	defer silence.Stop()
	safe := []*redact.Stream{c.g.redact.Stream(), c.g.config.Redact.Stream()}
	var filter *usageFilter
	if c.hideUsage && c.x.Streamed {
		filter = new(usageFilter)
	}
	buf := make([]byte, 32<<10)
	for {
		silence.Reset(c.g.config.Silence)
		n, err := from.Read(buf)
		silence.Stop() // from here on it is the client that may be slow
		p := buf[:n]
		if c.meter != nil {
			_, _ = c.meter.Write(p)
			c.tell(false)
		}
		if filter != nil {
			p = filter.next(p, err != nil)
		}
		for _, s := range safe {
			p = s.Next(p)
			if err != nil {
				p = append(p[:len(p):len(p)], s.Rest()...)
			}
		}
		if len(p) > 0 {
			c.kept.add(p)
			if _, werr := out.Write(p); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the upstream's reply: %w", err)
		}
	}
}

// tell reports the usage, once: when the provider has said all of it, or at
// the end.
func (c *call) tell(end bool) {
	if c.meter == nil || c.told || !end && !c.meter.Final() {
		return
	}
	c.told = true
	reply := c.meter.Reply(c.body.raw)
	if reply.Usage == (wire.Usage{}) && reply.Fault != nil {
		return // refused before anything was done
	}
	price := c.route.Model.Price
	if c.route.Model.Name != c.x.Model {
		price = llm.Price{} // this is another model's
	}
	c.x.Usage, c.x.Cost = &reply.Usage, price.Cost(reply.Usage)
	if c.g.config.OnUsage != nil {
		c.g.config.OnUsage(Usage{Model: c.x.Model, Tokens: reply.Usage, Cost: c.x.Cost})
	}
}

// decoded is the reply's body without its encoding: what cannot be read
// cannot be metered.
func decoded(resp *http.Response) (io.Reader, error) {
	switch e := strings.ToLower(resp.Header.Get("Content-Encoding")); e {
	case "", "identity":
		return resp.Body, nil
	case "gzip":
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, fmt.Errorf("the upstream's reply is not gzip: %w", err)
		}
		return z, nil
	default:
		return nil, fmt.Errorf("the upstream answers in an encoding nobody asked for: %q", e)
	}
}

// unreachable answers for an upstream that did not.
func (c *call) unreachable(ctx context.Context, err error) {
	switch {
	case c.r.Context().Err() != nil:
		c.gone()
	case errors.Is(context.Cause(ctx), errSilent):
		c.refuse(http.StatusGatewayTimeout, "upstream_silent", fmt.Sprintf("the model's server said nothing for %s", c.g.config.Silence))
	default:
		c.refuse(http.StatusBadGateway, "upstream_unreachable", fmt.Sprintf("the model's server %s cannot be reached: %v", c.route.base.Host, err))
	}
}

// gone notes that the client went away before it had an answer.
func (c *call) gone() { c.x.Gone, c.aborted = true, true }

// refuse answers with an error in the shape of the format's provider.
func (c *call) refuse(status int, code, message string) {
	message = c.g.hide(message)
	c.x.Error = message
	if status == http.StatusPaymentRequired {
		c.w.Header().Set("X-Should-Retry", "false") // the libraries of OpenAI and Anthropic look at it
	}
	c.send(status, wire.ErrorBody(c.end.format, status, code, message))
}

// send answers with JSON.
func (c *call) send(status int, body []byte) {
	if c.g.gate.wait(c.r.Context()) != nil {
		c.gone()
		return
	}
	c.x.Status = status
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	if _, err := c.w.Write(body); err != nil {
		c.gone()
	}
}

// list answers with the run's models, as the format's provider would.
func (c *call) list() {
	names := c.g.names(c.end.format)
	var all []any
	var found any
	for _, name := range names {
		var m any
		switch c.end.format {
		case wire.Gemini:
			m = map[string]any{"name": "models/" + name, "displayName": name,
				"supportedGenerationMethods": []string{"generateContent", "countTokens"}}
		case wire.Messages:
			m = map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
		default:
			m = map[string]any{"object": "model", "id": name, "created": 0, "owned_by": "proctor"}
		}
		all = append(all, m)
		if name == c.end.model {
			found = m
		}
	}
	var answer any = map[string]any{"object": "list", "data": all}
	switch {
	case c.end.model != "" && found == nil:
		c.refuse(http.StatusNotFound, "model_not_found", fmt.Sprintf("model %q is not one of this run's: %s", c.end.model, strings.Join(names, ", ")))
		return
	case c.end.model != "":
		answer = found
	case c.end.format == wire.Gemini:
		answer = map[string]any{"models": all}
	case c.end.format == wire.Messages:
		answer = map[string]any{"data": all, "has_more": false}
	}
	body, err := json.Marshal(answer)
	if err != nil { // strings only: cannot be
		c.refuse(http.StatusInternalServerError, "internal", err.Error())
		return
	}
	c.send(http.StatusOK, body)
}

// over records the exchange.
func (c *call) over() {
	c.x.Seconds = time.Since(c.begun).Seconds()
	if c.kept != nil {
		c.x.Response = c.kept.body()
	}
	if c.g.record != nil {
		if err := c.g.record.write(c.x); err != nil {
			c.g.fail("recording the model's exchanges", err)
		}
	}
	if c.g.config.OnExchange != nil {
		c.g.config.OnExchange(c.x)
	}
}
