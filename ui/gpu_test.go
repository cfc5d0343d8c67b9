package ui

import (
	"testing"

	"proctor/runner/event"
	"proctor/runner/gpu"
)

// onGPUs is a running search on a machine with n GPUs: the first works for
// the run, the second for a stranger, the third is throttled, the fourth has
// fallen off the bus, and the fifth cannot tell whose it is.
func onGPUs(t testing.TB, n int) *tape {
	p := searched(t, 6)
	for at := range 30 {
		p.wait(1)
		p.emit(event.TypeGPU, readings(n, at))
	}
	p.begin("python3 train.py --model mlp --epochs 90", "python3 train.py --model mlp --epochs 90")
	return p.wait(4)
}

func readings(n, at int) gpu.Event {
	e := gpu.Event{Seconds: 1}
	for i := range n {
		id := string(rune('0'+i/10)) + string(rune('0'+i%10))
		if i < 10 {
			id = id[1:]
		}
		e.Inventory = append(e.Inventory, gpu.Info{ID: id, UUID: "GPU-" + id, Name: "NVIDIA H200", MemoryTotal: 139 << 30, PowerLimitW: 700})
		busy := 40 + (at*7+i*13)%55
		r := gpu.Reading{
			ID: id, Utilization: &busy, Run: ptr(busy), Memory: ptr(int64(61 << 10)), RunMemory: ptr(int64(58 << 10)),
			PowerW: ptr(300 + 3*busy), Temperature: ptr(40 + busy/4), ClockMHz: ptr(1980), Processes: 1,
		}
		switch i {
		case 1:
			r.Run, r.RunMemory, r.Processes, r.Others = ptr(2), ptr(int64(0)), 0, 1
		case 2:
			r.Throttle = []string{"sw_thermal_slowdown"}
		case 3:
			r = gpu.Reading{ID: id, Err: "GPU is lost"}
		case 4:
			r.Run, r.RunMemory, r.DeviceWide = nil, nil, "it is divided into instances"
		}
		e.Readings = append(e.Readings, r)
	}
	return e
}
