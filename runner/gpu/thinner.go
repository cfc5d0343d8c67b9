package gpu

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// The log's share of GPU events: at most this many bytes a second in the
// long run, envelope included, however many devices there are and whatever
// they do. 180 bytes a second are 15.6 MB a day; the burst comes on top.
const (
	logRate     = 180.0  // bytes a second
	logBurst    = 64_000 // bytes, at once
	logEnvelope = 120    // bytes of an event around its payload
)

// What must differ from the last event for a change to be worth one.
const (
	changedUtilization = 20   // percentage points, of the mean over about a moment
	changedMemory      = 0.05 // of the device's memory
	settle             = 3.0  // seconds between events for mere changes, and of a moment
	steady             = 6    // times Every between events while nothing changes at all
	paused             = 30   // times Every, while no working time passes either
)

// A thinner decides which live events the log needs, and averages what came
// in between. Events of one sample a second become one of ten seconds, or
// one at once when something happens.
type thinner struct {
	every  float64 // seconds
	tokens float64 // bytes that may be written
	last   Event   // logged
	lastAt time.Time
	total  map[string]int64 // MiB, by device
	// since the last event
	seconds float64 // wall
	worked  float64
	sums    map[string]*window
	newest  Event // with readings
}

// A window sums one device's readings since the last event.
type window struct{ util, run, power sum }

// A sum is a figure over wall time: its mean, and its mean over about the
// last moment, so that a change shows however long the window is.
type sum struct {
	value, seconds float64
	fast           float64
	any            bool
}

func (s *sum) add(v *int, seconds float64) {
	if v == nil {
		return
	}
	s.value, s.seconds = s.value+float64(*v)*seconds, s.seconds+seconds
	if !s.any {
		s.fast, s.any = float64(*v), true
	}
	s.fast += (float64(*v) - s.fast) * (1 - math.Exp(-2*seconds/settle))
}

// restart begins a new window; the moment goes on.
func (s *sum) restart() { s.value, s.seconds = 0, 0 }

// off reports whether the moment's mean differs from a logged one by more
// than limit.
func (s *sum) off(logged *int, limit float64) bool {
	return s.any && logged != nil && math.Abs(s.fast-float64(*logged)) > limit
}

// mean is the window's, or the last value where nothing was summed.
func (s *sum) mean(last *int) *int {
	if s.seconds == 0 {
		return last
	}
	return new(int(math.Round(s.value / s.seconds)))
}

func newThinner(every time.Duration) thinner {
	return thinner{every: every.Seconds(), tokens: logBurst, sums: map[string]*window{}, total: map[string]int64{}}
}

// add takes a live event in and returns one for the log when it is time.
func (t *thinner) add(live Event, at time.Time, elapsed float64) *Event {
	t.tokens = min(logBurst, t.tokens+elapsed*logRate)
	if live.Err != "" && live.Err == t.last.Err {
		return nil // said once, however long it lasts
	}
	t.seconds += elapsed
	t.worked += live.Seconds
	if live.Err == "" {
		t.newest = live
	}
	for _, r := range live.Readings {
		w := t.sums[r.ID]
		if w == nil {
			w = new(window)
			t.sums[r.ID] = w
		}
		// A first reading has no stretch before it; it counts for itself.
		span := max(elapsed, 0.001)
		w.util.add(r.Utilization, span)
		w.run.add(r.Run, span)
		w.power.add(r.PowerW, span)
	}
	if live.Inventory != nil {
		for _, i := range live.Inventory {
			t.total[i.ID] = i.MemoryTotal / mib
		}
	}
	urgent := t.lastAt.IsZero() || live.Inventory != nil || t.happened(live)
	if !urgent && t.seconds < settle {
		return nil
	}
	e := t.averaged(live)
	if !urgent && !(t.tokens > logBurst/2 && t.moved(e)) && t.seconds < t.wait(e) {
		return nil
	}
	size := float64(logEnvelope + size(e))
	if size > t.tokens {
		return nil // averaged into a later one
	}
	t.tokens -= size
	t.log(e, at)
	return &e
}

