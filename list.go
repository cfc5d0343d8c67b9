package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"proctor/agents"
	"proctor/agents/roster"
	"proctor/runner"
	"proctor/runner/attempts"
	"proctor/runner/rundir"
	"proctor/runner/sandbox"
	"proctor/runner/sandbox/kinds"
	"proctor/tasks/grade"
	"proctor/ui/plain"
)

func runsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "runs [GROUP]", Short: "List the runs, newest first, or one group of attempts",
		Long: `Lists the runs, newest first; several attempts that were started together are
one line. With GROUP, the name of such a group, it shows each attempt and what
they come to together: pass@k, the mean score, and their standard errors.

--json lists every run, each attempt with its group; with --groups, or GROUP,
what the attempts come to.`,
		Args: cobra.MaximumNArgs(1),
	}
	asJSON := jsonFlag(cmd)
	grouped := cmd.Flags().Bool("groups", false, "list the groups of attempts only")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		all, err := runner.List(a.store)
		if err != nil {
			return err
		}
		groups := attempts.Groups(all)
		switch {
		case len(args) == 1:
			g, err := attempts.Find(groups, args[0])
			if err != nil {
				return exitError{exitUsage, err}
			}
			return a.print(*asJSON, g, func(w io.Writer) { printGroup(w, g) })
		case *grouped:
			return a.print(*asJSON, groups, func(w io.Writer) { printRuns(w, nil, groups) })
		}
		if all == nil {
			all = []rundir.Summary{}
		}
		return a.print(*asJSON, all, func(w io.Writer) { printRuns(w, all, groups) })
	}
	return cmd
}

// printRuns prints a line for each run and each group, a group where its
// newest attempt is.
func printRuns(out io.Writer, all []rundir.Summary, groups []attempts.Group) {
	if len(all) == 0 && len(groups) == 0 {
		fmt.Fprintln(out, "no runs yet: proctor demo makes one")
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "RUN\tSTATE\tTASK\tAGENT\tWORKED\tRESULT")
	rest := map[string]attempts.Group{}
	for _, g := range groups {
		rest[g.ID] = g
	}
	line := func(g attempts.Group) {
		words := g.Words(func(x float64) string { return grade.Format(x, g.Unit) })
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\t%s\n", g.ID, g.State(), g.Task, g.Agent, strings.Join(words, " · "))
		delete(rest, g.ID)
	}
	for _, r := range all {
		if r.Attempt != nil {
			if g, ok := rest[r.Attempt.Group]; ok {
				line(g)
			}
			continue
		}
		worked := time.Duration(r.Work * float64(time.Second)).Round(time.Second)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Phase, r.Task, r.Agent, worked, result(r))
	}
	for _, g := range groups {
		if _, ok := rest[g.ID]; ok {
			line(g)
		}
	}
}

// result says how a run stands in a word or two.
func result(r rundir.Summary) string {
	var words []string
	switch v := r.Verdict; {
	case v != nil && v.Score != nil:
		words = append(words, grade.Format(*v.Score, v.Unit))
		if v.Medal != "" {
			words = append(words, v.Medal)
		}
		if v.Entered != nil {
			words = append(words, "entered by "+v.Entered.By)
		}
	case v != nil:
		words = append(words, strings.ReplaceAll(string(v.Status), "_", " "))
	case r.Best != nil:
		words = append(words, "best "+grade.Format(*r.Best, ""))
	default:
		words = append(words, r.Reason)
	}
	if r.Assisted {
		words = append(words, "assisted")
	}
	return strings.Join(words, ", ")
}

func showCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "show [RUN]", Short: "Show how a run stands", Args: cobra.MaximumNArgs(1)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := a.newest(args)
		if err != nil {
			return err
		}
		return a.printRun(dir, *asJSON)
	}
	return cmd
}

