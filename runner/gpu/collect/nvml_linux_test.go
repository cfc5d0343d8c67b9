//go:build linux && cgo

package collect

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"

	"proctor/runner/gpu"
)

// newServer is go-nvml's DGX A100 with the functions that it leaves out.
// Each device has processes processes, of which the first is busy.
func newServer(processes int) *dgxa100.Server {
	s := dgxa100.New()
	s.EventSetCreateFunc = func() (nvml.EventSet, nvml.Return) {
		return &mock.EventSet{
			WaitFunc: func(uint32) (nvml.EventData, nvml.Return) { return nvml.EventData{}, nvml.ERROR_TIMEOUT },
			FreeFunc: func() nvml.Return { return nvml.SUCCESS },
		}, nvml.SUCCESS
	}
	for i := range s.Devices {
		complete(s.Devices[i].(*dgxa100.Device), processes)
	}
	return s
}

func complete(d *dgxa100.Device, processes int) {
	infos := make([]nvml.ProcessInfo, processes)
	busy := make([]nvml.ProcessUtilizationSample, processes)
	for i := range infos {
		infos[i] = nvml.ProcessInfo{Pid: uint32(1000*(d.Index+1) + i), UsedGpuMemory: 1 << 30}
		busy[i] = nvml.ProcessUtilizationSample{Pid: infos[i].Pid, TimeStamp: uint64(time.Now().UnixMicro())}
	}
	if processes > 0 {
		busy[0].SmUtil = 80
	}
	one := func(v uint32) func() (uint32, nvml.Return) {
		return func() (uint32, nvml.Return) { return v, nvml.SUCCESS }
	}
	d.RegisterEventsFunc = func(uint64, nvml.EventSet) nvml.Return { return nvml.SUCCESS }
	d.GetMemoryInfo_v2Func = func() (nvml.Memory_v2, nvml.Return) {
		return nvml.Memory_v2{Total: 40 << 30, Reserved: 1 << 30, Used: 20 << 30, Free: 19 << 30}, nvml.SUCCESS
	}
	d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{Gpu: 81}, nvml.SUCCESS }
	d.GetPowerUsageFunc, d.GetEnforcedPowerLimitFunc = one(250_500), one(400_000)
	d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 55, nvml.SUCCESS }
	d.GetClockInfoFunc = func(c nvml.ClockType) (uint32, nvml.Return) { return 1000 + uint32(c), nvml.SUCCESS }
	d.GetCurrentClocksEventReasonsFunc = func() (uint64, nvml.Return) { return 1 | 4 | 64, nvml.SUCCESS }
	d.GetTotalEccErrorsFunc = func(kind nvml.MemoryErrorType, _ nvml.EccCounterType) (uint64, nvml.Return) {
		return uint64(kind) + 3, nvml.SUCCESS
	}
	d.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return infos, nvml.SUCCESS }
	d.GetGraphicsRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return nil, nvml.SUCCESS }
	d.GetProcessUtilizationFunc = func(uint64) ([]nvml.ProcessUtilizationSample, nvml.Return) { return busy, nvml.SUCCESS }
}

func device(s *dgxa100.Server, i int) *dgxa100.Device { return s.Devices[i].(*dgxa100.Device) }

