package bash

import (
	"fmt"
	"strings"
	"time"

	"proctor/agents"
	"proctor/agents/conversation"
	"proctor/tasks"
)

// system is what the model is told about its place. It holds nothing that
// differs between two runs of a task, so that caches hit.
func system(t *tasks.Task, o options) string {
	workdir := t.Workdir
	if workdir == "" {
		workdir = tasks.DefaultWorkdir
	}
	limits := fmt.Sprintf("%s or %.0f %% of the working time left, whichever is shorter", time.Duration(o.Timeout), 100*o.Share)
	return `You work on a machine-learning task in a sandbox, by calling tools. Nobody answers questions: decide for yourself and go on until you submit.

- ` + bashTool + ` runs a command with sh -c in the workspace ` + workdir + `. Write and change files with commands too, such as cat > train.py <<'EOF'.
- Commands run one after the other, in the order in which you ask for them. You cannot type into one: use no editors, pagers or prompts.
- A command that takes longer than its time limit is killed. The limit is timeout_s, or else ` + limits + `. Start what takes long with background, and look at its output from time to time.
- ` + planTool + ` sets your plan. Set one early, and keep it up to date.
- ` + submitTool + ` ends the run; what is then in the task's output files is graded. A run that ends without it, because its budget is spent, is graded by what is there, so have something valid in place early.
- What is left of the budget stands at the end of every result.
- A person who watches may say something. It then stands in a message of its own; follow it.`
}

// assignment is the first message: what is to be done.
func assignment(t *tasks.Task, r agents.Remaining) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The task\n\n%s\n", strings.TrimSpace(t.Instruction))
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s: %s\n", title, strings.Join(lines, ", "))
		}
	}
	list("Graded are these files of the workspace", t.Outputs)
	list("You may not change", t.ReadOnly)
	var mounts []string
	for _, m := range t.Mounts {
		where := m.Target
		if m.Env != "" {
			where += " ($" + m.Env + ")"
		}
		mounts = append(mounts, where)
	}
	list("Beside the workspace there are", mounts)
	if t.Starter != "" {
		fmt.Fprintf(&b, "\nStarter code is there; it runs with: %s\n", t.Starter)
	}
	if t.Metric.Name != "" {
		better := "lower"
		if t.Metric.HigherIsBetter {
			better = "higher"
		}
		fmt.Fprintf(&b, "\nIt is judged by %s; %s is better.\n", t.Metric.Name, better)
	}
	if left := conversation.Left(r); left != "" {
		fmt.Fprintf(&b, "\nYour budget: %s.\n", left)
	}
	return b.String()
}
