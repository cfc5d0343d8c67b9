package wire_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

// call is one request in each of the four formats.
var calls = []struct {
	format      wire.Format
	path        string
	body        string
	stream      bool
	contentType string
}{
	{wire.Chat, "/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`, true, "text/event-stream"},
	{wire.Chat, "/v1/chat/completions", `{"model":"m"}`, false, "application/json"},
	{wire.Responses, "/v1/responses", `{"model":"m","stream":true}`, true, "text/event-stream"},
	{wire.Responses, "/v1/responses", `{"model":"m"}`, false, "application/json"},
	{wire.Messages, "/v1/messages", `{"model":"m","stream":true}`, true, "text/event-stream"},
	{wire.Messages, "/v1/messages", `{"model":"m"}`, false, "application/json"},
	{wire.Gemini, "/v1beta/models/m:streamGenerateContent?alt=sse", `{}`, true, "text/event-stream"},
	{wire.Gemini, "/v1beta/models/m:streamGenerateContent", `{}`, true, "application/json"},
	{wire.Gemini, "/v1beta/models/m:generateContent", `{}`, false, "application/json"},
}

func fetch(t *testing.T, url, body string) (data []byte, contentType string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, _ = io.ReadAll(resp.Body) // a reply that is cut is part of the tests
	return data, resp.Header.Get("Content-Type")
}

func TestUsageIsTheSameInEveryFormat(t *testing.T) {
	full := wire.Usage{Input: 1200, Cached: 1000, Output: 345, Reasoning: 45}
	turn := scripted.Turn{Reasoning: "I think so", Text: "Grüße, 世界", Usage: &full,
		Calls: []scripted.Call{{Name: "bash", Args: `{"command":"ls -la"}`}, {Name: "plan", Args: `{}`}}}
	for _, c := range calls {
		want := full
		if c.format == wire.Messages {
			want.Reasoning = 0 // Anthropic does not tell them apart
		}
		s := scripted.Start(t, scripted.Turns(turn))
		data, contentType := fetch(t, s.URL+c.path, c.body)
		if contentType != c.contentType {
			t.Fatalf("%s: Content-Type %q, want %q", c.path, contentType, c.contentType)
		}
		for _, size := range []int{1, 2, 7, 64, len(data)} {
			m := wire.NewMeter(c.format, contentType)
			for rest := data; len(rest) > 0; {
				n := min(size, len(rest))
				_, _ = m.Write(rest[:n])
				rest = rest[n:]
			}
			r := m.Finish([]byte(c.body))
			if diff := cmp.Diff(want, r.Usage); diff != "" {
				t.Errorf("%s stream=%v in chunks of %d: usage (-want +got):\n%s", c.path, c.stream, size, diff)
			}
			if !r.Done || r.Model != "m" || r.Calls != 2 || r.Malformed != 0 || r.Fault != nil {
				t.Errorf("%s stream=%v in chunks of %d: got %+v", c.path, c.stream, size, r)
			}
		}
	}
}

func TestAnthropicExcludesTheCacheFromItsInput(t *testing.T) {
	m := wire.NewMeter(wire.Messages, "application/json")
	_, _ = m.Write([]byte(`{"type":"message","model":"m","content":[],"usage":{"input_tokens":10,` +
		`"cache_read_input_tokens":900,"cache_creation_input_tokens":90,"output_tokens":5}}`))
	want := wire.Usage{Input: 1000, Cached: 900, CacheWrite: 90, Output: 5}
	if diff := cmp.Diff(want, m.Finish(nil).Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

func TestMissingUsageIsEstimatedAndSaid(t *testing.T) {
	text := strings.Repeat("abcd", 100) // 400 characters: 100 tokens
	for _, c := range calls {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: text}))
		data, contentType := fetch(t, s.URL+c.path, c.body)
		m := wire.NewMeter(c.format, contentType)
		_, _ = m.Write(data)
		r := m.Finish([]byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("x", 4000) + `"}]}`))
		if !r.Usage.Estimated {
			t.Errorf("%s: an estimate that does not say so: %+v", c.path, r.Usage)
		}
		if r.Usage.Output != 100 || r.Usage.Input < 1000 || r.Usage.Input > 1010 {
			t.Errorf("%s: estimated %+v, want about 1000 in and 100 out", c.path, r.Usage)
		}
	}
}