func openMock(t testing.TB, s *dgxa100.Server) *nvmlSource {
	t.Helper()
	n, err := newNVML(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	return n
}

func pollOnce(t testing.TB, n *nvmlSource) gpu.Sample {
	t.Helper()
	s, err := n.poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNVMLReadsEverything(t *testing.T) {
	s := pollOnce(t, openMock(t, newServer(2)))
	if s.Driver != "550.54.15" || s.Source != "nvml" || len(s.Devices) != 8 {
		t.Fatalf("got %s %s with %d devices", s.Source, s.Driver, len(s.Devices))
	}
	got := s.Devices[3]
	got.UUID = "" // random
	want := gpu.Device{
		Index: 3, Name: "Mock NVIDIA A100-SXM4-40GB", Minor: new(3),
		Utilization: new(81), MemoryUsed: new(int64(20 << 30)), MemoryTotal: new(int64(40 << 30)),
		PowerW: new(250.5), PowerLimitW: new(400.0), TemperatureC: new(55), SMClockMHz: new(1001), MemClockMHz: new(1002),
		Throttle: []string{"sw_power_cap", "hw_thermal_slowdown"}, ECC: &gpu.ECC{Corrected: 3, Uncorrected: 4},
		Processes: []gpu.Process{
			{PID: 4000, Memory: new(int64(1 << 30)), Utilization: new(80)},
			{PID: 4001, Memory: new(int64(1 << 30)), Utilization: new(0)},
		},
	}
	if g, w := toJSON(t, got), toJSON(t, want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

// Every function that the library lacks must go uncalled: the mock panics
// where the real thing would end the process.
func TestNVMLMissingSymbols(t *testing.T) {
	s := dgxa100.New() // without the functions of newServer
	s.LookupSymbolFunc = func(name string) error {
		if slices.Contains([]string{
			"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID", "nvmlDeviceGetName",
			"nvmlDeviceGetMemoryInfo", "nvmlShutdown",
		}, name) {
			return nil
		}
		return errors.New("undefined symbol: " + name)
	}
	d := pollOnce(t, openMock(t, s)).Devices[0]
	if d.MemoryTotal == nil || *d.MemoryTotal != 42949672960 || d.Name == "" {
		t.Errorf("what the library has is missing: %+v", d)
	}
	if d.Utilization != nil || d.Processes != nil || d.PowerW != nil || d.Throttle != nil || d.ECC != nil {
		t.Errorf("what the library lacks is there: %+v", d)
	}

	s.LookupSymbolFunc = func(string) error { return errors.New("undefined symbol") }
	if _, err := newNVML(s); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("an empty library gives %v", err)
	}
}

func TestNVMLInitErrors(t *testing.T) {
	for _, tc := range []struct {
		ret   nvml.Return
		noGPU bool
		want  string
	}{
		{nvml.ERROR_LIBRARY_NOT_FOUND, true, "not installed"},
		{nvml.ERROR_DRIVER_NOT_LOADED, true, "not loaded"},
		{nvml.ERROR_LIB_RM_VERSION_MISMATCH, false, "different versions"},
		{nvml.ERROR_NO_PERMISSION, false, "/dev/nvidiactl"},
		{nvml.ERROR_UNKNOWN, false, "unknown error"},
		{nvml.Return(77), false, "error 77"},
	} {
		s := dgxa100.New()
		s.InitFunc = func() nvml.Return { return tc.ret }
		_, err := newNVML(s)
		if err == nil || errors.Is(err, errNoGPU) != tc.noGPU || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Init returns %d: %v", tc.ret, err)
		}
	}
}

func TestNVMLNoDevices(t *testing.T) {
	s := dgxa100.New()
	s.DeviceGetCountFunc = func() (int, nvml.Return) { return 0, nvml.SUCCESS }
	if _, err := newNVML(s); !errors.Is(err, errNoGPU) {
		t.Errorf("no devices: %v", err)
	}
}

func TestNVMLDeviceTrouble(t *testing.T) {
	s := newServer(1)
	n := openMock(t, s)

	device(s, 1).GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 0, nvml.ERROR_GPU_IS_LOST }
	fails := func() (nvml.Utilization, nvml.Return) { return nvml.Utilization{}, nvml.ERROR_UNKNOWN }
	device(s, 2).GetUtilizationRatesFunc = fails
	device(s, 2).GetMemoryInfo_v2Func = func() (nvml.Memory_v2, nvml.Return) { return nvml.Memory_v2{}, nvml.ERROR_UNKNOWN }
	device(s, 2).GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) { return nvml.Memory{}, nvml.ERROR_UNKNOWN }
	device(s, 3).GetUtilizationRatesFunc = fails
	sample := pollOnce(t, n)
	if d := sample.Devices[1]; !strings.Contains(d.Err, "lost") || d.MemoryUsed != nil || d.UUID == "" {
		t.Errorf("a lost device: %+v", d)
	}
	if d := sample.Devices[2]; d.Err == "" {
		t.Errorf("a device that gives nothing but errors: %+v", d)
	}
	if d := sample.Devices[3]; d.Err != "" || d.Utilization != nil || d.MemoryUsed == nil {
		t.Errorf("a device with one failing call: %+v", d)
	}

	device(s, 0).GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
		return nvml.Utilization{}, nvml.ERROR_UNINITIALIZED
	}
	if _, err := n.poll(t.Context()); err == nil || !strings.Contains(err.Error(), "unloaded") {
		t.Errorf("a driver that was unloaded: %v", err)
	}
}

