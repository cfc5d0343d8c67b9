package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"proctor/runner"
	"proctor/runner/attempts"
	"proctor/runner/export"
	"proctor/runner/rundir"
)

func exportCommand(a *app) *cobra.Command {
	var formats []string
	var list strings.Builder
	for _, f := range export.Formats() {
		formats = append(formats, f.Name)
		fmt.Fprintf(&list, "  %-10s %s\n", f.Name, f.Summary)
	}
	cmd := &cobra.Command{
		Use: "export --format NAME RUN|GROUP...", Short: "Write finished runs in the form that another tool reads",
		Long: `Writes finished runs, or all attempts of a group, in the form that another tool
reads. The formats are:

` + list.String() + `
A folder that holds something is never written to without --force, which
replaces the files and folders that the export has too and leaves the others.`,
		Example: "proctor export --format mle-bench 7f3a\nproctor export --format harbor cded --out jobs/digits-search",
		Args:    cobra.MinimumNArgs(1),
	}
	format := cmd.Flags().String("format", "", "one of "+strings.Join(formats, ", "))
	out := cmd.Flags().StringP("out", "o", "", "folder to write (default one named after the format and the first run, here)")
	force := cmd.Flags().Bool("force", false, "replace what an earlier export has left in the folder")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *format == "" {
			return exitError{exitUsage, fmt.Errorf("--format says for which tool: %s", strings.Join(formats, " or "))}
		}
		f, err := export.Find(*format)
		if err != nil {
			return exitError{exitUsage, err}
		}
		dirs, name, err := a.named(args)
		if err != nil {
			return exitError{exitUsage, err}
		}
		result, err := exported(f, dirs, or(*out, f.Name+"-"+name), *force)
		if err != nil {
			return exitError{exitUsage, err}
		}
		return a.print(*asJSON, result, func(w io.Writer) {
			fmt.Fprintf(w, "%d runs, %d files: %s\n", len(result.Runs), len(result.Files), result.Dir)
			for _, n := range result.Notes {
				fmt.Fprintf(w, "note: %s\n", n)
			}
			if result.Next != "" {
				fmt.Fprintf(w, "next: %s\n", result.Next)
			}
		})
	}
	return cmd
}

// exported loads runs and writes them.
func exported(f export.Format, dirs []rundir.Dir, out string, force bool) (export.Result, error) {
	var runs []*export.Run
	for _, dir := range dirs {
		r, err := export.Load(dir)
		if err != nil {
			return export.Result{}, err
		}
		runs = append(runs, r)
	}
	return f.Write(out, runs, force)
}

// named returns the runs that arguments name, each once: a run, or a group of
// attempts for all of them. name is the first argument's, in full.
func (a *app) named(args []string) (dirs []rundir.Dir, name string, err error) {
	all, err := runner.List(a.store)
	if err != nil {
		return nil, "", err
	}
	groups := attempts.Groups(all)
	seen := map[string]bool{}
	add := func(dir rundir.Dir) {
		if !seen[dir.Path()] {
			seen[dir.Path()] = true
			dirs = append(dirs, dir)
		}
	}
	for _, key := range args {
		dir, notRun := a.store.Find(key)
		if notRun == nil {
			add(dir)
			name = or(name, dir.ID())
			continue
		}
		g, notGroup := attempts.Find(groups, key)
		if notGroup != nil {
			return nil, "", fmt.Errorf("%w; %w", notRun, notGroup)
		}
		for _, at := range g.Attempts {
			dir, err := a.store.Find(at.Run)
			if err != nil {
				return nil, "", err
			}
			add(dir)
		}
		name = or(name, g.ID)
	}
	return dirs, name, nil
}
