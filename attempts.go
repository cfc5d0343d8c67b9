package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"proctor/runner"
	"proctor/runner/attempts"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/terminal"
	"proctor/runner/watch"
	"proctor/tasks/grade"
	"proctor/ui/plain"
)

// mostAttempts bounds a group: more is a slip of the finger.
const mostAttempts = 1000

// A series is several attempts at one thing, each a run with a supervisor of
// its own.
type series struct {
	*app
	plan     plan
	n        int
	parallel int
	group    string
	say      io.Writer // a line for each thing that happens

	mu     sync.Mutex // orders the lines and guards what follows
	worst  int        // exit status
	failed error      // why no more were started
}

// attempts carries out n attempts, at most so many at once, and prints what
// they came to. Being interrupted starts no more of them; those that were
// started go on by themselves, as every run does.
func (a *app) attempts(ctx context.Context, p plan, n, parallel int, asJSON bool) error {
	task, err := a.catalog.Open(ctx, p.task)
	if err != nil {
		return exitError{exitUsage, err}
	}
	s := &series{app: a, plan: p, n: n, parallel: parallel, say: a.out}
	if asJSON {
		s.say = a.err
	}
	s.group = rundir.NewGroupID(time.Now(), task.Name, p.agent, n, uint16(rand.Uint32()))
	interrupted := s.run(ctx)
	all, err := runner.List(a.store)
	if err != nil {
		return err
	}
	g, err := attempts.Find(attempts.Groups(all), s.group)
	if err != nil { // none was started
		return exitError{exitUsage, s.failed}
	}
	if err := a.print(asJSON, g, func(w io.Writer) { printGroup(w, g) }); err != nil {
		return err
	}
	switch {
	case interrupted:
		s.goesOn(g)
		return exitError{code: exitInterrupted}
	case s.failed != nil:
		return exitError{exitInterrupted, fmt.Errorf("%d of %d attempts were started: %w", len(g.Attempts), n, s.failed)}
	case s.worst != 0:
		return exitError{code: s.worst}
	}
	return nil
}

// run starts the attempts in order and waits for them. It reports whether it
// was interrupted.
func (s *series) run(ctx context.Context) (interrupted bool) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var followers sync.WaitGroup
	defer followers.Wait()
	free := make(chan struct{}, s.parallel)
	for i := range s.n {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return true
		}
		dir, err := s.begin(ctx, i)
		if err != nil {
			if ctx.Err() == nil {
				s.mu.Lock()
				s.failed = err
				s.mu.Unlock()
			}
			break
		}
		followers.Go(func() {
			s.follow(ctx, i, dir)
			<-free
		})
	}
	followers.Wait()
	return ctx.Err() != nil
}

// begin starts attempt i, counted from 0.
func (s *series) begin(ctx context.Context, i int) (rundir.Dir, error) {
	if err := ctx.Err(); err != nil {
		return rundir.Dir{}, err
	}
	p := s.plan
	p.seed += int64(i)
	p.attempt = &rundir.Attempt{Group: s.group, Number: i + 1, Of: s.n}
	dir, err := s.start(ctx, p)
	if err != nil {
		return dir, err
	}
	if i == 0 {
		s.line("group %s: %d attempts at %s by %s, %d at once", s.group, s.n, p.task, p.agent, s.parallel)
	}
	s.line("attempt %d/%d  seed %d  started: %s", i+1, s.n, p.seed, dir.ID())
	return dir, nil
}

// follow waits for an attempt's end and says what it came to.
func (s *series) follow(ctx context.Context, i int, dir rundir.Dir) {
	state, err := ended(ctx, dir)
	if ctx.Err() != nil {
		return
	}
	text, code := "", exitInterrupted
	switch {
	case err != nil:
		text = err.Error()
	case state.Verdict != nil:
		text = strings.TrimPrefix(plain.VerdictLine(state.Verdict), "verdict: ")
	default:
		text = "not graded: " + or(state.Reason, "its supervisor ended")
	}
	if err == nil {
		var exit exitError
		if code = exitGraded; errors.As(exitOf(dir, state), &exit) {
			code = exit.code
		}
	}
	s.mu.Lock()
	s.worst = max(s.worst, code)
	s.mu.Unlock()
	s.line("attempt %d/%d  seed %d  %s", i+1, s.n, s.plan.seed+int64(i), text)
}

// ended waits until a run is over and returns what its log says.
func ended(ctx context.Context, dir rundir.Dir) (*event.State, error) {
	live, err := watch.FromStart(dir)
	if err != nil {
		return nil, err
	}
	defer live.Close()
	var s event.State
	for {
		b, err := live.Next(ctx)
		if errors.Is(err, io.EOF) {
			return &s, nil
		}
		if err != nil {
			return nil, err
		}
		for _, e := range b.Events {
			s.Apply(e)
		}
	}
}

// line says one thing. An agent or a grader has had a say in it.
func (s *series) line(format string, args ...any) {
	text := strings.Join(strings.Fields(terminal.Clean(fmt.Sprintf(format, args...))), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.say, "%s  %s\n", time.Now().Format("15:04:05"), text)
}

// goesOn says what was left when the series was interrupted.
func (s *series) goesOn(g attempts.Group) {
	for _, a := range g.Attempts {
		if !event.Phase(a.Phase).Over() {
			fmt.Fprintf(s.err, "attempt %d goes on by itself: proctor attach %s\n", a.Number, a.Run)
		}
	}
	fmt.Fprintf(s.err, "no more are started; what they come to: proctor runs %s\n", g.ID)
}

// printGroup prints a group's attempts and what they come to together.
func printGroup(out io.Writer, g attempts.Group) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ATTEMPT\tSEED\tRUN\tSTATE\tRESULT")
	for _, a := range g.Attempts {
		fmt.Fprintf(w, "%d/%d\t%d\t%s\t%s\t%s\n", a.Number, g.Of, a.Seed, a.Run, a.Phase, attemptWords(g, a))
	}
	w.Flush()
	fmt.Fprintf(out, "\n%s, %s by %s\n", g.ID, g.Task, g.Agent)
	format := func(x float64) string { return grade.Format(x, g.Unit) }
	for _, words := range g.Details(format) {
		fmt.Fprintln(out, words)
	}
	if g.PassBy != "" {
		fmt.Fprintf(out, "a pass is: %s; %d of %d attempts count\n", g.PassBy, g.Counted, len(g.Attempts))
	}
	if g.Entered > 0 {
		fmt.Fprintf(out, "%d of the scores were entered by a person\n", g.Entered)
	}
	if missing := g.Of - len(g.Attempts); missing > 0 {
		fmt.Fprintf(out, "%d of %d attempts were not started\n", missing, g.Of)
	}
}

// attemptWords says how an attempt went.
func attemptWords(g attempts.Group, a attempts.Attempt) string {
	var words []string
	switch {
	case a.Score != nil:
		words = append(words, grade.Format(*a.Score, g.Unit))
	case a.Status != "":
		words = append(words, strings.ReplaceAll(string(a.Status), "_", " "))
	case a.Reason != "":
		words = append(words, a.Reason)
	}
	if a.Medal != "" {
		words = append(words, a.Medal)
	}
	if a.Passed != nil {
		words = append(words, map[bool]string{true: "passed", false: "not passed"}[*a.Passed])
	}
	if a.Assisted {
		words = append(words, "assisted")
	}
	if a.Entered != nil {
		words = append(words, plain.Entered(a.Entered))
	}
	return strings.Join(words, ", ")
}
