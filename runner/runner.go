// Package runner carries out a run: one task, one agent, one sandbox, one
// clock. A run belongs to a supervisor, a process of its own that owns all
// four and writes the record; whoever looks at the run reads that record and
// sends commands over a socket.
//
// The life of a run is in this file, from Supervise to its end. What the
// agent is given is in host.go, how a run is held and let go in hold.go, its
// limits in limits.go, the person's commands in commands.go, and how it is
// judged in finish.go and bench.go.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/redact"
	"proctor/runner/budget"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/rundir"
	"proctor/runner/sandbox"
	"proctor/runner/terminal"
	"proctor/tasks"
)

// Parts is what a supervisor finds tasks, agents and sandboxes with.
type Parts struct {
	OpenTask    func(ctx context.Context, ref string) (*tasks.Task, error)
	FindAgent   func(name string) (agents.Kind, agents.Options, error)
	PickSandbox func(ctx context.Context, name string) (sandbox.Kind, error)
	// FindRun returns the directory of an earlier run, for agents that redo
	// one.
	FindRun func(key string) (rundir.Dir, error)
	// FindModel returns a model of the settings and its key.
	FindModel func(name string) (llm.Model, string, error)
}

// A Run is one run in its supervisor.
type Run struct {
	dir       rundir.Dir
	req       rundir.Request
	parts     Parts
	set       Settings
	task      *tasks.Task
	kind      sandbox.Kind
	isolation sandbox.Isolation
	box       sandbox.Sandbox
	clock     *budget.Clock
	log       *event.Writer
	screen    *screen
	gpus      *gpus            // nil when the run may use none
	thinker   *thinker         // nil without a model
	services  *services        // nil when the task has none
	secrets   *redact.Redactor // what no record may hold
	tells     bool             // the agent is told what a person did at its terminal
	server    *control.Server
	started   time.Time
	ctx       context.Context         // ends with the agent's work
	finished  context.CancelCauseFunc // ends it, with the cause
	working   atomic.Bool             // commands are taken
	shells    sync.WaitGroup          // those a person opened
	trouble   *slog.Logger            // what does not belong in the record

	record sync.Mutex // orders the log and its fold
	state  event.State
	keyed  event.Keyframe // lengths at the newest keyframe

	mu          sync.Mutex // guards everything below
	hold        hold
	asks        asks
	hints       hints
	spent       spent
	limit       tasks.Budget
	warned      map[string]bool    // dimensions whose soft limit has fired
	front       *foreground        // the pty that a person's keys go to
	mode        string             // how a person goes along
	patterns    []string           // what they approve one by one
	attended    bool               // somebody is there to answer
	handover    *terminal.Observer // what the terminal shows while a person has it
	shell       sandbox.Process    // the one opened for a person who took over
	over        bool               // a hard limit has been reached
	stand       string             // id of the standing checkpoint
	checkpoints int
}

// The ways in which an agent's work ends, besides finishing by itself.
var (
	errGradeNow    = errors.New("a person asked for grading")
	errStopped     = errors.New("a person stopped the run")
	errSandboxGone = errors.New("the sandbox ended")
	errRecord      = errors.New("the record cannot be written")
)

// errLimit is a hard limit that was reached.
type errLimit struct{ event.Budget }

func (e errLimit) Error() string { return "the " + e.Dimension + " budget is spent" }

// Supervise carries out the run in dir from its start to its verdict. It
// returns an error only when there is no record to say it in. It is meant to
// be the whole life of a process: see Start.
func Supervise(ctx context.Context, dir rundir.Dir, parts Parts, set Settings) error {
	r, lock, err := open(dir, parts, set)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	defer r.close()
	ctx, r.finished = context.WithCancelCause(ctx)
	r.ctx = ctx
	defer r.finished(nil)
	if err := r.prepare(ctx, lock); err != nil {
		r.fail(err)
		return nil
	}
	r.finish(r.work(ctx))
	return nil
}

