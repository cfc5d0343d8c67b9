package harbor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"proctor/tasks"
	"proctor/tasks/tomlfile"
)

// The most that is read of a task's text files; real ones are a hundredth of
// this.
const (
	maxConfig = 128 << 10
	maxText   = 1 << 20
)

// A source is a task directory to be read.
type source struct {
	files fs.FS
	where string // of the directory, for messages
	suite string
	name  string
}

// open reads and checks a whole task.
func (s source) open() (*tasks.Task, error) {
	task, err := s.read()
	if err != nil {
		return nil, fmt.Errorf("opening task %q: %w", s.name, err)
	}
	return task, nil
}

func (s source) read() (*tasks.Task, error) {
	src, err := s.text("task.toml", maxConfig)
	if err != nil {
		return nil, err
	}
	c, err := readConfig(s.path("task.toml"), []byte(src))
	if err != nil {
		return nil, err
	}
	instruction, err := s.instruction()
	if err != nil {
		return nil, err
	}
	t := &tasks.Task{
		Ref:         s.suite + "/" + s.name,
		Suite:       s.suite,
		Name:        s.name,
		Title:       s.name,
		Summary:     summary(c.description, instruction),
		Instruction: instruction,
		Notes:       s.notes(),
		Keywords:    c.keywords,
		Outputs:     []string{"."},
		Env:         c.env,
		Metric:      defaultMetric(),
		Budget:      tasks.Budget{Time: c.agentTime},
		Needs:       c.needs,
	}
	if err := s.environment(t, c); err != nil {
		return nil, err
	}
	if err := c.own.apply(t, c.doc); err != nil {
		return nil, err
	}
	if err := s.grader(t, c); err != nil {
		return nil, err
	}
	// A script that is not told where its files are looks for them in /tests.
	t.Needs.Grading.Mounts = !t.Grader.(*grader).aware
	t.Warnings = c.warnings
	return t, nil
}

// apply lays Proctor's own table over what Harbor's keys said.
func (own *ownTable) apply(t *tasks.Task, doc *tomlfile.File) error {
	if own == nil {
		return nil
	}
	t.Title = cmp.Or(own.title, t.Title)
	if own.outputs != nil {
		t.Outputs = own.outputs
	}
	t.Starter = own.starter
	t.ReadOnly = own.readOnly
	t.Needs.Modules = own.modules
	t.Needs.Debugger = own.debugger
	t.Knobs = own.knobs
	t.Metric = own.metric
	t.Standing = own.standing
	agentTime := t.Budget.Time
	t.Budget = own.budget
	t.Budget.Time = cmp.Or(own.budget.Time, agentTime)
	for _, p := range own.readOnly {
		if !inSeeds(t.Seeds, p) {
			key := own.path + ".read_only"
			doc.Errorf(key, "%s: %q is not among the files that the task puts into the workspace", key, p)
		}
	}
	return doc.Err()
}

// environment fills in where the agent works and what it finds there.
func (s source) environment(t *tasks.Task, c *config) error {
	info, err := fs.Stat(s.files, "environment")
	if err != nil || !info.IsDir() {
		return fmt.Errorf("%s: missing, expected a folder with the files that the agent gets", s.path("environment"))
	}
	for _, name := range []string{"docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml"} {
		if _, err := fs.Stat(s.files, "environment/"+name); err == nil {
			return fmt.Errorf("%s: compose services cannot be honoured: a run has one sandbox", s.path("environment/"+name))
		}
	}
	env, err := fs.Sub(s.files, "environment")
	if err != nil {
		return err
	}
	image, err := s.dockerfile()
	if err != nil {
		return err
	}
	t.Workdir = cmp.Or(c.workdir, tasks.DefaultWorkdir)
	if image != nil {
		if c.workdir == "" && image.workdir != "" {
			if why := badWorkdir(image.workdir); why != "" {
				return fmt.Errorf("%s: WORKDIR is %q, expected %s; [environment].workdir overrides it", s.path("environment/Dockerfile"), image.workdir, why)
			}
			t.Workdir = image.workdir
		}
		if w := image.warning(c.image); w != "" {
			c.warnings = append(c.warnings, w)
		}
	} else if w := (dockerfile{}).warning(c.image); w != "" {
		c.warnings = append(c.warnings, w)
	}
	list, outside, err := seeds(env, image, t.Workdir)
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	t.Seeds = list
	c.warnOfArtifacts(t.Workdir)
	if len(outside) > 0 {
		c.warnf("files that the image would hold outside %s are not there: %s", t.Workdir, strings.Join(outside, ", "))
	}
	return nil
}

// dockerfile returns nil when there is none.
func (s source) dockerfile() (*dockerfile, error) {
	src, err := s.text("environment/Dockerfile", maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := parseDockerfile(src)
	return &d, nil
}

func (s source) instruction() (string, error) {
	text, err := s.text("instruction.md", maxText)
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(withoutCanary(text))
	if text == "" {
		return "", fmt.Errorf("%s: empty, expected what the agent is to do", s.path("instruction.md"))
	}
	return text + "\n", nil
}

// withoutCanary strips the lines at the head of an instruction by which
// benchmarks find themselves in training data, and the blank lines after
// them. They are no business of the agent's.
func withoutCanary(text string) string {
	for {
		line, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.ToLower(strings.TrimSpace(line))
		comment := strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "<!--") && strings.HasSuffix(trimmed, "-->")
		if trimmed == "" && rest != "" || comment && strings.Contains(trimmed, "canary") {
			text = rest
			continue
		}
		return text
	}
}

// notes returns what the task's authors wrote for people, "" if nothing.
func (s source) notes() string {
	for _, name := range []string{"NOTES.md", "README.md"} {
		if text, err := s.text(name, maxText); err == nil {
			return text
		}
	}
	return ""
}

// path is the name of one of the task's files for messages.
func (s source) path(name string) string { return path.Join(s.where, name) }

// text reads one of the task's text files. The error says which, and what
// was expected.
func (s source) text(name string, limit int64) (string, error) {
	f, err := s.files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", missing(fmt.Sprintf("%s: missing, expected %s", s.path(name), purpose(name)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: cannot be read: %w", s.path(name), cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: cannot be read: %w", s.path(name), cause(err))
	case int64(len(data)) > limit:
		return "", fmt.Errorf("%s: longer than %d KiB, expected %s", s.path(name), limit>>10, purpose(name))
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s: not UTF-8 text, expected %s", s.path(name), purpose(name))
	}
	return string(data), nil
}

// missing is the error of a file that is not there.
type missing string

func (m missing) Error() string   { return string(m) }
func (missing) Is(err error) bool { return err == fs.ErrNotExist }

// cause takes the path out of an error that has been given one already.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func purpose(name string) string {
	switch name {
	case "task.toml":
		return "the task's settings"
	case "instruction.md":
		return "what the agent is to do"
	case testScript:
		return "the grader's script"
	}
	return "text"
}

var sentence = regexp.MustCompile(`^(.{20,}?[.!?])\s+\S`)

// summary is the description's first sentence, or else that of the
// instruction's first paragraph.
func summary(description, instruction string) string {
	text := description
	if text == "" {
		for paragraph := range strings.SplitSeq(instruction, "\n\n") {
			if p := strings.TrimSpace(paragraph); p != "" && !strings.HasPrefix(p, "#") {
				text = p
				break
			}
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if m := sentence.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if r := []rune(text); len(r) > 200 {
		text = string(r[:199]) + "…"
	}
	return text
}
