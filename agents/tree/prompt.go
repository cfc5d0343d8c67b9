package tree

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"proctor/agents"
	"proctor/agents/conversation"
	"proctor/agents/llm"
)

// A squeeze is how much of what can be left out of a prompt is in it.
type squeeze struct {
	nodes   int // earlier solutions
	output  int // bytes of a script's output
	preview int // bytes of the look at the files, and of the starter
	task    int // bytes of the instruction
}

// squeezes are tried in this order until a prompt fits.
var squeezes = []squeeze{
	{nodes: 16, output: 8 << 10, preview: 12 << 10, task: 1 << 20},
	{nodes: 8, output: 4 << 10, preview: 6 << 10, task: 64 << 10},
	{nodes: 4, output: 2 << 10, preview: 3 << 10, task: 16 << 10},
	{nodes: 0, output: 1 << 10, preview: 1 << 10, task: 6 << 10},
}

// A page is a prompt in the making.
type page struct{ strings.Builder }

func (p *page) section(title, format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	if text != "" {
		fmt.Fprintf(p, "## %s\n\n%s\n\n", title, text)
	}
}

// block writes a text in a fence that the text cannot close.
func block(word, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s", fence, word, strings.TrimRight(text, "\n"), fence)
}

// system is what stays the same throughout a run: the task, the files, and
// what a script must do.
func (g *grower) system(q squeeze) string {
	var p page
	p.WriteString("You solve a machine-learning task by writing one complete Python program at a time. " +
		"Each program is run as you write it, and its validation metric decides what is built upon.\n\n")
	p.section("Task", "%s", clip(g.Task.Instruction, q.task))
	p.section("Files in the working directory", "%s", clip(g.files, q.preview))
	if g.starterCode != "" {
		p.section("Starter code ("+g.starterName+")", "%s", block("python", clip(g.starterCode, q.preview)))
	}
	p.section("What every program must do", "%s", g.guideline())
	p.section("How to answer", "First the design in three to five sentences, without code. "+
		"Then the whole program in exactly one fenced block that begins with ```python. Nothing after it.")
	return strings.TrimSpace(p.String())
}

// guideline is what a script must keep to.
func (g *grower) guideline() string {
	m := g.Task.Metric
	direction := "lower is better"
	if m.HigherIsBetter {
		direction = "higher is better"
	}
	name := m.Name
	if name == "" {
		name = "the validation metric"
	}
	lines := []string{
		"Be one self-contained file, run by " + g.Python + " in the working directory, without arguments and without input.",
		fmt.Sprintf("Measure %s (%s) on data that it did not learn from, by cross-validation or a part kept aside, as the task defines it.", name, direction),
	}
	switch example := exampleLine(m.Pattern, m.Name); {
	case m.Pattern != nil && example != "":
		lines = append(lines, fmt.Sprintf("Print that number at its end in a line such as %q. The regular expression %s finds it; of several the last counts.", example, m.Pattern))
	case m.Pattern != nil:
		lines = append(lines, fmt.Sprintf("Print that number at its end so that the regular expression %s finds it as its first group; of several the last counts.", m.Pattern))
	default:
		lines = append(lines, `Print that number at its end in a line "validation metric: X", where X is the number.`)
	}
	lines = append(lines,
		fmt.Sprintf("Write every output of the task (%s), each time anew, from the model that it trained.", strings.Join(g.Task.Outputs, ", ")),
		"Use only what the files section says is there. Install nothing.",
		"Keep what it prints short. Do not explore the data for its own sake, and do not plot.",
	)
	return "- " + strings.Join(lines, "\n- ")
}

// exampleLine returns a line that a metric's pattern reads the number 0.5
// from, "" when none of the usual ones is.
func exampleLine(pattern *regexp.Regexp, name string) string {
	if pattern == nil {
		return ""
	}
	prefix, _ := pattern.LiteralPrefix()
	for _, word := range []string{prefix, name} {
		for _, sep := range []string{": ", " ", "=", ""} {
			line := word + sep + "0.5"
			if m := pattern.FindStringSubmatch(line); len(m) > 1 && m[1] == "0.5" {
				return line
			}
		}
	}
	return ""
}

// complexity is what the drafts are to be in turn.
var complexity = []string{
	"Choose a simple design: few parts, quick to run, hard to get wrong.",
	"Choose a design of ordinary ambition: a strong standard method for such data, tuned with care.",
	"Choose an ambitious design: richer features, several models together, or whatever wins such tasks.",
}

