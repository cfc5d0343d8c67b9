package plain

import (
	"fmt"
	"strings"

	"proctor/tasks"
	"proctor/tasks/grade"
	"proctor/ui/pane"
)

// Task writes out what a person wants to know of a task before a run. missing
// keeps it from running here, remarks are what a run would go without. The
// caller cleans the text.
func Task(t *tasks.Task, missing, remarks []string) string {
	var b strings.Builder
	row := func(name, text string) { fmt.Fprintf(&b, "%-10s  %s\n", name, text) }
	rows := func(name string, list []string) {
		for _, text := range list {
			row(name, text)
			name = ""
		}
	}
	fmt.Fprintf(&b, "%s: %s\n%s\n\n", t.Ref, t.Title, t.Summary)
	better := "lower is better"
	if t.Metric.HigherIsBetter {
		better = "higher is better"
	}
	row("metric", fmt.Sprintf("%s %s, %s", t.Metric.Name, pane.Direction(t.Metric.HigherIsBetter), better))
	score := func(x float64) string { return grade.Format(x, t.Metric.Unit) }
	if x := t.Standing.Baseline; x != nil {
		row("baseline", score(*x))
	}
	if x := t.Standing.TopHuman; x != nil {
		row("top human", score(*x))
	}
	if text := thresholds(t.Standing.Thresholds, score); text != "" {
		row("medals", text)
	}
	rows("to beat", results(t.Standing.References, score))
	rows("published", published(t.Standing.Published, score))
	row("budget", pane.BudgetText(t.Budget))
	if text := pane.NeedsText(t.Needs); text != "" {
		row("needs", text)
	}
	row("hands in", strings.Join(t.Outputs, ", "))
	if len(missing) == 0 {
		row("runs here", "yes")
	}
	rows("missing", missing)
	rows("note", remarks)
	rows("warning", t.Warnings)
	fmt.Fprintf(&b, "\nINSTRUCTION\n\n%s\n", strings.TrimSpace(t.Instruction))
	if notes := strings.TrimSpace(t.Notes); notes != "" {
		fmt.Fprintf(&b, "\nNOTES\n\n%s\n", notes)
	}
	return b.String()
}

func thresholds(t tasks.Thresholds, score func(float64) string) string {
	var parts []string
	for _, at := range []struct {
		name string
		x    *float64
	}{{"gold", t.Gold}, {"silver", t.Silver}, {"bronze", t.Bronze}, {"median", t.Median}} {
		if at.x != nil {
			parts = append(parts, at.name+" "+score(*at.x))
		}
	}
	return strings.Join(parts, ", ")
}

func results(list []tasks.Reference, score func(float64) string) []string {
	var lines []string
	for _, r := range list {
		line := fmt.Sprintf("%-10s %s", score(r.Score), r.Name)
		if r.How != "" {
			line += " (" + r.How + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// published lists results by their scale; those on another than the task's
// own metric stand below its name.
func published(list []tasks.Reference, score func(float64) string) []string {
	var lines []string
	scales, by := pane.Published(list)
	for _, scale := range scales {
		if scale == "" {
			lines = append(lines, results(by[scale], score)...)
			continue
		}
		lines = append(lines, scale+":")
		lines = append(lines, results(by[scale], func(x float64) string { return grade.Format(x, "") })...)
	}
	return lines
}
