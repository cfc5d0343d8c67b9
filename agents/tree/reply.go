package tree

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proctor/agents/llm"
)

// A fenced is a fenced block of a reply.
type fenced struct {
	word, body string
	closed     bool
}

// isPython reports whether the block calls itself Python.
func (f fenced) isPython() bool {
	return slices.Contains([]string{"python", "python3", "py"}, strings.ToLower(f.word))
}

// readBlocks cuts a reply into what is said outside of its fenced blocks and
// the blocks.
func readBlocks(text string) (said string, found []fenced) {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		ticks := len(bare) - len(strings.TrimLeft(bare, "`"))
		switch {
		case fence == "" && ticks >= 3:
			word, _, _ := strings.Cut(strings.TrimSpace(bare[ticks:]), " ")
			fence, found = bare[:ticks], append(found, fenced{word: word})
		case fence == "":
			out.WriteString(line)
		case ticks == len(bare) && ticks >= len(fence):
			fence, found[len(found)-1].closed = "", true
		default:
			found[len(found)-1].body += line
		}
	}
	return strings.TrimSpace(out.String()), found
}

// readSolution takes the design and the script from a reply. why is written
// for the model to read, and empty when there is exactly one script.
func readSolution(r llm.Reply) (sketch, code, why string) {
	sketch, found := readBlocks(r.Text)
	scripts := slices.DeleteFunc(slices.Clone(found), func(f fenced) bool { return !f.isPython() })
	if len(scripts) == 0 {
		scripts = slices.DeleteFunc(found, func(f fenced) bool { return f.word != "" })
	}
	switch {
	case r.Truncated, r.Finish == llm.Length:
		return "", "", "it was cut off because it is too long"
	case strings.TrimSpace(r.Text) == "":
		return "", "", "it is empty"
	case len(scripts) == 0:
		return "", "", "it has no fenced block with a Python script"
	case len(scripts) > 1:
		return "", "", fmt.Sprintf("it has %d fenced blocks with scripts, and it is not clear which one is meant", len(scripts))
	case !scripts[0].closed:
		return "", "", "its fenced block has no end"
	case strings.TrimSpace(scripts[0].body) == "":
		return "", "", "its fenced block is empty"
	}
	return sketch, scripts[0].body, ""
}

// A review is what the model says about the output of a script.
type review struct {
	Bug     bool
	Summary string
	Claim   *float64 // the metric, as the model reads it
}

// reviewTool is how the model gives its review.
var reviewTool = llm.Tool{
	Name:        "review",
	Description: "Says what came of the script.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"is_bug":{"type":"boolean","description":"whether the script failed or has a bug that makes its result worthless"},` +
		`"summary":{"type":"string","description":"two or three sentences: what came of it, or what is wrong and how it might be repaired"},` +
		`"metric":{"type":["number","null"],"description":"the validation metric exactly as the output has it; null when it has none"}` +
		`},"required":["is_bug","summary","metric"]}`),
}

// readReview takes the review from a reply. why is written for the model.
func readReview(r llm.Reply) (rev review, why string) {
	i := slices.IndexFunc(r.Calls, func(c llm.ToolCall) bool { return c.Name == reviewTool.Name })
	if i < 0 {
		if len(r.Calls) > 0 {
			return review{}, fmt.Sprintf("there is no tool %q; call review", r.Calls[0].Name)
		}
		return review{}, "it does not call the tool review"
	}
	var args struct {
		Bug     *bool           `json:"is_bug"`
		Summary string          `json:"summary"`
		Metric  json.RawMessage `json:"metric"`
	}
	if err := r.Calls[i].Decode(&args); err != nil {
		return review{}, err.Error()
	}
	if args.Bug == nil {
		return review{}, "the arguments of review lack is_bug"
	}
	rev = review{Bug: *args.Bug, Summary: strings.TrimSpace(args.Summary)}
	number := strings.Trim(string(args.Metric), `" `) // some write it as a string
	if v, err := strconv.ParseFloat(number, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		rev.Claim = &v
	}
	return rev, ""
}

const number = `[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`

var (
	metricLine = regexp.MustCompile(`(?i)validation metric\s*(?:\([^()]*\)\s*)?[:=]\s*(` + number + `)`)
	anyNumber  = regexp.MustCompile(number)
)

// printedMetric returns the last value of a line "validation metric: X".
func printedMetric(output string) (float64, bool) {
	found := metricLine.FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(found[len(found)-1][1], 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// prints reports whether a number is in an output, written in any way.
func prints(output string, v float64) bool {
	for _, word := range anyNumber.FindAllString(output, -1) {
		if p, err := strconv.ParseFloat(word, 64); err == nil && (p == v || math.Abs(p-v) <= 1e-9*math.Abs(v)) {
			return true
		}
	}
	return false
}
