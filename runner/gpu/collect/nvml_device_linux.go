//go:build linux && cgo

package collect

import (
	"maps"
	"slices"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"proctor/runner/gpu"
)

// An nvmlDevice is a GPU or an instance, with what must be remembered from
// one poll to the next.
type nvmlDevice struct {
	handle      nvml.Device // nil when it could not be opened
	known       gpu.Device  // what does not change
	broken      string      // why handle is nil
	unsupported map[string]bool
	xid         gpu.Xid
	seen        uint64      // newest timestamp of the processes' utilisation, µs
	busy        map[int]int // last utilisation by process
	busyAt      time.Time
}

// inherit carries over what was remembered before the devices were listed anew.
func (d *nvmlDevice) inherit(earlier []*nvmlDevice) {
	for _, e := range earlier {
		if e.known.UUID == d.known.UUID && e.known.UUID != "" {
			d.xid, d.seen, d.busy, d.busyAt = e.xid, e.seen, e.busy, e.busyAt
		}
	}
}

// A reader reads one device once. The first error that concerns the whole
// device or the whole driver ends it.
type reader struct {
	n       *nvmlSource
	d       *nvmlDevice
	fatal   nvml.Return
	strange nvml.Return // the last failure that is no answer either
}

// ok reports whether a function is there and works for this device, after
// calling it.
func (r *reader) ok(call func() nvml.Return, versions ...string) bool {
	name := versions[0]
	if r.fatal != nvml.SUCCESS || r.d.unsupported[name] || !r.n.has(versions...) {
		return false
	}
	switch ret := call(); ret {
	case nvml.SUCCESS:
		return true
	case nvml.ERROR_NOT_SUPPORTED:
		r.d.unsupported[name] = true // spares the call until devices are listed anew
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_RESET_REQUIRED, nvml.ERROR_GPU_NOT_FOUND, nvml.ERROR_IRQ_ISSUE,
		nvml.ERROR_UNINITIALIZED, nvml.ERROR_DRIVER_NOT_LOADED, nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		r.fatal = ret
	case nvml.ERROR_UNKNOWN, nvml.ERROR_TIMEOUT, nvml.ERROR_OPERATING_SYSTEM:
		r.strange = ret
	}
	return false
}

// read reads one device. Of a device that is lost only what is known remains.
func (n *nvmlSource) read(d *nvmlDevice) (gpu.Device, nvml.Return) {
	out := d.known
	if d.xid.Count > 0 {
		xid := d.xid
		out.Xid = &xid
	}
	if d.handle == nil {
		out.Err = d.broken
		return out, nvml.SUCCESS
	}
	lost := out
	r := &reader{n: n, d: d}
	r.memory(&out)
	if d.known.MIG == nil {
		r.load(&out)
		r.clocks(&out)
		r.ecc(&out)
	}
	r.processes(&out)
	if r.fatal != nvml.SUCCESS {
		lost.Err = describe(r.fatal)
		return lost, r.fatal
	}
	if out.MemoryUsed == nil && out.Utilization == nil && r.strange != nvml.SUCCESS {
		out.Err = describe(r.strange)
	}
	return out, nvml.SUCCESS
}

// memory leaves out what the driver reserves, as nvidia-smi does, where the
// driver tells it apart.
func (r *reader) memory(out *gpu.Device) {
	h := r.d.handle
	var m2 nvml.Memory_v2
	if r.ok(func() (ret nvml.Return) { m2, ret = h.GetMemoryInfo_v2(); return }, "nvmlDeviceGetMemoryInfo_v2") {
		out.MemoryUsed, out.MemoryTotal = new(int64(m2.Used)), new(int64(m2.Total))
		return
	}
	var m nvml.Memory
	if r.ok(func() (ret nvml.Return) { m, ret = h.GetMemoryInfo(); return }, "nvmlDeviceGetMemoryInfo") {
		out.MemoryUsed, out.MemoryTotal = new(int64(m.Used)), new(int64(m.Total))
	}
}

func (r *reader) load(out *gpu.Device) {
	h := r.d.handle
	var u nvml.Utilization
	if r.ok(func() (ret nvml.Return) { u, ret = h.GetUtilizationRates(); return }, "nvmlDeviceGetUtilizationRates") {
		out.Utilization = new(min(int(u.Gpu), 100))
	}
	var v uint32
	if r.ok(func() (ret nvml.Return) { v, ret = h.GetPowerUsage(); return }, "nvmlDeviceGetPowerUsage") {
		out.PowerW = new(float64(v) / 1000)
	}
	if r.ok(func() (ret nvml.Return) { v, ret = h.GetEnforcedPowerLimit(); return }, "nvmlDeviceGetEnforcedPowerLimit") {
		out.PowerLimitW = new(float64(v) / 1000)
	}
	if r.ok(func() (ret nvml.Return) { v, ret = h.GetTemperature(nvml.TEMPERATURE_GPU); return }, "nvmlDeviceGetTemperature") {
		out.TemperatureC = new(int(v))
	}
}

