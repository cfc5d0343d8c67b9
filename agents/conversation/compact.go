package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"proctor/agents/llm"
	"proctor/agents/llm/wire"
)

const (
	// defaultReply is the room left for a reply where the model's table does
	// not say how long one may be, in tokens.
	defaultReply = 8192
	// recent is how many of the newest turns stay whole as long as they can.
	recent = 2
	// elided is what is left of an old observation, in bytes.
	elided = 400
)

// gone is what remains of turns that were left out.
type gone struct {
	hints   []string
	traces  []string
	dropped int // traces that were left out in their turn
}

// room is how many tokens a request may have.
func (c *Conversation) room() int64 {
	reply := c.session.Model.Model().MaxOutput
	if reply <= 0 {
		reply = min(defaultReply, c.window/4)
	}
	return max(c.window-reply, c.window/4)
}

// fit makes the conversation shorter when it comes near the window. That
// costs the provider's cache, so it goes far enough to be rare.
func (c *Conversation) fit() {
	if room := c.room(); c.Tokens() > room*9/10 {
		c.compact(room / 2)
	}
}

// learnWindow takes from a refusal that the window is smaller than the
// conversation, and reports whether the conversation could be made to fit.
func (c *Conversation) learnWindow() bool {
	c.window = min(c.window, c.Tokens())
	return c.compact(c.room() / 2)
}

// compact brings the conversation down to about target tokens: the oldest
// observations are elided, then the oldest turns left out but for a line
// each, then what is left is shortened. Calls keep their results throughout.
// It reports whether that made the conversation shorter, and records it.
func (c *Conversation) compact(target int64) bool {
	before, beforeEntries := c.Tokens(), len(c.entries)
	short := func() bool { return c.Tokens() <= target }
	turns := c.turns()
	if len(turns) > recent {
		for i := 1; i < turns[len(turns)-recent] && !short(); i++ {
			c.shorten(&c.entries[i], elided)
		}
	}
	left := 0
	for ; len(turns)-left > 1 && !short(); left++ {
		c.leaveOut(turns[left+1] - turns[left])
	}
	for most := 8000; most >= 125 && !short(); most /= 4 {
		for i := 1; i < len(c.entries); i++ {
			c.shorten(&c.entries[i], most)
		}
	}
	if c.Tokens() >= before {
		return false
	}
	c.session.Note(fmt.Sprintf("compacted the conversation from about %d to %d tokens: %d of %d messages left out, long ones among the rest shortened",
		before, c.Tokens(), beforeEntries-len(c.entries), beforeEntries))
	return true
}

// turns returns where each turn begins: a reply, with all that answers it.
func (c *Conversation) turns() []int {
	var starts []int
	for i, e := range c.entries {
		if e.Role == llm.Assistant {
			starts = append(starts, i)
		}
	}
	return starts
}

// leaveOut drops the n oldest entries after the task and says in the task's
// message what they were.
func (c *Conversation) leaveOut(n int) {
	for _, e := range c.entries[1 : 1+n] {
		c.sum -= e.tokens
		c.gone.hints = append(c.gone.hints, e.hints...)
		if e.trace != "" {
			c.gone.traces = append(c.gone.traces, e.trace)
		}
	}
	// A new array, so that the old messages are not held by this one.
	c.entries = append([]entry{c.entries[0]}, c.entries[1+n:]...)
	c.gone.bound(c.room() / 8)
	c.entries[0].Text = c.task + c.gone.text()
	c.estimate(&c.entries[0])
}

// bound keeps the newest traces, and of the hints too only the newest where
// they alone are more than that; each may have this many tokens.
func (g *gone) bound(tokens int64) {
	newest := func(lines []string) []string {
		first, sum := len(lines), int64(0)
		for ; first > 0; first-- {
			if sum += 1 + wire.EstimateText(lines[first-1]); sum > tokens {
				break
			}
		}
		return append([]string(nil), lines[first:]...)
	}
	kept := newest(g.traces)
	g.dropped += len(g.traces) - len(kept)
	g.traces = kept
	g.hints = newest(g.hints)
}

func (g *gone) text() string {
	var b strings.Builder
	b.WriteString("\n\n# Earlier in this conversation\n\nIt was made shorter. This is what happened, oldest first:\n")
	if g.dropped > 0 {
		fmt.Fprintf(&b, "- (%d more)\n", g.dropped)
	}
	for _, t := range g.traces {
		b.WriteString("- " + t + "\n")
	}
	if len(g.hints) > 0 {
		b.WriteString("\nMeanwhile a person who is watching said:\n")
	}
	for _, h := range g.hints {
		b.WriteString("- " + h + "\n")
	}
	return b.String()
}

// shorten cuts what is long in a reply's calls and in the result of one.
func (c *Conversation) shorten(e *entry, most int) {
	switch {
	case e.Role == llm.User: // what a person or the agent itself said
		return
	case len(e.Text) > most:
		e.Text = clip(e.Text, most)
	}
	if len(e.Calls) > 0 {
		calls := append([]llm.ToolCall(nil), e.Calls...)
		for i := range calls {
			calls[i].Args = shortArgs(calls[i].Args, most)
			calls[i].Malformed = clip(calls[i].Malformed, most)
		}
		e.Calls = calls
	}
	c.estimate(e)
}

// shortArgs shortens the long texts among a call's arguments; arguments that
// are long otherwise are left out.
func shortArgs(args json.RawMessage, most int) json.RawMessage {
	if len(args) <= most {
		return args
	}
	var v map[string]any
	if json.Unmarshal(args, &v) != nil {
		return json.RawMessage("{}")
	}
	for key, value := range v {
		if s, ok := value.(string); ok {
			v[key] = clip(s, most)
		}
	}
	short, err := json.Marshal(v)
	if err != nil || len(short) > 8*most+1000 {
		return json.RawMessage("{}")
	}
	return short
}

// clip keeps the head and the tail of a text that is longer than about n
// bytes, and says how much is missing between them.
func clip(s string, n int) string {
	if len(s) <= n+40 {
		return s
	}
	head, tail := n*2/3, len(s)-n/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", s[:head], tail-head, s[tail:])
}

// line is the beginning of a text, about n bytes, on one line.
func line(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), 4*n)], "")), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
