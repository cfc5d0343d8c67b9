package gateway

import (
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"proctor/agents/llm/redact"
	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

func redactor(secrets ...string) *redact.Redactor { return redact.New(secrets...) }

func TestUpstreamDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	for _, r := range requests {
		h := start(t, Config{Routes: routesTo("http://" + l.Addr().String())})
		resp, body := r.do(t, h.web, "http://gateway")
		f := wire.ReadFault(body)
		if resp.StatusCode != http.StatusBadGateway || f == nil || !strings.Contains(f.Message, "cannot be reached") {
			t.Errorf("%s: %d %s", r.name, resp.StatusCode, body)
		}
		h.last(t, 1)
		if usages, _ := h.seen(); len(usages) != 0 {
			t.Errorf("%s: a call that was not made was metered: %+v", r.name, usages)
		}
	}
}

func TestErrorsPassUnharmed(t *testing.T) {
	for _, c := range []scripted.Turn{
		{Status: 401, Message: "no"},
		{Status: 429, RetryAfter: "7"},
		{Status: 429},
		{Status: 500},
		{Status: 529, RetryAfter: "Fri, 02 Jan 2026 03:05:05 GMT"},
		{Status: 503, Body: "<html>busy</html>", ContentType: "text/html"},
	} {
		for _, r := range requests {
			s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return c })
			h := start(t, Config{Routes: routesTo(s.URL)})
			resp, got := r.do(t, h.web, "http://gateway")
			direct, want := r.do(t, http.DefaultClient, s.URL)
			if resp.StatusCode != c.Status || string(got) != string(want) || resp.Header.Get("Retry-After") != c.RetryAfter ||
				resp.Header.Get("Content-Type") != direct.Header.Get("Content-Type") {
				t.Errorf("%s %d: got %d %v %s", r.name, c.Status, resp.StatusCode, resp.Header, got)
			}
			h.last(t, 1)
			if usages, _ := h.seen(); len(usages) != 0 {
				t.Errorf("%s %d: an error was metered: %+v", r.name, c.Status, usages)
			}
		}
	}
}

// A reply that the upstream cuts must be cut for the agent too.
func TestCutInTheMiddleOfAToolCall(t *testing.T) {
	for _, r := range requests {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Cut: true, Usage: &wire.Usage{Input: 10, Output: 1000},
			Text: "I will.", Calls: []scripted.Call{{Name: "bash", Args: `{"command":"` + strings.Repeat("make ", 40) + `"}`}}}))
		h := start(t, Config{Routes: routesTo(s.URL)})
		resp, err := h.web.Post("http://gateway"+r.path, "application/json", strings.NewReader(r.body))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: half a reply looks whole", r.name)
		}
		x := h.last(t, 1)
		if !x.Cut || x.Gone || x.Error == "" || x.Usage == nil || !x.Usage.Estimated {
			t.Errorf("%s: exchange %+v, usage %+v", r.name, x, x.Usage)
		}
	}
}

func TestErrorObjectInAStream(t *testing.T) {
	for _, r := range requests {
		if !strings.HasSuffix(r.name, " streamed") {
			continue
		}
		s := scripted.Start(t, func(int, scripted.Request) scripted.Turn {
			return scripted.Turn{Text: strings.Repeat("word ", 50), StreamError: "the GPU fell off"}
		})
		h := start(t, Config{Routes: routesTo(s.URL)})
		_, got := r.do(t, h.web, "http://gateway")
		_, want := r.do(t, http.DefaultClient, s.URL)
		if string(got) != string(want) || !strings.Contains(string(got), "the GPU fell off") {
			t.Errorf("%s:\n%s\n%s", r.name, got, want)
		}
		if x := h.last(t, 1); !x.Cut || x.Usage == nil || !x.Usage.Estimated {
			t.Errorf("%s: exchange %+v, usage %+v: what was said was paid for", r.name, x, x.Usage)
		}
	}
}

