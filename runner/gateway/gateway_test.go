package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm"
	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

const testKey = "sk-live-0123456789abcdefghij"

func dollars(f float64) *float64 { return &f }

var prices = llm.Price{Input: dollars(3), Cached: dollars(0.3), Output: dollars(15)}

// routesTo sends every provider's calls of the model "m" to one server.
func routesTo(url string) []Route {
	var routes []Route
	for _, m := range []llm.Model{
		{Provider: llm.OpenAI, BaseURL: url + "/v1", Name: "m", Price: prices},
		{Provider: llm.Anthropic, BaseURL: url, Name: "m", Price: prices},
		{Provider: llm.Google, BaseURL: url, Name: "m", Price: prices},
	} {
		routes = append(routes, Route{Model: m, Key: testKey})
	}
	return routes
}

// A harness is a gateway on a unix socket and what it tells.
type harness struct {
	*Gateway
	socket string
	record string
	web    *http.Client

	mu        sync.Mutex
	usages    []Usage
	exchanges []Exchange
	errors    []error
}

func start(t testing.TB, c Config) *harness {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{socket: filepath.Join(dir, "s"), record: filepath.Join(dir, "record")}
	c.Record = h.record
	c.OnUsage = func(u Usage) { h.mu.Lock(); defer h.mu.Unlock(); h.usages = append(h.usages, u) }
	c.OnExchange = func(x Exchange) { h.mu.Lock(); defer h.mu.Unlock(); h.exchanges = append(h.exchanges, x) }
	c.OnError = func(err error) { h.mu.Lock(); defer h.mu.Unlock(); h.errors = append(h.errors, err) }
	if h.Gateway, err = New(c); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", h.socket)
	}
	web := &http.Transport{DialContext: dial, DisableCompression: true}
	h.web = &http.Client{Transport: web, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		web.CloseIdleConnections()
		_ = h.Close() // tests of the record look at its error themselves
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		_ = os.RemoveAll(dir)
	})
	return h
}

func (h *harness) seen() ([]Usage, []Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Usage(nil), h.usages...), append([]Exchange(nil), h.exchanges...)
}

// last waits for the n-th exchange to be over and returns it.
func (h *harness) last(t *testing.T, n int) Exchange {
	t.Helper()
	eventually(t, fmt.Sprintf("%d exchanges are over", n), func() bool { _, x := h.seen(); return len(x) >= n })
	_, x := h.seen()
	return x[n-1]
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

// A request is a call of a model in one of the formats.
type request struct {
	name   string
	format wire.Format
	path   string
	body   string
}

var requests = []request{
	{"chat streamed", wire.Chat, "/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`},
	{"chat whole", wire.Chat, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`},
	{"responses streamed", wire.Responses, "/v1/responses", `{"model":"m","stream":true,"input":"hi"}`},
	{"responses whole", wire.Responses, "/v1/responses", `{"model":"m","input":"hi"}`},
	{"messages streamed", wire.Messages, "/v1/messages?beta=true", `{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`},
	{"messages whole", wire.Messages, "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`},
	{"gemini streamed", wire.Gemini, "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hi"}]}]}`},
	{"gemini streamed as a list", wire.Gemini, "/v1beta/models/m:streamGenerateContent", `{"contents":[{"parts":[{"text":"hi"}]}]}`},
	{"gemini whole", wire.Gemini, "/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"hi"}]}]}`},
}

func (r request) do(t *testing.T, web *http.Client, base string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization", "X-Forwarded-Host"} {
		req.Header.Set(name, "of-the-client")
	}
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, data
}

var turn = scripted.Turn{
	Reasoning: "let me think", Text: "Grüße, 世界! <b>&amp;</b>",
	Calls: []scripted.Call{{Name: "bash", Args: `{"command":"ls -la"}`}},
	Usage: &wire.Usage{Input: 123_456, Cached: 100_000, Output: 7_890},
}

// Usage to the token and cost to the cent, in every format; the reply as the
// upstream wrote it; the key at the upstream and nowhere else.
func TestEveryFormat(t *testing.T) {
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
			h := start(t, Config{Routes: routesTo(s.URL)})
			resp, got := r.do(t, h.web, "http://gateway")
			_, want := r.do(t, http.DefaultClient, s.URL)
			if resp.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
				t.Errorf("status %d, the reply differs from the upstream's:\n%s\n%s", resp.StatusCode, got, want)
			}
			x := h.last(t, 1)
			usages, _ := h.seen()
			// 23,456 × $3 + 100,000 × $0.30 + 7,890 × $15, per million: 21.8718 cents
			wantUsage := []Usage{{Model: "m", Tokens: *turn.Usage, Cost: dollars((23_456*3 + 100_000*0.3 + 7_890*15) / 1e6)}}
			if diff := cmp.Diff(wantUsage, usages, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			if x.Format != r.format || x.Model != "m" || x.Cut || x.Gone || x.Error != "" || x.Status != 200 || x.First <= 0 {
				t.Errorf("exchange %+v", x)
			}
			up := s.Requests()[0]
			if up.Key() != testKey {
				t.Errorf("the upstream got the key %q", up.Key())
			}
			for name, values := range up.Header {
				if strings.Contains(strings.Join(values, " "), "of-the-client") {
					t.Errorf("the client's header %s reached the upstream", name)
				}
			}
			if string(up.Body) != r.body {
				t.Errorf("the request was changed:\n%s\n%s", up.Body, r.body)
			}
			if up.Path != r.path {
				t.Errorf("the upstream was asked for %s", up.Path)
			}
		})
	}
}

