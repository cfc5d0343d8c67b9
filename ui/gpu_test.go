package ui

import (
	"fmt"
	"testing"

	"proctor/runner/event"
	"proctor/runner/gpu"
)

// work is what a synthetic run on GPUs does: a command, how long it takes,
// and how busy it keeps them.
var work = []struct {
	command       string
	seconds, busy int
	memory        int64 // GiB, of the run on each device
}{
	{"ls -la data", 2, 0, 0},
	{"python3 train.py --epochs 1", 14, 23, 31},
	{"sed -i s/workers=0/workers=8/ train.py", 3, 0, 0},
	{"python3 train.py --epochs 1", 9, 71, 31},
	{"python3 train.py --epochs 3 --batch 512", 21, 88, 46},
	{"python3 evaluate.py", 6, 40, 12},
	{"python3 train.py --model large --epochs 9 --batch 512", 28, 92, 58},
}

// onGPUs is a running search on a machine with n GPUs: the first works for
// the run, the second for a stranger, the third is throttled, the fourth
// falls off the bus, the fifth cannot tell whose use it is, the sixth is
// divided into two instances. Unfinished is the last action.
func onGPUs(t testing.TB, n int) *tape {
	p := started(t)
	p.plan(1)
	at, spent := 0, 0.0
	for i, w := range work {
		id := p.begin(w.command, w.command)
		from := p.work
		for s := range w.seconds {
			p.wait(1)
			at++
			if n > 0 {
				e := readings(n, at, w.busy+(s*7+i)%9-4, min(w.memory, int64(9*s)))
				spent += float64(n)
				e.GPUSeconds = spent
				p.emit(event.TypeGPU, e)
			}
			p.emit(event.TypeResources, event.Resources{CPU: 0.4 + float64((at*5)%9)/12, Memory: int64(900+40*at) << 20, Pids: 4 + i, Disk: int64(300+40*i) << 10})
		}
		if i == len(work)-1 {
			break
		}
		if n > 0 && w.busy > 0 {
			p.emit(event.TypeGPU, gpu.Event{GPUSeconds: spent, Action: &gpu.ActionUse{ID: id, Devices: []gpu.Use{
				{Device: "0", Held: p.work - from, Utilization: &w.busy, Run: &w.busy, PeakMemory: w.memory << 10},
			}}})
		}
		p.end(id, 0, p.work-from, "done")
	}
	return p
}

// readings is what n devices show while the run keeps the first one busy.
func readings(n, at, busy int, memory int64) gpu.Event {
	e := gpu.Event{Seconds: 1}
	for i := range n {
		id := fmt.Sprint(i)
		info := gpu.Info{ID: id, UUID: "GPU-" + id, Name: "NVIDIA H200", MemoryTotal: 139 << 30, PowerLimitW: 700}
		mine := max(0, min(busy+(i*5+at)%7-3, 100))
		if busy < 5 {
			mine = 0
		}
		r := gpu.Reading{
			ID: id, Utilization: ptr(min(mine+2, 100)), Run: &mine, Memory: ptr(memory<<10 + 3<<10), RunMemory: ptr(memory << 10),
			PowerW: ptr(120 + 5*mine), Temperature: ptr(36 + mine/4), ClockMHz: ptr(1980), Processes: 1, Others: 1,
		}
		switch i {
		case 1:
			theirs := 70 + at*11%25
			r.Utilization, r.Run, r.Memory, r.RunMemory, r.Processes = &theirs, ptr(0), ptr(int64(77<<10)), ptr(int64(0)), 0
		case 2:
			r.Throttle = []string{"sw_thermal_slowdown"}
		case 3:
			if at > 40 {
				r = gpu.Reading{ID: id, Err: "GPU is lost"}
			}
		case 4:
			r.Run, r.RunMemory, r.Others, r.DeviceWide = nil, nil, 0, "the driver does not list processes"
		case 5:
			info.MIGEnabled = true
			r = gpu.Reading{ID: id, Memory: r.Memory}
		}
		e.Inventory, e.Readings = append(e.Inventory, info), append(e.Readings, r)
		for instance := range 2 {
			if i != 5 {
				break
			}
			part := fmt.Sprintf("5:%d", instance)
			e.Inventory = append(e.Inventory, gpu.Info{ID: part, UUID: "MIG-" + part, Name: "NVIDIA H200 MIG 3g.71gb", MemoryTotal: 71 << 30})
			e.Readings = append(e.Readings, gpu.Reading{
				ID: part, Memory: ptr(memory<<10/2 + 100), RunMemory: ptr(memory << 10 / 2), Processes: 1 - instance, DeviceWide: "the driver does not give it for instances",
			})
		}
	}
	return e
}

// gpuScenes shows machines with few and with many GPUs, in the console and
// with their pane alone.
func gpuScenes() []scene {
	var all []scene
	for _, n := range []int{0, 1, 2, 8, 16} {
		name := fmt.Sprintf("console-gpu-%d", n)
		all = append(all,
			scene{name: name, play: func(s *stage) { s.watch(onGPUs(s.t, n), output, true); s.keys("5") }},
			scene{name: name + "-zoomed", play: func(s *stage) { s.watch(onGPUs(s.t, n), output, true); s.keys("5", "z") }})
	}
	return append(all,
		scene{name: "console-gpu-frozen", play: func(s *stage) {
			p := onGPUs(s.t, 1).phase(event.Running, event.Paused, event.StateChange{Actor: "ada", Frozen: true})
			e := readings(1, 99, 0, 58)
			e.Seconds = 0
			s.watch(p.wait(2).emit(event.TypeGPU, e).wait(7), output, true)
			s.keys("5", "z")
		}},
		scene{name: "console-gpu-silent", play: func(s *stage) {
			e := gpu.Event{Err: "the GPU collector fell silent for 15s and was killed: a call of the driver hangs"}
			s.watch(onGPUs(s.t, 2).wait(1).emit(event.TypeGPU, e), output, true)
			s.keys("5", "z")
		}},
		scene{name: "console-gpu-detail", play: func(s *stage) {
			s.watch(onGPUs(s.t, 1), output, true)
			s.keys("2", "k", "k", "k", "k", "k", "enter")
		}})
}