// open takes the run directory and opens its record.
func open(dir rundir.Dir, parts Parts, set Settings) (*Run, *rundir.Lock, error) {
	req, err := dir.Request()
	if err != nil {
		return nil, nil, err
	}
	lock, err := dir.Lock()
	if err != nil {
		return nil, nil, err
	}
	r := &Run{
		dir: dir, req: req, parts: parts, set: set, limit: req.Budget,
		started: time.Now(), warned: map[string]bool{},
		mode: req.Mode, patterns: req.Patterns, attended: req.Attended, secrets: redact.New(),
		finished: func(error) {},
		trouble:  slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	r.hold.changed = make(chan struct{})
	r.hints.arrived = make(chan struct{}, 1)
	r.asks.turn = make(chan struct{}, 1)
	r.asks.turn <- struct{}{}
	if r.state, err = readState(dir); err != nil {
		lock.Unlock()
		return nil, nil, err
	}
	worked := time.Duration(r.state.Work * float64(time.Second))
	r.clock = budget.NewClock(worked, time.Now)
	if r.log, err = event.NewWriter(dir.Events(), time.Now); err != nil {
		lock.Unlock()
		return nil, nil, err
	}
	if r.screen, err = newScreen(dir.Cast(), r.castHeader(), set, r.clock); err != nil {
		r.log.Close()
		lock.Unlock()
		return nil, nil, err
	}
	return r, lock, nil
}

// prepare does everything that can fail before the agent starts.
func (r *Run) prepare(ctx context.Context, lock *rundir.Lock) error {
	task, taskErr := r.parts.OpenTask(ctx, r.req.Task)
	kind, boxErr := r.parts.PickSandbox(ctx, r.req.Sandbox)
	r.task, r.kind = task, kind
	if boxErr == nil {
		r.isolation = kind.Probe(ctx).Isolation
	}
	modelErr := r.openModel()
	if err := r.emit(event.TypeRunStarted, r.startedEvent()); err != nil {
		return err
	}
	if taskErr != nil {
		return fmt.Errorf("opening the task %q: %w", r.req.Task, taskErr)
	}
	if len(task.Missing) > 0 {
		return missingError{task.Ref, task.Missing}
	}
	if boxErr != nil {
		return boxErr
	}
	if modelErr != nil {
		return modelErr
	}
	if err := r.serve(lock); err != nil {
		return err
	}
	if err := r.openGPUs(ctx); err != nil {
		return err
	}
	if err := seed(task.Seeds, r.dir.Workspace()); err != nil {
		return err
	}
	if err := r.openServices(); err != nil {
		return err
	}
	box, err := kind.Open(ctx, r.boxSpec())
	if err != nil {
		return fmt.Errorf("starting the %s sandbox: %w", kind.Name, err)
	}
	r.box = box
	r.noteGaps()
	return nil
}

// noteGaps says what is not isolated in this sandbox beside what its kind
// leaves open anywhere.
func (r *Run) noteGaps() {
	for _, gap := range r.box.Isolation().Gaps {
		if !slices.Contains(r.isolation.Gaps, gap) {
			_ = r.emit(event.TypeNote, event.Note{Level: "warn", Kind: "isolation", Text: "not isolated: " + gap})
		}
	}
}

// work lets the agent run and returns why it ended; nil when it finished by
// itself.
func (r *Run) work(ctx context.Context) error {
	agent, err := r.newAgent(ctx)
	if err != nil {
		return err
	}
	session, done, err := r.session()
	if err != nil {
		return err
	}
	defer done()
	var watchers sync.WaitGroup
	watchers.Go(func() { r.watchTime(ctx) })
	watchers.Go(func() { r.watchBox(ctx) })
	watchers.Go(func() { r.sample(ctx) })
	watchers.Go(func() { r.watchGPUs(ctx) })
	r.startWorking()
	defer r.working.Store(false)

	result := make(chan error, 1)
	go func() { result <- runAgent(ctx, agent, session) }()
	select {
	case err = <-result:
	case <-ctx.Done():
		// The agent gets a moment to see that it is over; what it runs in
		// the sandbox is ended in any case, at once where it is stopped and
		// cannot end by itself.
		if r.standing() {
			r.closeBox()
		}
		select {
		case err = <-result:
		case <-time.After(r.set.StopGrace):
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if hard, spent := r.reached(); err != nil && spent {
		err = r.spentLimit(hard) // an agent that saw it coming names it in its own words
	}
	r.finished(nil)
	watchers.Wait()
	return err
}

// startWorking starts the clock. Whoever reads that the run is running can
// steer it: a command that comes too soon waits for the event.
func (r *Run) startWorking() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.working.Store(true)
	r.clock.Start()
	r.phase(event.StateChange{To: event.Running, Actor: "proctor"})
}

// runAgent turns an agent's panic into an error, so that a fault in one
// agent cannot take the record down with it.
func runAgent(ctx context.Context, a agents.Agent, s *agents.Session) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the agent failed: %v", p)
		}
	}()
	return a.Run(ctx, s)
}

