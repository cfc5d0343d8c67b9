// Proctor watches AI agents work on machine-learning tasks: it starts one in
// a sandbox, shows what it does, lets a person steer it, and grades what it
// hands in.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"proctor/runner/sandbox/guest"
	"proctor/runner/terminal"
)

//go:embed config.toml
var defaults []byte

func main() {
	if len(os.Args) > 1 && os.Args[1] == guest.Command {
		os.Exit(guest.Main(os.Args[2:])) // PID 1 of a sandbox: nothing else may run
	}
	os.Exit(run())
}

func run() int {
	app := &app{out: os.Stdout, err: os.Stderr}
	err := fang.Execute(context.Background(), newRoot(app),
		fang.WithVersion(version()),
		fang.WithNotifySignal(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP),
		fang.WithErrorHandler(showError),
	)
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	default:
		return exitUsage
	}
}

// The exit statuses, as the help documents them.
const (
	exitGraded       = 0
	exitUsage        = 2
	exitNoSubmission = 3
	exitNoVerdict    = 4
	exitInterrupted  = 5
)

// An exitError ends the program with a status. Its err, when there is one,
// is shown; a verdict that was shown already needs no more words.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// showError prints an error in one line, and what to do in a second.
func showError(w io.Writer, _ fang.Styles, err error) {
	if err.Error() == "" {
		return
	}
	fmt.Fprintf(w, "proctor: error: %s\n", terminal.Clean(err.Error()))
	var exit exitError
	if !errors.As(err, &exit) {
		fmt.Fprintln(w, "proctor: hint: proctor --help lists the commands, proctor COMMAND --help one's flags")
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "0.1.0"
	}
	return info.Main.Version
}

const about = `Proctor starts an AI agent on a machine-learning task inside a sandbox, shows
its plan, actions, terminal and remaining budget live, lets you pause it, hint
it, answer it or take over, and shows the grader's verdict at the end.

Without a command it opens the launch screen. Quitting the screen never stops
a run: proctor attach comes back to it.`

const exits = `
A run's exit status says how it ended:
  0  graded
  2  wrong usage
  3  no submission, or an invalid one
  4  the grader failed, or is not available
  5  interrupted, stopped, or failed`

const examples = `proctor demo
proctor run digits --agent search --time 5m
proctor run ./my-task --agent human
proctor run diabetes --agent search --headless --json > events.jsonl
proctor tasks add ~/mle-bench
proctor hint 20261121 "model=knn"
proctor attach`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:     "proctor",
		Short:   "Watch AI agents work on machine-learning tasks",
		Long:    about + "\n" + exits,
		Example: examples,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.launch(cmd.Context()) },
	}
	root.PersistentFlags().StringVar(&a.configPath, "config", "", "settings file (default $XDG_CONFIG_HOME/proctor/config.toml)")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return a.load() }
	root.AddCommand(
		demoCommand(a), runCommand(a), attachCommand(a), replayCommand(a),
		runsCommand(a), showCommand(a), exportCommand(a),
		steer(a, "pause", "Pause a run when its present action has finished", simple("pause")),
		steer(a, "freeze", "Stop every process of a run at once", simple("freeze")),
		steer(a, "resume", "Let a paused or frozen run go on", simple("resume")),
		steer(a, "stop", "Stop a run without grading it", simple("stop")),
		gradeCommand(a), hintCommand(a), extendCommand(a), answerCommand(a), modeCommand(a),
		tasksCommand(a), agentsCommand(a), doctorCommand(a), gpuCommand(),
		superviseCommand(a),
	)
	root.AddCommand(handsCommands(a)...)
	return root
}
