// Package budget keeps a run's clock and its limits.
package budget

import (
	"context"
	"sync"
	"time"
)

// A Clock measures working time: it stands still while a run is paused,
// waits for a person, or has not begun. It is safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	now     func() time.Time
	worked  time.Duration // before the present stretch
	since   time.Time     // start of the present stretch
	running bool
	changed chan struct{} // closed and replaced at each start and stop
}

// NewClock returns a stopped clock that has already worked for a while: zero
// for a new run, what the log says for one that goes on. now gives the
// present moment; its monotonic reading is used, so steps of the wall clock
// and a suspended machine do not count.
func NewClock(worked time.Duration, now func() time.Time) *Clock {
	return &Clock{now: now, worked: worked, changed: make(chan struct{})}
}

// Start lets working time pass.
func (c *Clock) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return
	}
	c.running, c.since = true, c.now()
	c.signal()
}

// Stop makes working time stand still.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		return
	}
	c.worked += c.now().Sub(c.since)
	c.running = false
	c.signal()
}

// Worked returns the working time so far.
func (c *Clock) Worked() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workedLocked()
}

func (c *Clock) workedLocked() time.Duration {
	if !c.running {
		return c.worked
	}
	return c.worked + c.now().Sub(c.since)
}

func (c *Clock) signal() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// WaitUntil returns nil once the clock has worked for mark, or ctx's error.
func (c *Clock) WaitUntil(ctx context.Context, mark time.Duration) error {
	for {
		c.mu.Lock()
		left, running, changed := mark-c.workedLocked(), c.running, c.changed
		c.mu.Unlock()
		if left <= 0 {
			return ctx.Err()
		}
		if err := wait(ctx, left, running, changed); err != nil {
			return err
		}
	}
}

// wait returns when the clock has changed, or has run for left.
func wait(ctx context.Context, left time.Duration, running bool, changed <-chan struct{}) error {
	var ran <-chan time.Time
	if running {
		timer := time.NewTimer(left)
		defer timer.Stop()
		ran = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-ran:
	}
	return nil
}

// WithTimeout returns a context that ends after d of working time; d of zero
// or less sets no limit. Its cause is then [context.DeadlineExceeded].
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	if d <= 0 {
		return ctx, func() { cancel(context.Canceled) }
	}
	mark := c.Worked() + d
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.WaitUntil(ctx, mark) == nil {
			cancel(context.DeadlineExceeded)
		}
	}()
	return ctx, func() { cancel(context.Canceled); <-done }
}
