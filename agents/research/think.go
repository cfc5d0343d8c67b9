package research

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
)

// readingBlock is how much of a long text the model reads at once, in bytes.
const readingBlock = 10_000

func (r *run) understandFile(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["file_name"])
	title := "Understand File " + name
	var text string
	if filepath.IsLocal(name) {
		content, err := r.content(name)
		if err != nil {
			return r.act(ctx, agents.Read, title, in, envError(err))
		}
		text = string(content)
	} else {
		out, err := r.command(ctx, agents.Read, title, "cat -- "+quote(name), "")
		if err != nil || out.failed {
			return out, err
		}
		text = out.text
	}
	if strings.TrimSpace(text) == "" {
		return r.act(ctx, agents.Read, title, in, outcome{text: "(the file is empty)"})
	}
	answer, err := r.digest(ctx, text, "This is %s of "+name+". Describe what is in it, and answer this with the lines it rests on: "+in["things_to_look_for"])
	out, err := softened(err)
	if err != nil {
		return outcome{}, err
	}
	if !out.failed {
		out.text = answer
	}
	return r.act(ctx, agents.Read, title, in, out)
}

// digest has the model read a text block by block, each with a question that
// has a %s for which part it is, and returns the answers.
func (r *run) digest(ctx context.Context, text, question string) (string, error) {
	// What a file's name or a request says is no format.
	before, after, _ := strings.Cut(question, "%s")
	blocks := pieces(headTail(text, r.mostRead()), min(readingBlock, r.mostRead()))
	var answers []string
	for i, block := range blocks {
		part := "the whole"
		if len(blocks) > 1 {
			part = fmt.Sprintf("part %d of %d", i+1, len(blocks))
		}
		reply, err := r.call(ctx, llm.Request{
			System:   "You read for a researcher. You report what a text says, exactly and briefly; you never make anything up.",
			Messages: []llm.Message{llm.Say(before + part + after + "\n\n```\n" + block + "\n```")},
		}, false)
		if err != nil {
			return "", err
		}
		if said := strings.TrimSpace(reply.Text); said != "" {
			answers = append(answers, said)
		}
	}
	return strings.Join(answers, "\n\n"), nil
}

// shorten makes an observation short enough for the model: by a summary, or
// by its head and tail where that is asked for, safer or all there is.
func (r *run) shorten(ctx context.Context, p reply, out outcome) (string, error) {
	most := r.options.Observation
	if out.verbatim {
		most *= 4
	}
	if len(out.text) <= most {
		return out.text, nil
	}
	kept := headTail(out.text, most)
	if out.verbatim || !r.options.Summarise {
		return kept, nil
	}
	text, err := r.digest(ctx, out.text, "This is %s of what came of the action "+p.action.name+" "+clip(p.inputJSON(), 500)+
		". Summarise it: what was done, every result with its number, every error and warning word for word.")
	if cut, err := softened(err); err != nil || cut.failed {
		return kept, err
	}
	if text == "" || len(text) > most {
		return kept, nil
	}
	r.Note(fmt.Sprintf("the observation of %d characters is summarised in %d", len(out.text), len(text)))
	return fmt.Sprintf("(summary of %d characters)\n%s", len(out.text), text), nil
}

func (r *run) reflect(ctx context.Context, in map[string]string) (outcome, error) {
	return r.consult(ctx, "Reflection", in, "Reflect on this, and say what follows for what to do next: "+in["things_to_reflect_on"])
}

func (r *run) retrieve(ctx context.Context, in map[string]string) (outcome, error) {
	return r.consult(ctx, "Retrieval from Research Log", in,
		"Give what is in it that matters for this plan, with every number and where it came from:\n"+in["current_plan"])
}

// consult answers a question from the research log.
func (r *run) consult(ctx context.Context, title string, in map[string]string, question string) (outcome, error) {
	out := outcome{text: "The research log is empty so far."}
	if len(r.log.entries) > 0 || r.log.before != "" || len(r.steps) > 0 {
		log := r.log.whole()
		if n := len(r.steps); n > 0 {
			log += "\n## Last observation\n" + r.steps[n-1].observation + "\n"
		}
		answer, err := r.fromLog(ctx, log, question)
		if out, err = softened(err); err != nil {
			return outcome{}, err
		}
		if !out.failed {
			out.text = answer
		}
	}
	return r.act(ctx, agents.Think, title, in, out)
}

func (r *run) appendSummary(ctx context.Context, in map[string]string) (outcome, error) {
	const title = "Append Summary to Research Log"
	out, err := r.act(ctx, agents.Think, title, in, outcome{text: "The summary is in the research log, " + r.log.file + "."})
	if err == nil && !out.failed {
		at := 0
		if n := len(r.steps); n > 0 {
			at = r.steps[n-1].number
		}
		r.log.add(at, "## Summary\n"+in["content"])
	}
	return out, err
}

// nobody is the answer to a request for help when nobody is there.
const nobody = "nobody is there to answer: decide by yourself and go on"

func (r *run) requestHelp(ctx context.Context, in map[string]string) (outcome, error) {
	answer, err := r.Ask(ctx, agents.Question{Kind: "question", Text: clip(in["request"], 200), Detail: in["request"], Default: nobody})
	if err != nil {
		return outcome{}, err
	}
	said := strings.TrimSpace(answer.Choice)
	if text := strings.TrimSpace(answer.Text); text != "" && text != said {
		said = strings.TrimSpace(said + "\n" + text)
	}
	out := outcome{text: "The person answers: " + said, verbatim: true}
	if answer.Auto || said == "" {
		out.text = "No answer: " + nobody
	}
	return r.act(ctx, agents.Other, "Request Help "+clip(in["request"], 80), in, out)
}

// finalAnswer ends the research. The first time that an output is missing,
// the model is told instead, since nothing could be graded.
func (r *run) finalAnswer(ctx context.Context, in map[string]string) (outcome, error) {
	var missing []string
	for _, name := range r.Task.Outputs {
		if _, err := r.ReadFile(name, 1); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 && !r.warned {
		r.warned = true
		return r.act(ctx, agents.Other, "Final Answer", in, envError(fmt.Errorf(
			"what is graded is not there: %s. Make it, or give your final answer again to end without it", strings.Join(missing, ", "))))
	}
	out, err := r.act(ctx, agents.Other, "Final Answer", in, outcome{text: "end"})
	if err != nil || out.failed {
		return out, err
	}
	r.Message(in["final_answer"])
	out.final = true
	return out, nil
}
