package mlagentbench

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// A source is a task's folder in a checkout.
type source struct {
	dir     checkout.Dir
	name    string
	folder  string  // which the table knows it by
	problem *string // an instruction from tasks.json
}

// budget is what the suite's own runner gives a run (runner.py).
var budget = tasks.Budget{Time: 5 * time.Hour, Steps: 50}

func (s source) open() (*tasks.Task, error) {
	problem, err := s.instruction()
	if err != nil {
		return nil, err
	}
	env, err := s.dir.Sub("env")
	if err != nil {
		return nil, fmt.Errorf("the agent's files: %w", err)
	}
	tree := checkout.Tree{Dir: env}
	readOnly, err := s.readOnly(tree)
	if err != nil {
		return nil, err
	}
	k, listed := table()[s.folder]
	if !listed {
		k = s.unknown()
	}
	if len(k.outputs) == 0 {
		k.outputs = []string{"submission.csv"}
	}
	t := &tasks.Task{
		Ref: suiteName + "/" + s.name, Suite: suiteName, Name: s.name,
		Title:       cmp.Or(k.title, s.name),
		Summary:     firstSentence(problem),
		Instruction: s.render(problem, k, readOnly),
		Notes:       notes(k),
		Keywords:    []string{"mlagentbench"},
		Workdir:     tasks.DefaultWorkdir,
		Seeds:       []tasks.Seed{{From: tree, To: "."}},
		ReadOnly:    readOnly,
		Outputs:     k.outputs,
		Metric:      tasks.Metric{Name: k.metric, Unit: k.unit, HigherIsBetter: !k.lower, Pattern: k.regexp()},
		Budget:      budget,
		Needs:       s.needs(k, env),
		Standing:    k.standing(),
		Missing:     s.missing(tree),
		Warnings:    append([]string(nil), k.warnings...),
	}
	if !listed {
		t.Warnings = append(t.Warnings, "this version of the suite has a task that is not known here: its direction is taken as higher is better, and it has no baseline")
	}
	if script := cmp.Or(k.starter, "train.py"); env.HasFile(script) {
		if k.skeleton {
			t.Warnings = append(t.Warnings, script+" is a skeleton to be filled in; it does not run as it is")
		} else {
			t.Starter = "python3 -u " + script
		}
	}
	t.Grader = s.grader(t, k)
	return t, nil
}

// instruction is the task's problem statement.
func (s source) instruction() (string, error) {
	if s.problem != nil && strings.TrimSpace(*s.problem) != "" {
		return strings.TrimSpace(*s.problem), nil
	}
	text, err := s.dir.Text("scripts/research_problem.txt", maxText)
	if err != nil {
		return "", fmt.Errorf("the instruction: %w", err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%q is empty, expected the instruction", s.dir.Path("scripts/research_problem.txt"))
	}
	return text, nil
}

func (s source) readOnly(tree fs.FS) ([]string, error) {
	const list = "scripts/read_only_files.txt"
	if !s.dir.HasFile(list) {
		return nil, nil
	}
	text, err := s.dir.Text(list, maxText)
	if err != nil {
		return nil, err
	}
	paths, err := checkout.ReadOnly(text, tree)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", s.dir.Path(list), err)
	}
	return paths, nil
}

// unknown stands in for a task that the table does not list: its eval.py may
// read anything of the workspace.
func (s source) unknown() known {
	return known{metric: "score", opus: -1, outputs: []string{"."},
		flags: []string{"direction unknown, taken as higher is better; no baseline is known"}}
}

// render completes the problem statement by what the suite's harness would
// have enforced or implied.
func (s source) render(problem string, k known, readOnly []string) string {
	var b strings.Builder
	b.WriteString(problem)
	b.WriteString("\n\n## What is graded\n\n")
	switch {
	case s.retimed():
		b.WriteString("When you finish, `train.py` is taken. Proctor constructs its `Conv2DLayer` and runs `forward` itself, " +
			"on fresh data beside the original, and compares the outputs: keep the class, its constructor and what `forward` returns. " +
			"Only numpy and the standard library may be imported. The time in `submission.csv` is not believed.\n")
	case !s.dir.HasFile("scripts/eval.py"):
		b.WriteString("What lies in the workspace when you finish is judged by a person: ")
		b.WriteString("`" + strings.Join(k.outputs, "`, `") + "`.\n")
	case len(k.outputs) == 1 && k.outputs[0] == ".":
		b.WriteString("What lies in the workspace when you finish is graded.\n")
	default:
		b.WriteString("When you finish, `" + strings.Join(k.outputs, "`, `") + "` in your working directory is graded.\n")
	}
	if len(readOnly) > 0 {
		b.WriteString("\nThese may not be changed: `" + strings.Join(readOnly, "`, `") + "`.\n")
	}
	return b.String()
}

// missing lists what must be there before a run may start.
func (s source) missing(tree checkout.Tree) []string {
	var missing []string
	if s.dir.HasFile("scripts/prepare.py") && !s.dir.HasFile("scripts/prepared") {
		missing = append(missing, fmt.Sprintf(
			"the data of %s are not prepared: in the checkout, run python -u -m MLAgentBench.prepare_task %s python", s.folder, s.folder))
	}
	for _, name := range tree.Stray() {
		missing = append(missing, fmt.Sprintf(
			"%q is neither a file nor a directory of the task's own; put what it stands for in its place", tree.Dir.Path(name)))
	}
	return missing
}

func (k known) standing() tasks.Standing {
	var s tasks.Standing
	if k.baseline != 0 {
		baseline := k.baseline
		s.Baseline = &baseline
	}
	if k.outputs[0] == "train.py" && k.metric == "seconds" {
		s.Published = append(s.Published, tasks.Reference{Name: "starter, on the authors' machine", Score: paperVectorization})
	}
	if k.opus >= 0 && k.metric != "" {
		s.Published = append(s.Published, tasks.Reference{Name: "Claude 3 Opus", Score: k.opus,
			How:   "the best of the models tried",
			Scale: "% of 8 runs that were more than 10 % better than the baseline"})
	}
	return s
}

func notes(k known) string {
	var b strings.Builder
	b.WriteString("Success is an improvement of more than 10 % over the baseline, at the last step.\n")
	for _, flag := range k.flags {
		b.WriteString("- " + strings.ToUpper(flag[:1]) + flag[1:] + ".\n")
	}
	return b.String()
}

// firstSentence makes a summary of an instruction.
func firstSentence(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	sentence, _, more := strings.Cut(line, ". ")
	if more {
		sentence += "."
	}
	if runes := []rune(sentence); len(runes) > 160 {
		sentence = string(runes[:159]) + "…"
	}
	return sentence
}