func (a *app) printRun(dir rundir.Dir, asJSON bool) error {
	s, err := runner.Summary(dir)
	if err != nil {
		return err
	}
	return a.print(asJSON, s, func(w io.Writer) {
		fmt.Fprintf(w, "run       %s\ntask      %s\nagent     %s\nsandbox   %s\nstate     %s\n", dir.ID(), s.Run.Task.Ref, s.Run.Agent, s.Run.Sandbox, s.Phase)
		if s.Reason != "" {
			fmt.Fprintf(w, "reason    %s\n", s.Reason)
		}
		fmt.Fprintf(w, "worked    %s, %d steps\n", s.WorkAt(time.Now()).Round(time.Second), s.Steps)
		if at := dir.Attempt(); at != nil {
			fmt.Fprintf(w, "attempt   %d of %d, seed %d: proctor runs %s\n", at.Number, at.Of, s.Run.Seed, at.Group)
		}
		if s.Best != nil {
			fmt.Fprintf(w, "best      %s %s\n", s.Run.Task.Metric, grade.Format(*s.Best, s.Run.Task.Unit))
		}
		if s.Ask != nil {
			fmt.Fprintf(w, "asks      %s: %s %q\n", s.Ask.ID, s.Ask.Text, s.Ask.Options)
		}
		for _, h := range s.Hints {
			fmt.Fprintf(w, "hint      %s: %q %s %s\n", h.Author, h.Text, h.How, h.Reply)
		}
		if s.Verdict != nil {
			fmt.Fprintf(w, "%s\n", plain.VerdictLine(s.Verdict))
		}
		fmt.Fprintf(w, "record    %s\n", dir.Path())
	})
}

func agentsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "agents", Short: "List the agents and whether they can run here", Args: cobra.NoArgs}
	asJSON := jsonFlag(cmd)
	type row struct {
		Name    string   `json:"name"`
		Summary string   `json:"summary"`
		NoModel bool     `json:"no_model"`
		Missing []string `json:"missing,omitempty"`
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var rows []row
		for _, k := range roster.Kinds() {
			rows = append(rows, row{roster.Usage(k), k.Summary, k.NoModel, k.Check(cmd.Context(), nil, agents.Options{})})
		}
		return a.print(*asJSON, rows, func(out io.Writer) {
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			defer w.Flush()
			fmt.Fprintln(w, "AGENT\tABOUT")
			for _, r := range rows {
				about := r.Summary
				if len(r.Missing) > 0 {
					about += " (cannot run here: " + strings.Join(r.Missing, "; ") + ")"
				}
				fmt.Fprintf(w, "%s\t%s\n", r.Name, about)
			}
		})
	}
	return cmd
}

func doctorCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Say what works on this machine and what does not", Args: cobra.NoArgs}
	asJSON := jsonFlag(cmd)
	type finding struct {
		What string `json:"what"`
		OK   bool   `json:"ok"`
		Say  string `json:"say"`
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var all []finding
		for _, k := range kinds.All() {
			p := k.Probe(cmd.Context())
			all = append(all, finding{"sandbox " + k.Name, p.OK, sandboxWords(k, p)})
		}
		all = append(all, finding{"runs", true, a.store.Root()})
		for _, c := range append(machineChecks(), serverChecks(cmd.Context())...) {
			all = append(all, finding{c.what, c.ok, c.say})
		}
		return a.print(*asJSON, all, func(out io.Writer) {
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			defer w.Flush()
			for _, f := range all {
				mark := "✓"
				if !f.OK {
					mark = "✗"
				}
				fmt.Fprintf(w, "%s %s\t%s\n", mark, f.What, f.Say)
			}
		})
	}
	return cmd
}

func sandboxWords(k sandbox.Kind, p sandbox.Probe) string {
	if !p.OK {
		return p.Reason
	}
	words := k.Summary
	if p.Isolation.Freezer != "" {
		words += "; freezes by " + p.Isolation.Freezer
	}
	if len(p.Isolation.Limits) > 0 {
		words += "; limits " + strings.Join(p.Isolation.Limits, ", ")
	}
	for _, gap := range p.Isolation.Gaps {
		words += "; not isolated: " + gap
	}
	return words
}
