package research

import (
	"fmt"
	"strings"

	"proctor/agents/llm"
	"proctor/agents/llm/wire"
	"proctor/tasks"
)

// format is how the model is to reply.
const format = `Reflection: what the last observation means; after an error, what caused it and how to find out more
Research Plan and Status: the whole plan as a numbered list, each line ending in its status (done, in progress or pending) and what is known from it; put what is new between **double asterisks**
Fact Check: each statement that is new in the plan, one a line, and whether it is confirmed by an observation or guessed
Thought: what you do next, and why
Action: the name of one action, exactly as it is listed
Action Input: the action's arguments as one JSON object`

const manner = `You are a research assistant in machine learning. You work on the problem below by yourself, one action at a time, and are told what came of each.

How to work:
- Begin with a plan that can be carried out with the actions below, and revise it as you learn.
- Only what an observation showed is a result. Mark the rest as a guess and never invent a number.
- Run what is there first and note its result; compare every change with it.
- Understand the files before you change them. Files you must not change are protected; an edit of one fails.
- Nothing can be installed unless the problem says so.
- You see the last few steps in full; older ones only through the research log, so put what matters into your plan.
- Mind the budget that every observation ends with. Leave results in place early and improve on them.
- Give your Final Answer once, when the outputs are in place: it ends the work.
`

// system is the part of the prompt that stays the same.
func system(task *tasks.Task) string {
	var b strings.Builder
	b.WriteString(manner)
	b.WriteString("\nThe actions:\n")
	for _, a := range actions() {
		fmt.Fprintf(&b, "\n- %s: %s\n  %s\n", a.name, a.about, a.usage())
	}
	b.WriteString("\nReply in exactly this format, and stop after the input:\n\n" + format + "\n\nResearch problem:\n\n")
	b.WriteString(strings.TrimSpace(task.Instruction) + "\n")
	if task.Workdir != "" {
		fmt.Fprintf(&b, "\nThe workspace is %s; paths are relative to it.\n", task.Workdir)
	}
	if len(task.Outputs) > 0 {
		fmt.Fprintf(&b, "What is graded: %s\n", strings.Join(task.Outputs, ", "))
	}
	if task.Metric.Name != "" {
		better := "lower"
		if task.Metric.HigherIsBetter {
			better = "higher"
		}
		fmt.Fprintf(&b, "The metric: %s, %s is better.\n", task.Metric.Name, better)
	}
	return b.String()
}

// request is what the model is asked for a step: the problem, the research
// log, the last steps in full and what was wrong with its replies. It is cut
// down to fit a context window that is known.
func (r *run) request(trouble []llm.Message) llm.Request {
	q := llm.Request{System: system(r.Task), Messages: r.history(trouble)}
	model := r.Model.Model()
	room := model.Context - max(model.MaxOutput, model.Context/5)
	if model.Context <= 0 {
		return q
	}
	before := r.squeeze
	for estimate(q) > room && r.squeeze < r.mostSqueeze() {
		r.squeeze++
		q.Messages = r.history(trouble)
	}
	if r.squeeze > before {
		r.Note(fmt.Sprintf("the history is compacted to about %d tokens, so that it fits the model's %d", estimate(q), model.Context))
	}
	return q
}

// estimate is about how many tokens a request has.
func estimate(q llm.Request) int64 {
	n := wire.EstimateText(q.System)
	for _, m := range q.Messages {
		n += wire.EstimateText(m.Text)
	}
	return n
}

// mostSqueeze is how far the history can be cut down: to one step, whose
// observation and log are then halved a few times.
func (r *run) mostSqueeze() int { return r.options.Steps + 3 }

// window returns the steps that are shown in full.
func (r *run) window() []*step {
	return r.steps[max(0, len(r.steps)-max(1, r.options.Steps-r.squeeze)):]
}

// history writes the conversation.
func (r *run) history(trouble []llm.Message) []llm.Message {
	shown := r.window()
	halved := max(0, r.squeeze-(r.options.Steps-1))
	var b strings.Builder
	if older := r.log.text(r.firstShown()); older != "" {
		b.WriteString("The research log, which has the steps before the ones that follow:\n\n")
		b.WriteString(headTail(older, (2*mostLog)>>halved) + "\n\n")
	}
	for _, hint := range r.opening {
		b.WriteString(fromPerson(hint))
	}
	b.WriteString(remaining(r.Remaining()) + "\nGo on with the next step.")
	talk := []llm.Message{llm.Say(b.String())}
	for _, s := range shown {
		observation := s.observation
		if halved > 0 {
			observation = headTail(observation, (2*r.options.Observation)>>halved)
		}
		text := "Observation:\n```\n" + observation + "\n```\n"
		for _, hint := range s.hints {
			text += fromPerson(hint)
		}
		talk = append(talk, llm.Message{Role: llm.Assistant, Text: s.reply.String()}, llm.Say(text))
	}
	return append(talk, trouble...)
}

// firstShown is the number of the first step that is shown in full.
func (r *run) firstShown() int {
	if shown := r.window(); len(shown) > 0 {
		return shown[0].number
	}
	return 1
}

func fromPerson(hint string) string {
	return "\nThe person who oversees the run says: " + hint + "\nTake it into account from now on.\n"
}
