package gpu

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Options is how a Sampler obtains its samples.
type Options struct {
	// Argv starts the collector, which prints samples as lines until it is
	// killed: the same binary with gpu --json --watch, here or through ssh.
	// The interval is appended to it as --interval=….
	Argv []string
	Env  []string // of the collector; nil means this process's
	// Interval between samples; 0 means one second.
	Interval time.Duration
	// Hang is how long the collector may be silent before it is killed; 0
	// means fifteen seconds, or five intervals where that is longer. Start is
	// the same for its first line, which waits for the driver to wake up; 0
	// means a minute.
	Hang, Start time.Duration
	// Backoff is the time before the first restart; it doubles up to
	// MaxBackoff. 0 means a second, and a minute.
	Backoff, MaxBackoff time.Duration
	// Report is told, once for each reason, why there are no samples. It is
	// called from the Sampler's own goroutine and must not block. May be nil.
	Report func(why string)
}

// ExitNoGPU is the exit status of a collector on a machine without GPUs:
// trying again soon is of no use.
const ExitNoGPU = 3

// settled is how long a collector must have worked for its end to be a new
// trouble rather than the old one.
const settled = time.Minute

// A Sampler keeps a collector process running and hands out what it says.
// Nothing that happens to the collector (a call that hangs, a driver that is
// reloaded or that ends the process) blocks or ends whoever uses the Sampler.
// Its methods are safe for concurrent use.
type Sampler struct {
	options Options
	cancel  context.CancelFunc
	ended   chan struct{}
	samples chan Sample

	mu       sync.Mutex
	latest   Sample
	any      bool
	reported string // the last reason given to Report
	pid      int    // of the collector that runs, 0 when none does
}

// Start begins sampling. ctx ends it, as Close does.
func Start(ctx context.Context, o Options) *Sampler {
	o.Interval = or(o.Interval, time.Second)
	o.Hang = or(o.Hang, max(15*time.Second, 5*o.Interval))
	o.Start = or(o.Start, time.Minute)
	o.Backoff = or(o.Backoff, time.Second)
	o.MaxBackoff = max(or(o.MaxBackoff, time.Minute), o.Backoff)
	ctx, cancel := context.WithCancel(ctx)
	s := &Sampler{options: o, cancel: cancel, ended: make(chan struct{}), samples: make(chan Sample, 1)}
	go s.run(ctx)
	return s
}

func or(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// Samples delivers the newest sample; those that nobody took in time are
// dropped. While there are none, one sample with Err says why. The channel is
// closed when sampling has ended.
func (s *Sampler) Samples() <-chan Sample { return s.samples }

// Latest returns the newest sample; ok is false before the first.
func (s *Sampler) Latest() (sample Sample, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest, s.any
}

// closeWait bounds Close. A process that hangs inside the kernel driver
// cannot be killed, and may outlast everything.
const closeWait = 5 * time.Second

// Close ends sampling and waits for the collector. It fails only when the
// collector cannot be killed because it hangs inside the kernel.
func (s *Sampler) Close() error {
	s.cancel()
	select {
	case <-s.ended:
		return nil
	case <-time.After(closeWait):
		s.mu.Lock()
		defer s.mu.Unlock()
		return fmt.Errorf("ending the GPU collector: process %d was killed but hangs inside the driver; it will go when the driver lets it, or at a reboot", s.pid)
	}
}

// run is the Sampler's goroutine: one collector after the other.
func (s *Sampler) run(ctx context.Context) {
	defer close(s.ended)
	defer close(s.samples)
	backoff := s.options.Backoff
	for {
		started := time.Now()
		why, hopeless := s.collect(ctx)
		if ctx.Err() != nil {
			return
		}
		healthy := time.Since(started) >= settled
		if healthy {
			backoff = s.options.Backoff
		}
		if hopeless {
			backoff = s.options.MaxBackoff
		}
		s.down(why, healthy)
		select {
		case <-ctx.Done():
			return
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, s.options.MaxBackoff)
	}
}

// publish makes a sample the newest.
func (s *Sampler) publish(sample Sample) {
	s.mu.Lock()
	s.latest, s.any = sample, true
	s.mu.Unlock()
	for {
		select {
		case s.samples <- sample:
			return
		default:
		}
		select { // full: drop the older one
		case <-s.samples:
		default:
		}
	}
}

// down tells why there are no samples now.
func (s *Sampler) down(why string, healthy bool) {
	s.publish(Sample{At: time.Now(), Source: "none", Err: why})
	s.mu.Lock()
	told := s.reported == why && !healthy
	s.reported = why
	s.mu.Unlock()
	if !told && s.options.Report != nil {
		s.options.Report(why)
	}
}
