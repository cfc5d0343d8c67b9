package llm

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

// fails makes one call that must end in an error of a kind, without a key in
// it, and returns the error.
func fails(t *testing.T, c *Client, w Watch, kind Kind) *Error {
	t.Helper()
	_, err := c.Stream(t.Context(), ask(), w)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, kind) {
		t.Fatalf("got %v, want the kind %q", err, kind)
	}
	text := err.Error()
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		text += "\n" + cause.Error()
	}
	if strings.Contains(text, testKey) {
		t.Errorf("the key is in the error: %s", text)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("an error of several lines: %q", err)
	}
	return e
}

func TestProviderDown(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close() // nobody listens there now
		var w watched
		e := fails(t, client(t, Model{Provider: p, BaseURL: "http://" + l.Addr().String(), Name: "any"}, Options{Retries: 2}), w.watch(), Unreachable)
		if e.Attempts != 3 || len(w.retries) != 2 {
			t.Errorf("%d attempts, %d retries told, want 3 and 2", e.Attempts, len(w.retries))
		}
	})
}

func TestUnauthorized(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Status: 401, Message: "Incorrect API key provided: " + testKey}))
		e := fails(t, client(t, model(p, s), Options{}), Watch{}, Unauthorized)
		if e.Attempts != 1 || !strings.Contains(e.Message, "[redacted]") {
			t.Errorf("%d attempts, message %q: want one, and the key redacted", e.Attempts, e.Message)
		}
	})
}

func TestRateLimitWithRetryAfter(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(
			scripted.Turn{Status: 429, RetryAfter: "0.05"}, scripted.Turn{Text: "hello"}))
		var w watched
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if r.Attempts != 2 || len(w.retries) != 1 || w.retries[0].Wait != 50*time.Millisecond || w.retries[0].Err.Status != 429 {
			t.Errorf("%d attempts, retries %+v, want one after 50 ms", r.Attempts, w.retries)
		}
	})
}

func TestRateLimitThatLastsTooLong(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Status: 429, RetryAfter: "3600"}))
		e := fails(t, client(t, model(p, s), Options{}), Watch{}, RateLimited)
		if e.Attempts != 1 || e.RetryAfter != time.Hour {
			t.Errorf("%d attempts, retry after %s: want to be told at once of the hour", e.Attempts, e.RetryAfter)
		}
	})
}

func TestRateLimitWithoutRetryAfter(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		limited := scripted.Turn{Status: 429}
		s := scripted.Start(t, scripted.Turns(limited, limited, scripted.Turn{Text: "hello"}))
		var w watched
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), w.watch())
		if err != nil || r.Attempts != 3 {
			t.Fatalf("%d attempts, %v", r.Attempts, err)
		}
		if w.retries[1].Wait <= w.retries[0].Wait {
			t.Errorf("waits %s, then %s: want them to grow", w.retries[0].Wait, w.retries[1].Wait)
		}
	})
}

func TestServerErrors(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		for _, status := range []int{500, 502, 503, 529} {
			s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return scripted.Turn{Status: status} })
			e := fails(t, client(t, model(p, s), Options{Retries: 2}), Watch{}, ServerError)
			if n := len(s.Requests()); e.Attempts != 3 || n != 3 {
				t.Errorf("%d: %d attempts, %d requests, want 3", status, e.Attempts, n)
			}
		}
	})
}

func TestErrorPage(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Body: "<html>hello</html>", ContentType: "text/html"}))
		e := fails(t, client(t, model(p, s), Options{Retries: -1}), Watch{}, BadReply)
		if !strings.Contains(e.Message, "<html>hello") {
			t.Errorf("message %q", e.Message)
		}
	})
}

func TestBadRequestIsFinal(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Status: 400, Message: "temperature is out of range"}))
		if e := fails(t, client(t, model(p, s), Options{}), Watch{}, BadRequest); e.Attempts != 1 {
			t.Errorf("%d attempts", e.Attempts)
		}
	})
}

