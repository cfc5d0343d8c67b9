package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"proctor/runner"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/imported"
	"proctor/runner/rundir"
	"proctor/runner/watch"
	"proctor/tasks"
	"proctor/ui"
	"proctor/ui/plain"
)

// defaultSeed makes runs comparable unless somebody asks for another.
const defaultSeed = 1

func demoCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch the search agent learn handwritten digits for two minutes",
		Long: `Starts the embedded task digits with the agent search, which needs no language
model and no network, under a budget of two minutes, and opens the console.`,
		Args: cobra.NoArgs,
	}
	plainly := cmd.Flags().Bool("plain", false, "print a line per event instead of the console")
	box := cmd.Flags().String("sandbox", "", "sandbox to use (default: the best that works)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p := plan{task: "builtin/digits", agent: "search", sandbox: *box, budget: demoBudget, seed: defaultSeed, attended: true, onSoft: "continue"}
		if p.sandbox == "" {
			p.sandbox = a.demoSandbox(cmd.Context())
		}
		dir, err := a.start(cmd.Context(), p)
		if err != nil {
			return err
		}
		return a.show(cmd.Context(), dir, *plainly || !onTerminal())
	}
	return cmd
}

func runCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run TASK",
		Short: "Start an agent on a task and watch it",
		Long: `Starts an agent on a task and opens the console on it. TASK is suite/name, a
unique name, or a path to a task directory.

Without a terminal, or with --plain, one line per event is printed. With
--headless nobody is asked anything; --headless --json prints exactly the
run's events. --detach starts the run and returns.

--attempts N makes N runs, --parallel M of them at once, with the seeds S, S+1
and so on from --seed S (which is 1 unless given). Nobody is asked anything;
each start and each end is a line, and what they come to together is printed
at the end: pass@1 to pass@N with standard errors, and the mean score. With
--json that is one object, and the lines go to standard error. Ctrl-C starts
no more; attempts that were started go on by themselves, and proctor runs
GROUP shows later what they came to. The exit status is that of the worst.
` + exits,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	agent := f.StringP("agent", "a", "", "agent (default from the settings; see proctor agents)")
	box := f.StringP("sandbox", "s", "", "sandbox: auto, bwrap, landlock or none")
	model := f.String("model", "", "model, for agents that use one")
	duration := f.DurationP("time", "t", 0, "budget of working time, such as 30m ; 0 is no limit (default the task's)")
	steps := f.Int("steps", 0, "budget of steps; 0 is no limit (default the task's)")
	tokens := f.Int64("tokens", 0, "budget of tokens, for agents with a model")
	cost := f.Float64("cost", 0, "budget of US dollars, for models with a price")
	gpuHours := f.Float64("gpu-hours", 0, "budget of GPU-hours")
	gpus := f.String("gpus", "all", "GPUs that the run may use: all, none, or numbers such as 0,2")
	approve := f.Bool("approve", false, "ask before every action")
	only := f.StringArray("approve-only", nil, "ask before actions that match, such as 'rm *' (repeatable)")
	step := f.Bool("step", false, "pause after every action")
	seed := f.Int64("seed", defaultSeed, "seed of the agent's choices; attempt k of several has this plus k-1")
	anyway := f.Bool("anyway", false, "start although Python, a module or memory that the task asks for is missing")
	several := f.Int("attempts", 0, "make so many runs, each with the next seed, and sum them up")
	parallel := f.Int("parallel", 1, "how many of the attempts go on at once")
	headless := f.Bool("headless", false, "ask nobody, print a line per event")
	detach := f.Bool("detach", false, "start the run and return")
	plainly := f.Bool("plain", false, "print a line per event instead of the console")
	asJSON := f.Bool("json", false, "print the run's events as JSON, one a line")
	cmd.MarkFlagsMutuallyExclusive("headless", "detach")
	cmd.MarkFlagsMutuallyExclusive("approve", "step")
	cmd.MarkFlagsMutuallyExclusive("approve-only", "step")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *duration < 0 || *steps < 0 || *tokens < 0 || *cost < 0 || *gpuHours < 0 {
			return exitError{exitUsage, errors.New("a budget cannot be negative")}
		}
		quiet := *headless || *detach
		p := plan{
			task: args[0], agent: or(*agent, a.config.Run.Agent), sandbox: or(*box, a.config.Run.Sandbox), model: *model,
			budget: asked(f, tasks.Budget{Time: *duration, Steps: *steps, Tokens: *tokens, Cost: *cost, GPUHours: *gpuHours}), gpus: *gpus, seed: *seed, attended: !quiet && onTerminal(),
			anyway: *anyway, remarks: a.err,
		}
		switch {
		case *step:
			p.mode = "step"
		case *approve || len(*only) > 0:
			p.mode, p.patterns = "approve", *only
		}
		if f.Changed("attempts") || f.Changed("parallel") {
			if err := severalRuns(f, *several, *parallel); err != nil {
				return exitError{exitUsage, err}
			}
			p.attended = false
			return a.attempts(cmd.Context(), p, *several, *parallel, *asJSON)
		}
		dir, err := a.start(cmd.Context(), p)
		switch {
		case err != nil:
			return exitError{exitUsage, err}
		case *detach:
			return a.print(*asJSON, map[string]string{"id": dir.ID(), "dir": dir.Path()}, func(w io.Writer) {
				fmt.Fprintf(w, "run %s goes on by itself: proctor attach %s\n", dir.ID(), dir.ID())
			})
		case *asJSON:
			return a.follow(dir, true, eventPrinter(a.out))
		case *headless || *plainly || !onTerminal():
			return a.follow(dir, *headless || !onTerminal(), linePrinter(a.out))
		default:
			return a.console(cmd.Context(), dir)
		}
	}
	return cmd
}

