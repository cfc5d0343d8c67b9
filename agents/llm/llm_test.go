package llm

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm/redact"
	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

const testKey = "sk-test-0123456789abcdef"

var providers = []Provider{Compatible, OpenAI, Anthropic}

// in runs a test once for each provider.
func in(t *testing.T, f func(t *testing.T, p Provider)) {
	for _, p := range providers {
		t.Run(string(p), func(t *testing.T) { f(t, p) })
	}
}

func dollars(f float64) *float64 { return &f }

// model is a model of a scripted server.
func model(p Provider, s *scripted.Server) Model {
	return Model{Provider: p, BaseURL: s.URL + "/v1", Name: "any", Context: 32768,
		Price: Price{Input: dollars(3), Cached: dollars(0.3), Output: dollars(15)}}
}

// client is one that does not wait long between attempts.
func client(t *testing.T, m Model, o Options) *Client {
	t.Helper()
	o.Backoff = time.Millisecond
	if o.Key == "" {
		o.Key = testKey
	}
	c, err := New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var bash = Tool{Name: "bash", Description: "Runs a command.", Block: "command",
	Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}
var submit = Tool{Name: "submit", Description: "Submits a file.",
	Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}

// ask is a small request that offers the tools.
func ask(messages ...Message) Request {
	if messages == nil {
		messages = []Message{Say("list the files")}
	}
	return Request{System: "You are tested.", Messages: messages, Tools: []Tool{bash, submit}}
}

// watched collects what a Watch is told.
type watched struct {
	text, reasoning strings.Builder
	retries         []Retry
	notes           []string
}

func (w *watched) watch() Watch {
	return Watch{
		Text:      func(d string) { w.text.WriteString(d) },
		Reasoning: func(d string) { w.reasoning.WriteString(d) },
		Retry: func(r Retry) {
			w.retries = append(w.retries, r)
			w.text.Reset()
			w.reasoning.Reset()
		},
		Note: func(s string) { w.notes = append(w.notes, s) },
	}
}

func TestStream(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{
			Reasoning: "The person wants a list.",
			Text:      "Let me look — 見てみよう.",
			Calls:     []scripted.Call{{ID: "a1", Name: "bash", Args: `{"command":"ls"}`}, {ID: "a2", Name: "submit", Args: `{"path":"x"}`}},
			Usage:     &wire.Usage{Input: 1200, Cached: 1000, Output: 345},
		}))
		var w watched
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != "Let me look — 見てみよう." || w.text.String() != r.Text {
			t.Errorf("text %q, streamed %q", r.Text, w.text.String())
		}
		if r.Reasoning != "The person wants a list." || strings.TrimSpace(w.reasoning.String()) != r.Reasoning {
			t.Errorf("reasoning %q, streamed %q", r.Reasoning, w.reasoning.String())
		}
		want := []ToolCall{{ID: "a1", Name: "bash", Args: json.RawMessage(`{"command":"ls"}`)}, {ID: "a2", Name: "submit", Args: json.RawMessage(`{"path":"x"}`)}}
		if diff := cmp.Diff(want, r.Calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(Usage{Input: 1200, Cached: 1000, Output: 345}, r.Usage); diff != "" {
			t.Errorf("usage (-want +got):\n%s", diff)
		}
		// 200 × $3 + 1000 × $0.30 + 345 × $15, per million
		if want := (200*3 + 1000*0.3 + 345*15) / 1e6; r.Cost == nil || *r.Cost != want {
			t.Errorf("cost %v, want %v", r.Cost, want)
		}
		if r.Finish != WantsCall || r.Attempts != 1 {
			t.Errorf("finish %q after %d attempts", r.Finish, r.Attempts)
		}
		req := s.Requests()[0]
		if req.Format != p.Format() || req.Key() != testKey || !req.Stream {
			t.Errorf("asked in format %s, stream %v, with key %q", req.Format, req.Stream, req.Key())
		}
		if diff := cmp.Diff([]string{"bash", "submit"}, req.Tools); diff != "" {
			t.Errorf("tools offered (-want +got):\n%s", diff)
		}
	})
}