// The budget of the next call must know of this one, even for an agent that
// goes on as soon as it has seen the end.
func TestUsageIsToldBeforeTheEnd(t *testing.T) {
	for _, r := range requests {
		if r.name == "gemini streamed as a list" {
			continue
		}
		s := scripted.Start(t, scripted.Turns(turn))
		h := start(t, Config{Routes: routesTo(s.URL)})
		resp, err := h.web.Post("http://gateway"+r.path, "application/json", strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		m := wire.NewMeter(r.format, resp.Header.Get("Content-Type"))
		over := false
		buf := make([]byte, 64)
		for text := ""; !over; {
			n, err := resp.Body.Read(buf)
			_, _ = m.Write(buf[:n])
			text += string(buf[:n])
			over = m.Done() && (r.name != "chat streamed" || strings.Contains(text, "[DONE]"))
			if err != nil {
				break
			}
		}
		if usages, _ := h.seen(); !over || len(usages) != 1 {
			t.Errorf("%s: over %v, but %d usages were told", r.name, over, len(usages))
		}
		_ = resp.Body.Close()
	}
}

func TestUsageIsAskedForAndHidden(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"no options", `{"model":"m","stream":true,"messages":[]}`, `{"model":"m","stream":true,"messages":[],"stream_options":{"include_usage":true}}`},
		{"other options", `{"model":"m","stream_options":{"x":1.50},"stream":true}`, `{"model":"m","stream_options":{"include_usage":true,"x":1.50},"stream":true}`},
		{"refused", `{"model":"m","stream":true,"stream_options":{"include_usage":false}}`, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"null", `{"model":"m","stream":true,"stream_options":null}`, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"not streamed", `{"model":"m","seed":12345678901234567890}`, `{"model":"m","seed":12345678901234567890}`},
	} {
		s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
		h := start(t, Config{Routes: routesTo(s.URL)})
		r := request{path: "/v1/chat/completions", body: c.body}
		_, got := r.do(t, h.web, "http://gateway")
		_, want := r.do(t, http.DefaultClient, s.URL) // without usage, as not asked for
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the client sees more or less than it asked for:\n%s\n%s", c.name, got, want)
		}
		if body := string(s.Requests()[0].Body); body != c.want {
			t.Errorf("%s: the upstream was asked\n%s, want\n%s", c.name, body, c.want)
		}
		h.last(t, 1)
		if usages, _ := h.seen(); len(usages) != 1 || usages[0].Tokens != *turn.Usage {
			t.Errorf("%s: usage %+v", c.name, usages)
		}
	}
}

func TestMissingUsageIsEstimatedAndSaid(t *testing.T) {
	for _, r := range requests {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("four", 100)}))
		h := start(t, Config{Routes: routesTo(s.URL)})
		r.do(t, h.web, "http://gateway")
		x := h.last(t, 1)
		if x.Usage == nil || !x.Usage.Estimated || x.Usage.Output != 100 || x.Usage.Input == 0 || x.Cost == nil {
			t.Errorf("%s: usage %+v, cost %v", r.name, x.Usage, x.Cost)
		}
	}
}

func TestBudgetSpent(t *testing.T) {
	for _, r := range requests {
		s := scripted.Start(t, scripted.Turns())
		h := start(t, Config{Routes: routesTo(s.URL), Budget: func() error { return errors.New("$20.00 of $20.00 are spent") }})
		resp, body := r.do(t, h.web, "http://gateway")
		f := wire.ReadFault(body)
		if resp.StatusCode != http.StatusPaymentRequired || f == nil || f.Message != "$20.00 of $20.00 are spent" {
			t.Errorf("%s: %d %s", r.name, resp.StatusCode, body)
		}
		if r.format != wire.Gemini && f.Code != Code {
			t.Errorf("%s: code %q", r.name, f.Code)
		}
		if n := len(s.Requests()); n != 0 {
			t.Errorf("%s: %d calls were made all the same", r.name, n)
		}
		var shape map[string]any
		if err := json.Unmarshal(body, &shape); err != nil {
			t.Fatal(err)
		}
		if (shape["type"] == "error") != (r.format == wire.Messages) {
			t.Errorf("%s: not the provider's shape: %s", r.name, body)
		}
	}
}

