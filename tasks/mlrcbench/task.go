package mlrcbench

import (
	"cmp"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// maxText bounds the text files of a task, in bytes.
const maxText = 1 << 20

// What a run leaves to be graded: the methods, the record of dev results, and
// the methods of the best of them.
const (
	methodsDir = "methods"
	recordFile = "output/idea_evals.json"
	bestDir    = "output/best"
)

// harness is the package in the workspace through which main.py reports.
const harness = "MLAgentBench"

// devResult finds what the harness prints after each dev phase.
var devResult = regexp.MustCompile(`dev_performance=([-+0-9.eE]+)`)

// A source is a task's folder in a checkout.
type source struct {
	dir  checkout.Dir
	name string
}

func (s source) open() (*tasks.Task, error) {
	if !isTask(s.dir) {
		return nil, fmt.Errorf("%q is no task of this suite: it lacks env/main.py or env/methods/", string(s.dir))
	}
	problem, err := s.instruction()
	if err != nil {
		return nil, err
	}
	env, err := s.dir.Sub("env")
	if err != nil {
		return nil, fmt.Errorf("the agent's files: %w", err)
	}
	tree := checkout.Tree{Dir: env, Without: []string{harness, "output"}}
	readOnly, err := s.readOnly(tree)
	if err != nil {
		return nil, err
	}
	shim, err := fs.Sub(python, "python/"+harness)
	if err != nil {
		return nil, err
	}
	all, err := bases()
	if err != nil {
		return nil, err
	}
	k, listed := table()[s.name]
	t := &tasks.Task{
		Ref: suiteName + "/" + s.name, Suite: suiteName, Name: s.name,
		Title:       cmp.Or(k.title, s.name),
		Summary:     firstLine(problem),
		Instruction: problem + rules(s.method(), k, all[s.name]),
		Notes:       notes(k),
		Keywords:    []string{"mlrc-bench"},
		Workdir:     tasks.DefaultWorkdir,
		Seeds:       []tasks.Seed{{From: tree, To: "."}, {From: shim, To: harness}},
		ReadOnly:    readOnly,
		Outputs:     []string{methodsDir, recordFile, bestDir},
		Starter:     "python3 main.py -m " + s.method() + " -p dev",
		Metric:      tasks.Metric{Name: cmp.Or(k.metric, "performance"), HigherIsBetter: true, Pattern: devResult},
		Budget:      usual,
		Needs:       tasks.Needs{Modules: k.modules, GPUMemory: k.gpuGiB << 30},
		Standing:    k.standing(all[s.name]),
		Missing:     s.missing(tree, k),
		Warnings:    s.warnings(k, listed),
	}
	if k.gpuGiB > 0 {
		t.Needs.GPUs = 1
	}
	if k.budget != (tasks.Budget{}) {
		t.Budget = k.budget
	}
	t.Grader = &grader{dir: s.dir, name: s.name, known: k, metric: t.Metric, standing: t.Standing, restore: inMethods(readOnly)}
	return t, nil
}

// instruction is the problem statement with the background that the suite
// gives beside it. Only the template may lack one.
func (s source) instruction() (string, error) {
	const problem = "scripts/research_problem.txt"
	if s.name == template && !s.dir.HasFile(problem) {
		return "This is the suite's template for new tasks. Copy `methods/MyMethod.py` to a method of your own and run it. Every method scores 0.5.", nil
	}
	text, err := s.dir.Text(problem, maxText)
	if err != nil {
		return "", fmt.Errorf("the instruction: %w", err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%q is empty, expected the instruction", s.dir.Path(problem))
	}
	const background = "scripts/background.txt"
	if s.dir.HasFile(background) {
		more, err := s.dir.Text(background, maxText)
		if err != nil {
			return "", err
		}
		text += "\n\n## Background\n\n" + strings.TrimSpace(more)
	}
	return text, nil
}

// rules says what the suite's harness would have enforced or implied.
func rules(method string, k known, b base) string {
	var t strings.Builder
	t.WriteString("\n\n## Rules\n\n" +
		"- You may change and add files in `methods/` only; everything else here is read-only.\n" +
		"- `python3 main.py -m NAME -p dev` runs the method that `methods/__init__.py` has under that name on the development set and prints its result. A higher result is better. The result of `" + method + "`, as it is here, is the baseline.\n" +
		"- When you finish, the methods as they were at the best dev result are run on the held-out test set, under the name that result had.\n" +
		"- Do not install packages.\n")
	if dev, ok := b.Performance["dev"]; ok {
		fmt.Fprintf(&t, "- The suite's authors measured %.6g for the baseline on the development set.\n", dev)
	}
	if k.kaggle {
		t.WriteString("- The test set of this task is scored by Kaggle, after the run.\n")
	}
	return t.String()
}

// readOnly is everything at the top but methods/, and what of methods/ the
// suite lists.
func (s source) readOnly(tree checkout.Tree) ([]string, error) {
	entries, err := tree.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("the agent's files: %w", err)
	}
	paths := []string{harness}
	for _, e := range entries {
		if e.Name() != methodsDir {
			paths = append(paths, e.Name())
		}
	}
	const list = "scripts/read_only_files.txt"
	if s.dir.HasFile(list) {
		text, err := s.dir.Text(list, maxText)
		if err != nil {
			return nil, err
		}
		listed, err := checkout.ReadOnly(text, tree)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s.dir.Path(list), err)
		}
		paths = append(paths, inMethods(listed)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// inMethods picks the paths below methods/.
func inMethods(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !strings.HasPrefix(p, methodsDir+"/") })
}

