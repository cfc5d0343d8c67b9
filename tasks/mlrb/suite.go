package mlrb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// suiteName is the first part of every ref, whatever the checkout's folder is
// called.
const suiteName = "mlrb"

// The largest text files of a checkout that are read, in bytes.
const maxText = 4 << 20

// The folders with tasks' files. A task is searched in the first, then the
// second: "mini_pile" is of the full benchmark in spite of its name.
var benchmarks = []string{"full_benchmark", "mini_benchmark"}

type suite struct {
	dir      checkout.Dir
	evaluate string // a person's own evaluation command
}

// Detect reports whether dir is a checkout of the suite's tasks, or the
// package mlrb_agent_tasks in it.
func Detect(dir string) bool {
	_, ok := find(checkout.Dir(dir))
	return ok
}

// Open returns the suite in a directory that Detect accepted.
func Open(dir string) (tasks.Suite, error) { return OpenWith(dir, Options{}) }

// Options says what a person has of their own.
type Options struct {
	// Evaluate is a shell command that grades a result instead of lm_eval or
	// agent-eval; "" is none.
	Evaluate string
}

// OpenWith is Open with options.
func OpenWith(dir string, o Options) (tasks.Suite, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d, ok := find(checkout.Dir(dir))
	if !ok {
		return nil, fmt.Errorf("opening ML Research Benchmark in %q: it has no mlrb_agent_tasks/prompts.py", dir)
	}
	return &suite{dir: d, evaluate: o.Evaluate}, nil
}

func find(d checkout.Dir) (checkout.Dir, bool) {
	if sub, err := d.Sub("mlrb_agent_tasks"); err == nil && sub.HasFile("prompts.py") {
		return sub, true
	}
	if d.HasFile("prompts.py") && (d.HasDir(benchmarks[0]) || d.HasDir(benchmarks[1])) {
		return d, true
	}
	return "", false
}

func (s *suite) Name() string { return suiteName }

// List implements tasks.Suite.
func (s *suite) List(context.Context) (list []*tasks.Task, problems []tasks.Problem) {
	templates, others, err := s.templates()
	if err != nil {
		problems = append(problems, tasks.Problem{Ref: suiteName + "/prompts.py", Err: err})
	}
	known := table()
	folders := map[string]bool{}
	for _, o := range others {
		ref := suiteName + "/" + cmp.Or(o.name, "prompts.py")
		problems = append(problems, tasks.Problem{Ref: ref, Err: fmt.Errorf("reading %q: %w", s.dir.Path("prompts.py"), o.err)})
		folders[o.name], folders[known[o.name].folder] = true, true
	}
	seen := map[string]bool{}
	for i, t := range templates {
		name := t.text("name")
		task, err := s.task(t, known[name])
		if err == nil && seen[name] {
			err = errors.New("an earlier entry of prompts.py has this name")
		}
		if err != nil {
			if name == "" {
				name = fmt.Sprintf("prompts.py[%d]", i)
			}
			problems = append(problems, tasks.Problem{Ref: suiteName + "/" + name, Err: fmt.Errorf("opening task %q: %w", name, err)})
			continue
		}
		seen[name], folders[name], folders[known[name].folder] = true, true, true
		list = append(list, task)
	}
	return list, append(problems, s.strangers(folders)...)
}

// strangers are folders with files for tasks that prompts.py does not have.
func (s *suite) strangers(known map[string]bool) (problems []tasks.Problem) {
	for _, benchmark := range benchmarks {
		d, err := s.dir.Sub(benchmark)
		if err != nil {
			continue
		}
		for _, name := range d.Dirs() {
			if !known[name] {
				problems = append(problems, tasks.Problem{Ref: suiteName + "/" + name, Err: fmt.Errorf(
					"opening task %q: %q has files for it, but prompts.py has no readable prompt", name, d.Path(name))})
			}
		}
	}
	return problems
}

// Open implements tasks.Suite.
func (s *suite) Open(ctx context.Context, name string) (*tasks.Task, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, problems := s.List(ctx)
	var names []string
	for _, t := range list {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	for _, p := range problems {
		if p.Ref == suiteName+"/"+name {
			return nil, p.Err
		}
	}
	hint := ""
	if near := tasks.Nearest(name, names); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return nil, fmt.Errorf("suite %q has no task %q%s", suiteName, name, hint)
}

func (s *suite) templates() ([]template, []unread, error) {
	text, err := s.dir.Text("prompts.py", maxText)
	if err != nil {
		return nil, nil, err
	}
	list, others, err := readPrompts(text)
	if err != nil {
		err = fmt.Errorf("reading %q: %w", s.dir.Path("prompts.py"), err)
	}
	return list, others, err
}

// files returns the folder of a task and its benchmark; ok is false when
// there is none.
func (s *suite) files(name, folder string) (d checkout.Dir, benchmark string, ok bool) {
	for _, benchmark := range benchmarks {
		for _, called := range slices.Compact([]string{name, folder}) {
			if called == "" || !s.dir.HasDir(benchmark+"/"+called) {
				continue
			}
			if d, err := s.dir.Sub(benchmark + "/" + called); err == nil {
				return d, benchmark, true
			}
		}
	}
	return "", "", false
}
