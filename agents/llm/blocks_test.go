package llm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm/scripted"
)

func TestBlockCalls(t *testing.T) {
	tools := []Tool{bash, submit}
	for _, c := range []struct{ name, text, tool, args string }{
		{"bash", "Look:\n```bash\nls -la\n```", "bash", `{"command":"ls -la"}`},
		{"sh", "```sh\nls\n```", "bash", `{"command":"ls"}`},
		{"several lines", "```bash\ncd x\nmake\n```\nfine", "bash", `{"command":"cd x\nmake"}`},
		{"JSON", "```submit\n{\"path\": \"a.csv\"}\n```", "submit", `{"path": "a.csv"}`},
		{"the first of two", "```bash\nls\n```\n```bash\nrm x\n```", "bash", `{"command":"ls"}`},
		{"after other code", "```python\nprint(1)\n```\n```bash\nls\n```", "bash", `{"command":"ls"}`},
		{"not closed", "```bash\nls\n", "bash", `{"command":"ls"}`},
		{"a longer fence holds a shorter one", "````bash\ncat <<E\n```\nE\n````", "bash", "{\"command\":\"cat \\u003c\\u003cE\\n```\\nE\"}"},
		{"no block", "I am done.", "", ""},
		{"only other code", "```python\nprint(1)\n```", "", ""},
	} {
		got := blockCalls(c.text, tools, func() string { return "id" })
		if c.tool == "" {
			if got != nil {
				t.Errorf("%s: got %+v, want none", c.name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Name != c.tool || string(got[0].Args) != c.args {
			t.Errorf("%s: got %+v, want %s %s", c.name, got, c.tool, c.args)
		}
	}
}

func TestServerWithoutToolCalling(t *testing.T) {
	for _, refusal := range []scripted.Turn{
		{Status: 400, Body: `{"error":{"message":"registry/library/gemma:2b does not support tools","type":"api_error"}}`},
		{Status: 400, Message: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`},
		{Status: 500, Message: "tools param requires --jinja flag"},
		{Status: 404, Message: "No endpoints found that support tool use"},
	} {
		s := scripted.Start(t, func(n int, r scripted.Request) scripted.Turn {
			switch {
			case len(r.Tools) > 0:
				return refusal
			case n == 1:
				return scripted.Turn{Text: "I look.\n```bash\nls\n```\n"}
			}
			return scripted.Turn{Text: "```submit\n{\"path\":\"x\"}\n```"}
		})
		c := client(t, model(Compatible, s), Options{})
		var w watched
		talk := []Message{Say("begin")}
		r, err := c.Stream(t.Context(), ask(talk...), w.watch())
		if err != nil {
			t.Fatal(err)
		}
		if !c.TextMode() || len(w.notes) != 1 || len(w.retries) != 0 {
			t.Errorf("text mode %v, notes %q, retries %v", c.TextMode(), w.notes, w.retries)
		}
		if len(r.Calls) != 1 || r.Calls[0].Name != "bash" || string(r.Calls[0].Args) != `{"command":"ls"}` {
			t.Fatalf("calls %+v", r.Calls)
		}
		talk = append(talk, r.Message(), Answer(r.Calls[0], "train.py"))
		if r, err = c.Stream(t.Context(), ask(talk...), w.watch()); err != nil {
			t.Fatal(err)
		}
		if len(r.Calls) != 1 || r.Calls[0].Name != "submit" {
			t.Errorf("calls %+v", r.Calls)
		}
		all := s.Requests()
		last := all[len(all)-1]
		if len(all) != 3 || len(last.Tools) != 0 || !last.Contains("Result of bash:\ntrain.py") || !last.Contains("```bash") {
			t.Errorf("%d requests; the last:\n%s", len(all), last.Body)
		}
	}
}

func TestInBlocks(t *testing.T) {
	tools := []Tool{bash, submit}
	ls := newToolCall("1", "bash", `{"command":"ls"}`)
	got := inBlocks([]Message{
		Say("begin"),
		{Role: Assistant, Text: "native", Calls: []ToolCall{ls}}, // from before the fall-back
		Answer(ls, "a\nb"),
		Say("a hint"),
		{Role: Assistant, Text: "```bash\nls\n```\n```bash\npwd\n```", Calls: []ToolCall{ls}},
		Answer(ls, ""),
	}, tools)
	want := []string{
		"user: begin",
		"assistant: native\n```bash\nls\n```\n",
		"user: Result of bash:\na\nb\n\na hint",
		"assistant: ```bash\nls\n```\n```bash\npwd\n```",
		"user: Result of bash:\n(no output)\n(Only the first of your 2 blocks was executed.)",
	}
	var lines []string
	for _, m := range got {
		lines = append(lines, string(m.Role)+": "+m.Text)
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
