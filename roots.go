package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"proctor/config"
	"proctor/tasks/catalog"
)

const aboutAdd = `Adds a checkout, a dataset or a task directory that you already have to [tasks]
roots of your settings, so that its tasks are listed and on the launch screen.
The rest of the settings file, comments too, stays as it is; a file is made
where there is none.

  MLE-bench              github.com/openai/mle-bench
  MLAgentBench           github.com/snap-stanford/MLAgentBench
  MLRC-Bench             github.com/yunx-z/MLRC-Bench
  ML Research Benchmark  github.com/AlgorithmicResearchGroup/ML-Research-Agent-Tasks
  Harbor                 a task directory with task.toml, or a folder of them`

// An addition is what adding a path came to, in JSON.
type addition struct {
	Path     string    `json:"path"`
	Format   string    `json:"format"`
	Suite    string    `json:"suite"`
	Added    bool      `json:"added"`           // false when its tasks were there already
	Among    string    `json:"among,omitempty"` // the root that has them
	Settings string    `json:"settings"`
	Tasks    int       `json:"tasks"`
	Cannot   int       `json:"cannot_run"`
	Unread   []taskRow `json:"unreadable,omitempty"`
	says     string
}

func tasksAddCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "add PATH", Short: "Add a checkout or a task directory that you have", Long: aboutAdd,
		Example: "proctor tasks add ~/mle-bench", Args: cobra.ExactArgs(1),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		add, err := a.addRoot(cmd.Context(), args[0])
		if err != nil {
			return exitError{exitUsage, err}
		}
		return a.print(*asJSON, add, func(w io.Writer) { printAddition(w, add) })
	}
	return cmd
}

// addRoot writes a path into the settings unless its tasks are there already.
func (a *app) addRoot(ctx context.Context, arg string) (addition, error) {
	found, err := catalog.Recognise(ctx, config.Expand(arg), a.config.Suites)
	if err != nil {
		return addition{}, err
	}
	add := addition{
		Path: found.Path, Format: found.Format, Suite: found.Suite, Settings: a.settingsPath(),
		Tasks: len(found.Tasks), Unread: taskRows(nil, found.Problems),
	}
	if add.Among = found.Offering(ctx, a.config.Tasks.Roots); add.Among == "" {
		if err := config.AddRoot(add.Settings, found.Path); err != nil {
			return addition{}, err
		}
		add.Added = true
		a.config.Tasks.Roots = append(slices.Clone(a.config.Tasks.Roots), found.Path)
		a.catalog = catalog.New(a.config.Tasks.Roots, a.config.Suites)
		add.Unread = append(add.Unread, a.taken(ctx, found)...)
	}
	lacks := a.machine(ctx, a.config.Run.Sandbox, "").Check(ctx, found.Tasks)
	for _, r := range checkRows(found.Tasks, lacks, nil) {
		if !r.Runs {
			add.Cannot++
		}
	}
	add.says = cannot(lacks)
	return add, ctx.Err()
}

// taken lists the tasks just added whose names another root has already.
func (a *app) taken(ctx context.Context, found catalog.Found) []taskRow {
	own := map[string]bool{}
	for _, t := range found.Tasks {
		own[t.Ref] = true
	}
	_, problems := a.catalog.List(ctx)
	var rows []taskRow
	for _, p := range problems {
		if own[p.Ref] {
			rows = append(rows, taskRow{Ref: p.Ref, Error: p.Err.Error()})
		}
	}
	return rows
}

func printAddition(w io.Writer, add addition) {
	fmt.Fprintf(w, "%s: %s", add.Suite, plural(add.Tasks, "task"))
	if add.says != "" {
		fmt.Fprintf(w, ", %s: proctor tasks check %s says what each lacks", add.says, quote(add.Suite))
	}
	fmt.Fprintln(w)
	for _, r := range add.Unread {
		fmt.Fprintf(w, "%s cannot be offered: %s\n", r.Ref, r.Error)
	}
	switch {
	case add.Added:
		fmt.Fprintf(w, "added %s (%s) to [tasks] roots in %s\n", add.Path, add.Format, add.Settings)
	case filepath.Clean(add.Among) == add.Path:
		fmt.Fprintf(w, "%s is among [tasks] roots already; nothing was changed\n", add.Path)
	default:
		fmt.Fprintf(w, "the tasks of %s are offered already by %s, which is among [tasks] roots; nothing was changed\n", add.Path, add.Among)
	}
}

func tasksRemoveCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove PATH", Short: "Take a checkout or a task directory out of the settings", Args: cobra.ExactArgs(1),
		Long: "Takes a path out of [tasks] roots of your settings. The directory itself is left alone.",
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		path, err := filepath.Abs(config.Expand(args[0]))
		if err != nil {
			return err
		}
		removed, err := config.RemoveRoot(a.settingsPath(), path)
		switch {
		case err != nil:
			return exitError{exitUsage, err}
		case !removed && len(a.config.Tasks.Roots) == 0:
			return exitError{exitUsage, fmt.Errorf("%q is not among [tasks] roots, which are empty", path)}
		case !removed:
			return exitError{exitUsage, fmt.Errorf("%q is not among [tasks] roots: %s", path, strings.Join(a.config.Tasks.Roots, ", "))}
		}
		return a.print(*asJSON, map[string]string{"path": path, "settings": a.settingsPath()}, func(w io.Writer) {
			fmt.Fprintf(w, "removed %s from [tasks] roots in %s\n", path, a.settingsPath())
		})
	}
	return cmd
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
