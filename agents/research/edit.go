package research

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
)

const editRules = "You edit files exactly as you are instructed. Make no other changes, leave nothing out, and " +
	"answer with the complete result in one fenced block that begins with ```python (or the language at hand), nothing else."

func (r *run) editScript(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["script_name"])
	old, err := r.content(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r.act(ctx, agents.Edit, editTitle(in), in, envError(err))
	}
	prompt := fmt.Sprintf("This is %s:\n```\n%s\n```\n\nEdit it by this instruction:\n%s\n\nGive the full file after the edit.",
		name, old, in["edit_instruction"])
	if err != nil {
		prompt = fmt.Sprintf("%s does not exist yet. Write it by this instruction:\n%s\n\nGive the full file.", name, in["edit_instruction"])
	}
	return r.edited(ctx, in, string(old), prompt, func(text string) string { return text })
}

func (r *run) editSegment(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["script_name"])
	first, last, err := lineRange(in)
	var content []byte
	if err == nil {
		content, err = r.content(name)
	}
	lines := splitLines(string(content))
	if err == nil && first > len(lines) {
		err = fmt.Errorf("%s has only %d lines", name, len(lines))
	}
	if err != nil {
		return r.act(ctx, agents.Edit, editTitle(in), in, envError(err))
	}
	last = min(last, len(lines))
	segment := strings.Join(lines[first-1:last], "")
	prompt := fmt.Sprintf("These are the lines %d to %d of %s:\n```\n%s\n```\n\nEdit them by this instruction:\n%s\n\n"+
		"Give these lines after the edit, with their indentation, and nothing of the rest of the file.",
		first, last, name, segment, in["edit_instruction"])
	return r.edited(ctx, in, string(content), prompt, func(text string) string {
		return strings.Join(lines[:first-1], "") + text + strings.Join(lines[last:], "")
	})
}

func editTitle(in map[string]string) string {
	return fmt.Sprintf("Edit Script (AI) %s: %s", in["save_name"], clip(in["edit_instruction"], 80))
}

// edited has the model edit what prompt shows, fits the result in with
// whole, saves it and shows the difference from old.
func (r *run) edited(ctx context.Context, in map[string]string, old, prompt string, whole func(string) string) (outcome, error) {
	var code string
	for attempt := 1; code == ""; attempt++ {
		reply, err := r.call(ctx, llm.Request{System: editRules, Messages: []llm.Message{llm.Say(prompt)}}, false)
		out, err := softened(err)
		switch {
		case err != nil:
			return outcome{}, err
		case out.failed:
			return r.act(ctx, agents.Edit, editTitle(in), in, out)
		}
		found, ok := fenced(reply.Text)
		complete := reply.Finish != llm.Length && !reply.Truncated
		if ok && complete {
			code = found
			break
		}
		why := "the assistant gave no code"
		if !complete {
			why = "the assistant's reply was cut off at the limit on its length: edit a segment, or in smaller steps"
		}
		if attempt > 2 || !complete {
			return r.act(ctx, agents.Edit, editTitle(in), in, outcome{text: "LLMError: " + why, failed: true})
		}
		r.Note(why + "; it is asked again")
	}
	content := whole(code)
	name := r.local(in["save_name"])
	difference := diff(old, content)
	if difference == "" {
		difference = "(nothing changed)"
	}
	out, err := r.write(ctx, editTitle(in), name, []byte(content),
		fmt.Sprintf("The edited file is saved to %s. The difference, for you to check:\n\n%s", name, difference))
	out.verbatim = true
	return out, err
}

// fenced returns what stands between the first fence of a text and the last,
// so that fences inside a file's own strings stay in it. ok is false when
// there is no code.
func fenced(text string) (code string, ok bool) {
	lines := splitLines(text)
	first, last := -1, -1
	for i, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), "```") {
			continue
		}
		if first < 0 {
			first = i
		} else if strings.TrimSpace(line) == "```" {
			last = i
		}
	}
	if first < 0 || last < 0 {
		return "", false
	}
	code = strings.Join(lines[first+1:last], "")
	return code, strings.TrimSpace(code) != ""
}