// What a device does not support is not asked for again before the devices
// are listed anew.
func TestNVMLUnsupportedIsAskedOnce(t *testing.T) {
	s := newServer(0)
	d := device(s, 0)
	d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 0, nvml.ERROR_NOT_SUPPORTED }
	n := openMock(t, s)
	now := time.Now()
	n.now = func() time.Time { return now }
	for range 3 {
		pollOnce(t, n)
	}
	if calls := len(d.GetPowerUsageCalls()); calls != 1 {
		t.Errorf("an unsupported function was called %d times", calls)
	}
	now = now.Add(relist)
	pollOnce(t, n)
	if calls := len(d.GetPowerUsageCalls()); calls != 2 {
		t.Errorf("after listing anew it was called %d times, want 2", calls)
	}
}

func TestNVMLInstances(t *testing.T) {
	s := newServer(1)
	parent, instance := device(s, 6), dgxa100.NewDevice(0)
	complete(instance, 1)
	instance.UUID, instance.Name = "MIG-1", "A100 MIG 3g.20gb"
	instance.GetGpuInstanceIdFunc = func() (int, nvml.Return) { return 2, nvml.SUCCESS }
	instance.GetComputeInstanceIdFunc = func() (int, nvml.Return) { return 0, nvml.SUCCESS }
	instance.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
		t.Error("an instance was asked for what only GPUs have")
		return nvml.Utilization{}, nvml.ERROR_NOT_SUPPORTED
	}
	parent.MigMode = nvml.DEVICE_MIG_ENABLE
	parent.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 7, nvml.SUCCESS }
	parent.GetMigDeviceHandleByIndexFunc = func(i int) (nvml.Device, nvml.Return) {
		if i != 1 {
			return nil, nvml.ERROR_NOT_FOUND
		}
		return instance, nvml.SUCCESS
	}
	sample := pollOnce(t, openMock(t, s))
	if len(sample.Devices) != 9 || !sample.Devices[6].MIGEnabled {
		t.Fatalf("got %d devices, the sixth divided: %v", len(sample.Devices), sample.Devices[6].MIGEnabled)
	}
	d := sample.Devices[7]
	if d.ID() != "6:1" || d.UUID != "MIG-1" || *d.MIG != (gpu.MIG{Number: 1, Parent: parent.UUID, GPUInstance: 2}) {
		t.Errorf("the instance is %s %s %+v", d.ID(), d.UUID, d.MIG)
	}
	if d.MemoryUsed == nil || len(d.Processes) != 1 || d.Processes[0].Utilization != nil || d.Utilization != nil {
		t.Errorf("the instance gives %s", toJSON(t, d))
	}
}

