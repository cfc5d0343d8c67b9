package mlebench

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// What the agent finds, by the benchmark's own paths.
const (
	workdir    = "/home"
	dataTarget = workdir + "/data"
	output     = "submission/submission.csv" // below workdir
)

// defaultBudget is what published results were made with.
const defaultBudget = 24 * time.Hour

// The files laid into the working directory beside the data.
//
//go:embed home
var home embed.FS

// A competition is one folder of a checkout, to be read.
type competition struct {
	suite *suite
	id    string
	split string
}

func (c *competition) file(name string) string {
	return filepath.Join(c.suite.root, "mlebench", "competitions", c.id, name)
}

// task reads the whole competition.
func (c *competition) task() (*tasks.Task, error) {
	src, err := readText(c.file("config.yaml"), maxConfig, "the competition's settings")
	if err != nil {
		return nil, err
	}
	cfg, err := parseConfig([]byte(src))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.file("config.yaml"), err)
	}
	if cfg.ID != c.id {
		return nil, fmt.Errorf("%s: id is %q, expected the folder's name %q", c.file("config.yaml"), cfg.ID, c.id)
	}
	description, err := readText(c.file("description.md"), maxDescription, "what the competition is about")
	if err != nil {
		return nil, err
	}
	g := c.grader(cfg)
	if _, err := os.Stat(c.file("grade.py")); err != nil && g.plan == nil {
		return nil, fmt.Errorf("%s: missing, expected the competition's grader", c.file("grade.py"))
	}
	t := &tasks.Task{
		Ref:     suiteName + "/" + c.id,
		Suite:   suiteName,
		Split:   c.split,
		Name:    c.id,
		Title:   grade.OneLine(cfg.Name, 100),
		Summary: c.summary(g.metric),
		Workdir: workdir,
		Outputs: []string{output},
		Env:     []string{"COMPETITION_ID=" + c.id},
		Metric:  g.metric,
		Budget:  tasks.Budget{Time: defaultBudget},
		Needs:   tasks.Needs{Grading: g.needs()},
		Grader:  g,
		Missing: g.data.missing(c.id),
	}
	t.Services = []tasks.Service{g.service()}
	c.materials(t, g, description)
	c.describe(t, g)
	return t, nil
}

// grader builds the competition's grader with its standing.
func (c *competition) grader(cfg *config) *Grader {
	p, label := plans()[c.id], cfg.Grader.Name
	table, isKnown := knownCompetitions()[c.id]
	if !isKnown {
		p = planByLabel(cfg.Grader.Name)
	}
	s := standingOf(c.id, c.file("leaderboard.csv"), p)
	switch {
	case isKnown:
		label = table.metric // config.yaml has wrong labels for two
	case p != nil:
		label = p.metric
	}
	g := &Grader{
		id:         c.id,
		gradeFn:    cfg.Grader.GradeFn,
		packageDir: filepath.Join(c.suite.root, "mlebench"),
		python:     c.suite.python,
		data:       datasetOf(cfg, c.suite.data),
		plan:       p,
		metric:     tasks.Metric{Name: grade.OneLine(label, 60), HigherIsBetter: s.higher},
		standing:   s.Standing,
		flags:      flaws(c.id),
	}
	for _, remark := range []string{s.note, s.doubt} {
		if remark != "" {
			g.flags = append(g.flags, remark)
		}
	}
	return g
}

func (c *competition) summary(m tasks.Metric) string {
	direction := "lower"
	if m.HigherIsBetter {
		direction = "higher"
	}
	group := "in no split"
	if c.split != "" {
		group = c.split + " split"
	}
	return fmt.Sprintf("Kaggle competition of MLE-bench, %s, judged by %s (%s is better).", group, m.Name, direction)
}

// materials fills in what the agent sees.
func (c *competition) materials(t *tasks.Task, g *Grader, description string) {
	files, err := fs.Sub(home, "home")
	if err != nil {
		panic(err) // the name is a constant
	}
	instructions, err := fs.ReadFile(files, "instructions.txt")
	if err != nil {
		panic(err) // it is embedded
	}
	text := string(instructions)
	// An empty tree makes the folder that it is laid into.
	t.Seeds = []tasks.Seed{{From: files, To: "."}, {From: embed.FS{}, To: "submission"}, {From: embed.FS{}, To: "code"}}
	t.ReadOnly = []string{"instructions.txt", "validate_submission.sh"}
	t.Mounts = []tasks.Mount{{Source: resolved(g.data.public), Target: dataTarget, Env: "DATA_DIR"}}
	if !isRegular(filepath.Join(g.data.public, "description.md")) {
		t.Mounts = append(t.Mounts, tasks.Mount{Source: resolved(c.file("description.md")), Target: workdir + "/description.md", Env: "DESCRIPTION"})
		text = strings.Replace(text, dataTarget+"/description.md", workdir+"/description.md", 1)
	}
	if sample, err := filepath.Rel(g.data.public, g.data.sample); err == nil && filepath.IsLocal(sample) {
		// The least that can be handed in: everybody's floor.
		t.Starter = fmt.Sprintf(`mkdir -p submission && cp "${DATA_DIR:-%s}/%s" %s`, dataTarget, filepath.ToSlash(sample), output)
	}
	t.Instruction = text + "\nCOMPETITION INSTRUCTIONS\n------------------------\n\n" + description
}

// resolved follows links, since a sandbox knows only real paths.
func resolved(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return file
}

// describe fills in what people see.
func (c *competition) describe(t *tasks.Task, g *Grader) {
	t.Keywords = []string{"kaggle", "mle-bench"}
	if c.split != "" {
		t.Keywords = append(t.Keywords, c.split)
	}
	if c.split == "low" {
		t.Keywords = append(t.Keywords, "lite")
	}
	t.Keywords = append(t.Keywords, strings.ToLower(g.metric.Name))
	t.Standing = g.standing
	if _, isKnown := knownCompetitions()[c.id]; isKnown {
		t.Standing.Published = published(c.split)
	}
	t.Warnings = append(t.Warnings, g.flags...)
	if g.plan == nil {
		t.Warnings = append(t.Warnings, "grading needs Python with pandas, scikit-learn and whatever else grade.py imports")
	}
	t.Notes = c.notes(g)
}

func (c *competition) notes(g *Grader) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Competition `%s` of MLE-bench, from the checkout `%s`; data directory `%s`.\n\n", c.id, c.suite.root, g.data.root)
	b.WriteString("Train and test are a new split of the original training data, so a score can be compared with the Kaggle leaderboard but is not the same thing.\n\n")
	if s := g.standing.Baseline; s != nil {
		fmt.Fprintf(&b, "The baseline is the score of the sample submission, %s.\n\n", grade.Format(*s, ""))
	}
	b.WriteString("Published results were made within 24 hours on 36 CPUs with 440 GB of memory and one GPU of 24 GB, in three attempts or more.\n")
	return b.String()
}
