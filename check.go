package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"proctor/runner/gpu"
	"proctor/runner/needs"
	"proctor/runner/sandbox/kinds"
	"proctor/tasks"
)

// machine is this machine as runs in a kind of sandbox would find it, with
// the GPUs that a selection picks; "" is all of them.
func (a *app) machine(ctx context.Context, box, gpus string) needs.Machine {
	kind, err := kinds.Pick(ctx, box)
	m := needs.Machine{Sandbox: kind, Refused: err}
	self, err := os.Executable()
	if err != nil {
		return m
	}
	read := needs.ReadGPUs(self, "gpu", "--json")
	m.GPUs = func(ctx context.Context) ([]gpu.Device, error) {
		selection, err := gpu.ParseSelection(gpus)
		if err != nil || selection.None() {
			return nil, err
		}
		devices, err := read(ctx)
		if err != nil || len(devices) == 0 {
			return nil, err
		}
		return selection.Pick(devices)
	}
	return m
}

const aboutCheck = `Says for each task whether it can run here and be graded, or exactly what is
missing: data and files that are only git-LFS pointers, Python and its
modules, GPUs and their memory, a sandbox that can hold it, terms to accept.
Nothing of a task is run: it looks at files, asks Python which modules it has,
and reads the GPUs.

The exit status is 0 when all that was named is runnable, else 4.`

func tasksCheckCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check [NAME...]", Short: "Say which tasks can run here, and what the others lack", Long: aboutCheck,
		Args: cobra.ArbitraryArgs,
	}
	asJSON := jsonFlag(cmd)
	box := cmd.Flags().StringP("sandbox", "s", "", "sandbox that they are to run in (default from the settings)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, problems, err := a.catalog.Select(cmd.Context(), args)
		if err != nil {
			return exitError{exitUsage, err}
		}
		lacks := a.machine(cmd.Context(), or(*box, a.config.Run.Sandbox), "").Check(cmd.Context(), list)
		rows := checkRows(list, lacks, problems)
		err = a.print(*asJSON, rows, func(w io.Writer) { printCheck(w, rows) })
		for _, r := range rows {
			if err == nil && !r.Ready {
				err = exitError{code: exitNoVerdict}
			}
		}
		return err
	}
	return cmd
}

// A checkRow is how a task stands, in JSON.
type checkRow struct {
	Ref   string       `json:"ref"`
	Ready bool         `json:"ready"` // it can run and be graded
	Runs  bool         `json:"runs"`  // it can run
	Lacks []needs.Lack `json:"lacks"`
	Error string       `json:"error,omitempty"` // why it cannot even be read
}

func checkRows(list []*tasks.Task, lacks [][]needs.Lack, problems []tasks.Problem) []checkRow {
	rows := []checkRow{}
	for i, t := range list {
		l := lacks[i]
		if l == nil {
			l = []needs.Lack{}
		}
		rows = append(rows, checkRow{Ref: t.Ref, Ready: needs.Ready(l), Runs: len(needs.Stopping(l)) == 0, Lacks: l})
	}
	for _, p := range problems {
		rows = append(rows, checkRow{Ref: p.Ref, Lacks: []needs.Lack{}, Error: p.Err.Error()})
	}
	return rows
}

func printCheck(w io.Writer, rows []checkRow) {
	ready, runs := 0, 0
	for _, r := range rows {
		mark := "✗"
		switch {
		case r.Ready:
			mark, ready = "✓", ready+1
		case r.Runs:
			mark, runs = "!", runs+1
		}
		fmt.Fprintf(w, "%s %s\n", mark, r.Ref)
		for _, l := range r.Lacks {
			fmt.Fprintf(w, "    %s\n", l)
		}
		if r.Error != "" {
			fmt.Fprintf(w, "    cannot be read: %s\n", r.Error)
		}
	}
	if len(rows) > 1 {
		fmt.Fprintln(w, checkSummary(rows, ready, runs))
	}
}

// checkSummary counts: "5 of 121 tasks are ready, 2 run but cannot be graded
// here, 114 cannot run yet (for want: 93 of data, 19 of a GPU)".
func checkSummary(rows []checkRow, ready, runs int) string {
	words := []string{fmt.Sprintf("%d of %d tasks are ready", ready, len(rows))}
	if runs > 0 {
		words = append(words, fmt.Sprintf("%d run but cannot be graded here", runs))
	}
	if rest := len(rows) - ready - runs; rest > 0 {
		words = append(words, fmt.Sprintf("%d cannot run yet%s", rest, reasons(rows)))
	}
	return strings.Join(words, ", ")
}

// reasons counts the tasks that cannot run by what they lack, most first.
func reasons(rows []checkRow) string {
	count := map[string]int{}
	for _, r := range rows {
		seen := map[string]bool{}
		for _, l := range r.Lacks {
			if kind := needs.Kinds([]needs.Lack{l}); l.Stops && !seen[kind] {
				seen[kind] = true
				count[kind]++
			}
		}
		if r.Error != "" {
			count["readable files"]++
		}
	}
	var words []string
	for _, kind := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	}) {
		words = append(words, fmt.Sprintf("%d of %s", count[kind], kind))
	}
	if len(words) == 0 {
		return ""
	}
	return " (for want: " + strings.Join(words, ", ") + ")"
}