func TestContextTooLong(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Status: 400, Message: "This model's maximum context length is 8192 tokens. However, you requested 9000"}))
		fails(t, client(t, model(p, s), Options{}), Watch{}, ContextTooLong)
	})
}

func TestBudgetSpent(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		body := string(wire.ErrorBody(p.Format(), 402, "budget_spent", "$20.00 of $20.00 are spent"))
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Status: 402, Body: body}))
		e := fails(t, client(t, model(p, s), Options{}), Watch{}, BudgetSpent)
		if e.Attempts != 1 || e.Message != "$20.00 of $20.00 are spent" {
			t.Errorf("%d attempts, message %q", e.Attempts, e.Message)
		}
		s = scripted.Start(t, scripted.Turns(scripted.Turn{Status: 402, Message: "insufficient balance"}))
		fails(t, client(t, model(p, s), Options{}), Watch{}, PaymentRequired)
	})
}

func TestCutInTheMiddleOfAToolCall(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		call := []scripted.Call{{Name: "bash", Args: `{"command":"rm -rf build && make all test install"}`}}
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Calls: call, Cut: true}, scripted.Turn{Calls: call}))
		var w watched
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if r.Attempts != 2 || !errors.Is(w.retries[0].Err, StreamCut) || len(r.Calls) != 1 || string(r.Calls[0].Args) != call[0].Args {
			t.Errorf("%d attempts, retries %v, calls %+v", r.Attempts, w.retries, r.Calls)
		}
		s = scripted.Start(t, func(int, scripted.Request) scripted.Turn { return scripted.Turn{Calls: call, Cut: true} })
		fails(t, client(t, model(p, s), Options{Retries: 1}), Watch{}, StreamCut)
	})
}

// A server that ends its stream as if it were whole must not get half of a
// call executed.
func TestStreamThatJustEnds(t *testing.T) {
	body := "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"rm -rf b\"}}]}}]}\n\n"
	s := scripted.Start(t, scripted.Turns(scripted.Turn{Body: body, ContentType: "text/event-stream"}))
	fails(t, client(t, model(Compatible, s), Options{Retries: -1}), Watch{}, StreamCut)
}

func TestErrorObjectInAStream(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		bad := scripted.Turn{Text: strings.Repeat("many words ", 20), StreamError: "the GPU fell off"}
		s := scripted.Start(t, scripted.Turns(bad, scripted.Turn{Text: "hello"}))
		var w watched
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != "hello" || w.text.String() != "hello" || w.retries[0].Err.Message != "the GPU fell off" {
			t.Errorf("text %q, streamed %q, retries %v", r.Text, w.text.String(), w.retries)
		}
	})
}

func TestHalfValidArguments(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		half := `{"command":"ls", "timeout_s": `
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Calls: []scripted.Call{{Name: "bash", Args: half}}}, scripted.Turn{Text: "sorry"}))
		c := client(t, model(p, s), Options{})
		r, err := c.Stream(t.Context(), ask(), Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Calls) != 1 || r.Calls[0].Malformed != half || string(r.Calls[0].Args) != "{}" {
			t.Fatalf("calls %+v", r.Calls)
		}
		var v struct{ Command string }
		if err := r.Calls[0].Decode(&v); err == nil || !strings.Contains(err.Error(), "not a JSON object") {
			t.Errorf("Decode: %v", err)
		}
		// and the conversation must be one that a provider takes back
		talk := []Message{Say("go"), r.Message(), Answer(r.Calls[0], "that was not JSON")}
		if _, err := c.Stream(t.Context(), ask(talk...), Watch{}); err != nil {
			t.Errorf("the next call: %v", err)
		}
		if body := s.Requests()[1].Body; strings.Contains(string(body), "timeout_s") {
			t.Errorf("the broken arguments went back:\n%s", body)
		}
	})
}