func TestConversationGoesBack(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(
			scripted.Turn{Reasoning: "thinking hard", Calls: []scripted.Call{{Name: "bash", Args: `{"command":"ls"}`}, {Name: "bash", Args: `{"command":"pwd"}`}}},
			scripted.Turn{Text: "done"},
		))
		c := client(t, model(p, s), Options{})
		talk := []Message{Say("begin")}
		r, err := c.Stream(t.Context(), ask(talk...), Watch{})
		if err != nil {
			t.Fatal(err)
		}
		// The second call was interrupted: nobody answered it.
		talk = append(talk, r.Message(), Answer(r.Calls[0], "train.py"), Say("a hint: look closer"))
		if _, err := c.Stream(t.Context(), ask(talk...), Watch{}); err != nil {
			t.Fatal(err)
		}
		second := s.Requests()[1]
		for _, want := range []string{"You are tested.", "begin", "train.py", "(not executed)", "a hint: look closer"} {
			if !second.Contains(want) {
				t.Errorf("%q is not in the next request:\n%s", want, second.Body)
			}
		}
		if n := strings.Count(string(second.Body), r.Calls[1].ID); n != 2 {
			t.Errorf("the interrupted call's id is there %d times, want in the call and in its answer:\n%s", n, second.Body)
		}
		if p == Anthropic && !second.Contains("thinking hard") {
			t.Errorf("the reasoning that led to the calls did not go back:\n%s", second.Body)
		}
	})
}

// A growing conversation must keep its beginning byte for byte, or nothing
// of it is read from the provider's cache.
func TestPrefixIsStable(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, func(n int, r scripted.Request) scripted.Turn {
			return scripted.Turn{Text: "step", Calls: []scripted.Call{{Name: "bash", Args: `{"command":"ls"}`}}}
		})
		c := client(t, model(p, s), Options{})
		talk := []Message{Say("begin")}
		for range 3 {
			r, err := c.Stream(t.Context(), ask(talk...), Watch{})
			if err != nil {
				t.Fatal(err)
			}
			talk = append(talk, r.Message(), Answer(r.Calls[0], "out"))
		}
		items := func(r scripted.Request) []json.RawMessage {
			var v struct{ Messages, Input []json.RawMessage }
			if err := json.Unmarshal(r.Body, &v); err != nil {
				t.Fatal(err)
			}
			return append(v.Messages, v.Input...)
		}
		bare := func(m json.RawMessage) string { // the mark for the cache moves on and is not part of it
			return strings.ReplaceAll(string(m), `,"cache_control":{"type":"ephemeral"}`, "")
		}
		all := s.Requests()
		for n := 1; n < len(all); n++ {
			before, after := items(all[n-1]), items(all[n])
			for i, m := range before {
				a := strings.ReplaceAll(bare(m), `"cache_control":{"type":"ephemeral"},`, "")
				b := strings.ReplaceAll(bare(after[i]), `"cache_control":{"type":"ephemeral"},`, "")
				if a != b {
					t.Errorf("message %d changed between requests %d and %d:\n%s\n%s", i, n-1, n, a, b)
				}
			}
		}
		if p == Anthropic && strings.Count(string(all[2].Body), "cache_control") != 2 {
			t.Errorf("want two marks for the cache:\n%s", all[2].Body)
		}
	})
}

func TestKeysOfTheEnvironmentStayHere(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "someone-elses-secret")
	}
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: "hello"}))
		if _, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), Watch{}); err != nil {
			t.Fatal(err)
		}
		for name, values := range s.Requests()[0].Header {
			if strings.Contains(strings.Join(values, " "), "someone-elses-secret") {
				t.Errorf("header %s carries a secret of the environment", name)
			}
		}
	})
}

func TestKeyInTheModelsTextIsRedacted(t *testing.T) {
	const other = "hf_abcdefghijklmnop"
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{
			Chunk: 3, Reasoning: "the key is " + testKey, Text: "use " + testKey + " and " + other + " now",
			Calls: []scripted.Call{{Name: "bash", Args: `{"command":"echo ` + other + `"}`}},
		}))
		var w watched
		r, err := client(t, model(p, s), Options{Redact: redact.New(other)}).Stream(t.Context(), ask(), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != "use [redacted] and [redacted] now" || w.text.String() != r.Text {
			t.Errorf("text %q, streamed %q", r.Text, w.text.String())
		}
		if r.Reasoning != "the key is [redacted]" {
			t.Errorf("reasoning %q", r.Reasoning)
		}
		if got := string(r.Calls[0].Args); got != `{"command":"echo [redacted]"}` {
			t.Errorf("arguments %s", got)
		}
	})
}

