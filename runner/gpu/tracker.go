package gpu

import (
	"slices"
	"time"
)

// Config is what a Tracker is told of the run.
type Config struct {
	Select Selection // the devices that the run may use; others are left out
	// Granted says that the run has its devices to itself: they count as held
	// for all of its working time, used or not.
	Granted bool
	// Every is the time between two events for the log when little changes;
	// 0 means ten seconds.
	Every time.Duration
}

// An Observation is one sample, seen at one moment of the run.
type Observation struct {
	Sample Sample
	Work   float64 // working seconds of the run
	PIDs   []int   // host process ids of the run, read after the sample was taken
	Frozen bool    // every process of the run is stopped
}

// An Update is what an Observation amounts to.
type Update struct {
	Live  Event  // for whoever watches now
	Log   *Event // for the log; nil most of the time
	Notes []Note
}

// A Tracker turns samples into what a run reports about its GPUs. It is not
// safe for concurrent use.
//
// Device time counts as held, second by second of working time, on each
// device that the run may use: always when the devices are granted to it,
// otherwise while a process of the run is on the device, and also while that
// cannot be told (in a container, or without a list of processes) and
// somebody uses it. An instance of a GPU counts as a device; a GPU that is
// divided does not. Over a gap in the samples, devices that were held before
// and after it were held throughout. Paused and frozen time is not working
// time and does not count, though the memory stays taken.
type Tracker struct {
	config  Config
	who     Attributor
	state   State
	thinner thinner
	watch   watch
	work    float64 // of the last observation
	at      time.Time
	held    map[string]bool // devices, at the last observation
}

// NewTracker returns a tracker for a run that begins.
func NewTracker(c Config) *Tracker {
	if c.Every <= 0 {
		c.Every = 10 * time.Second
	}
	return &Tracker{config: c, thinner: newThinner(c.Every), state: State{Exact: true}}
}

// State is everything so far, at full rate.
func (t *Tracker) State() *State { return &t.state }

// GPUHours is the device time that the run has held, in hours.
func (t *Tracker) GPUHours() float64 { return t.state.GPUHours() }

// SetGPUHours continues an earlier count, for a run that is resumed.
func (t *Tracker) SetGPUHours(hours float64) { t.state.GPUSeconds = hours * 3600 }

// Action returns the event that records what an action did to the GPUs
// between two working times in seconds; ok is false when it held none.
func (t *Tracker) Action(id string, from, to float64) (e Event, ok bool) {
	uses := t.state.Between(from, to)
	if len(uses) == 0 {
		return Event{}, false
	}
	return Event{GPUSeconds: milli(t.state.GPUSeconds), Action: &ActionUse{ID: id, Devices: uses}}, true
}

// Rest returns the event for the log that covers what Observe has held back,
// for a run that ends; nil when it has held nothing back.
func (t *Tracker) Rest() *Event {
	e := t.thinner.rest()
	if e != nil {
		e.GPUSeconds = milli(t.state.GPUSeconds)
	}
	return e
}

// maxGap is the longest time between two samples over which the newer one
// speaks for all of it.
const maxGap = 10

// Observe takes a sample in.
func (t *Tracker) Observe(o Observation) Update {
	s := t.visible(o.Sample)
	shares := t.who.Attribute(s, o.PIDs)
	worked := max(0, o.Work-t.work)
	live := Event{Err: s.Err, Seconds: milli(min(worked, maxGap))}
	held := make(map[string]bool, len(s.Devices))
	for i, d := range s.Devices {
		info := newInfo(d)
		live.Inventory = append(live.Inventory, info)
		live.Readings = append(live.Readings, newReading(d, shares[i]))
		held[info.ID] = t.holds(d, shares[i])
		if held[info.ID] && (worked <= maxGap || t.held[info.ID]) {
			t.state.GPUSeconds += worked
		}
	}
	live.GPUSeconds = milli(t.state.GPUSeconds)
	if slices.Equal(live.Inventory, t.state.Inventory) {
		live.Inventory = nil
	}
	t.state.Apply(o.Work, live)

	elapsed := t.elapsed(s.At)
	u := Update{Live: live, Notes: t.watch.look(moment{s, shares, min(worked, maxGap), elapsed, o.Frozen, t.config.Granted})}
	u.Log = t.thinner.add(live, s.At, elapsed)
	t.at = s.At
	if s.Err == "" { // otherwise the gap goes on
		t.work, t.held = o.Work, held
	}
	return u
}

// visible leaves out the devices that the run may not use.
func (t *Tracker) visible(s Sample) Sample {
	all := s.Devices
	s.Devices = nil
	for _, d := range all {
		if t.config.Select.Has(d) {
			s.Devices = append(s.Devices, d)
		}
	}
	return s
}

func (t *Tracker) holds(d Device, s Share) bool {
	switch {
	case d.MIGEnabled || d.Err != "":
		return false
	case t.config.Granted || s.RunProcesses > 0:
		return true
	}
	hidden := s.DeviceWide != "" && s.RunProcesses+s.OtherProcesses == 0
	return hidden && (value(s.Utilization) > 0 || value(s.Memory) > hiddenMemory)
}

// elapsed is the wall time since the last observation, in seconds.
func (t *Tracker) elapsed(now time.Time) float64 {
	if t.at.IsZero() {
		return 0
	}
	return max(0, now.Sub(t.at).Seconds())
}
