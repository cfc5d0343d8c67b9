package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"proctor/agents"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/gpu"
	"proctor/runner/sandbox"
)

// gpus is what a run knows of its GPUs. The driver is read by a process of
// its own: one that hangs or dies takes nothing of the run with it.
type gpus struct {
	sampler *gpu.Sampler
	silent  chan string // why there are no samples, once
	granted []gpu.Device
	grant   gpu.Grant // what the sandbox is given so that they can be used

	mu      sync.Mutex // the innermost: no other lock is taken while it is held
	tracker *gpu.Tracker
	live    *gpu.Event // the newest, for followers
}

// firstSample is how long a run waits for the driver to say which GPUs there
// are. A driver that sleeps takes longer; the run then starts without any.
const firstSample = 10 * time.Second

// openGPUs starts sampling and finds out which devices the run gets.
func (r *Run) openGPUs(ctx context.Context) error {
	selection, err := gpu.ParseSelection(r.req.GPUs)
	if err != nil {
		return err
	}
	if selection.None() {
		return gpu.Check(nil, r.task.Needs.GPUs, r.task.Needs.GPUMemory)
	}
	self, err := selfPath()
	if err != nil {
		return err
	}
	g := &gpus{silent: make(chan string, 1)}
	g.sampler = gpu.Start(ctx, gpu.Options{
		Argv:     []string{self, "gpu", "--json", "--watch"},
		Interval: r.set.GPUSample,
		Report: func(why string) {
			select {
			case g.silent <- why:
			default:
			}
		},
	})
	r.gpus = g
	devices := g.first(ctx)
	if g.granted, err = selection.Pick(devices); err != nil && r.req.GPUs != "" && r.req.GPUs != "all" {
		return err
	}
	if err := gpu.Check(g.granted, r.task.Needs.GPUs, r.task.Needs.GPUMemory); err != nil {
		return missingError{r.task.Ref, []string{err.Error()}}
	}
	if err := r.grantGPUs(); err != nil {
		return err
	}
	g.tracker = gpu.NewTracker(gpu.Config{Select: selection})
	g.tracker.SetGPUHours(r.spent.gpuHours)
	return nil
}

// first waits for the first sample; none when there is no GPU.
func (g *gpus) first(ctx context.Context) []gpu.Device {
	select {
	case s := <-g.sampler.Samples():
		return s.Devices
	case <-g.silent:
	case <-ctx.Done():
	case <-time.After(firstSample):
	}
	return nil
}

// close ends the sampling process.
func (g *gpus) close() error {
	if g == nil {
		return nil
	}
	return g.sampler.Close()
}

// grantGPUs finds what the sandbox must be given so that the devices can be
// used. A run that asked for none by name goes on without them when that is
// not to be had, as in a container that shows the driver and not the devices.
func (r *Run) grantGPUs() error {
	if len(r.gpus.granted) == 0 {
		return nil
	}
	grant, err := gpu.Host{}.Grant(r.gpus.granted)
	if err == nil {
		r.gpus.grant = grant
		return nil
	}
	if r.task.Needs.GPUs > 0 || r.req.GPUs != "" && r.req.GPUs != "all" {
		return fmt.Errorf("giving the run its GPUs: %w", err)
	}
	return r.emit(event.TypeNote, event.Note{Level: "warn", Text: "the run goes on without GPUs: " + err.Error()})
}

// watchGPUs turns samples into events, live and logged, and notes, and ends
// the run when its GPU-hours are spent.
func (r *Run) watchGPUs(ctx context.Context) {
	if r.gpus == nil {
		return
	}
	// A soft limit may wait for a person's answer; samples go on meanwhile.
	var watcher sync.WaitGroup
	defer watcher.Wait()
	held := make(chan struct{}, 1)
	watcher.Go(func() { r.watchGPUHours(ctx, held) })
	for {
		select {
		case <-ctx.Done():
			r.gpus.mu.Lock()
			rest := r.gpus.tracker.Rest()
			r.gpus.mu.Unlock()
			if rest != nil {
				_ = r.emit(event.TypeGPU, rest)
			}
			return
		case s := <-r.gpus.sampler.Samples():
			r.observeGPUs(s)
			select {
			case held <- struct{}{}:
			default:
			}
		}
	}
}

