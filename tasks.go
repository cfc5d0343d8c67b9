package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"proctor/runner/needs"
	"proctor/tasks"
	"proctor/ui/pane"
	"proctor/ui/plain"
)

const aboutTasks = `Lists the tasks: all of them, or those that are named. A name is a suite, a part
of one (mle-bench/low, medium, high, lite, dev; mlrb/full, mini), a task, or
the path of a checkout.

Suites come from the directories in [tasks] roots of the settings, which
proctor tasks add and remove change.`

func tasksCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tasks [NAME...]", Short: "List the tasks; add, check and show them", Long: aboutTasks,
		Example: "proctor tasks add ~/mle-bench\nproctor tasks mle-bench/low\nproctor tasks check spaceship-titanic\nproctor tasks show digits",
		Args:    cobra.ArbitraryArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, problems, err := a.catalog.Select(cmd.Context(), args)
		if err != nil {
			return exitError{exitUsage, err}
		}
		return a.print(*asJSON, taskRows(list, problems), func(w io.Writer) { printTasks(w, list, problems) })
	}
	cmd.AddCommand(tasksAddCommand(a), tasksRemoveCommand(a), tasksCheckCommand(a), tasksShowCommand(a))
	return cmd
}

// A taskRow is a task in JSON.
type taskRow struct {
	Ref            string       `json:"ref"`
	Suite          string       `json:"suite,omitempty"`
	Split          string       `json:"split,omitempty"`
	Title          string       `json:"title,omitempty"`
	Summary        string       `json:"summary,omitempty"`
	Metric         string       `json:"metric,omitempty"`
	HigherIsBetter bool         `json:"higher_is_better"`
	Budget         tasks.Budget `json:"budget,omitzero"`
	Missing        []string     `json:"missing,omitempty"`
	Error          string       `json:"error,omitempty"`
}

func rowOf(t *tasks.Task) taskRow {
	return taskRow{t.Ref, t.Suite, t.Split, t.Title, t.Summary, t.Metric.Name, t.Metric.HigherIsBetter, t.Budget, t.Missing, ""}
}

func taskRows(list []*tasks.Task, problems []tasks.Problem) []taskRow {
	rows := []taskRow{}
	for _, t := range list {
		rows = append(rows, rowOf(t))
	}
	for _, p := range problems {
		rows = append(rows, taskRow{Ref: p.Ref, Error: p.Err.Error()})
	}
	return rows
}

func printTasks(out io.Writer, list []*tasks.Task, problems []tasks.Problem) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tMETRIC\tBUDGET\tABOUT")
	lacking := 0
	for _, t := range list {
		direction := "↓"
		if t.Metric.HigherIsBetter {
			direction = "↑"
		}
		about := t.Title
		if len(t.Missing) > 0 {
			about, lacking = "✗ "+about, lacking+1
		}
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", t.Ref, t.Metric.Name, direction, pane.Short(t.Budget.Time), about)
	}
	w.Flush()
	for _, p := range problems {
		fmt.Fprintf(out, "%s cannot be read: %v\n", p.Ref, p.Err)
	}
	if lacking > 0 {
		fmt.Fprintf(out, "✗ %d of %d tasks cannot run yet: proctor tasks check TASK says what each lacks\n", lacking, len(list))
	}
}

func tasksShowCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show TASK", Short: "Show a task: how it is judged, what good looks like, what it needs, its instruction",
		Args: cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := a.catalog.Open(cmd.Context(), args[0])
		if err != nil {
			return exitError{exitUsage, err}
		}
		lacks := a.machine(cmd.Context(), a.config.Run.Sandbox, "").Check(cmd.Context(), []*tasks.Task{t})[0]
		return a.print(*asJSON, shownTask(t, lacks), func(w io.Writer) {
			io.WriteString(w, plain.Task(t, needs.Stopping(lacks), needs.Remarks(lacks)))
		})
	}
	return cmd
}

// A taskDetail is all that is shown of a task, in JSON.
type taskDetail struct {
	taskRow
	Unit        string            `json:"unit,omitempty"`
	Instruction string            `json:"instruction"`
	Notes       string            `json:"notes,omitempty"`
	Keywords    []string          `json:"keywords,omitempty"`
	Baseline    *float64          `json:"baseline,omitempty"`
	TopHuman    *float64          `json:"top_human,omitempty"`
	Thresholds  tasks.Thresholds  `json:"thresholds,omitzero"`
	References  []tasks.Reference `json:"references,omitempty"`
	Published   []tasks.Reference `json:"published,omitempty"`
	Teams       int               `json:"leaderboard_teams,omitempty"`
	Needs       taskNeeds         `json:"needs,omitzero"`
	Outputs     []string          `json:"outputs"`
	Lacks       []needs.Lack      `json:"lacks,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
}

// taskNeeds is tasks.Needs in JSON; sizes are in bytes.
type taskNeeds struct {
	CPUs           float64  `json:"cpus,omitempty"`
	Memory         int64    `json:"memory,omitempty"`
	GPUs           int      `json:"gpus,omitempty"`
	GPUMemory      int64    `json:"gpu_memory,omitempty"`
	Network        bool     `json:"network,omitempty"`
	Modules        []string `json:"modules,omitempty"`
	GradingModules []string `json:"grading_modules,omitempty"`
}

func shownTask(t *tasks.Task, lacks []needs.Lack) taskDetail {
	n, s := t.Needs, t.Standing
	return taskDetail{
		taskRow: rowOf(t), Unit: t.Metric.Unit, Instruction: t.Instruction, Notes: t.Notes, Keywords: t.Keywords,
		Baseline: s.Baseline, TopHuman: s.TopHuman, Thresholds: s.Thresholds, References: s.References,
		Published: s.Published, Teams: len(s.Board),
		Needs:   taskNeeds{n.CPUs, n.MemoryBytes, n.GPUs, n.GPUMemory, n.Network, n.Modules, n.Grading.Modules},
		Outputs: t.Outputs, Lacks: lacks, Warnings: t.Warnings,
	}
}

// cannot says how many of so many tasks cannot run, and for want of what: "75
// cannot run yet: data, GPU"; "" when all can.
func cannot(lacks [][]needs.Lack) string {
	n := 0
	var all []needs.Lack
	for _, l := range lacks {
		stopping := slices.DeleteFunc(slices.Clone(l), func(l needs.Lack) bool { return !l.Stops })
		if len(stopping) > 0 {
			n++
			all = append(all, stopping...)
		}
	}
	switch n {
	case 0:
		return ""
	case len(lacks):
		return "which cannot run yet for want of " + needs.Kinds(all)
	}
	return fmt.Sprintf("%d of which cannot run yet for want of %s", n, needs.Kinds(all))
}
