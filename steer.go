package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"proctor/runner"
	"proctor/runner/control"
	"proctor/runner/rundir"
	"proctor/tasks"
)

// simple makes a control command that needs nothing but its name.
func simple(name control.Name) func([]string) (control.Command, error) {
	return func([]string) (control.Command, error) { return control.Command{Cmd: name}, nil }
}

// steer makes the command line's side of a control command. The run may be
// left out when one is alive; the rest of the arguments goes to make.
func steer(a *app, name, short string, make func(args []string) (control.Command, error)) *cobra.Command {
	cmd := &cobra.Command{Use: name + " [RUN]", Short: short, Args: cobra.MaximumNArgs(1)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.find(args)
		if err != nil {
			return err
		}
		return a.send(cmd.Context(), dir, *asJSON, make, args)
	}
	return cmd
}

// send carries out a steering command and says what came of it.
func (a *app) send(ctx context.Context, dir rundir.Dir, asJSON bool, make func([]string) (control.Command, error), args []string) error {
	c, err := make(args)
	if err != nil {
		return exitError{exitUsage, err}
	}
	reply, err := a.do(ctx, dir, c)
	if err != nil && !asJSON {
		return exitError{exitInterrupted, err}
	}
	if err != nil && reply.Error == "" {
		reply.Error = err.Error()
	}
	printed := a.print(asJSON, reply, func(w io.Writer) { fmt.Fprintf(w, "%s: done (%s)\n", c.Cmd, dir.ID()) })
	if err != nil {
		return exitError{code: exitInterrupted}
	}
	return printed
}

func hintCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: `hint [RUN] "text"`, Short: "Tell the agent something", Args: cobra.RangeArgs(1, 2),
		Example: `proctor hint 7f3a "model=knn, k<10"`,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.find(args[:len(args)-1])
		if err != nil {
			return err
		}
		return a.send(cmd.Context(), dir, *asJSON, func(args []string) (control.Command, error) {
			return control.Command{Cmd: control.Hint, Text: args[len(args)-1]}, nil
		}, args)
	}
	return cmd
}

func extendCommand(a *app) *cobra.Command {
	var more time.Duration
	var steps int
	cmd := steer(a, "extend", "Add to a run's budget", func([]string) (control.Command, error) {
		if more <= 0 && steps <= 0 {
			return control.Command{}, errors.New("say by how much: --time 10m, --steps 20")
		}
		return control.Command{Cmd: control.Extend, Budget: tasks.Budget{Time: more, Steps: steps}}, nil
	})
	cmd.Flags().DurationVarP(&more, "time", "t", 0, "working time to add, such as 10m")
	cmd.Flags().IntVar(&steps, "steps", 0, "steps to add")
	return cmd
}

func answerCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "answer RUN ASK CHOICE [TEXT]", Short: "Answer the question that a run waits with",
		Long: `Answers a question. ASK is its id, as proctor show prints it; CHOICE is one of
its options, such as approve or deny, or the answer itself.`,
		Example: "proctor answer 7f3a q1 approve\nproctor answer 7f3a q2 extend 10m",
		Args:    cobra.RangeArgs(3, 4),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.find(args[:1])
		if err != nil {
			return err
		}
		return a.send(cmd.Context(), dir, *asJSON, func(args []string) (control.Command, error) {
			c := control.Command{Cmd: control.Answer, Ask: args[1], Choice: args[2]}
			if len(args) == 4 {
				c.Text = args[3]
			}
			return c, nil
		}, args)
	}
	return cmd
}

func gradeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "grade [RUN]", Short: "Grade a run now: stops its agent, or grades what a dead run left",
		Args: cobra.MaximumNArgs(1),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.newest(args)
		if err != nil {
			return err
		}
		if dir.Alive() {
			return a.send(cmd.Context(), dir, *asJSON, simple(control.Grade), nil)
		}
		err = runner.Grade(cmd.Context(), dir, a.parts(), a.settings())
		if err != nil && !errors.Is(err, runner.ErrGraded) {
			return exitError{exitNoVerdict, err}
		}
		return a.printRun(dir, *asJSON)
	}
	return cmd
}
