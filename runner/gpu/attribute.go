package gpu

import (
	"fmt"
	"strconv"
)

// A Share is one device's use, divided between the run and everybody else.
// Unknown is nil.
type Share struct {
	Utilization *int // percent, of the device
	Run, Others *int // percent; they add up to Utilization
	// DeviceWide is why Utilization cannot be divided; "" when it is.
	DeviceWide string

	Memory      *int64 // bytes in use on the device
	MemoryTotal *int64
	RunMemory   *int64 // bytes held by the run's processes
	OtherMemory *int64 // bytes held by the processes of others

	RunProcesses, OtherProcesses int
}

// Attributed reports whether the device's processes could be told apart.
func (s Share) Attributed() bool { return s.Run != nil || s.RunMemory != nil }

// UtilizationText says "87 %, this run 85 %, others 2 %", or "87 %
// device-wide", or "n/a".
func (s Share) UtilizationText() string {
	switch {
	case s.Utilization == nil:
		return "n/a"
	case s.Run == nil:
		return fmt.Sprintf("%d %% device-wide", *s.Utilization)
	case s.Others != nil && *s.Others > 0:
		return fmt.Sprintf("%d %%, this run %d %%, others %d %%", *s.Utilization, *s.Run, *s.Others)
	}
	return fmt.Sprintf("%d %%, this run %d %%", *s.Utilization, *s.Run)
}

// MemoryText says "61 of 139 GiB, this run 58", or "61 of 139 GiB
// device-wide", or "n/a".
func (s Share) MemoryText() string {
	if s.Memory == nil {
		return "n/a"
	}
	text := gib(*s.Memory)
	if s.MemoryTotal != nil {
		text += " of " + gib(*s.MemoryTotal)
	}
	text += " GiB"
	if s.RunMemory == nil {
		return text + " device-wide"
	}
	return text + ", this run " + gib(*s.RunMemory)
}

// gib prints bytes as GiB: a decimal below ten, none above.
func gib(n int64) string {
	v := float64(n) / (1 << 30)
	if v > 0 && v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// An Attributor divides samples between the run and others. It remembers
// which processes were the run's for as long as the driver lists them, because
// the driver goes on listing a process for a moment after it is gone. It is
// not safe for concurrent use.
type Attributor struct {
	ours map[int]bool
}

// Attribute returns a Share for each device of s, in order. pids are the
// host process ids of the run, read after the sample was taken: a process that
// was started in between is then the run's at once.
func (a *Attributor) Attribute(s Sample, pids []int) []Share {
	a.remember(s, pids)
	shares := make([]Share, len(s.Devices))
	for i, d := range s.Devices {
		shares[i] = a.share(s, d)
	}
	return shares
}

func (a *Attributor) remember(s Sample, pids []int) {
	now := make(map[int]bool, len(pids))
	for _, pid := range pids {
		now[pid] = true
	}
	for _, d := range s.Devices {
		for _, p := range d.Processes {
			if a.ours[p.PID] {
				now[p.PID] = true
			}
		}
	}
	a.ours = now
}

func (a *Attributor) share(s Sample, d Device) Share {
	sh := Share{Utilization: d.Utilization, Memory: d.MemoryUsed, MemoryTotal: d.MemoryTotal}
	if why := untold(s, d); why != "" {
		sh.DeviceWide = why
		return sh
	}
	var u, m tally
	for _, p := range d.Processes {
		ours := a.ours[p.PID]
		if ours {
			sh.RunProcesses++
		} else {
			sh.OtherProcesses++
		}
		u.add(ours, widen(p.Utilization))
		m.add(ours, p.Memory)
	}
	if !m.unknown {
		sh.RunMemory, sh.OtherMemory = &m.run, &m.others
	}
	sh.divide(u)
	return sh
}

// untold says why a device's use cannot be divided at all.
func untold(s Sample, d Device) string {
	switch {
	case d.Processes == nil:
		return "the driver does not list processes"
	case s.ForeignPIDs:
		return "the driver's process ids are of another pid namespace"
	case len(d.Processes) == 0 && value(d.Utilization) > 0 && value(d.MemoryUsed) > hiddenMemory:
		return "the driver lists no process although the device is in use"
	}
	return ""
}

// hiddenMemory is the use above which a busy device without any listed
// process is taken to hide them, as drivers do inside containers. A context
// that is just being torn down has less left.
const hiddenMemory = 2 << 30

// divide splits the device's figure in the proportion of the processes'. Both
// are means over windows of the driver's own, so they never agree exactly;
// what is shown has to add up.
func (s *Share) divide(u tally) {
	switch {
	case s.Utilization == nil:
		s.DeviceWide = "the driver gives no utilisation for this device"
	case u.unknown:
		s.DeviceWide = "the driver gives no utilisation per process"
	case u.run+u.others > 0:
		total := int64(*s.Utilization)
		run := (2*total*u.run + u.run + u.others) / (2 * (u.run + u.others)) // rounded
		s.Run, s.Others = new(int(run)), new(int(total-run))
	case s.OtherProcesses == 0 && s.RunProcesses > 0:
		s.Run, s.Others = s.Utilization, new(0)
	case s.RunProcesses == 0:
		s.Run, s.Others = new(0), s.Utilization
	case *s.Utilization == 0:
		s.Run, s.Others = new(0), new(0)
	default:
		s.DeviceWide = "the driver has no figures per process for this moment"
	}
}

// A tally sums one figure of the processes on a device.
type tally struct {
	run, others int64
	unknown     bool // of some process
}

func (t *tally) add(ours bool, v *int64) {
	switch {
	case v == nil:
		t.unknown = true
	case ours:
		t.run += *v
	default:
		t.others += *v
	}
}

func widen(v *int) *int64 {
	if v == nil {
		return nil
	}
	return new(int64(*v))
}

// value reads an optional figure, 0 when unknown.
func value[T int | int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}