// severalRuns says what is wrong with asking for several attempts so.
func severalRuns(flags *pflag.FlagSet, n, parallel int) error {
	switch {
	case !flags.Changed("attempts"):
		return errors.New("--parallel says how many of several attempts go on at once: give --attempts too")
	case n < 1 || n > mostAttempts:
		return fmt.Errorf("--attempts must be from 1 to %d", mostAttempts)
	case parallel < 1:
		return errors.New("--parallel must be at least 1")
	}
	for _, name := range []string{"approve", "approve-only", "step"} {
		if flags.Changed(name) {
			return fmt.Errorf("--%s wants a person in every run: start the attempts one by one, or leave it out", name)
		}
	}
	if flags.Changed("detach") {
		return errors.New("--detach cannot start attempts that wait for each other: leave it out and press Ctrl-C when those that are going on are enough, or run the command in the background")
	}
	return nil
}

func demoBudget(tasks.Budget) tasks.Budget { return tasks.Budget{Time: 2 * time.Minute} }

// asked lets the flags that were given override the task's own budget.
func asked(flags *pflag.FlagSet, b tasks.Budget) func(tasks.Budget) tasks.Budget {
	return func(own tasks.Budget) tasks.Budget {
		for name, override := range map[string]func(){
			"time":      func() { own.Time = b.Time },
			"steps":     func() { own.Steps = b.Steps },
			"tokens":    func() { own.Tokens = b.Tokens },
			"cost":      func() { own.Cost = b.Cost },
			"gpu-hours": func() { own.GPUHours = b.GPUHours },
		} {
			if flags.Changed(name) {
				override()
			}
		}
		return own
	}
}

// demoSandbox picks the best sandbox there is, and none at all rather than no
// demo: all that the demo executes ships with Proctor.
func (a *app) demoSandbox(ctx context.Context) string {
	if _, err := a.parts().PickSandbox(ctx, "auto"); err != nil {
		return "none"
	}
	return "auto"
}

func or(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// show opens the console on a run, or prints its lines.
func (a *app) show(ctx context.Context, dir rundir.Dir, plainly bool) error {
	if plainly {
		return a.follow(dir, false, linePrinter(a.out))
	}
	return a.console(ctx, dir)
}

// A printer shows one event.
type printer func(e event.Event, s *event.State) error

func eventPrinter(w io.Writer) printer {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e event.Event, _ *event.State) error { return enc.Encode(e) }
}

func linePrinter(w io.Writer) printer {
	return func(e event.Event, s *event.State) error {
		if line := plain.Line(e, s); line != "" {
			_, err := fmt.Fprintln(w, line)
			return err
		}
		return nil
	}
}

// follow prints a run's events from the first to the last and returns its
// exit status. Being interrupted stops a run that belongs to this command,
// and only stops looking at another.
func (a *app) follow(dir rundir.Dir, owned bool, show printer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	live, err := watch.FromStart(dir)
	if err != nil {
		return err
	}
	defer live.Close()
	var s event.State
	for {
		b, err := live.Next(ctx)
		if errors.Is(err, io.EOF) {
			return exitOf(dir, &s)
		}
		for _, e := range b.Events {
			s.Apply(e)
			if err := show(e, &s); err != nil {
				return exitError{exitInterrupted, fmt.Errorf("printing the run's events: %w", err)}
			}
		}
		if ctx.Err() != nil {
			if !owned {
				fmt.Fprintf(a.err, "the run goes on: proctor attach %s\n", dir.ID())
				return exitError{code: exitInterrupted}
			}
			stop()
			ctx = context.Background()
			if _, err := a.do(ctx, dir, control.Command{Cmd: control.Stop}); err != nil {
				return exitError{exitInterrupted, err}
			}
			continue
		}
		if err != nil {
			return err
		}
	}
}