func TestCutReply(t *testing.T) {
	for _, c := range calls {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Cut: true, Usage: &wire.Usage{Input: 10, Output: 1000},
			Calls: []scripted.Call{{Name: "bash", Args: `{"command":"` + strings.Repeat("echo ", 50) + `"}`}}}))
		data, contentType := fetch(t, s.URL+c.path, c.body)
		m := wire.NewMeter(c.format, contentType)
		_, _ = m.Write(data)
		r := m.Finish([]byte(c.body))
		if r.Done && c.format != wire.Gemini { // it has one event only for a call
			t.Errorf("%s stream=%v: a reply that was cut counts as whole", c.path, c.stream)
		}
		if !r.Usage.Estimated && !r.Done {
			t.Errorf("%s stream=%v: usage of half a reply counts as exact: %+v", c.path, c.stream, r.Usage)
		}
	}
}

func TestErrorInsideAStream(t *testing.T) {
	for _, c := range calls {
		if c.contentType != "text/event-stream" {
			continue
		}
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("word ", 30), StreamError: "the GPU fell off"}))
		data, contentType := fetch(t, s.URL+c.path, c.body)
		m := wire.NewMeter(c.format, contentType)
		_, _ = m.Write(data)
		r := m.Finish(nil)
		if r.Fault == nil || r.Fault.Message != "the GPU fell off" || r.Done {
			t.Errorf("%s: got fault %+v, done %v", c.path, r.Fault, r.Done)
		}
	}
}

func TestReadFault(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"OpenAI", `{"error":{"message":"no","type":"t","code":"c"}}`, "no"},
		{"Anthropic", `{"type":"error","error":{"type":"t","message":"no"}}`, "no"},
		{"Gemini", `{"error":{"code":429,"message":"no","status":"S"}}`, "no"},
		{"Gemini, streaming", `[{"error":{"code":429,"message":"no","status":"S"}}]`, "no"},
		{"Ollama", `{"error":"no"}`, "no"},
		{"vLLM", `{"object":"error","message":"no","type":"BadRequestError","code":400}`, "no"},
		{"FastAPI", `{"detail":"no"}`, "no"},
		{"without a message", `{"error":{"code":"c"}}`, "c"},
	} {
		f := wire.ReadFault([]byte(c.body))
		if f == nil || f.Message != c.want {
			t.Errorf("%s: got %+v, want message %q", c.name, f, c.want)
		}
	}
	for _, body := range []string{"", "<html>", "[]", "{}", "null", `{"error":null}`} {
		if f := wire.ReadFault([]byte(body)); f != nil {
			t.Errorf("ReadFault(%q) = %+v, want nothing", body, f)
		}
	}
	for _, format := range []wire.Format{wire.Chat, wire.Responses, wire.Messages, wire.Gemini} {
		f := wire.ReadFault(wire.ErrorBody(format, 402, "budget_spent", "the budget is spent"))
		if f == nil || f.Message != "the budget is spent" {
			t.Errorf("%s: its own error body reads as %+v", format, f)
		}
	}
}

func TestEventsAsServersSendThem(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"one", "data: a\n\n", []string{"a"}},
		{"carriage returns", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"no space", "data:a\n\n", []string{"a"}},
		{"several lines", "data: a\ndata: b\ndata: c\n\n", []string{"a\nb\nc"}},
		{"comments and names", ": hello\n\nevent: x\nid: 1\ndata: a\n\n", []string{"", "a"}},
		{"no blank line at the end", "data: a\n\ndata: b", []string{"a", "b"}},
		{"nothing", "", nil},
	} {
		for size := 1; size <= len(c.in)+1; size++ {
			var s wire.Splitter
			var got []string
			raw := ""
			take := func(e wire.Event) { got = append(got, string(e.Data)); raw += string(e.Raw) }
			for rest := c.in; rest != ""; {
				n := min(size, len(rest))
				s.Push([]byte(rest[:n]), take)
				rest = rest[n:]
			}
			s.Flush(take)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s in chunks of %d (-want +got):\n%s", c.name, size, diff)
			}
			if raw != c.in {
				t.Errorf("%s in chunks of %d: raw bytes %q, want %q", c.name, size, raw, c.in)
			}
		}
	}
}

func TestEstimateRequest(t *testing.T) {
	words := `{"messages":[{"content":"` + strings.Repeat("four", 250) + `"}]}` // 1000 characters and two names
	if n := wire.EstimateRequest([]byte(words)); n < 250 || n > 260 {
		t.Errorf("estimated %d tokens for 1000 characters", n)
	}
	image := `{"url":"` + strings.Repeat("iVBORw0KGgo", 100_000) + `"}`
	if n := wire.EstimateRequest([]byte(image)); n < 1000 || n > 1010 {
		t.Errorf("estimated %d tokens for an image, want about 1000", n)
	}
	if n := wire.EstimateRequest([]byte("not json")); n != 0 {
		t.Errorf("estimated %d tokens for nothing", n)
	}
}