// request is what is asked for a node.
func (g *grower) request(n *node, q squeeze) string {
	var p page
	switch n.stage {
	case draft:
		cue := complexity[(len(g.tree.drafts())-1)%len(complexity)]
		p.section("What to do", "Write a new solution from nothing. It must differ in kind from the designs that have been tried. %s", cue)
	case debug:
		p.section("What to do", "The program below does not work. Find out why, and write it anew without the fault. Keep its design unless that is the fault.")
	case improve:
		p.section("What to do", "The program below is the best so far. Change one thing that should make it better, so that its effect can be told. "+
			"It must differ from what has been tried.")
	}
	g.memory(&p, n, q)
	if n.parent != nil {
		p.section("The program", "%s\n\n%s", n.parent.sketch, block("python", n.parent.code))
		p.section("What came of it", "%s\n\n%s", g.told(n.parent), block("", clip(n.parent.output, q.output)))
	}
	g.budget(&p)
	g.hinted(&p)
	return strings.TrimSpace(p.String())
}

// memory tells what has been tried.
func (g *grower) memory(p *page, n *node, q squeeze) {
	var b strings.Builder
	for _, m := range remembered(&g.tree, n.stage, n.parent, q.nodes) {
		if m.code == "" {
			continue
		}
		fmt.Fprintf(&b, "%s\nDesign: %s\nResult: %s\n\n", m.name(), clip(m.sketch, 600), g.told(m))
	}
	p.section("What has been tried", "%s", b.String())
	if best := g.tree.best(); best != nil && best != n.parent {
		p.section("Best so far", "%s, %s", best.name(), g.told(best))
	}
}

// told says what came of a node, with its metric.
func (g *grower) told(n *node) string {
	text := n.result()
	if n.score != nil && !n.buggy {
		text += fmt.Sprintf(" %s %v (%s).", g.metricName(), n.score.value, n.score.source)
	}
	return text
}

func (g *grower) metricName() string {
	if g.Task.Metric.Name == "" {
		return "validation metric"
	}
	return g.Task.Metric.Name
}

// budget says what is left.
func (g *grower) budget(p *page) {
	left := g.Remaining()
	text := fmt.Sprintf("The program is stopped after %s.", timeLimit(left.Time, time.Duration(g.NodeTime)).Round(100*time.Millisecond))
	if all := conversation.Left(left); all != "" {
		text = fmt.Sprintf("In all: %s, of which a program takes %d actions. %s", all, actionsOfNode, text)
	}
	p.section("What is left", "%s", text)
}

// hinted passes on what people have said.
func (g *grower) hinted(p *page) {
	var b strings.Builder
	for _, h := range g.hints {
		fmt.Fprintf(&b, "- %s\n", strings.TrimSpace(h.Text))
	}
	p.section("What the person who watches asks of you", "%s", b.String())
}

// reviewRequest asks what came of a node.
func (g *grower) reviewRequest(n *node, obs agents.Observation, q squeeze) llm.Request {
	var p page
	p.section("Task", "%s", clip(g.Task.Instruction, min(q.task, 6<<10)))
	p.section("The program", "%s", block("python", n.code))
	p.section("What it printed", "%s", block("", clip(obs.Text, q.output)))
	fact := fmt.Sprintf("It ended with exit code %d after %.1f s.", obs.ExitCode, obs.Seconds)
	switch {
	case obs.TimedOut:
		fact = fmt.Sprintf("It was stopped after %.1f s, its time limit.", obs.Seconds)
	case obs.Denied:
		fact = "A person did not allow it to run."
	}
	if obs.Instead != "" {
		fact += fmt.Sprintf(" A person had this run in place of it: %s.", obs.Instead)
	}
	if n.score != nil {
		fact += fmt.Sprintf(" The metric that was read from its output is %v.", n.score.value)
	}
	p.section("How it ended", "%s", fact)
	g.hinted(&p)
	return llm.Request{
		System: "You judge what came of a program that was written for a machine-learning task. " +
			"Call the tool review once. Go by the output alone: name no number that it does not have. " +
			"A low metric is no bug; a crash, a leak of the answers into the training or a meaningless result is.",
		Messages: []llm.Message{llm.Say(strings.TrimSpace(p.String()))},
		Tools:    []llm.Tool{reviewTool},
	}
}

// clip shortens a text to about n bytes by leaving out its middle.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := n/2, len(s)-n/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", s[:head], tail-head, s[tail:])
}