// watchGPUHours looks at the limits whenever the run may have held GPUs for
// longer: an action can spend the budget while it goes on.
func (r *Run) watchGPUHours(ctx context.Context, held <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-held:
		}
		r.mu.Lock()
		limited := r.limit.GPUHours > 0
		r.mu.Unlock()
		if limited && r.checkLimits(ctx) != nil {
			return
		}
	}
}

func (r *Run) observeGPUs(s gpu.Sample) {
	pids, err := r.box.Pids()
	if err != nil {
		r.trouble.Error("listing the sandbox's processes", "err", err)
	}
	// Before g.mu is taken: whoever holds r.mu may be telling followers of an
	// event, for which it needs g.mu.
	o := gpu.Observation{Sample: s, Work: r.clock.Worked().Seconds(), PIDs: pids, Frozen: r.standing()}
	g := r.gpus
	g.mu.Lock()
	u := g.tracker.Observe(o)
	g.live = &u.Live
	hours := g.tracker.GPUHours()
	g.mu.Unlock()
	r.mu.Lock()
	r.spent.gpuHours = hours
	r.mu.Unlock()
	if u.Log != nil {
		_ = r.emit(event.TypeGPU, u.Log)
	}
	for _, n := range u.Notes {
		_ = r.emit(event.TypeNote, event.Note{Level: n.Level, Kind: n.Kind, Text: n.Text})
		r.tellAgent(n)
	}
	r.notify()
}

// tellAgent passes a note on to an agent that can do something about it.
func (r *Run) tellAgent(n gpu.Note) {
	if !n.ForAgent || !r.tells || !r.set.TellGPUNotes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queueHint(agents.Hint{ID: n.Kind, Author: "proctor", Text: fmt.Sprintf("About the GPU: %s", n.Text)})
}

// actionGPUs records what an action did to the GPUs.
func (r *Run) actionGPUs(id string, from, to time.Duration) {
	if r.gpus == nil {
		return
	}
	r.gpus.mu.Lock()
	e, ok := r.gpus.tracker.Action(id, from.Seconds(), to.Seconds())
	r.gpus.mu.Unlock()
	if ok {
		_ = r.emit(event.TypeGPU, e)
	}
}

// notice is what followers are told: how far the record has grown, and the
// GPUs as they are now, which the log keeps only now and then.
func (r *Run) notice() control.Notice {
	n := control.Notice{Events: r.log.Offset(), Output: r.screen.size()}
	if r.gpus != nil {
		r.gpus.mu.Lock()
		n.GPU = r.gpus.live
		r.gpus.mu.Unlock()
	}
	return n
}

// lend gives a sandbox the run's GPUs.
func (g *gpus) lend(spec *sandbox.Spec, mounts bool) {
	spec.Devices = g.grant.Nodes
	for _, lib := range g.grant.Libraries {
		spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: lib, Target: lib})
	}
	spec.Env = append(spec.Env, g.grant.Env(mounts)...)
}

// lendGPUs gives a grader's sandbox the run's GPUs, which are looked for again
// where the run itself is long over.
func (r *Run) lendGPUs(ctx context.Context, spec *sandbox.Spec) error {
	if r.gpus == nil {
		if err := r.openGPUs(ctx); err != nil {
			return fmt.Errorf("the grader needs GPUs: %w", err)
		}
	}
	if r.gpus == nil || len(r.gpus.granted) == 0 {
		return errors.New("the grader needs a GPU, and the run was given none")
	}
	r.gpus.lend(spec, r.isolation.Mounts)
	return nil
}