func TestNVMLXid(t *testing.T) {
	s := newServer(0)
	pending := []uint64{31, 79}
	s.EventSetCreateFunc = func() (nvml.EventSet, nvml.Return) {
		return &mock.EventSet{
			FreeFunc: func() nvml.Return { return nvml.SUCCESS },
			WaitFunc: func(ms uint32) (nvml.EventData, nvml.Return) {
				if ms != 0 {
					t.Errorf("the poll waits %d ms for events", ms)
				}
				if len(pending) == 0 {
					return nvml.EventData{}, nvml.ERROR_TIMEOUT
				}
				code := pending[0]
				pending = pending[1:]
				return nvml.EventData{Device: s.Devices[5], EventType: nvml.EventTypeXidCriticalError, EventData: code}, nvml.SUCCESS
			},
		}, nvml.SUCCESS
	}
	n := openMock(t, s)
	sample := pollOnce(t, n)
	if x := sample.Devices[5].Xid; x == nil || x.Code != 79 || x.Count != 2 {
		t.Errorf("two Xids give %+v", x)
	}
	if sample.Devices[4].Xid != nil {
		t.Error("another device has the Xid, too")
	}
	n.listed = time.Time{}
	if x := pollOnce(t, n).Devices[5].Xid; x == nil || x.Count != 2 {
		t.Errorf("after listing anew: %+v", x)
	}
}

func TestNVMLProcessUtilization(t *testing.T) {
	now := time.Now()
	stamp := uint64(now.UnixMicro())
	for _, tc := range []struct {
		name    string
		samples []nvml.ProcessUtilizationSample
		ret     nvml.Return
		want    *int // of process 1000
	}{
		{"mean of two", []nvml.ProcessUtilizationSample{{Pid: 1000, TimeStamp: stamp, SmUtil: 40}, {Pid: 1000, TimeStamp: stamp, SmUtil: 61}}, nvml.SUCCESS, new(51)},
		{"never written entries", []nvml.ProcessUtilizationSample{{Pid: 1000, TimeStamp: 0, SmUtil: 40}, {Pid: 1000, TimeStamp: stamp, SmUtil: 4_000_000}}, nvml.SUCCESS, new(0)},
		{"nobody was busy", nil, nvml.ERROR_NOT_FOUND, new(0)},
		{"an empty buffer", []nvml.ProcessUtilizationSample{}, nvml.ERROR_INSUFFICIENT_SIZE, new(0)},
		{"not to be had", nil, nvml.ERROR_NOT_SUPPORTED, nil},
		{"not allowed", nil, nvml.ERROR_NO_PERMISSION, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newServer(1)
			device(s, 0).GetProcessUtilizationFunc = func(since uint64) ([]nvml.ProcessUtilizationSample, nvml.Return) {
				if since == 0 || since > stamp {
					t.Errorf("asks since %d", since)
				}
				return tc.samples, tc.ret
			}
			n := openMock(t, s)
			n.now = func() time.Time { return now }
			got := pollOnce(t, n).Devices[0].Processes[0].Utilization
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("got %v, want %v", toJSON(t, got), toJSON(t, tc.want))
			}
		})
	}
}

func TestNVMLProcessInBothLists(t *testing.T) {
	s := newServer(1)
	device(s, 0).GetGraphicsRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) {
		return []nvml.ProcessInfo{{Pid: 1000, UsedGpuMemory: 2 << 30}, {Pid: 5, UsedGpuMemory: ^uint64(0)}}, nvml.SUCCESS
	}
	ps := pollOnce(t, openMock(t, s)).Devices[0].Processes
	if len(ps) != 2 || ps[0].PID != 5 || ps[0].Memory != nil || *ps[1].Memory != 2<<30 {
		t.Errorf("got %s", toJSON(t, ps))
	}
}

// BenchmarkPoll is what the collector itself costs for 8 devices and 200
// processes, without the driver's own part, line included.
func BenchmarkPoll(b *testing.B) {
	n := openMock(b, newServer(25))
	pollOnce(b, n)
	start := cpu(b)
	for b.Loop() {
		s, err := n.poll(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100*(cpu(b)-start).Seconds()/float64(b.N), "%core@1Hz")
}

// cpu is the processor time of this process so far.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(os.NewSyscallError("getrusage", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
