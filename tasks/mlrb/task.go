package mlrb

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// resultDir is where the agent leaves what is graded. The suite's own harness
// asks for a path at the end; here it is always the same.
const resultDir = "submission"

// outputBytes is how much a result may hold: a model of 7 billion parameters
// at two bytes each, with its tokenizer.
const outputBytes = 20 << 30

var taskName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

func (s *suite) task(t template, k known) (*tasks.Task, error) {
	name := t.text("name")
	switch {
	case name == "":
		return nil, errors.New("an entry of prompts.py without a name")
	case !taskName.MatchString(name):
		return nil, fmt.Errorf("%.40q cannot be a task's name", name)
	case t.text("task") == "":
		return nil, errors.New("its entry in prompts.py does not say what is to be done")
	}
	d, benchmark, ok := s.files(name, k.folder)
	task := &tasks.Task{
		Ref: suiteName + "/" + name, Suite: suiteName, Name: name,
		Title:    cmp.Or(t.text("full_name"), name),
		Summary:  summary(t),
		Keywords: []string{suiteName},
		Workdir:  tasks.DefaultWorkdir,
		Outputs:  []string{resultDir}, OutputBytes: outputBytes,
		Metric:   tasks.Metric{Name: cmp.Or(k.metric, "score"), HigherIsBetter: !k.lower},
		Budget:   tasks.Budget{Time: timeLimit(t.text("time_limit"))},
		Needs:    needs(t),
		Standing: tasks.Standing{Published: k.published},
		Warnings: append([]string(nil), k.warnings...),
	}
	if ok {
		tree := checkout.Tree{Dir: d, Without: []string{"prompt_template.j2"}}
		to := "."
		if d.HasDir("merging") {
			to = "llm_merging" // where the prompt says that it is
		}
		task.Seeds = []tasks.Seed{{From: tree, To: to}}
		task.Split = strings.TrimSuffix(benchmark, "_benchmark")
		task.Keywords = append(task.Keywords, task.Split)
		for _, stray := range tree.Stray() {
			task.Missing = append(task.Missing, fmt.Sprintf("%q is neither a file nor a directory; put what it stands for in its place", d.Path(stray)))
		}
	} else if len(k.warnings) == 0 {
		task.Warnings = append(task.Warnings, "the checkout has no files for it: the workspace starts empty")
	}
	layout, warning := s.layout(d)
	if warning != "" {
		task.Warnings = append(task.Warnings, warning)
	}
	if task.Needs.GPUs > 0 {
		task.Warnings = append(task.Warnings,
			"prompts ask for an A100 with 40 GB, the READMEs for one with 80 GB",
			fmt.Sprintf("a model of more than %d GiB is not copied out to be graded", int64(outputBytes>>30)))
	}
	task.Instruction = strings.ReplaceAll(t.render(layout), "{your working directory number}", task.Workdir) + limits(t, task.Budget)
	e := evaluationOf(t, s.evaluate)
	if e.Kind == harness || e.Kind == agentEval {
		task.Needs.Grading.Commands = []string{e.Kind}
	}
	task.Notes = notes(t, e)
	task.Grader = &grader{name: name, metric: task.Metric, evaluation: e, gpus: task.Needs.GPUs > 0}
	return task, nil
}

// layout returns how a prompt is laid out, and a warning when that is not the
// checkout's own.
func (s *suite) layout(folder checkout.Dir) (layout, warning string) {
	const file = "prompt_template.j2"
	for _, d := range []checkout.Dir{folder, s.dir} {
		if d == "" || !d.HasFile(file) {
			continue
		}
		text, err := d.Text(file, maxText)
		if err == nil && plainLayout(text) {
			return text, ""
		}
		return standard, file + " is more than a list of names; the prompt is laid out in Proctor's own way"
	}
	return standard, "the checkout has no " + file + "; the prompt is laid out in Proctor's own way"
}

// limits says what is enforced and what is to be left behind.
func limits(t template, b tasks.Budget) string {
	var s strings.Builder
	s.WriteString("\n\n## Limits and rules\n\n")
	if b.Time > 0 {
		fmt.Fprintf(&s, "- The time limit of %s is enforced.\n", strings.TrimSuffix(strings.TrimSuffix(b.Time.String(), "0s"), "0m"))
	}
	if compute := t.text("compute"); compute != "" {
		s.WriteString("- Compute: " + strings.Join(strings.Fields(compute), " ") + "\n")
	}
	if rules := t.text("rules"); rules != "" {
		s.WriteString("- The rules above are not checked by a program: a person reads the record.\n")
	}
	s.WriteString("- Leave the result in the directory `" + resultDir + "/` of your working directory: a model as a Hugging Face folder, " +
		"scripts beside it. It is taken when you finish.\n")
	return s.String()
}

func notes(t template, e evaluation) string {
	var s strings.Builder
	if formula := t.text("formula"); formula != "" {
		s.WriteString("Formula: " + formula + "\n\n")
	}
	switch e.Kind {
	case personal:
		s.WriteString("Graded by the command in the settings, [suites.mlrb] evaluate.\n")
	case "":
		s.WriteString("The suite has no command that grades it; a person enters the result.\n")
	default:
		s.WriteString("Graded by `" + e.example(resultDir) + "` where that is installed; otherwise a person enters the result.\n")
	}
	return s.String()
}

func summary(t template) string {
	text := strings.Join(strings.Fields(t.text("task")), " ")
	if sentence, _, more := strings.Cut(text, ". "); more {
		text = sentence + "."
	}
	if text != "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if runes := []rune(text); len(runes) > 160 {
		text = string(runes[:159]) + "…"
	}
	return text
}

var hours = regexp.MustCompile(`^([0-9]{1,3}(?:\.[0-9]+)?)\s*(hour|hr|minute|min|day)`)

// timeLimit reads "24 hours"; zero when it cannot.
func timeLimit(text string) time.Duration {
	m := hours.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	unit := time.Hour
	switch m[2] {
	case "minute", "min":
		unit = time.Minute
	case "day":
		unit = 24 * time.Hour
	}
	return time.Duration(n * float64(unit))
}

var gpuMemory = regexp.MustCompile(`(?i)([0-9]{1,4})\s*GB GPU`)

// needs reads the prose about the machine. Every task takes its data and
// models from the network.
func needs(t template) tasks.Needs {
	n := tasks.Needs{Network: true, Modules: []string{"torch", "transformers", "datasets"}}
	if m := gpuMemory.FindStringSubmatch(t.text("compute")); m != nil {
		gib, _ := strconv.ParseInt(m[1], 10, 64)
		n.GPUs, n.GPUMemory = 1, gib<<30
	}
	return n
}
