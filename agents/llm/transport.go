package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"proctor/agents/llm/wire"
)

const (
	maxErrorBody = 64 << 10 // bytes of a refusal that are read
	maxDrain     = 64 << 20 // bytes of an overlong reply that are read on for its usage
)

// An exchange is one attempt as it was on the wire. The library above
// translates; what arrived, and whether all of it did, is read here.
type exchange struct {
	request []byte
	meter   *wire.Meter
	body    io.ReadCloser
	fix     *callFixer
	err     *Error // why there is no reply
	buf     []byte
	out     []byte
	end     error
}

type exchangeKey struct{}

// transport sends a Client's requests: with the Client's key and no other,
// and with everything that comes back seen by the exchange.
type transport struct {
	base   http.RoundTripper
	client *Client
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("a request outside of a call")
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, err
	}
	x.request = body

	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.ContentLength = int64(len(body))
	// The library takes keys and more from the environment by itself.
	out.Header = http.Header{"User-Agent": {"proctor"}}
	for _, name := range []string{"Content-Type", "Accept", "Anthropic-Version", "Anthropic-Beta"} {
		if v := req.Header.Values(name); len(v) > 0 {
			out.Header[name] = v
		}
	}
	t.client.authorize(out.Header)

	resp, err := t.base.RoundTrip(out)
	m := t.client.model
	if err != nil {
		if cause := context.Cause(req.Context()); cause != nil {
			return nil, cause
		}
		x.err = &Error{Kind: Unreachable, Model: m.Name, Address: m.Address(), Message: t.client.redact.String(clip(err.Error(), 300)), Err: err}
		return nil, x.err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind == "text/html" || kind == "application/json" {
		head, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // as much of it as there is
		_ = resp.Body.Close()
		x.err = statusError(m, resp, head)
		if resp.StatusCode == http.StatusOK && wire.ReadFault(head) == nil {
			x.err.Kind = BadReply
			x.err.Message = "not a stream but " + kind + ": " + clip(string(head), 200)
		}
		x.err.Message = t.client.redact.String(x.err.Message)
		return nil, x.err
	}
	x.meter = wire.NewMeter(m.Provider.Format(), "text/event-stream")
	x.body = resp.Body
	if m.Provider == Compatible {
		x.fix = &callFixer{newID: t.client.newID}
	}
	resp.Header.Set("Content-Type", "text/event-stream")
	resp.Body = x
	return resp, nil
}

// Read implements io.Reader: the reply, metered, and mended where servers
// are known to break it.
func (x *exchange) Read(p []byte) (int, error) {
	if x.buf == nil {
		x.buf = make([]byte, 32<<10)
	}
	for len(x.out) == 0 {
		if x.end != nil {
			return 0, x.end
		}
		n, err := x.body.Read(x.buf)
		x.end = err
		_, _ = x.meter.Write(x.buf[:n])
		x.out = x.buf[:n]
		if x.fix != nil {
			x.out = x.fix.next(x.buf[:n], err != nil)
		}
	}
	n := copy(p, x.out)
	x.out = x.out[n:]
	return n, nil
}

// Close implements io.Closer. The library closes what it has read to the
// end only; finish does it for certain.
func (x *exchange) Close() error { return nil }

// finish ends the attempt and returns what the wire said of it. drain reads
// the rest of a reply for its usage.
func (x *exchange) finish(drain bool) wire.Reply {
	if x.body == nil {
		return wire.Reply{}
	}
	if drain && x.end == nil {
		_, _ = io.Copy(x.meter, io.LimitReader(x.body, maxDrain))
	}
	_ = x.body.Close()
	return x.meter.Finish(x.request)
}