var defaultMethod = regexp.MustCompile(`(?m)^DEFAULT_METHOD_NAME *= *["']([A-Za-z0-9_]+)["']`)

// method is the name of the baseline.
func (s source) method() string {
	text, err := s.dir.Text("env/main.py", maxText)
	if m := defaultMethod.FindStringSubmatch(text); err == nil && m != nil {
		return m[1]
	}
	return "my_method"
}

// missing lists what must be there before a run may start.
func (s source) missing(tree checkout.Tree, k known) []string {
	var missing []string
	for _, name := range tree.Stray() {
		missing = append(missing, stray(tree.Dir.Path(name)))
	}
	data, err := tree.Dir.Sub("data")
	if err == nil {
		for _, name := range (checkout.Tree{Dir: data}).Stray() {
			missing = append(missing, stray(data.Path(name)))
		}
	}
	entries, _ := data.ReadDir(".")
	if !k.offline && s.dir.HasFile("scripts/prepare.py") && !s.dir.HasFile("scripts/prepared") && (err != nil || len(entries) == 0) {
		missing = append(missing, fmt.Sprintf("the data of %s are not prepared: in %q, run python prepare.py", s.name, s.dir.Path("scripts")))
	}
	return missing
}

func stray(path string) string {
	return fmt.Sprintf("%q is neither a file nor a directory of the task's own; put what it stands for in its place", path)
}

// warnings lists what a person should know beforehand.
func (s source) warnings(k known, listed bool) []string {
	var list []string
	if !listed {
		list = append(list, "this version of the suite has a task that is not known here: it has no baseline and no top human, so no margin can be computed")
	}
	if s.dir.HasFile("scripts/environment.yml") && !k.offline {
		list = append(list, "the task has a conda environment of its own, scripts/environment.yml: activate it before you start Proctor, so that its python3 is first on the PATH")
	}
	if !s.dir.HasFile("scripts/test_constants.py") && !k.offline {
		list = append(list, "the checkout has no scripts/test_constants.py: the test phase would be the dev phase again")
	}
	if k.kaggle {
		list = append(list, "the test set is scored by Kaggle: Proctor runs the dev phase and a person enters the result")
	}
	return list
}

func notes(k known) string {
	text := "The verdict is the margin closed between the suite's baseline (0 %) and the top human (100 %); above 5 % is a success.\n"
	for _, note := range k.notes {
		text += "- " + strings.ToUpper(note[:1]) + note[1:] + ".\n"
	}
	return text
}

// firstLine makes a summary of an instruction.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.Trim(line, "#* ")
	if runes := []rune(line); len(runes) > 160 {
		line = string(runes[:159]) + "…"
	}
	return line
}
