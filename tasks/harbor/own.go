package harbor

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"proctor/tasks"
	"proctor/tasks/tomlfile"
)

// ownSchema is the version of Proctor's own table.
const ownSchema = 1

// An ownTable is [metadata.proctor]: what Harbor has no key for. It is the
// one table in which an unknown key is an error.
type ownTable struct {
	title    string
	outputs  []string
	starter  string
	readOnly []string
	modules  []string
	debugger bool
	budget   tasks.Budget
	metric   tasks.Metric
	knobs    []tasks.Knob
	standing tasks.Standing
	path     string // of the table, for later complaints
}

func readOwn(t *tomlfile.Table) *ownTable {
	t.Only("schema", "title", "outputs", "starter", "read_only", "modules", "debugger",
		"budget", "metric", "knobs", "grade")
	if v := t.Get("schema"); v != int64(ownSchema) {
		if t.Has("schema") {
			t.Wrong("schema", "1; a newer Proctor may read it")
		} else {
			t.File().Errorf(t.Path(), "%s lacks schema = 1", t.Path())
		}
	}
	own := &ownTable{
		title:    strings.TrimSpace(t.String("title")),
		outputs:  readPaths(t, "outputs"),
		starter:  strings.TrimSpace(t.String("starter")),
		readOnly: readPaths(t, "read_only"),
		modules:  t.Strings("modules"),
		debugger: t.Bool("debugger"),
		budget:   readBudget(t.Table("budget")),
		metric:   readMetric(t.Table("metric")),
		knobs:    readKnobs(t.Tables("knobs")),
		path:     t.Path(),
	}
	own.standing = readGrade(t.Table("grade"), own.metric)
	if t.Has("outputs") && len(own.outputs) == 0 {
		t.Wrong("outputs", "at least one path")
	}
	if len(own.knobs) > 0 && own.starter == "" {
		t.File().Errorf(t.At("knobs"), "%s are given but no %s, the command that they are for", t.At("knobs"), t.At("starter"))
	}
	return own
}

// readPaths reads workspace paths: relative, clean, inside, each once.
func readPaths(t *tomlfile.Table, key string) []string {
	list := t.Strings(key)
	for i, p := range list {
		clean := path.Clean(p)
		switch {
		case p == "" || path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(p, "\x00\\"):
			t.File().Errorf(t.At(key), "%s: %q is not inside the workspace, expected a relative path such as \"submission.csv\"", t.At(key), p)
		case slices.Contains(list[:i], clean):
			t.File().Errorf(t.At(key), "%s: %q is there twice", t.At(key), p)
		}
		list[i] = clean
	}
	return list
}

func readBudget(t *tomlfile.Table) tasks.Budget {
	t.Only("time", "steps", "tokens", "cost", "gpu_hours")
	return tasks.Budget{
		Time:     t.Duration("time"),
		Steps:    int(t.PositiveInt("steps")),
		Tokens:   t.PositiveInt("tokens"),
		Cost:     t.Positive("cost", "US dollars"),
		GPUHours: t.Positive("gpu_hours", "a number of hours"),
	}
}

// defaultMetric is what a grader's number is called when nobody named it:
// Harbor's reward.txt holds the reward "reward".
func defaultMetric() tasks.Metric {
	return tasks.Metric{Name: "reward", HigherIsBetter: true}
}

func readMetric(t *tomlfile.Table) tasks.Metric {
	t.Only("name", "unit", "higher_is_better", "pattern")
	m := defaultMetric()
	if t.Has("name") {
		m.Name = t.String("name")
		if m.Name == "" {
			t.Wrong("name", "the name of a number that the grader writes")
		}
	}
	m.Unit = t.String("unit")
	if t.Has("higher_is_better") {
		m.HigherIsBetter = t.Bool("higher_is_better")
	}
	if t.Has("pattern") {
		m.Pattern = readPattern(t, "pattern")
	}
	return m
}

// readPattern reads a regular expression whose one group is a number.
func readPattern(t *tomlfile.Table, key string) *regexp.Regexp {
	re, err := regexp.Compile(t.String(key))
	if err != nil {
		t.File().Errorf(t.At(key), "%s is not a regular expression: %v", t.At(key), err)
		return nil
	}
	if n := re.NumSubexp(); n != 1 {
		t.File().Errorf(t.At(key), "%s has %d groups, expected one, around the number (write others as (?:…))", t.At(key), n)
	}
	return re
}

func readGrade(t *tomlfile.Table, m tasks.Metric) tasks.Standing {
	t.Only("baseline", "show", "thresholds", "references")
	if t.Has("show") && t.String("show") != "end" {
		t.Wrong("show", `"end"`)
	}
	s := tasks.Standing{
		Baseline:   t.Number("baseline"),
		Thresholds: readThresholds(t.Table("thresholds"), m),
	}
	for _, ref := range t.Tables("references") {
		ref.Only("name", "score", "how")
		name, score := ref.String("name"), ref.Number("score")
		if name == "" || score == nil {
			ref.File().Errorf(ref.Path(), "%s lacks a name or a score", ref.Path())
			continue
		}
		s.References = append(s.References, tasks.Reference{Name: name, Score: *score, How: ref.String("how")})
	}
	return s
}

// readThresholds also checks their order: each medal is at least as hard to
// get as the next.
func readThresholds(t *tomlfile.Table, m tasks.Metric) tasks.Thresholds {
	steps := []string{"gold", "silver", "bronze", "median"}
	t.Only(steps...)
	var values [4]*float64
	last := -1
	for i, step := range steps {
		values[i] = t.Number(step)
		if values[i] == nil {
			continue
		}
		if last >= 0 && m.Better(*values[i], *values[last]) {
			direction := "lower"
			if m.HigherIsBetter {
				direction = "higher"
			}
			t.File().Errorf(t.At(step), "%s = %v is harder to reach than %s = %v, although %s is better",
				t.At(step), *values[i], steps[last], *values[last], direction)
		}
		last = i
	}
	return tasks.Thresholds{Gold: values[0], Silver: values[1], Bronze: values[2], Median: values[3]}
}