func TestUnknownTool(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Calls: []scripted.Call{{Name: "functions.fly to/moon", Args: `{}`}}}, scripted.Turn{Text: "sorry"}))
		c := client(t, model(p, s), Options{})
		r, err := c.Stream(t.Context(), ask(), Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Calls) != 1 || r.Calls[0].Name != "functions.fly to/moon" {
			t.Fatalf("calls %+v: the agent must see what was asked for", r.Calls)
		}
		if _, err := c.Stream(t.Context(), ask(Say("go"), r.Message(), Answer(r.Calls[0], "no such tool")), Watch{}); err != nil {
			t.Fatal(err)
		}
		if !s.Requests()[1].Contains("functions_fly_to_moon") {
			t.Errorf("the name went back as no provider takes it:\n%s", s.Requests()[1].Body)
		}
	})
}

func TestEmptyReply(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{}, scripted.Turn{Text: "hello"}))
		c := client(t, model(p, s), Options{})
		r, err := c.Stream(t.Context(), ask(), Watch{})
		if err != nil || !r.Empty() {
			t.Fatalf("got %+v, %v, want an empty reply", r, err)
		}
		if _, err := c.Stream(t.Context(), ask(Say("go"), r.Message(), Say("you said nothing")), Watch{}); err != nil {
			t.Errorf("the call after an empty reply: %v", err)
		}
	})
}

func TestReplyOf10MB(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("blah blah ", big), Chunk: 64 << 10,
			Usage: &wire.Usage{Input: 7, Output: 2_621_440}}))
		var w watched
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if !r.Truncated || len(r.Text) < 1<<20 || len(r.Text) > 1<<20+64<<10 || w.text.Len() != len(r.Text) {
			t.Errorf("truncated %v, %d bytes kept, %d streamed", r.Truncated, len(r.Text), w.text.Len())
		}
		if diff := cmp.Diff(Usage{Input: 7, Output: 2_621_440}, r.Usage); diff != "" {
			t.Errorf("usage of the whole (-want +got):\n%s", diff)
		}
	})
}

func TestToolCallsWithoutIDs(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		turn := scripted.Turn{NoIDs: true, Calls: []scripted.Call{{Name: "bash", Args: `{"command":"ls"}`}, {Name: "submit", Args: `{"path":"x"}`}}}
		s := scripted.Start(t, scripted.Turns(turn, turn))
		c := client(t, model(p, s), Options{})
		seen := map[string]bool{"": true}
		for range 2 {
			r, err := c.Stream(t.Context(), ask(), Watch{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Calls) != 2 || r.Calls[0].Name != "bash" || r.Calls[1].Name != "submit" || string(r.Calls[1].Args) != `{"path":"x"}` {
				t.Fatalf("calls %+v", r.Calls)
			}
			for _, call := range r.Calls {
				if seen[call.ID] {
					t.Errorf("id %q is empty or was there before", call.ID)
				}
				seen[call.ID] = true
			}
		}
	})
}

func TestMissingUsage(t *testing.T) {
	in(t, func(t *testing.T, p Provider) {
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("four", 100)}))
		r, err := client(t, model(p, s), Options{}).Stream(t.Context(), ask(), Watch{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Usage.Estimated || r.Usage.Output != 100 || r.Usage.Input == 0 || r.Cost == nil {
			t.Errorf("usage %+v, cost %v, want an estimate that says so", r.Usage, r.Cost)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		{"Retry-After", "Fri, 02 Jan 2026 03:03:05 GMT", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "1e300", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "", 0},
	} {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %s = %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func FuzzCallFixer(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"id\":\"x\",\"function\":{\"arguments\":{\"a\":1}}},3]}}]}\n\n"))
	f.Add([]byte("data: {\"tool_calls\":1,\"choices\":{}}\n\ndata: [DONE]\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		fixer := &callFixer{newID: func() string { return "id" }}
		out := fixer.next(in, true)
		if !strings.Contains(string(in), `"tool_calls"`) && string(out) != string(in) {
			t.Errorf("a stream without tool calls was changed: %q to %q", in, out)
		}
	})
}