// The agents in this process go through the gateway like any other.
func TestBuiltInClients(t *testing.T) {
	for _, p := range []llm.Provider{llm.Compatible, llm.OpenAI, llm.Anthropic} {
		t.Run(string(p), func(t *testing.T) {
			s := scripted.Start(t, func(n int, _ scripted.Request) scripted.Turn { return turn })
			m := llm.Model{Provider: p, BaseURL: s.URL + "/v1", Name: "m", Price: prices}
			spent := false
			h := start(t, Config{Routes: []Route{{Model: m, Key: testKey}}, Budget: func() error {
				if spent {
					return errors.New("all of it is spent")
				}
				return nil
			}})
			through, transport := Through(m, h.socket)
			defer transport.CloseIdleConnections()
			c, err := llm.New(through, llm.Options{Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.Say("hi")}}, llm.Watch{})
			if err != nil {
				t.Fatal(err)
			}
			usages, _ := h.seen()
			if len(usages) != 1 || usages[0].Tokens != r.Usage || r.Usage != *turn.Usage || *usages[0].Cost != *r.Cost {
				t.Errorf("the gateway counts %+v, the client %+v", usages, r.Usage)
			}
			if s.Requests()[0].Key() != testKey {
				t.Errorf("the upstream got the key %q", s.Requests()[0].Key())
			}
			spent = true
			_, err = c.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.Say("hi")}}, llm.Watch{})
			if !errors.Is(err, llm.BudgetSpent) || !strings.Contains(err.Error(), "all of it is spent") {
				t.Errorf("with a spent budget: %v", err)
			}
		})
	}
}

func TestModelsAreTheRunsOwn(t *testing.T) {
	s := scripted.Start(t, scripted.Turns())
	h := start(t, Config{Routes: routesTo(s.URL)})
	for _, c := range []struct{ path, version, want string }{
		{"/v1/models", "", `"object":"list"`},
		{"/v1/models/m", "", `"owned_by":"proctor"`},
		{"/v1/models", "2023-06-01", `"has_more":false`},
		{"/v1beta/models", "", `"name":"models/m"`},
		{"/v1beta/models/m", "", `"name":"models/m"`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://gateway"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.version != "" {
			req.Header.Set("Anthropic-Version", c.version)
		}
		resp, err := h.web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %s", c.path, resp.StatusCode, body)
		}
	}
	r := request{path: "/v1/messages/count_tokens", body: `{"model":"m"}`}
	if _, body := r.do(t, h.web, "http://gateway"); string(body) != `{"input_tokens":42}` {
		t.Errorf("count_tokens: %s", body)
	}
	h.last(t, 6)
	if usages, _ := h.seen(); len(usages) != 0 {
		t.Errorf("what costs nothing was metered: %+v", usages)
	}
}

func TestOtherModels(t *testing.T) {
	s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
	ask := request{path: "/v1/chat/completions", body: `{"model":"dear"}`}
	h := start(t, Config{Routes: routesTo(s.URL)})
	resp, body := ask.do(t, h.web, "http://gateway")
	if resp.StatusCode != 404 || !strings.Contains(string(body), `model \"dear\" is not one of this run's: m`) || len(s.Requests()) != 0 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	// Where others may be called, their price is not that of the one we know.
	routes := routesTo(s.URL)
	routes[0].Any = true
	h = start(t, Config{Routes: routes})
	if resp, _ := ask.do(t, h.web, "http://gateway"); resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
	if x := h.last(t, 1); x.Cost != nil || x.Usage == nil {
		t.Errorf("cost %v, usage %+v", x.Cost, x.Usage)
	}
	// A client that names no model gets the only one.
	h = start(t, Config{Routes: routesTo(s.URL)})
	if resp, _ := (request{path: "/v1/chat/completions", body: `{}`}).do(t, h.web, "http://gateway"); resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestEnv(t *testing.T) {
	h := start(t, Config{Routes: routesTo("http://127.0.0.1:9")})
	env := strings.Join(h.Env(4711), "\n")
	for _, want := range []string{"OPENAI_BASE_URL=http://127.0.0.1:4711/v1", "ANTHROPIC_BASE_URL=http://127.0.0.1:4711", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4711", "ANTHROPIC_MODEL=m"} {
		if !strings.Contains(env+"\n", want+"\n") {
			t.Errorf("%s is missing in\n%s", want, env)
		}
	}
	if strings.Contains(env, testKey) {
		t.Errorf("the key is in the environment:\n%s", env)
	}
	if env := h.Env(1); len(env) == 0 {
		t.Error("no environment")
	}
}

func TestBadRoutes(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Route
	}{
		{"no address", Route{Model: llm.Model{Provider: llm.Compatible, Name: "m"}}},
		{"a user in the address", Route{Model: llm.Model{Provider: llm.OpenAI, BaseURL: "http://u:p@127.0.0.1/v1", Name: "m"}}},
		{"a query in the address", Route{Model: llm.Model{Provider: llm.OpenAI, BaseURL: "http://127.0.0.1/v1?key=x", Name: "m"}}},
		{"a key of two lines", Route{Model: llm.Model{Provider: llm.OpenAI, Name: "m"}, Key: "a\r\nHost: b"}},
	} {
		if _, err := New(Config{Routes: []Route{c.r}}); err == nil {
			t.Errorf("%s: no error", c.name)
		} else if strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: a password in the error: %v", c.name, err)
		}
	}
}