// log begins a new window after an event.
func (t *thinner) log(e Event, at time.Time) {
	t.last, t.lastAt = e, at
	t.seconds, t.worked = 0, 0
	for _, w := range t.sums {
		w.util.restart()
		w.run.restart()
		w.power.restart()
	}
}

// rest is what has come since the last event, nil when nothing has.
func (t *thinner) rest() *Event {
	if t.worked <= 0 || t.last.Err != "" || len(t.newest.Readings) == 0 {
		return nil
	}
	e := t.averaged(t.newest)
	e.Inventory = nil // an event at which it changes is logged at once
	t.log(e, t.lastAt)
	return &e
}

// wait is how many seconds may pass between events.
func (t *thinner) wait(e Event) float64 {
	if t.seconds < t.every {
		return t.every
	}
	// More devices than the rate allows for at this pace are logged less often.
	pace := max(t.every, float64(logEnvelope+size(e))/logRate)
	switch {
	case !t.same(e):
		return pace
	case t.worked == 0:
		return pace * paused
	}
	return pace * steady
}

// averaged is the live event with the means since the last logged one.
func (t *thinner) averaged(live Event) Event {
	e := live
	e.Seconds = milli(t.worked)
	e.Readings = slices.Clone(live.Readings)
	for i := range e.Readings {
		r, w := &e.Readings[i], t.sums[e.Readings[i].ID]
		r.Utilization, r.Run = w.util.mean(r.Utilization), w.run.mean(r.Run)
		r.PowerW = w.power.mean(r.PowerW)
	}
	return e
}

// happened reports what is worth an event at once: an error that comes or
// goes, a device lost or found, an Xid, memory errors.
func (t *thinner) happened(live Event) bool {
	return live.Err != t.last.Err || !slices.EqualFunc(live.Readings, t.last.Readings, func(a, b Reading) bool {
		return a.ID == b.ID && a.Err == b.Err && a.Xid == b.Xid && a.Uncorrected == b.Uncorrected
	})
}

// moved reports a change that is worth an event soon.
func (t *thinner) moved(e Event) bool {
	return !slices.EqualFunc(e.Readings, t.last.Readings, func(a, b Reading) bool {
		limit := int64(changedMemory * float64(max(t.total[a.ID], 2048)))
		return a.Processes == b.Processes && !t.strays(b, changedUtilization) &&
			near(a.Memory, b.Memory, limit) && near(a.RunMemory, b.RunMemory, limit)
	})
}

// same reports that nothing is new but noise.
func (t *thinner) same(e Event) bool {
	return slices.EqualFunc(e.Readings, t.last.Readings, func(a, b Reading) bool {
		return a.Processes == b.Processes && a.Others == b.Others && a.DeviceWide == b.DeviceWide &&
			slices.Equal(a.Throttle, b.Throttle) && !t.strays(b, changedUtilization/2) &&
			near(a.Utilization, b.Utilization, 2) && near(a.Run, b.Run, 2) &&
			near(a.Memory, b.Memory, 32) && near(a.RunMemory, b.RunMemory, 32) &&
			near(a.PowerW, b.PowerW, 15) && near(a.Temperature, b.Temperature, 3)
	})
}

// strays reports whether a device's use right now is far from what was
// logged last.
func (t *thinner) strays(logged Reading, limit float64) bool {
	w := t.sums[logged.ID]
	return w != nil && (w.util.off(logged.Utilization, limit) || w.run.off(logged.Run, limit))
}

func near[T int | int64](a, b *T, within T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return max(*a, *b)-min(*a, *b) <= within
}

// size is the length of the payload in the log.
func size(e Event) int {
	line, err := json.Marshal(e)
	if err != nil {
		return logBurst // not a number somewhere: too large to be written
	}
	return len(line)
}
