//go:build unix

package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/roster/agentstest"
)

// model answers by a function, and checks every request as a provider would.
type model struct {
	t      *testing.T
	window int64
	answer func(llm.Request) (llm.Reply, error)
	seen   []llm.Request
}

func (m *model) TextMode() bool   { return false }
func (m *model) Model() llm.Model { return llm.Model{Name: "any", Context: m.window} }

func (m *model) Stream(ctx context.Context, r llm.Request, _ llm.Watch) (llm.Reply, error) {
	m.t.Helper()
	paired(m.t, r.Messages)
	m.seen = append(m.seen, r)
	return m.answer(r)
}

// paired checks that every call is answered right after it, and no other is.
func paired(t *testing.T, messages []llm.Message) {
	t.Helper()
	if messages[0].Role != llm.User {
		t.Fatalf("the conversation begins with %s", messages[0].Role)
	}
	var open []string
	for i, m := range messages {
		switch m.Role {
		case llm.Result:
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("message %d answers %q, but open are %q", i, m.CallID, open)
			}
			open = open[1:]
		default:
			if len(open) > 0 {
				t.Fatalf("message %d follows with %q unanswered", i, open)
			}
			if m.Role == llm.User && i > 0 && messages[i-1].Role == llm.User {
				t.Fatalf("messages %d and %d are both the user's", i-1, i)
			}
		}
		for _, c := range m.Calls {
			if !json.Valid(c.Args) {
				t.Fatalf("message %d has the arguments %s", i, c.Args)
			}
			open = append(open, c.ID)
		}
	}
}

func begin(t *testing.T, window int64, answer func(llm.Request) (llm.Reply, error)) (*Conversation, *agentstest.Host, *model) {
	t.Helper()
	h := agentstest.New(t, nil)
	m := &model{t: t, window: window, answer: answer}
	return New(&agents.Session{Model: m, Host: h}, "You are tested.", "Do it.", nil), h, m
}

// calls is a reply with two calls, whose arguments have about n bytes.
func calls(step, n int) llm.Reply {
	reply := llm.Reply{Text: fmt.Sprintf("step %d", step)}
	for _, part := range []string{"a", "b"} {
		args, _ := json.Marshal(map[string]any{"command": strings.Repeat("é", n/2), "n": 1})
		reply.Calls = append(reply.Calls, llm.ToolCall{ID: fmt.Sprintf("c%d%s", step, part), Name: "bash", Args: args})
	}
	return reply
}

func TestCompaction(t *testing.T) {
	tests := []struct {
		name           string
		window         int64
		args, output   int
		usage          func(r llm.Request) int64
		steps, perNote int
	}{
		{"observations", 8000, 50, 2000, nil, 60, 3},
		{"arguments", 8000, 3000, 10, nil, 60, 2},
		{"one step is too much", 2000, 30000, 40000, nil, 5, 1},
		{"the estimate is too low", 16000, 50, 2000, func(r llm.Request) int64 { return 2 * size(r) / 4 }, 60, 3},
		{"many small steps", 4000, 10, 20, nil, 800, 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			step := 0
			c, h, m := begin(t, test.window, func(r llm.Request) (llm.Reply, error) {
				reply := calls(step, test.args)
				if test.usage != nil {
					reply.Usage.Input = test.usage(r)
				}
				return reply, nil
			})
			h.Hint("h0", "HINT-0")
			for ; step < test.steps; step++ {
				if step == 3 {
					h.Hint("h3", "HINT-3")
				}
				reply, err := c.Ask(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, call := range reply.Calls {
					c.Answer(call, "OUT "+strings.Repeat("x", test.output)+" END", fmt.Sprintf("trace of %s", call.ID))
				}
			}
			if n := len(h.Notes); n == 0 || n > test.steps/test.perNote || !strings.HasPrefix(h.Notes[0], "compacted ") {
				t.Errorf("%d notes in %d steps: %q", n, test.steps, h.Notes)
			}
			for i, r := range m.seen {
				used := size(r) / 4
				if test.usage != nil {
					used = test.usage(r)
				}
				if i > 1 && used > test.window {
					t.Errorf("request %d has about %d tokens, with a window of %d", i, used, test.window)
				}
				whole := r.Messages[0].Text
				if !strings.HasPrefix(whole, "Do it.\n\nA person who is watching says: HINT-0") {
					t.Fatalf("request %d begins with %q", i, whole)
				}
				for _, message := range r.Messages[1:] {
					whole += message.Text
				}
				if i >= 3 && strings.Count(whole, "HINT-3") != 1 {
					t.Errorf("request %d has the hint %d times", i, strings.Count(whole, "HINT-3"))
				}
			}
			last := m.seen[len(m.seen)-1].Messages
			if test.name != "one step is too much" && !strings.Contains(last[0].Text, "- trace of c") {
				t.Errorf("nothing remains of what was left out: %q", last[0].Text)
			}
		})
	}
}

// size is how many characters a request has.
func size(r llm.Request) int64 {
	n := utf8.RuneCountInString(r.System)
	for _, m := range r.Messages {
		n += utf8.RuneCountInString(m.Text)
		for _, c := range m.Calls {
			n += utf8.RuneCount(c.Args)
		}
	}
	return int64(n)
}