func TestCancel(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		gate := make(chan struct{}, 3) // enough for the first word in every format
		for range cap(gate) {
			gate <- struct{}{}
		}
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("word ", 100), Gate: gate}))
		ctx, cancel := context.WithCancel(t.Context())
		w := Watch{Text: func(string) { cancel() }}
		_, err := client(t, model(p, s), Options{}).Stream(ctx, ask(), w)
		if err != context.Canceled {
			t.Fatalf("got error %v, want context.Canceled", err)
		}
		eventually(t, "the server notices that nobody listens", func() bool { return s.Dropped() == 1 })
	})
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

func TestCost(t *testing.T) {
	all := Price{Input: dollars(2), Cached: dollars(0.5), Output: dollars(8)}
	for _, c := range []struct {
		name  string
		price Price
		usage Usage
		want  *float64
	}{
		{"all known", all, Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}, dollars(1.2 + 0.2 + 0.8)},
		{"writing a cache costs as input", all, Usage{Input: 1_000_000, CacheWrite: 500_000}, dollars(2)},
		{"unless it has a price", Price{Input: dollars(2), CacheWrite: dollars(4)}, Usage{Input: 1_000_000, CacheWrite: 500_000}, dollars(1 + 2)},
		{"no prices", Price{}, Usage{Input: 10, Output: 10}, nil},
		{"no prices and no tokens", Price{}, Usage{}, nil},
		{"a price for cached tokens is missing", Price{Input: dollars(2), Output: dollars(8)}, Usage{Input: 10, Cached: 5}, nil},
		{"and not needed", Price{Input: dollars(2), Output: dollars(8)}, Usage{Input: 1_000_000}, dollars(2)},
		{"a free model", Price{Input: dollars(0), Output: dollars(0)}, Usage{Input: 10, Output: 10}, dollars(0)},
		{"what the provider says", Price{}, Usage{Input: 10, Output: 10, Cost: dollars(0.25)}, dollars(0.25)},
		{"prices come first", all, Usage{Input: 1_000_000, Cost: dollars(0.25)}, dollars(2)},
	} {
		if diff := cmp.Diff(c.want, c.price.Cost(c.usage), cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Model
		want string // in the error; "" is none
	}{
		{"local", Model{Provider: Compatible, BaseURL: "http://127.0.0.1:8000/v1", Name: "m"}, ""},
		{"hosted", Model{Provider: Anthropic, Name: "m"}, ""},
		{"no address", Model{Provider: Compatible, Name: "m"}, "base_url"},
		{"no name", Model{Provider: OpenAI}, "name"},
		{"no provider", Model{Name: "m"}, "provider"},
		{"no address either", Model{Provider: OpenAI, Name: "m", BaseURL: "localhost:80"}, "base_url"},
		{"a file", Model{Provider: OpenAI, Name: "m", BaseURL: "file:///etc/passwd"}, "base_url"},
		{"a negative price", Model{Provider: OpenAI, Name: "m", Price: Price{Output: dollars(-1)}}, "price"},
	} {
		err := c.m.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

func TestKey(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": " usual \n", "MY_KEY": "mine", "BAD": "a\nb"}
	for _, c := range []struct {
		m    Model
		want string
		err  string
	}{
		{Model{Provider: Compatible}, "", ""},
		{Model{Provider: Compatible, KeyEnv: "MY_KEY"}, "mine", ""},
		{Model{Provider: OpenAI}, "usual", ""},
		{Model{Provider: Anthropic}, "", "set ANTHROPIC_API_KEY"},
		{Model{Provider: OpenAI, KeyEnv: "BAD"}, "", "line break"},
	} {
		got, err := c.m.Key(func(s string) string { return env[s] })
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: got %q, %v", c.m, got, err)
		}
	}
}
