package bash

import (
	"context"
	"fmt"
	"strings"

	"proctor/agents"
	"proctor/agents/conversation"
	"proctor/agents/llm"
)

// A loop is one run of the agent.
type loop struct {
	*agents.Session
	options options
	talk    *conversation.Conversation

	malformed  int    // replies in a row that were no use
	idle       int    // replies in a row that ran no command
	background int    // commands started in the background so far
	insisted   string // the outputs that a refused submission lacked
}

// An outcome is what came of a call: what the model is told, and what remains
// of that when the conversation is made shorter.
type outcome struct {
	text, trace string
	did         did
}

// did says what a call did for the run.
type did int

const (
	nothing   did = iota // it could not be carried out as it was written
	talked               // it changed nothing in the sandbox
	acted                // it ran a command
	refused              // the person did not allow it
	submitted            // it ended the run
)

func (l *loop) run(ctx context.Context) error {
	for {
		reply, err := l.talk.Ask(ctx)
		if err != nil {
			return err
		}
		best, why, err := l.turn(ctx, reply)
		if err != nil || best == submitted {
			return err
		}
		if err := l.count(best, why); err != nil {
			return err
		}
	}
}

// turn carries out a reply's calls in order. It returns what most of all was
// done, and what the model was told in the end.
func (l *loop) turn(ctx context.Context, r llm.Reply) (best did, told string, err error) {
	if len(r.Calls) == 0 {
		told = noCall(r)
		l.talk.Say(told+l.left(), "")
		return nothing, told, nil
	}
	skip := false
	for i, call := range r.Calls {
		o := outcome{text: "(not executed, since the person refused the call before it)"}
		if !skip {
			if o, err = l.do(ctx, call); err != nil {
				return best, told, err
			}
		}
		if o.did == submitted {
			return submitted, "", nil
		}
		if o.did == refused {
			skip = true
		}
		best, told = max(best, o.did), o.text
		if i == len(r.Calls)-1 {
			o.text += l.left()
		}
		l.talk.Answer(call, o.text, o.trace)
	}
	return best, told, nil
}

// do carries out one call. Its error ends the run.
func (l *loop) do(ctx context.Context, call llm.ToolCall) (outcome, error) {
	switch call.Name {
	case bashTool:
		return l.bash(ctx, call)
	case planTool:
		return l.plan(call), nil
	case submitTool:
		return l.submit(ctx, call)
	}
	return wrong("there is no tool %q; there are %s, %s and %s", call.Name, bashTool, planTool, submitTool), nil
}

// wrong is the outcome of a call that the model has to write differently.
func wrong(format string, args ...any) outcome {
	return outcome{text: "Not executed: " + fmt.Sprintf(format, args...)}
}

// count ends the run when too many replies in a row came to nothing.
func (l *loop) count(best did, why string) error {
	l.malformed++
	l.idle++
	if best > nothing {
		l.malformed = 0
	}
	if best >= acted {
		l.idle = 0
	}
	why, _, _ = strings.Cut(why, "\n")
	switch {
	case l.malformed >= l.options.Malformed:
		return fmt.Errorf("the model gave %d replies in a row with which nothing could be done; it was told last: %s", l.malformed, why)
	case l.idle >= l.options.Idle:
		return fmt.Errorf("the model gave %d replies in a row without running a command or submitting; it was told last: %s", l.idle, why)
	}
	return nil
}

// noCall says what was wrong with a reply without a call.
func noCall(r llm.Reply) string {
	const again = " Call a tool: %s to go on, or %s when the outputs are in place."
	how := fmt.Sprintf(again, bashTool, submitTool)
	switch {
	case r.Truncated:
		return "Your reply was too long and was cut off; nothing in it was executed. Write less, and long files in several pieces." + how
	case r.Finish == llm.Length:
		return "Your reply reached the limit on its length before it called a tool." + how
	case r.Finish == llm.Filtered:
		return "Your reply was withheld by the provider's filter." + how
	case r.Text == "":
		return "Your reply was empty." + how
	}
	return "Your reply called no tool, so nothing was done." + how
}

// left ends what a model is told with what is left of its budget.
func (l *loop) left() string {
	if left := conversation.Left(l.Remaining()); left != "" {
		return "\n[left: " + left + "]"
	}
	return ""
}
