//go:build linux && cgo

package collect

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"proctor/runner/gpu"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// unavailable skips a test whose tool is absent, or fails it where tools must
// be there.
func unavailable(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// driver compiles the stand-in for libnvidia-ml.so.1 and returns its
// directory.
func driver(t testing.TB, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		unavailable(t, "no C compiler to build a stand-in for the driver: "+err.Error())
	}
	dir := t.TempDir()
	args := append(flags, "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-o", filepath.Join(dir, "libnvidia-ml.so.1"), "testdata/nvml.c")
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("compiling the stand-in: %v\n%s", err, out)
	}
	return dir
}

// self is the environment in which the test binary is the collector and loads
// the stand-in.
func self(dir string, more ...string) []string {
	return append([]string{asCollector + "=1", "LD_LIBRARY_PATH=" + dir, "PATH=/nonexistent"}, more...)
}

// collector runs the collector to its end.
func collector(t testing.TB, env []string, args ...string) (samples []gpu.Sample, status int, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append(args, "--json")...)
	var out, complaint bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &complaint
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		s, err := gpu.ParseSample(line)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	return samples, cmd.ProcessState.ExitCode(), complaint.String()
}

func TestDriverOneSample(t *testing.T) {
	t.Parallel()
	env := self(driver(t), "NVML_OURS=41,42", "NVML_OTHERS=43", "NVML_MIG=7")
	samples, status, stderr := collector(t, env)
	if status != 0 || len(samples) != 1 {
		t.Fatalf("status %d, %d samples, stderr %q", status, len(samples), stderr)
	}
	s := samples[0]
	if s.Source != "nvml" || s.Driver != "590.12" || len(s.Devices) != 10 {
		t.Fatalf("got %s %s with %d devices", s.Source, s.Driver, len(s.Devices))
	}
	d := s.Devices[0]
	want := gpu.Device{
		UUID: "GPU-00000000-0000-0000-0000-000000000000", Name: "NVIDIA Test 80GB", PCI: "00000000:10:00.0", Minor: new(7),
		Utilization: new(87), MemoryUsed: new(int64(61 << 30)), MemoryTotal: new(int64(80 << 30)),
		PowerW: new(512.3), PowerLimitW: new(700.0), TemperatureC: new(61), SMClockMHz: new(1980), MemClockMHz: new(2619),
		Throttle: []string{}, ECC: &gpu.ECC{Corrected: 7},
		Processes: []gpu.Process{
			{PID: 41, Memory: new(int64(58 << 30)), Utilization: new(42)},
			{PID: 42, Memory: new(int64(58 << 30)), Utilization: new(42)},
			{PID: 43, Memory: new(int64(3 << 30)), Utilization: new(2)},
		},
	}
	if g, w := toJSON(t, d), toJSON(t, want); g != w {
		t.Errorf("GPU 0:\ngot  %s\nwant %s", g, w)
	}
	if got := s.Devices[4].Throttle; len(got) != 2 || got[0] != "sw_power_cap" || got[1] != "sw_thermal_slowdown" {
		t.Errorf("GPU 4 is throttled by %q", got)
	}
	if e := s.Devices[5].ECC; e == nil || e.Uncorrected != 1 {
		t.Errorf("GPU 5 has %+v", e)
	}
	if p := s.Devices[7]; !p.MIGEnabled || p.Utilization != nil {
		t.Errorf("GPU 7 is not shown as divided: %s", toJSON(t, p))
	}
	i := s.Devices[8]
	if i.ID() != "7:0" || i.MIG.GPUInstance != 1 || *i.Minor != 0 || len(i.Processes) != 2 || i.Processes[0].Utilization != nil {
		t.Errorf("the first instance is %s", toJSON(t, i))
	}
}