// A server whose window is smaller than thought refuses; once is enough to
// learn that.
func TestWindowIsLearned(t *testing.T) {
	step, refusals := 0, 0
	c, h, _ := begin(t, 0, func(r llm.Request) (llm.Reply, error) {
		if size(r) > 12000 {
			refusals++
			return llm.Reply{}, &llm.Error{Kind: llm.ContextTooLong}
		}
		return calls(step, 10), nil
	})
	for ; step < 50; step++ {
		reply, err := c.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range reply.Calls {
			c.Answer(call, strings.Repeat("x ", 500), "did it")
		}
	}
	if refusals != 1 || len(h.Notes) < 2 {
		t.Errorf("refused %d times, notes %q", refusals, h.Notes)
	}
}

func TestContextTooLongForGood(t *testing.T) {
	tooLong := &llm.Error{Kind: llm.ContextTooLong}
	t.Run("nothing to leave out", func(t *testing.T) {
		c, h, m := begin(t, 0, func(llm.Request) (llm.Reply, error) { return llm.Reply{}, tooLong })
		if _, err := c.Ask(t.Context()); !errors.Is(err, llm.ContextTooLong) || len(m.seen) != 1 || len(h.Notes) != 0 {
			t.Errorf("%v after %d requests, notes %q", err, len(m.seen), h.Notes)
		}
	})
	t.Run("once is tried", func(t *testing.T) {
		n := 0
		c, h, m := begin(t, 0, func(llm.Request) (llm.Reply, error) {
			if n++; n > 1 {
				return llm.Reply{}, tooLong
			}
			return calls(0, 10), nil
		})
		reply, err := c.Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range reply.Calls {
			c.Answer(call, strings.Repeat("x ", 5000), "")
		}
		if _, err := c.Ask(t.Context()); !errors.Is(err, llm.ContextTooLong) || len(m.seen) != 3 || len(h.Notes) != 1 {
			t.Errorf("%v after %d requests, notes %q", err, len(m.seen), h.Notes)
		}
	})
}

// What a person said is bounded too, and the newest of it stays.
func TestHintsAreBounded(t *testing.T) {
	g := gone{}
	for i := range 1000 {
		g.hints = append(g.hints, fmt.Sprintf("hint %d", i))
		g.traces = append(g.traces, fmt.Sprintf("trace %d", i))
	}
	g.bound(30)
	if len(g.hints) == 0 || len(g.hints) > 15 || g.hints[len(g.hints)-1] != "hint 999" {
		t.Errorf("hints %q", g.hints)
	}
	if text := g.text(); g.dropped != 1000-len(g.traces) || !strings.Contains(text, fmt.Sprintf("- (%d more)", g.dropped)) {
		t.Errorf("%d traces are left out: %s", g.dropped, text)
	}
}

func TestBudgetBeforeTheCall(t *testing.T) {
	c, h, m := begin(t, 0, func(llm.Request) (llm.Reply, error) { return llm.Reply{Text: "x"}, nil })
	h.Steps = 1
	h.Exec = func(agents.Action) agents.Observation { return agents.Observation{} }
	if _, err := h.Run(t.Context(), agents.Action{Shell: "true"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ask(t.Context()); err == nil || err.Error() != "the step budget is spent" || len(m.seen) != 0 {
		t.Errorf("%v after %d requests", err, len(m.seen))
	}
}

func TestBudgetInWords(t *testing.T) {
	ptr := func(f float64) *float64 { return &f }
	long, none, steps, tokens, over := 90*time.Second+400*time.Millisecond, time.Duration(0), 3, int64(1200), int64(-7)
	tests := []struct {
		r           agents.Remaining
		left, spent string
	}{
		{agents.Remaining{}, "", ""},
		{agents.Remaining{Time: &long, Steps: &steps}, "1m30s of working time, 3 actions", ""},
		{agents.Remaining{Tokens: &tokens, Cost: ptr(0.456), GPUHours: ptr(1.5)}, "1200 tokens, $0.46, 1.50 GPU-hours", ""},
		{agents.Remaining{Time: &none, Tokens: &over}, "0s of working time, 0 tokens", "the time and token budget is spent"},
		{agents.Remaining{Cost: ptr(-0.01)}, "$0.00", "the cost budget is spent"},
	}
	for _, test := range tests {
		if got := Left(test.r); got != test.left {
			t.Errorf("left %q, want %q", got, test.left)
		}
		if err := Spent(test.r); (err == nil) != (test.spent == "") || err != nil && err.Error() != test.spent {
			t.Errorf("spent %v, want %q", err, test.spent)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("a text of some length, for all that", 5)
	f.Add(strings.Repeat("é界", 100), 7)
	f.Add("\xff\xfe\x80", 0)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = int(uint(n) % 10000)
		short := clip(s, n)
		if utf8.ValidString(s) && !utf8.ValidString(short) || len(short) > max(n+40, n+60) {
			t.Errorf("clip(%q, %d) = %q", s, n, short)
		}
		if one := line(s, n); utf8.ValidString(s) && !utf8.ValidString(one) || strings.ContainsAny(one, "\n\r\t") || len(one) > n+3 {
			t.Errorf("line(%q, %d) = %q", s, n, one)
		}
		args, _ := json.Marshal(map[string]any{"command": s, "list": []string{s}})
		if !json.Valid(shortArgs(args, n)) {
			t.Errorf("the arguments %s became %s", args, shortArgs(args, n))
		}
	})
}