// exitOf turns how a run ended into an exit status.
func exitOf(dir rundir.Dir, s *event.State) error {
	if s.Verdict == nil {
		return exitError{exitInterrupted, fmt.Errorf("run %s was not graded: %s", dir.ID(), or(s.Reason, "its supervisor ended"))}
	}
	switch s.Verdict.Status {
	case tasks.Graded:
		return nil
	case tasks.NoSubmission, tasks.InvalidSubmission:
		return exitError{code: exitNoSubmission}
	default:
		return exitError{code: exitNoVerdict}
	}
}

// superviseCommand is how a run's supervisor is started; nobody types it.
func superviseCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "supervise DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runner.Supervise(cmd.Context(), rundir.At(args[0]), a.parts(), a.settings())
		},
	}
}

func attachCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "attach [RUN]", Short: "Open the console of a run that is going on, or over",
		Long: "Opens a run's console. Without RUN it is the one that is alive, or else the newest.\n" + exits,
		Args: cobra.MaximumNArgs(1),
	}
	plainly := cmd.Flags().Bool("plain", false, "print a line per event instead of the console")
	asJSON := cmd.Flags().Bool("json", false, "print the run's events as JSON, one a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := a.newest(args)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return a.follow(dir, false, eventPrinter(a.out))
		default:
			return a.show(cmd.Context(), dir, *plainly || !onTerminal())
		}
	}
	return cmd
}

func replayCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay [RUN | TRACE]", Short: "Play a run's record back at the pace at which it was made",
		Long: `Opens the console fed from a run's record, pauses shortened. Space halts it,
+ and - change the speed.

TRACE is a run of MLAgentBench's own agent: its env_log/trace.json, or the log
directory above it, whose agent_log then gives plans and thoughts.`,
		Example: "proctor replay 7f3a --speed 8\nproctor replay logs/cifar10/env_log/trace.json --speed 60",
		Args:    cobra.MaximumNArgs(1),
	}
	speed := cmd.Flags().Float64("speed", 1, "recorded seconds per second, 0.1 to 1000")
	asJSON := cmd.Flags().Bool("json", false, "print the events as JSON, one a line, at their pace")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *speed < 0.1 || *speed > 1000 {
			return exitError{exitUsage, errors.New("--speed must be from 0.1 to 1000")}
		}
		dir, done, err := a.recorded(args)
		if err != nil {
			return err
		}
		defer done()
		switch {
		case *asJSON:
			return a.playback(cmd.Context(), dir, *speed, eventPrinter(a.out))
		case !onTerminal():
			return a.playback(cmd.Context(), dir, *speed, linePrinter(a.out))
		default:
			return a.open(cmd.Context(), ui.First{Run: dir.Path(), Replay: true, Speed: *speed})
		}
	}
	return cmd
}

// recorded finds what to replay: a run, or the record of another program's,
// which is turned into one for as long as it is looked at. done clears up.
func (a *app) recorded(args []string) (dir rundir.Dir, done func(), err error) {
	done = func() {}
	if dir, err = a.newest(args); err == nil || len(args) == 0 {
		return dir, done, err
	}
	if _, missing := os.Stat(args[0]); missing != nil {
		return dir, done, err
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		return dir, done, exitError{exitUsage, err}
	}
	if dir, err = a.store.Find(path); err == nil {
		return dir, done, nil
	}
	parent, err := os.MkdirTemp("", "proctor-replay-")
	if err != nil {
		return dir, done, fmt.Errorf("making room for the trace: %w", err)
	}
	done = func() { _ = os.RemoveAll(parent) }
	if dir, err = imported.Trace(args[0], parent); err != nil {
		done()
		return dir, done, exitError{exitUsage, fmt.Errorf("%q is neither a run nor a trace: no run has that id, it is no directory with an events.jsonl, and as MLAgentBench's trace.json: %w", args[0], err)}
	}
	return dir, done, nil
}

// playback prints a run's events at the pace at which they came.
func (a *app) playback(ctx context.Context, dir rundir.Dir, speed float64, show printer) error {
	replay, err := watch.NewReplay(dir, speed)
	if err != nil {
		return err
	}
	defer replay.Close()
	var s event.State
	for {
		b, err := replay.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range b.Events {
			s.Apply(e)
			if err := show(e, &s); err != nil {
				return err
			}
		}
	}
}
