package main

import (
	"context"
	"errors"
	"fmt"
	"io"

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

// argued completes a steering command whose first argument is the run.
func argued(a *app, cmd *cobra.Command, asJSON *bool, make func(args []string) (control.Command, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.find(args[:1])
		if err != nil {
			return err
		}
		return a.send(cmd.Context(), dir, *asJSON, make, args)
	}
	return cmd
}

func hintCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: `hint [RUN] "text"`, Short: "Tell the agent something", Args: cobra.RangeArgs(1, 2),
		Example: `proctor hint 7f3a "model=knn, k<10"`,
	}
	asJSON := jsonFlag(cmd)
	interrupt := cmd.Flags().Bool("interrupt", false, "give up the model call in flight, so that it is heard at once")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.find(args[:len(args)-1])
		if err != nil {
			return err
		}
		return a.send(cmd.Context(), dir, *asJSON, func(args []string) (control.Command, error) {
			return control.Command{Cmd: control.Hint, Text: args[len(args)-1], Interrupt: *interrupt}, nil
		}, args)
	}
	return cmd
}

func extendCommand(a *app) *cobra.Command {
	var by tasks.Budget
	cmd := steer(a, "extend", "Add to a run's budget", func([]string) (control.Command, error) {
		if by.Time < 0 || by.Steps < 0 || by.Tokens < 0 || by.Cost < 0 || by.GPUHours < 0 || by == (tasks.Budget{}) {
			return control.Command{}, errors.New("say by how much: --time 10m, --steps 20, --tokens 100000, --cost 2, --gpu-hours 1")
		}
		return control.Command{Cmd: control.Extend, Budget: by}, nil
	})
	cmd.Flags().DurationVarP(&by.Time, "time", "t", 0, "working time to add, such as 10m")
	cmd.Flags().IntVar(&by.Steps, "steps", 0, "steps to add")
	cmd.Flags().Int64Var(&by.Tokens, "tokens", 0, "tokens to add")
	cmd.Flags().Float64Var(&by.Cost, "cost", 0, "US dollars to add")
	cmd.Flags().Float64Var(&by.GPUHours, "gpu-hours", 0, "GPU-hours to add")
	return cmd
}

func modeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mode RUN auto|approve|step", Short: "Say how you go along with a run: let it act, approve actions, or one step at a time",
		Example: "proctor mode 7f3a approve --only 'rm *'", Args: cobra.ExactArgs(2),
	}
	asJSON := jsonFlag(cmd)
	only := cmd.Flags().StringArray("only", nil, "approve only actions that match (repeatable)")
	return argued(a, cmd, asJSON, func(args []string) (control.Command, error) {
		return control.Command{Cmd: control.Mode, Choice: args[1], Patterns: *only}, nil
	})
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
	return argued(a, cmd, asJSON, func(args []string) (control.Command, error) {
		c := control.Command{Cmd: control.Answer, Ask: args[1], Choice: args[2]}
		if len(args) == 4 {
			c.Text = args[3]
		}
		return c, nil
	})
}

func gradeCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "grade [RUN]", Short: "Grade a run now: stops its agent, or grades what a dead run left",
		Long: `Grades a run: of one that is alive it stops the agent and grades what is there;
of one that died it grades what it left, and where a grader failed or was not
available it grades what was handed in once more.

Where a grader was not available or failed, --score enters the result that a
person has come to. It is a verdict of its own on the run's record, with the
name, the time and the note, and is marked as entered wherever it is shown. A
verdict that a grader gave, or that somebody entered, is not changed.`,
		Example: `proctor grade 7f3a
proctor grade 7f3a --score 0.625 --by ada --note "lm_eval 0.4.3 on blimp, two GPUs"`,
		Args: cobra.MaximumNArgs(1),
	}
	asJSON := jsonFlag(cmd)
	score := cmd.Flags().Float64("score", 0, "the score that a person has come to; needs RUN and --by")
	by := cmd.Flags().String("by", "", "who says so")
	note := cmd.Flags().String("note", "", "how they came to it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		byHand := cmd.Flags().Changed("score")
		switch {
		case !byHand && (cmd.Flags().Changed("by") || cmd.Flags().Changed("note")):
			return exitError{exitUsage, errors.New("--by and --note go with --score: say which score")}
		case byHand && len(args) == 0:
			return exitError{exitUsage, errors.New("--score needs the run that it is for: proctor grade RUN --score X --by NAME")}
		}
		dir, err := a.newest(args)
		if err != nil {
			return err
		}
		if byHand {
			j := runner.Judgement{Score: *score, By: *by, Note: *note}
			if err := runner.Enter(cmd.Context(), dir, j, a.parts(), a.settings()); err != nil {
				return exitError{exitUsage, err}
			}
			return a.printRun(dir, *asJSON)
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
