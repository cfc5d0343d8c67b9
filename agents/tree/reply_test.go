package tree

import (
	"encoding/json"
	"strings"
	"testing"

	"proctor/agents"
	"proctor/agents/llm"
)

func TestReadSolution(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		finish       llm.Finish
		sketch, code string
		why          string // part of the reason, where there is one
	}{
		{"as asked for", "A tree.\n```python\nprint(1)\n```\n", "", "A tree.", "print(1)\n", ""},
		{"with words after it", "A tree.\n```py\nprint(1)\n```\nGood luck!", "", "A tree.\nGood luck!", "print(1)\n", ""},
		{"without a language", "A tree.\n```\nprint(1)\n```", "", "A tree.", "print(1)\n", ""},
		{"with a block of another language beside it", "```sh\nls\n```\n```python\nprint(1)\n```", "", "", "print(1)\n", ""},
		{"fences inside a longer fence", "````python\nx = '''\n```\n'''\n````", "", "", "x = '''\n```\n'''\n", ""},
		{"Windows line ends", "A.\r\n```python\r\nprint(1)\r\n```\r\n", "", "A.", "print(1)\r\n", ""},
		{"empty", "  \n", "", "", "", "empty"},
		{"only words", "I would use a tree.", "", "", "", "no fenced block"},
		{"only a shell script", "```sh\nls\n```", "", "", "", "no fenced block"},
		{"two scripts", "```python\na\n```\n```python\nb\n```", "", "", "", "2 fenced blocks"},
		{"without an end", "```python\nprint(", "", "", "", "no end"},
		{"nothing in it", "```python\n\n```", "", "", "", "is empty"},
		{"cut off", "A tree.\n```python\nprint(1)\n```", llm.Length, "", "", "cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sketch, code, why := readSolution(llm.Reply{Text: c.text, Finish: c.finish})
			if sketch != c.sketch && why == "" || code != c.code || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("sketch %q, code %q, why %q", sketch, code, why)
			}
		})
	}
}

func FuzzReadSolution(f *testing.F) {
	f.Add("A.\n```python\nprint(1)\n```")
	f.Add("```\n`````\n```python")
	f.Fuzz(func(t *testing.T, text string) {
		_, code, why := readSolution(llm.Reply{Text: text})
		if (strings.TrimSpace(code) == "") != (why != "") {
			t.Errorf("code %q, but why %q", code, why)
		}
		if !strings.Contains(text, code) {
			t.Errorf("code %q is not in %q", code, text)
		}
	})
}

func TestReadReview(t *testing.T) {
	call := func(name, args string) llm.Reply {
		return llm.Reply{Calls: []llm.ToolCall{{ID: "1", Name: name, Args: json.RawMessage(args)}}}
	}
	one := 1.0
	for _, c := range []struct {
		name  string
		reply llm.Reply
		want  review
		why   string
	}{
		{"whole", call("review", `{"is_bug":true,"summary":" bad ","metric":null}`), review{Bug: true, Summary: "bad"}, ""},
		{"an integer", call("review", `{"is_bug":false,"summary":"","metric":1}`), review{Claim: &one}, ""},
		{"a number as text", call("review", `{"is_bug":false,"summary":"","metric":"1.0"}`), review{Claim: &one}, ""},
		{"not a number", call("review", `{"is_bug":false,"metric":"NaN"}`), review{}, ""},
		{"no is_bug", call("review", `{"summary":"fine"}`), review{}, "lack is_bug"},
		{"of the wrong type", call("review", `{"is_bug":"maybe"}`), review{}, "do not fit"},
		{"half of it", llm.Reply{Calls: []llm.ToolCall{{Name: "review", Args: json.RawMessage("{}"), Malformed: `{"is_bug":tr`}}}, review{}, "not a JSON object"},
		{"another tool", call("bash", `{}`), review{}, `no tool "bash"`},
		{"only words", llm.Reply{Text: "fine"}, review{}, "does not call"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := readReview(c.reply)
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Fatalf("why %q, want %q", why, c.why)
			}
			same := (got.Claim == nil) == (c.want.Claim == nil) && (got.Claim == nil || *got.Claim == *c.want.Claim)
			if got.Bug != c.want.Bug || got.Summary != c.want.Summary || !same {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	m := func(values ...float64) (list []agents.Metric) {
		for _, v := range values {
			list = append(list, agents.Metric{Name: "acc", Value: v, Source: agents.Measured})
		}
		return list
	}
	for _, c := range []struct {
		name string
		obs  agents.Observation
		want float64
		own  bool
		none bool
	}{
		{"the last match of the task's pattern", agents.Observation{Metrics: m(0.1, 0.3, 0.2)}, 0.2, false, false},
		{"an integer", agents.Observation{Metrics: m(1)}, 1, false, false},
		{"the pattern before the line", agents.Observation{Text: "validation metric: 5", Metrics: m(0.2)}, 0.2, false, false},
		{"the line, an integer", agents.Observation{Text: "validation metric: 97\n"}, 97, true, false},
		{"the last line", agents.Observation{Text: "Validation metric: 0.5\nValidation Metric = -1.5e-3.\n"}, -1.5e-3, true, false},
		{"the line with a name", agents.Observation{Text: "validation metric (RMSE): .25"}, 0.25, true, false},
		{"no number", agents.Observation{Text: "validation metric: nan\naccuracy 0.9"}, 0, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, own := measure(c.obs)
			if (got == nil) != c.none || own != c.own || got != nil && (got.value != c.want || got.source != agents.Measured) {
				t.Errorf("got %+v, own %v; want %v, own %v", got, own, c.want, c.own)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	measured := &score{0.9, agents.Measured}
	claim := 0.8
	for _, c := range []struct {
		name   string
		score  *score
		failed string
		review *review
		why    string
		source agents.Source
	}{
		{"measured, no review", measured, "", nil, "", agents.Measured},
		{"measured, and the review claims another", measured, "", &review{Claim: &claim}, "", agents.Measured},
		{"measured, but the review finds a bug", measured, "", &review{Bug: true}, "buggy", agents.Measured},
		{"claimed only", nil, "", &review{Claim: &claim}, "", agents.Claimed},
		{"nothing", nil, "", &review{}, "no metric", ""},
		{"no metric and no review", nil, "", nil, "no metric", ""},
		{"failed, whatever the review says", measured, "exit code 1", &review{Claim: &claim}, "exit code 1", agents.Measured},
		{"failed, and a claim does not help", nil, "out of time", &review{Claim: &claim}, "out of time", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &node{score: c.score}
			judge(n, c.failed, c.review)
			var source agents.Source
			if n.score != nil {
				source = n.score.source
			}
			if n.why != c.why || n.buggy != (c.why != "") || source != c.source || !n.done {
				t.Errorf("why %q, buggy %v, source %q", n.why, n.buggy, source)
			}
		})
	}
	if !invents(review{Claim: &claim}, "accuracy 0.85") || invents(review{Claim: &claim}, "accuracy: 0.80") || invents(review{}, "") {
		t.Error("invents does not compare with the numbers of the output")
	}
}
