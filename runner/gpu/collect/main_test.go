package collect

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/runner/gpu"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// asCollector makes the test binary be the collector, so that tests can let
// it load a driver of their own and die of it.
const asCollector = "TEST_AS_COLLECTOR"

func TestMain(m *testing.M) {
	if os.Getenv(asCollector) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		status := Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(status)
	}
	os.Exit(m.Run())
}

func TestMainRejects(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"extra"}, `"extra"`},
		{[]string{"--interval", "1ms"}, "at least 200ms"},
		{[]string{"--interval", "soon"}, "soon"},
		{[]string{"--source", "rocm"}, "auto, nvml or nvidia-smi"},
		{[]string{"--timeout", "-1s"}, "positive"},
	} {
		var stderr bytes.Buffer
		if status := Main(t.Context(), tc.args, io.Discard, &stderr); status != exitUsage {
			t.Errorf("Main(%q) = %d, want %d", tc.args, status, exitUsage)
		}
		if !strings.Contains(stderr.String(), tc.want) || !strings.Contains(stderr.String(), "hint:") {
			t.Errorf("Main(%q) says %q, want it to contain %q and a hint", tc.args, stderr.String(), tc.want)
		}
	}
}

func TestMainHelp(t *testing.T) {
	var stderr bytes.Buffer
	if status := Main(t.Context(), []string{"--help"}, io.Discard, &stderr); status != exitOK {
		t.Errorf("Main(--help) = %d", status)
	}
	if !strings.HasPrefix(stderr.String(), "usage: proctor gpu") {
		t.Errorf("--help says %q", stderr.String())
	}
}

// TestMainNoGPU uses nvidia-smi as the source and lets none be found, so that
// it also holds on a machine with GPUs.
func TestMainNoGPU(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var stdout, stderr bytes.Buffer
	if status := Main(t.Context(), []string{"--source", "nvidia-smi"}, &stdout, &stderr); status != gpu.ExitNoGPU {
		t.Errorf("status %d, want %d", status, gpu.ExitNoGPU)
	}
	if got := stderr.String(); got != "error: no GPU found: nvidia-smi is not installed\n" || stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", stdout.String(), got)
	}

	stdout.Reset()
	if status := Main(t.Context(), []string{"--source=nvidia-smi", "--json", "--watch"}, &stdout, &stderr); status != gpu.ExitNoGPU {
		t.Errorf("with --json: status %d, want %d", status, gpu.ExitNoGPU)
	}
	s, err := gpu.ParseSample(stdout.Bytes())
	if err != nil || s.Err != "no GPU found: nvidia-smi is not installed" || len(s.Devices) != 0 {
		t.Errorf("with --json: %+v, %v", s, err)
	}
}

// A source that hangs must not hang the command.
func TestAsyncReaderGivesUp(t *testing.T) {
	release := make(chan struct{})
	r := &asyncReader{ask: make(chan context.Context), answers: make(chan answer, 1), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for range r.ask {
			<-release
			r.answers <- answer{}
		}
	}()
	var stderr bytes.Buffer
	o := options{interval: time.Second, timeout: time.Millisecond}
	if status := watch(t.Context(), r, o, io.Discard, &stderr); status != exitFailed {
		t.Errorf("status %d, want %d", status, exitFailed)
	}
	if !strings.Contains(stderr.String(), "has not answered for 4ms") {
		t.Errorf("says %q", stderr.String())
	}
	close(release)
	r.end()
	<-r.ended
}

func TestTable(t *testing.T) {
	s := gpu.Sample{
		At: time.Date(2026, 11, 21, 10, 33, 15, 0, time.UTC), Source: "nvml", Driver: "590.12", ForeignPIDs: true,
		Devices: []gpu.Device{{
			Name: "NVIDIA H200", Utilization: new(87), MemoryUsed: new(int64(61 << 30)), MemoryTotal: new(int64(139 << 30)),
			PowerW: new(512.3), PowerLimitW: new(700.0), TemperatureC: new(61), SMClockMHz: new(1980),
			Throttle: []string{"sw_power_cap"}, ECC: &gpu.ECC{Uncorrected: 2}, Xid: &gpu.Xid{Code: 79, Count: 1},
			Processes: []gpu.Process{{PID: 4711, Memory: new(int64(58 << 30)), Utilization: new(85)}, {PID: 815}},
		}, {
			Index: 1, Name: "NVIDIA H200", MIGEnabled: true,
		}, {
			Index: 1, Name: "NVIDIA H200 MIG 3g.71gb", MIG: &gpu.MIG{Number: 1}, MemoryUsed: new(int64(1 << 30)),
		}, {
			Index: 2, Name: "NVIDIA H200", Err: "the GPU is lost",
		}},
	}
	var b bytes.Buffer
	if err := writeTable(&b, s); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.golden", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