func TestDriverAttribution(t *testing.T) {
	t.Parallel()
	env := self(driver(t), "NVML_OURS=41", "NVML_OTHERS=43", "NVML_MIG=7")
	samples, _, stderr := collector(t, env)
	if len(samples) != 1 {
		t.Fatal(stderr)
	}
	shares := new(gpu.Attributor).Attribute(samples[0], []int{1, 41})
	for i, want := range map[int][2]string{
		0: {"87 %, this run 85 %, others 2 %", "61 of 80 GiB, this run 58"},
		1: {"10 %, this run 10 %", "1.0 of 80 GiB, this run 1.0"},
		2: {"20 %, this run 0 %, others 20 %", "2.0 of 80 GiB, this run 0"},
		8: {"n/a", "7.0 of 80 GiB, this run 1.0"},
	} {
		if got := [2]string{shares[i].UtilizationText(), shares[i].MemoryText()}; got != want {
			t.Errorf("device %d: %q, want %q", i, got, want)
		}
	}
	if shares[8].DeviceWide == "" {
		t.Error("the instance does not say that it is only known as a whole")
	}
}

// An old driver lacks functions: what they would have told is unknown, the
// rest is there, and the process lives.
func TestDriverOld(t *testing.T) {
	t.Parallel()
	samples, status, stderr := collector(t, self(driver(t, "-DOLD"), "NVML_OURS=41"))
	if status != 0 || len(samples) != 1 {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	d := samples[0].Devices[0]
	if d.PowerLimitW != nil || d.Throttle != nil || d.ECC != nil || d.Processes[0].Utilization != nil {
		t.Errorf("there is what the driver cannot tell: %s", toJSON(t, d))
	}
	if d.Utilization == nil || d.MemoryUsed == nil || d.PowerW == nil || len(d.Processes) != 1 {
		t.Errorf("something is missing: %s", toJSON(t, d))
	}
}

func TestDriverInitError(t *testing.T) {
	t.Parallel()
	dir := driver(t)
	for init, want := range map[string]struct {
		status int
		text   string
	}{
		"9":  {gpu.ExitNoGPU, "no GPU found: the NVIDIA driver is not loaded; nvidia-smi is not installed"},
		"18": {exitFailed, "starting NVML: the driver's library and its kernel module are of different versions; load the new module, or reboot"},
	} {
		for _, source := range []string{"auto", "nvml"} {
			samples, status, stderr := collector(t, self(dir, "NVML_INIT="+init), "--source="+source)
			if status != want.status || len(samples) != 1 || samples[0].Err == "" || !strings.HasPrefix(want.text, samples[0].Err) {
				t.Errorf("Init fails with %s, source %s: status %d, %+v, %s", init, source, status, samples, stderr)
			}
		}
	}
}

func TestDriverHangs(t *testing.T) {
	t.Parallel()
	env := self(driver(t), "NVML_HANG=2")
	samples, status, _ := collector(t, env, "--watch", "--interval=200ms", "--timeout=2s")
	if status != exitFailed || len(samples) != 3 || !strings.Contains(samples[2].Err, "has not answered") {
		t.Fatalf("status %d, samples %+v", status, samples)
	}
}

func TestDriverIsUnloaded(t *testing.T) {
	t.Parallel()
	samples, status, _ := collector(t, self(driver(t), "NVML_RELOAD=3"), "--watch", "--interval=200ms")
	if status != exitFailed || len(samples) != 4 || !strings.Contains(samples[3].Err, "unloaded") {
		t.Fatalf("status %d, samples %+v", status, samples)
	}
}

// A device that fails goes on being listed with the reason; the others go on.
func TestDriverLosesDevice(t *testing.T) {
	t.Parallel()
	env := self(driver(t), "NVML_LOST=3:10", "NVML_XID=79")
	r := sample(t, env, gpu.Options{})
	defer r.close(t)
	good := 0
	for s := range r.until(t) {
		if s.Devices[3].Err == "" {
			good++
			continue
		}
		if good == 0 || good > 10 {
			t.Errorf("the device failed after %d samples", good)
		}
		if d := s.Devices[3]; !strings.Contains(d.Err, "lost") || d.UUID == "" || d.Utilization != nil {
			t.Errorf("the lost device: %s", toJSON(t, d))
		}
		if d := s.Devices[4]; d.Err != "" || d.Utilization == nil {
			t.Errorf("its neighbour: %s", toJSON(t, d))
		}
		if x := s.Devices[2].Xid; x == nil || x.Code != 79 || x.Count != 1 {
			t.Errorf("the Xid: %+v", x)
		}
		break
	}
}

// A library without nvmlInit ends the process that calls it. The Sampler
// says why, once, and tries again.
func TestDriverEndsTheProcess(t *testing.T) {
	t.Parallel()
	dir := driver(t, "-DDAMAGED")
	if _, status, stderr := collector(t, self(dir)); status != 127 {
		t.Fatalf("a damaged library: status %d, stderr %q; the test expects the loader to end the process", status, stderr)
	}
	r := sample(t, self(dir), gpu.Options{})
	defer r.close(t)
	why := r.reason(t)
	if !strings.Contains(why, "undefined symbol: nvmlInit") || !strings.Contains(why, "exit status 127") {
		t.Errorf("the reason is %q", why)
	}
	// Once a good library is in its place, samples come without further ado.
	good, err := os.ReadFile(filepath.Join(driver(t), "libnvidia-ml.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, "new")
	if err := os.WriteFile(fresh, good, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, filepath.Join(dir, "libnvidia-ml.so.1")); err != nil {
		t.Fatal(err)
	}
	for s := range r.until(t) {
		if len(s.Devices) != 8 {
			t.Errorf("%d devices", len(s.Devices))
		}
		break
	}
	if n := r.reports.Load(); n != 1 {
		t.Errorf("the same reason was reported %d times", n)
	}
}

func TestDriverHangsUnderSampler(t *testing.T) {
	t.Parallel()
	r := sample(t, self(driver(t), "NVML_HANG=3"), gpu.Options{Hang: time.Second})
	defer r.close(t)
	why := r.reason(t)
	if !strings.Contains(why, "fell silent for 1s and was killed") {
		t.Errorf("the reason is %q", why)
	}
	restarted := false
	for s := range r.until(t) {
		restarted = restarted || s.Source == "nvml" && r.reports.Load() > 0
		if restarted {
			break
		}
	}
}

// A running is a Sampler on the stand-in, with what it reported.
type running struct {
	*gpu.Sampler
	reports atomic.Int32
	why     chan string
}

func sample(t *testing.T, env []string, o gpu.Options) *running {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{why: make(chan string, 100)}
	o.Argv, o.Env = []string{exe, "--json", "--watch"}, env
	o.Interval, o.Backoff, o.MaxBackoff = 200*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond
	o.Report = func(why string) { r.reports.Add(1); r.why <- why }
	r.Sampler = gpu.Start(t.Context(), o)
	return r
}

// until yields samples with devices.
func (r *running) until(t *testing.T) func(yield func(gpu.Sample) bool) {
	return func(yield func(gpu.Sample) bool) {
		deadline := time.After(patience)
		for {
			select {
			case s := <-r.Samples():
				if len(s.Devices) > 0 && !yield(s) {
					return
				}
			case <-deadline:
				t.Fatal("what was waited for did not come")
			}
		}
	}
}

func (r *running) reason(t *testing.T) string {
	t.Helper()
	select {
	case why := <-r.why:
		return why
	case <-time.After(patience):
		t.Fatal("no reason was reported")
		return ""
	}
}

func (r *running) close(t *testing.T) {
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// BenchmarkCollector is the processor time that the collector really takes
// for 8 devices with 25 processes each, from the library's functions to the
// line on its output: the process's own account of it, without its start.
func BenchmarkCollector(b *testing.B) {
	var pids []string
	for i := range 25 {
		pids = append(pids, strconv.Itoa(40000+i))
	}
	env := self(driver(b, "-O1"), "NVML_EVERYWHERE=1", "NVML_OURS="+strings.Join(pids, ","))
	const more = 20
	var total time.Duration
	for b.Loop() {
		total += cpuOf(b, env, 1+more) - cpuOf(b, env, 1)
	}
	each := total / time.Duration(b.N*more)
	b.ReportMetric(float64(each.Microseconds()), "cpu-µs/sample")
	b.ReportMetric(100*each.Seconds(), "%core@1Hz")
	b.ReportMetric(0, "ns/op")
}

// cpuOf lets the collector print some samples and returns the processor time
// it took.
func cpuOf(b *testing.B, env []string, samples int) time.Duration {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "/proc/self/exe", "--json", "--watch", "--interval=200ms")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, gpu.MaxLine)
	for range samples {
		if !lines.Scan() {
			b.Fatal("the collector ended early: ", lines.Err())
		}
		if n := bytes.Count(lines.Bytes(), []byte(`"pid"`)); n != 200 {
			b.Fatalf("%d processes in a sample", n)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
