package gpu

import "slices"

// A State is what the events say about the GPUs: a fold, for live events and
// logged ones alike. The zero value is the state before the first event. It
// marshals to JSON, so that a keyframe can hold it.
type State struct {
	Inventory  []Info             `json:"inventory,omitempty"`
	Readings   []Reading          `json:"readings,omitempty"` // the newest
	Series     map[string]*Series `json:"series,omitempty"`   // by device id
	GPUSeconds float64            `json:"gpu_seconds,omitempty"`
	Err        string             `json:"error,omitempty"` // why there are no readings now
	Work       float64            `json:"work,omitempty"`  // working seconds at the newest readings
	// Exact says that every sample is folded in, so that gaps between them are
	// real: a log holds samples back that are much the same.
	Exact bool `json:"-"`
}

// longestHeldBack is the longest stretch, in seconds, without an event in the
// log while nothing changes, at the usual pace.
const longestHeldBack = 10*steady + settle

// Apply folds one event in. work is the event's working time in seconds.
func (s *State) Apply(work float64, e Event) {
	s.GPUSeconds = max(s.GPUSeconds, e.GPUSeconds)
	if e.Action != nil {
		return // about the past; its readings are none
	}
	if len(e.Inventory) > 0 {
		s.Inventory = e.Inventory
	}
	// Who comes to a run that goes on has the log, which holds readings back
	// as long as they are much the same, and then the live ones.
	if gap := work - e.Seconds - s.Work; !s.Exact && s.Err == "" && len(s.Readings) > 0 && e.Seconds > 0 && gap > 0 && gap <= longestHeldBack {
		e.Seconds += gap
	}
	if len(e.Readings) > 0 {
		s.Work = work
	}
	s.Err, s.Readings = e.Err, e.Readings
	for _, r := range e.Readings {
		s.series(r.ID).add(newPoint(work, e.Seconds, r))
	}
}

func (s *State) series(id string) *Series {
	if s.Series == nil {
		s.Series = map[string]*Series{}
	}
	if s.Series[id] == nil {
		s.Series[id] = new(Series)
	}
	return s.Series[id]
}

// Info returns what does not change about a device.
func (s *State) Info(id string) Info {
	if i := slices.IndexFunc(s.Inventory, func(i Info) bool { return i.ID == id }); i >= 0 {
		return s.Inventory[i]
	}
	return Info{ID: id}
}

// GPUHours is the device time that the run has held, in hours.
func (s *State) GPUHours() float64 { return s.GPUSeconds / 3600 }

// Holding is the GPU memory that the run's processes hold now, in bytes.
func (s *State) Holding() int64 {
	var sum int64
	for _, r := range s.Readings {
		if !s.Info(r.ID).MIGEnabled { // its instances have it
			sum += value(r.RunMemory) * mib
		}
	}
	return sum
}

// Between returns each device's use from one working time to another, in
// seconds: what an action that ran in between did to the GPUs. Devices that
// the run did not hold meanwhile are left out.
func (s *State) Between(from, to float64) []Use {
	var uses []Use
	for _, info := range s.Inventory {
		series := s.Series[info.ID]
		if series == nil || info.MIGEnabled {
			continue
		}
		if p := series.between(from, to); p.Held > 0 {
			uses = append(uses, Use{
				Device: info.ID, Held: milli(p.Held), Utilization: rounded(p.Utilization), Run: rounded(p.Run),
				PeakMemory: peak(p),
			})
		}
	}
	return uses
}

func peak(p Point) int64 {
	if p.RunMemory >= 0 {
		return int64(p.RunMemory)
	}
	return int64(p.Memory)
}

func newPoint(work, seconds float64, r Reading) Point {
	p := Point{
		Work: work, Seconds: seconds,
		Utilization: known(r.Utilization), Run: known(r.Run), Memory: known(r.Memory), RunMemory: known(r.RunMemory),
	}
	if r.Held() {
		p.Held = seconds
	}
	return p
}

// known turns an optional figure into a Point's, where negative is unknown.
func known[T int | int64](v *T) float64 {
	if v == nil {
		return -1
	}
	return float64(*v)
}

// rounded is the way back.
func rounded(v float64) *int {
	if v < 0 {
		return nil
	}
	return new(int(v + 0.5))
}
