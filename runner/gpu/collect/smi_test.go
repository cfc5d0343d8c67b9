package collect

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/runner/gpu"
)

// fakeSMI puts the stand-in for nvidia-smi into PATH.
func fakeSMI(t testing.TB, rows string, env ...string) {
	t.Helper()
	dir, err := filepath.Abs("testdata/smi")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("SMI_ROWS", filepath.Join(dir, rows))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
}

func openFake(t testing.TB, watch bool) source {
	t.Helper()
	s, err := openSMI(t.Context(), watch, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func TestSMIParses(t *testing.T) {
	for name, want := range map[string][]gpu.Device{
		"h200.csv": {{
			UUID: "GPU-5a3e8bd1-0000-4c1e-9a51-000000000000", Name: "NVIDIA H200", PCI: "00000000:17:00.0",
			Utilization: new(87), MemoryUsed: new(int64(62464 << 20)), MemoryTotal: new(int64(143771 << 20)),
			PowerW: new(512.3), PowerLimitW: new(700.0), TemperatureC: new(61), SMClockMHz: new(1980), MemClockMHz: new(3201),
			Throttle: []string{"sw_power_cap"}, ECC: &gpu.ECC{},
		}, {
			Index: 1, UUID: "GPU-5a3e8bd1-0000-4c1e-9a51-000000000001", Name: "NVIDIA H200", PCI: "00000000:2A:00.0", MIGEnabled: true,
			MemoryUsed: new(int64(1024 << 20)), MemoryTotal: new(int64(143771 << 20)),
			PowerW: new(118.02), PowerLimitW: new(700.0), TemperatureC: new(34), SMClockMHz: new(345), MemClockMHz: new(3201),
			Throttle: []string{}, ECC: &gpu.ECC{Corrected: 12, Uncorrected: 1},
		}},
		"geforce.csv": {{
			UUID: "GPU-5a3e8bd1-0000-4c1e-9a51-000000000002", Name: "NVIDIA GeForce GTX 1050", PCI: "00000000:01:00.0",
			Utilization: new(3), MemoryUsed: new(int64(211 << 20)), MemoryTotal: new(int64(1999 << 20)),
			TemperatureC: new(41), SMClockMHz: new(139), MemClockMHz: new(405), Throttle: []string{},
		}},
		"lost.csv": {{
			UUID: "GPU-5a3e8bd1-0000-4c1e-9a51-000000000003", Name: "NVIDIA A100-SXM4-40GB", PCI: "00000000:07:00.0",
			Utilization: new(12), MemoryUsed: new(int64(800 << 20)), MemoryTotal: new(int64(40960 << 20)),
			PowerW: new(80.1), PowerLimitW: new(400.0), TemperatureC: new(33), SMClockMHz: new(1410), MemClockMHz: new(1215),
			Throttle: []string{}, ECC: &gpu.ECC{},
		}, {
			Index: 1, UUID: "GPU-5a3e8bd1-0000-4c1e-9a51-000000000004", Name: "NVIDIA A100-SXM4-40GB", PCI: "00000000:0F:00.0",
			Err: "GPU is lost",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			fakeSMI(t, name)
			s, err := openFake(t, false).poll(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if s.Driver != "550.54.15" || s.Source != "nvidia-smi" {
				t.Errorf("source %q, driver %q", s.Source, s.Driver)
			}
			for i := range want {
				want[i].Processes = []gpu.Process{}
			}
			if g, w := toJSON(t, s.Devices), toJSON(t, want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSMIProcesses(t *testing.T) {
	fakeSMI(t, "h200.csv", "SMI_PIDS=41 42")
	for _, watch := range []bool{false, true} {
		src := openFake(t, watch)
		// The first rounds of the devices and of the processes may not meet.
		for deadline := time.Now().Add(30 * time.Second); ; {
			s, err := src.poll(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Devices) != 2 {
				t.Fatalf("watch %v: %d devices in a sample", watch, len(s.Devices))
			}
			p := s.Devices[0].Processes
			if len(p) == 2 && p[0].PID == 41 && *p[1].Memory == 512<<20 && p[0].Utilization == nil && len(s.Devices[1].Processes) == 0 {
				break
			}
			if !watch || time.Now().After(deadline) {
				t.Fatalf("watch %v: the processes are %s", watch, toJSON(t, p))
			}
		}
	}
}

func TestSMIUnknownColumn(t *testing.T) {
	fakeSMI(t, "lost.csv", "SMI_LACKS=clocks_throttle_reasons.active")
	// The stand-in goes on printing that column, so the rows no longer fit.
	_, err := openSMI(t.Context(), false, time.Second)
	if err == nil || !strings.Contains(err.Error(), "16 fields, not 15") {
		t.Errorf("after leaving the column out: %v", err)
	}

	t.Setenv("SMI_LACKS", "uuid")
	if _, err := openSMI(t.Context(), false, time.Second); err == nil || !strings.Contains(err.Error(), "not a valid field") {
		t.Errorf("without UUIDs: %v", err)
	}
}

func TestSMIFails(t *testing.T) {
	for text, noGPU := range map[string]bool{
		"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.": true,
		"No devices were found": true,
		"Failed to initialize NVML: Driver/library version mismatch": false,
	} {
		t.Run(text, func(t *testing.T) {
			fakeSMI(t, "h200.csv", "SMI_FAILS="+text)
			_, err := openSMI(t.Context(), false, time.Second)
			if err == nil || errors.Is(err, errNoGPU) != noGPU || !strings.Contains(err.Error(), text) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// When the program that is kept running ends, its last words are the reason.
func TestSMIStreamEnds(t *testing.T) {
	fakeSMI(t, "h200.csv", "SMI_ROUNDS=2")
	src := openFake(t, true)
	for range 10 {
		s, err := src.poll(t.Context())
		if err == nil {
			if len(s.Devices) != 2 {
				t.Errorf("%d devices in a sample", len(s.Devices))
			}
			continue
		}
		if !strings.Contains(err.Error(), "exit status 15: Unable to determine the device handle") {
			t.Errorf("ends with %v", err)
		}
		return
	}
	t.Error("two rounds gave more than ten samples")
}

func TestRound(t *testing.T) {
	same := func(a, b int) bool { return a == b }
	now := time.Now()
	r := round[int]{quiet: 100 * time.Millisecond}
	for _, v := range []int{0, 1, 2} {
		r.add(v, same, now)
	}
	if r.ended != nil {
		t.Errorf("a round has ended: %v", r.ended)
	}
	r.add(0, same, now.Add(time.Millisecond)) // again: the next round
	if !slices.Equal(r.ended, []int{0, 1, 2}) {
		t.Errorf("the round is %v", r.ended)
	}
	r.add(7, same, now.Add(time.Second)) // long after: another one
	if !slices.Equal(r.ended, []int{0}) {
		t.Errorf("the round is %v", r.ended)
	}
	r.settle(now.Add(time.Second + r.quiet))
	if !slices.Equal(r.ended, []int{7}) {
		t.Errorf("the round is %v", r.ended)
	}
	r.whole = 2
	r.add(8, same, now.Add(2*time.Second))
	r.add(9, same, now.Add(2*time.Second)) // that is all
	if !slices.Equal(r.ended, []int{8, 9}) {
		t.Errorf("the round is %v", r.ended)
	}
}

func FuzzParseGPU(f *testing.F) {
	for _, name := range []string{"h200.csv", "geforce.csv", "lost.csv"} {
		text, err := os.ReadFile(filepath.Join("testdata/smi", name))
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add(strings.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		d, err := parseGPU(line, columns)
		if err != nil {
			return
		}
		// What was read must survive the way to the Sampler unchanged in kind.
		text, err := json.Marshal(gpu.Sample{At: time.Unix(1, 0), Devices: []gpu.Device{d}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := gpu.ParseSample(text)
		if err != nil {
			t.Fatal(err)
		}
		back := s.Devices[0]
		if d.Index < 0 || back.Index != d.Index || (d.Utilization == nil) != (back.Utilization == nil) ||
			(d.MemoryUsed == nil) != (back.MemoryUsed == nil) || (d.PowerW == nil) != (back.PowerW == nil) {
			t.Errorf("%q became %s and then %s", line, toJSON(t, d), toJSON(t, back))
		}
	})
}

func FuzzParseApp(f *testing.F) {
	f.Add("GPU-5a3e8bd1-0000-4c1e-9a51-000000000000, 4711, 512")
	f.Add("GPU-5a3e8bd1-0000-4c1e-9a51-000000000000, 4711, [N/A]")
	f.Add("No running processes found")
	f.Fuzz(func(t *testing.T, line string) {
		a, err := parseApp(line)
		if err == nil && (a.PID <= 0 || a.Memory != nil && *a.Memory < 0) {
			t.Errorf("%q became %+v", line, a)
		}
	})
}