func (r *reader) clocks(out *gpu.Device) {
	h := r.d.handle
	var v uint32
	if r.ok(func() (ret nvml.Return) { v, ret = h.GetClockInfo(nvml.CLOCK_SM); return }, "nvmlDeviceGetClockInfo") {
		out.SMClockMHz = new(int(v))
	}
	if r.ok(func() (ret nvml.Return) { v, ret = h.GetClockInfo(nvml.CLOCK_MEM); return }, "nvmlDeviceGetClockInfo") {
		out.MemClockMHz = new(int(v))
	}
	var mask uint64
	if r.ok(func() (ret nvml.Return) { mask, ret = h.GetCurrentClocksEventReasons(); return }, "nvmlDeviceGetCurrentClocksEventReasons") ||
		r.ok(func() (ret nvml.Return) { mask, ret = h.GetCurrentClocksThrottleReasons(); return }, "nvmlDeviceGetCurrentClocksThrottleReasons") {
		out.Throttle = throttle(mask)
	}
}

func (r *reader) ecc(out *gpu.Device) {
	h := r.d.handle
	var e gpu.ECC
	count := func(kind nvml.MemoryErrorType, into *int64) bool {
		return r.ok(func() nvml.Return {
			n, ret := h.GetTotalEccErrors(kind, nvml.VOLATILE_ECC)
			*into = int64(n)
			return ret
		}, "nvmlDeviceGetTotalEccErrors")
	}
	if count(nvml.MEMORY_ERROR_TYPE_CORRECTED, &e.Corrected) && count(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, &e.Uncorrected) {
		out.ECC = &e
	}
}

// processes reads who is on the device: programs that compute, and those
// that render, such as simulators, which are listed apart.
func (r *reader) processes(out *gpu.Device) {
	h := r.d.handle
	var compute, graphics []nvml.ProcessInfo
	listed := r.ok(func() (ret nvml.Return) { compute, ret = h.GetComputeRunningProcesses(); return },
		"nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses_v3")
	if !listed {
		return
	}
	r.ok(func() (ret nvml.Return) { graphics, ret = h.GetGraphicsRunningProcesses(); return },
		"nvmlDeviceGetGraphicsRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetGraphicsRunningProcesses_v3")

	found := make(map[int]gpu.Process, len(compute)+len(graphics))
	for _, p := range slices.Concat(compute, graphics) {
		pid := int(p.Pid)
		was, twice := found[pid]
		now := gpu.Process{PID: pid, Memory: memoryOf(p.UsedGpuMemory)}
		if twice && (now.Memory == nil || was.Memory != nil && *was.Memory >= *now.Memory) {
			continue // both lists give the whole of a process's memory
		}
		found[pid] = now
	}
	busy := r.utilization()
	out.Processes = make([]gpu.Process, 0, len(found))
	for _, pid := range slices.Sorted(maps.Keys(found)) {
		p := found[pid]
		if busy != nil {
			p.Utilization = new(busy[pid]) // who is not named was idle
		}
		out.Processes = append(out.Processes, p)
	}
}

// memoryOf reads a process's memory, which some drivers do not give.
func memoryOf(used uint64) *int64 {
	if used > 1<<62 {
		return nil
	}
	return new(int64(used))
}

// utilization returns the processes' share of the SMs' time since the last
// poll, or nil when the driver does not give it.
func (r *reader) utilization() map[int]int {
	d, now := r.d, r.n.now()
	if d.known.MIGEnabled || d.known.MIG != nil {
		return nil
	}
	// Asking from 0 on would average over all that the driver remembers.
	since := max(d.seen, uint64(now.Add(-time.Second).UnixMicro()))
	var samples []nvml.ProcessUtilizationSample
	idle := false
	call := func() (ret nvml.Return) {
		samples, ret = d.handle.GetProcessUtilization(since)
		if ret == nvml.ERROR_INSUFFICIENT_SIZE && len(samples) > 0 {
			samples, ret = d.handle.GetProcessUtilization(since) // a process came in between
		}
		if idle = ret == nvml.ERROR_NOT_FOUND || ret == nvml.ERROR_INSUFFICIENT_SIZE && len(samples) == 0; idle {
			return nvml.SUCCESS
		}
		return ret
	}
	if !r.ok(call, "nvmlDeviceGetProcessUtilization") {
		return nil
	}
	if idle && d.busy != nil && now.Sub(d.busyAt) < time.Second {
		return d.busy // nothing newer yet: we ask more often than the driver samples
	}
	d.busy, d.busyAt = average(samples), now
	for _, s := range samples {
		d.seen = max(d.seen, s.TimeStamp)
	}
	return d.busy
}

// average is each process's mean, without values that cannot be: the
// driver's buffer holds entries that were never written.
func average(samples []nvml.ProcessUtilizationSample) map[int]int {
	sum, n := map[int]int{}, map[int]int{}
	for _, s := range samples {
		if s.Pid != 0 && s.TimeStamp != 0 && s.SmUtil <= 100 {
			sum[int(s.Pid)] += int(s.SmUtil)
			n[int(s.Pid)]++
		}
	}
	for pid := range sum {
		sum[pid] = (sum[pid] + n[pid]/2) / n[pid]
	}
	return sum
}
