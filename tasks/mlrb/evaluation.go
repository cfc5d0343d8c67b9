package mlrb

import (
	"regexp"
	"strings"
)

// The kinds of evaluation that the suite's prompts name, and a person's own.
const (
	harness   = "lm_eval"
	agentEval = "agent-eval"
	personal  = "command"
)

// An evaluation is the command that grades a result. Its Kind is empty when
// there is none.
type evaluation struct {
	Kind    string
	Task    string // what is asked of the command with --tasks or --task
	Command string // a person's own, for the shell
}

var (
	lmTasks   = regexp.MustCompile(`\blm_eval\b(?s:.*?)--tasks\s+([A-Za-z0-9_.,-]+)`)
	agentTask = regexp.MustCompile(`\bagent-eval\b(?s:.*?)--task\s+([A-Za-z0-9_.-]+)`)
)

// evaluationOf returns what a prompt says, or the person's own command.
func evaluationOf(t template, own string) evaluation {
	text := t.text("evaluation")
	switch own = strings.TrimSpace(own); {
	case own != "":
		return evaluation{Kind: personal, Task: t.text("name"), Command: own}
	case lmTasks.MatchString(text):
		return evaluation{Kind: harness, Task: lmTasks.FindStringSubmatch(text)[1]}
	case agentTask.MatchString(text):
		return evaluation{Kind: agentEval, Task: agentTask.FindStringSubmatch(text)[1]}
	}
	return evaluation{}
}

// example is the command as a person would type it.
func (e evaluation) example(model string) string {
	switch e.Kind {
	case harness:
		return "lm_eval --model hf --model_args pretrained=" + quote(model) + " --tasks " + e.Task + " --device cuda:0 --batch_size 8"
	case agentEval:
		return "agent-eval --model_args " + quote(model) + " --task " + e.Task
	}
	return e.Command
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// quote makes a path one word of a shell.
func quote(path string) string {
	if bare.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