func TestReplyOf10MB(t *testing.T) {
	for _, r := range requests {
		s := scripted.Start(t, func(int, scripted.Request) scripted.Turn {
			return scripted.Turn{Text: strings.Repeat("blah blah ", big), Chunk: 64 << 10, Usage: &wire.Usage{Input: 7, Output: 2_621_440}}
		})
		h := start(t, Config{Routes: routesTo(s.URL), RecordBody: 10_000})
		_, got := r.do(t, h.web, "http://gateway")
		if len(got) < 10*big {
			t.Errorf("%s: %d bytes came through", r.name, len(got))
		}
		x := h.last(t, 1)
		if *x.Usage != (wire.Usage{Input: 7, Output: 2_621_440}) || x.Response.Bytes != int64(len(got)) || !x.Response.Truncated || len(x.Response.Text) > 10_000 {
			t.Errorf("%s: usage %+v, %d bytes recorded of %d, truncated %v", r.name, x.Usage, len(x.Response.Text), x.Response.Bytes, x.Response.Truncated)
		}
	}
}

func TestEmptyReply(t *testing.T) {
	for _, r := range requests {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Usage: &wire.Usage{Input: 12}}))
		h := start(t, Config{Routes: routesTo(s.URL)})
		resp, _ := r.do(t, h.web, "http://gateway")
		x := h.last(t, 1)
		if resp.StatusCode != 200 || *x.Usage != (wire.Usage{Input: 12}) || x.Cut {
			t.Errorf("%s: status %d, usage %+v, cut %v", r.name, resp.StatusCode, x.Usage, x.Cut)
		}
	}
}

func TestRequestTooLarge(t *testing.T) {
	s := scripted.Start(t, scripted.Turns())
	h := start(t, Config{Routes: routesTo(s.URL)})
	body := io.MultiReader(strings.NewReader(`{"model":"`), io.LimitReader(zeros{}, maxRequest), strings.NewReader(`"}`))
	resp, err := h.web.Post("http://gateway/v1/messages", "application/json", body)
	if err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if x := h.last(t, 1); x.Status != http.StatusRequestEntityTooLarge || len(s.Requests()) != 0 {
		t.Errorf("exchange %+v, %d calls made", x, len(s.Requests()))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEncodedReplies(t *testing.T) {
	const reply = `{"model":"m","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", r.Header.Get("User-Agent"))
		if r.Header.Get("User-Agent") == "gzip" {
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, reply)
			_ = z.Close()
			return
		}
		_, _ = io.WriteString(w, "\x1b\x00")
	})
	h := start(t, Config{Routes: routesTo(up)})
	for i, how := range []string{"gzip", "br"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway/v1/chat/completions", strings.NewReader(`{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", how)
		resp, err := h.web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		x := h.last(t, i+1)
		switch how {
		case "gzip":
			if string(body) != reply || resp.Header.Get("Content-Encoding") != "" || x.Usage == nil || x.Usage.Input != 5 {
				t.Errorf("gzip: %s, usage %+v", body, x.Usage)
			}
		default:
			if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "encoding") {
				t.Errorf("br: %d %s", resp.StatusCode, body)
			}
		}
	}
}

func TestRecordThatCannotBeWritten(t *testing.T) {
	s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
	h := start(t, Config{Routes: routesTo(s.URL), RecordTotal: 3000})
	for range 10 {
		if resp, _ := requests[1].do(t, h.web, "http://gateway"); resp.StatusCode != 200 {
			t.Fatalf("status %d: a record that is full must not stop the run", resp.StatusCode)
		}
	}
	h.last(t, 10)
	h.mu.Lock()
	told := h.errors
	h.mu.Unlock()
	if len(told) != 1 || !strings.Contains(told[0].Error(), "limit") {
		t.Errorf("told %v, want it said once", told)
	}
	if err := h.Close(); err == nil {
		t.Error("Close says that the record is whole")
	}
	n := 0
	if err := ReadRecord(h.record, func(Exchange) bool { n++; return true }); err != nil || n == 0 || n == 10 {
		t.Errorf("%d exchanges, %v", n, err)
	}
}
