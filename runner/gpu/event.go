package gpu

// An Event is what the log keeps of the GPUs: the payload of the event type
// "gpu". The same shape, unthinned, serves as the live feed, so that a State
// folds both. A GPU that is not among the readings has not been read.
type Event struct {
	// Seconds is the working time up to the event that the means in Readings
	// cover; 0 while the run is paused.
	Seconds float64 `json:"seconds,omitempty"`
	// Inventory is what does not change about the devices. The first event
	// has it, and every event at which it is another one.
	Inventory []Info    `json:"inventory,omitempty"`
	Readings  []Reading `json:"readings,omitempty"`
	// GPUSeconds is the device time that the run has held so far (Tracker
	// says what counts).
	GPUSeconds float64    `json:"gpu_seconds,omitempty"`
	Action     *ActionUse `json:"action,omitempty"` // the use of an action that has finished
	Err        string     `json:"error,omitempty"`  // why there are no readings
}

// Info is what does not change about a device.
type Info struct {
	ID          string  `json:"id"` // as Device.ID gives it
	UUID        string  `json:"uuid"`
	Name        string  `json:"name"`
	MemoryTotal int64   `json:"memory_total,omitempty"` // bytes, 0 when unknown
	PowerLimitW float64 `json:"power_limit_w,omitempty"`
	MIGEnabled  bool    `json:"mig_enabled,omitempty"`
}

// A Reading is one device. Absent is unknown.
type Reading struct {
	ID          string   `json:"id"`
	Utilization *int     `json:"util,omitempty"`    // percent, mean
	Run         *int     `json:"run,omitempty"`     // percent of the run's processes, mean; others' is the rest
	Memory      *int64   `json:"mem,omitempty"`     // MiB, last
	RunMemory   *int64   `json:"run_mem,omitempty"` // MiB, last
	PowerW      *int     `json:"power,omitempty"`   // mean
	Temperature *int     `json:"temp,omitempty"`    // °C, last
	ClockMHz    *int     `json:"clock,omitempty"`   // of the SMs, last
	Processes   int      `json:"procs,omitempty"`   // of the run
	Others      int      `json:"others,omitempty"`  // processes of others
	Throttle    []string `json:"throttle,omitempty"`
	Uncorrected int64    `json:"ecc,omitempty"`         // uncorrected memory errors
	Xid         int64    `json:"xid,omitempty"`         // code of the newest
	DeviceWide  string   `json:"device_wide,omitempty"` // why Run is absent
	Err         string   `json:"error,omitempty"`
}

// Share is the reading as a Share, for its texts.
func (r Reading) Share(total int64) Share {
	s := Share{
		Utilization: r.Utilization, Run: r.Run, DeviceWide: r.DeviceWide,
		Memory: scale(r.Memory, mib), RunMemory: scale(r.RunMemory, mib),
		RunProcesses: r.Processes, OtherProcesses: r.Others,
	}
	if r.Utilization != nil && r.Run != nil {
		s.Others = new(max(0, *r.Utilization-*r.Run))
	}
	if total > 0 {
		s.MemoryTotal = &total
	}
	return s
}

// Held reports whether the run is on the device.
func (r Reading) Held() bool { return r.Processes > 0 }

const mib = 1 << 20

func scale(v *int64, by int64) *int64 {
	if v == nil {
		return nil
	}
	return new(*v * by)
}

// newInfo and newReading are one device's part of an event.
func newInfo(d Device) Info {
	return Info{
		ID: d.ID(), UUID: d.UUID, Name: d.Name, MIGEnabled: d.MIGEnabled,
		MemoryTotal: value(d.MemoryTotal), PowerLimitW: value(d.PowerLimitW),
	}
}

func newReading(d Device, s Share) Reading {
	r := Reading{
		ID: d.ID(), Utilization: s.Utilization, Run: s.Run,
		Memory: toMiB(s.Memory), RunMemory: toMiB(s.RunMemory),
		Temperature: d.TemperatureC, ClockMHz: d.SMClockMHz,
		Processes: s.RunProcesses, Others: s.OtherProcesses,
		DeviceWide: s.DeviceWide, Err: d.Err,
	}
	if len(d.Throttle) > 0 {
		r.Throttle = d.Throttle
	}
	if d.PowerW != nil {
		r.PowerW = new(int(*d.PowerW + 0.5))
	}
	if d.ECC != nil {
		r.Uncorrected = d.ECC.Uncorrected
	}
	if d.Xid != nil {
		r.Xid = d.Xid.Code
	}
	return r
}

func toMiB(v *int64) *int64 {
	if v == nil {
		return nil
	}
	return new((*v + mib/2) / mib)
}
