package budget

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestClockCountsOnlyRunningTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(5*time.Second, time.Now)
		time.Sleep(time.Second)
		c.Start()
		c.Start() // starting twice is starting once
		time.Sleep(2 * time.Second)
		c.Stop()
		c.Stop()
		time.Sleep(time.Hour)
		if got := c.Worked(); got != 7*time.Second {
			t.Errorf("worked %v, want 7s", got)
		}
		c.Start()
		time.Sleep(time.Second)
		if got := c.Worked(); got != 8*time.Second {
			t.Errorf("worked %v, want 8s", got)
		}
	})
}

func TestWaitUntilStandsStillWithTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(0, time.Now)
		c.Start()
		started := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := c.WaitUntil(t.Context(), 3*time.Second); err != nil {
				t.Error(err)
			}
			if wall := time.Since(started); wall != 13*time.Second {
				t.Errorf("waited %v of wall time, want 13s", wall)
			}
		})
		time.Sleep(time.Second)
		c.Stop()
		time.Sleep(10 * time.Second)
		c.Start()
		wg.Wait()
	})
}

func TestTimeoutRunsOnWorkingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(0, time.Now)
		c.Start()
		ctx, cancel := c.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		time.Sleep(time.Second)
		c.Stop()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("it ended while the clock stood still")
		}
		c.Start()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("ended with %v", context.Cause(ctx))
		}

		forever, stop := c.WithTimeout(t.Context(), 0)
		time.Sleep(time.Hour)
		if forever.Err() != nil {
			t.Error("no limit ended")
		}
		stop()
	})
}