func (r *Run) newAgent(ctx context.Context) (agents.Agent, error) {
	kind, options, err := r.parts.FindAgent(r.req.Agent)
	if err != nil {
		return nil, err
	}
	options.Model, options.Extra = r.req.Model, r.req.Settings
	if kind.Person && !r.req.Attended {
		return nil, missingError{"agent " + r.req.Agent, []string{"it is a person: start it on a terminal, without --headless"}}
	}
	if kind.FromRun {
		if options.Log, err = r.recorded(options.Arg); err != nil {
			return nil, err
		}
	}
	if err := r.thinks(ctx, kind); err != nil {
		return nil, err
	}
	r.tells = !kind.NoModel
	if missing := kind.Check(ctx, r.task, options); len(missing) > 0 {
		return nil, missingError{"agent " + r.req.Agent, missing}
	}
	return kind.New(options)
}

// session is what the agent gets; done lets go of its model.
func (r *Run) session() (s *agents.Session, done func(), err error) {
	model, done, err := r.thinker.client(r.secrets)
	if err != nil {
		return nil, nil, err
	}
	return &agents.Session{Task: r.placed(), Seed: r.req.Seed, Model: model, Host: &host{run: r}}, done, nil
}

// missingError lists what must be there before a run can start.
type missingError struct {
	what  string
	lines []string
}

func (e missingError) Error() string {
	text := e.what + " cannot run here: "
	for i, line := range e.lines {
		if i > 0 {
			text += "; "
		}
		text += line
	}
	return text
}

// emit appends an event and folds it in. When the record cannot be written
// the run ends: what is not on record did not happen.
func (r *Run) emit(t event.Type, payload any) error {
	r.record.Lock()
	defer r.record.Unlock()
	e, err := r.log.Append(t, r.clock.Worked(), payload)
	if err != nil {
		r.trouble.Error("appending an event", "type", t, "err", err)
		r.finished(fmt.Errorf("%w: %w", errRecord, err))
		return err
	}
	r.state.Apply(e)
	if label, ok := marker(e); ok {
		r.screen.marker(label)
	}
	r.notify()
	return nil
}

// phase moves the run on and makes sure that a crash does not undo it.
func (r *Run) phase(c event.StateChange) {
	r.record.Lock()
	c.From = r.state.Phase
	r.record.Unlock()
	if r.emit(event.TypeState, c) == nil {
		r.sync()
	}
}

func (r *Run) sync() {
	if err := r.log.Sync(); err != nil {
		r.trouble.Error("syncing the event log", "err", err)
	}
}

// notify tells followers how far the record has grown.
func (r *Run) notify() {
	if r.server != nil {
		r.server.Notify(r.notice())
	}
}

// fail ends a run that never got to work.
func (r *Run) fail(err error) {
	status := string(event.Failed)
	var missing missingError
	if errors.As(err, &missing) {
		status = string(tasks.DataMissing)
	}
	r.phase(event.StateChange{To: event.Failed, Reason: err.Error(), Actor: "proctor"})
	_ = r.emit(event.TypeRunEnded, event.RunEnded{Status: status, Reason: err.Error()})
}

// close lets go of everything, in the order in which it depends on each other.
func (r *Run) close() {
	if r.box != nil {
		r.closeBox()
	}
	r.closeServices()
	if err := r.gpus.close(); err != nil {
		r.trouble.Error("closing the GPU sampler", "err", err)
	}
	if err := r.thinker.close(); err != nil {
		r.trouble.Error("closing the gateway", "err", err)
	}
	if err := r.screen.close(); err != nil {
		r.trouble.Error("closing the terminal recording", "err", err)
	}
	r.keyframe()
	if r.server != nil {
		r.server.Close()
	}
	if err := r.log.Close(); err != nil {
		r.trouble.Error("closing the event log", "err", err)
	}
	if err := os.RemoveAll(r.dir.Scratch()); err != nil {
		r.trouble.Error("removing scratch files", "err", err)
	}
}

func (r *Run) closeBox() {
	if err := r.box.Close(); err != nil {
		r.trouble.Error("closing the sandbox", "err", err)
	}
}
