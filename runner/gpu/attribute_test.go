package gpu

import "testing"

const testGiB = int64(1 << 30)

// proc is a process on a device; util below 0 is unknown.
func proc(pid int, gib int64, util int) Process {
	p := Process{PID: pid, Memory: new(gib * testGiB)}
	if util >= 0 {
		p.Utilization = &util
	}
	return p
}

func TestAttribute(t *testing.T) {
	// The run is 10 and 11; 20 and 21 are others.
	for _, tc := range []struct {
		name         string
		sample       Sample
		device       Device
		util, memory string
	}{
		{
			"together", Sample{},
			Device{Utilization: new(87), Processes: []Process{proc(10, 58, 85), proc(20, 3, 2)}},
			"87 %, this run 85 %, others 2 %", "61 of 139 GiB, this run 58",
		}, {
			"alone", Sample{},
			Device{Utilization: new(96), Processes: []Process{proc(10, 30, 50), proc(11, 28, 40)}},
			"96 %, this run 96 %", "61 of 139 GiB, this run 58",
		}, {
			"others alone", Sample{},
			Device{Utilization: new(50), Processes: []Process{proc(20, 60, 49)}},
			"50 %, this run 0 %, others 50 %", "61 of 139 GiB, this run 0",
		}, {
			"windows that do not agree", Sample{},
			Device{Utilization: new(100), Processes: []Process{proc(10, 1, 90), proc(20, 1, 30)}},
			"100 %, this run 75 %, others 25 %", "61 of 139 GiB, this run 1.0",
		}, {
			"nobody", Sample{},
			Device{Utilization: new(0), Processes: []Process{}},
			"0 %, this run 0 %", "61 of 139 GiB, this run 0",
		}, {
			"busy, with no figure for anybody yet", Sample{},
			Device{Utilization: new(30), Processes: []Process{proc(10, 1, 0), proc(20, 1, 0)}},
			"30 % device-wide", "61 of 139 GiB, this run 1.0",
		}, {
			"no utilisation per process", Sample{},
			Device{Utilization: new(30), Processes: []Process{proc(10, 4, -1)}},
			"30 % device-wide", "61 of 139 GiB, this run 4.0",
		}, {
			"an instance", Sample{},
			Device{MIG: &MIG{}, Processes: []Process{proc(10, 4, -1)}},
			"n/a", "61 of 139 GiB, this run 4.0",
		}, {
			"no memory per process", Sample{},
			Device{Utilization: new(30), Processes: []Process{{PID: 10, Utilization: new(3)}}},
			"30 %, this run 30 %", "61 of 139 GiB device-wide",
		}, {
			"no list of processes", Sample{},
			Device{Utilization: new(30)},
			"30 % device-wide", "61 of 139 GiB device-wide",
		}, {
			"another pid namespace", Sample{ForeignPIDs: true},
			Device{Utilization: new(30), Processes: []Process{proc(10, 4, 30)}},
			"30 % device-wide", "61 of 139 GiB device-wide",
		}, {
			"a container that hides everybody", Sample{},
			Device{Utilization: new(30), Processes: []Process{}},
			"30 % device-wide", "61 of 139 GiB device-wide",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.device.MemoryUsed, tc.device.MemoryTotal = new(61*testGiB), new(139*testGiB)
			tc.sample.Devices = []Device{tc.device}
			s := new(Attributor).Attribute(tc.sample, []int{10, 11, 12})[0]
			if got := s.UtilizationText(); got != tc.util {
				t.Errorf("utilisation: %q, want %q", got, tc.util)
			}
			if got := s.MemoryText(); got != tc.memory {
				t.Errorf("memory: %q, want %q", got, tc.memory)
			}
			if (s.Run == nil) != (s.DeviceWide != "") {
				t.Errorf("the reason for device-wide is %q", s.DeviceWide)
			}
		})
	}
}

// The driver lists a process for a moment after it is gone from the sandbox.
func TestAttributorRemembers(t *testing.T) {
	on := func(pids ...int) Sample {
		d := Device{Utilization: new(50), Processes: []Process{}}
		for _, pid := range pids {
			d.Processes = append(d.Processes, proc(pid, 1, 10))
		}
		return Sample{Devices: []Device{d}}
	}
	var a Attributor
	a.Attribute(on(10), []int{10})
	if s := a.Attribute(on(10), nil)[0]; s.RunProcesses != 1 {
		t.Error("a process that is just gone is taken for somebody else's")
	}
	a.Attribute(on(20), nil)
	if s := a.Attribute(on(10), nil)[0]; s.RunProcesses != 0 {
		t.Error("a process that was gone from the device is still taken for the run's")
	}
}
