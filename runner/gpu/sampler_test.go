package gpu

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asCollector makes the test binary be a collector that does what it says.
const asCollector = "TEST_AS_COLLECTOR"

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if mode := os.Getenv(asCollector); mode != "" {
		collectAs(mode)
		return
	}
	os.Exit(m.Run())
}

// collectAs prints samples until killed, or misbehaves.
func collectAs(mode string) {
	line := func(util int) {
		s := Sample{At: time.Now(), Source: "nvml", Devices: []Device{{Index: os.Getpid(), UUID: "GPU-1", Utilization: &util}}}
		text, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
	hang := func() { time.Sleep(time.Hour) } // an empty select is a deadlock to the runtime
	switch mode {
	case "works":
		for i := 0; ; i++ {
			line(i % 100)
			time.Sleep(20 * time.Millisecond)
		}
	case "hangs at once":
		hang()
	case "hangs":
		line(1)
		hang()
	case "dies":
		line(1)
		fmt.Fprintln(os.Stderr, "first words")
		fmt.Fprintln(os.Stderr, "proctor: symbol lookup error: undefined symbol: nvmlSomething")
		os.Exit(127)
	case "says why":
		fmt.Println(`{"at":"2026-11-21T10:33:15Z","source":"none","devices":[],"error":"the driver was unloaded meanwhile"}`)
		os.Exit(1)
	case "none":
		fmt.Println(`{"at":"2026-11-21T10:33:15Z","source":"none","devices":[],"error":"no GPU found: the NVIDIA driver is not loaded"}`)
		os.Exit(ExitNoGPU)
	case "babbles":
		fmt.Println("usage: something else")
		os.Exit(2)
	case "floods":
		fmt.Print(strings.Repeat("x", 2*MaxLine))
		fmt.Println()
		line(7)
		hang()
	}
}

// start runs a Sampler on a collector in a mode.
func start(t *testing.T, mode string, change func(*Options)) (*Sampler, chan string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	why := make(chan string, 100)
	o := Options{
		Argv: []string{exe}, Env: append(os.Environ(), asCollector+"="+mode), Interval: 20 * time.Millisecond,
		Backoff: 10 * time.Millisecond, MaxBackoff: 20 * time.Millisecond, Report: func(text string) { why <- text },
	}
	if change != nil {
		change(&o)
	}
	s := Start(t.Context(), o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, why
}

// await takes samples until one is what is wanted.
func await(t *testing.T, s *Sampler, wanted func(Sample) bool) Sample {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case sample, open := <-s.Samples():
			if !open {
				t.Fatal("sampling has ended")
			}
			if wanted(sample) {
				return sample
			}
		case <-deadline:
			t.Fatal("what was waited for did not come")
		}
	}
}

func reason(t *testing.T, why <-chan string) string {
	t.Helper()
	select {
	case text := <-why:
		return text
	case <-time.After(patience):
		t.Fatal("no reason was reported")
		return ""
	}
}

func good(s Sample) bool { return len(s.Devices) > 0 }

func TestSamplerDelivers(t *testing.T) {
	t.Parallel()
	s, why := start(t, "works", nil)
	first := await(t, s, good)
	later := await(t, s, func(s Sample) bool { return *s.Devices[0].Utilization > *first.Devices[0].Utilization+3 })
	if first.Devices[0].Index != later.Devices[0].Index {
		t.Error("the collector was restarted")
	}
	if latest, ok := s.Latest(); !ok || latest.At.Before(later.At) {
		t.Errorf("the latest sample is %+v, %v", latest, ok)
	}
	select {
	case text := <-why:
		t.Errorf("reported %q", text)
	default:
	}
}

// Close must leave no process behind, and end the channel.
func TestSamplerClose(t *testing.T) {
	t.Parallel()
	s, _ := start(t, "works", nil)
	pid := await(t, s, good).Devices[0].Index
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the collector lives on: %v", err)
	}
	for range s.Samples() {
	}
}

func TestSamplerContext(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := Start(ctx, Options{Argv: []string{exe}, Env: append(os.Environ(), asCollector+"=works")})
	await(t, s, good)
	cancel()
	for range s.Samples() {
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A consumer that does not take samples holds nothing up, and then gets the
// newest.
func TestSamplerNeverBlocks(t *testing.T) {
	t.Parallel()
	s, _ := start(t, "works", nil)
	begun := await(t, s, good)
	var latest Sample
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if latest, _ = s.Latest(); *latest.Devices[0].Utilization >= *begun.Devices[0].Utilization+5 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("samples have stopped")
		}
	}
	if got := <-s.Samples(); got.At.Before(latest.At) {
		t.Errorf("the channel had a sample of %s, the latest was of %s", got.At, latest.At)
	}
}

func TestSamplerTrouble(t *testing.T) {
	t.Parallel()
	soon := func(o *Options) { o.Hang = 500 * time.Millisecond }
	atOnce := func(o *Options) { o.Start = 700 * time.Millisecond }
	for _, tc := range []struct {
		mode    string
		change  func(*Options)
		want    string
		restart bool // goes on giving samples after it
	}{
		{"dies", nil, "the GPU collector ended: exit status 127: proctor: symbol lookup error: undefined symbol: nvmlSomething", true},
		{"hangs", soon, "the GPU collector fell silent for 500ms and was killed: a call of the driver hangs", true},
		{"hangs at once", atOnce, "the GPU collector said nothing for 700ms after its start and was killed: a call of the driver hangs", false},
		{"says why", nil, "the driver was unloaded meanwhile", false},
		{"none", nil, "no GPU found: the NVIDIA driver is not loaded", false},
		{"babbles", nil, `reading a GPU sample from "usage: something else": invalid character 'u' looking for beginning of value`, false},
		{"absent", func(o *Options) { o.Argv = []string{"/nonexistent/proctor"} },
			"starting the GPU collector: fork/exec /nonexistent/proctor: no such file or directory", false},
		{"unset", func(o *Options) { o.Argv = nil }, "no GPU collector was configured", false},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			s, why := start(t, tc.mode, tc.change)
			if got := reason(t, why); got != tc.want {
				t.Errorf("the reason is %q, want %q", got, tc.want)
			}
			bad := await(t, s, func(s Sample) bool { return s.Err != "" })
			if bad.Err != tc.want || len(bad.Devices) > 0 || bad.At.IsZero() {
				t.Errorf("the sample is %+v", bad)
			}
			for range 3 { // it is tried again, and the reason not reported again
				if tc.restart {
					await(t, s, good)
				}
				await(t, s, func(s Sample) bool { return s.Err != "" })
			}
			if len(why) > 0 {
				t.Errorf("reported again: %q", <-why)
			}
		})
	}
}

// Without a GPU, trying again soon is of no use.
func TestSamplerWaitsWithoutGPU(t *testing.T) {
	t.Parallel()
	s, why := start(t, "none", func(o *Options) { o.MaxBackoff = time.Hour })
	reason(t, why)
	await(t, s, func(s Sample) bool { return s.Err != "" })
	select {
	case again := <-s.Samples():
		t.Errorf("tried again: %+v", again)
	case <-time.After(300 * time.Millisecond): // fifteen times the first backoff
	}
}

func TestSamplerSurvivesFlood(t *testing.T) {
	t.Parallel()
	s, _ := start(t, "floods", nil)
	if got := await(t, s, good); *got.Devices[0].Utilization != 7 {
		t.Errorf("got %+v", got)
	}
}

func TestLineReader(t *testing.T) {
	text := "one\n\ntwo\n" + strings.Repeat("x", MaxLine+10) + "\nthree\nnever ended"
	for _, size := range []int{7, 4096, len(text)} {
		var got []string
		r := &lineReader{line: func(b []byte) string { got = append(got, string(b)); return strconv.Itoa(len(got)) }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := r.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if fmt.Sprint(got) != "[one two three]" || r.failure != "3" {
			t.Errorf("in pieces of %d: %q, failure %q", size, got, r.failure)
		}
	}
}
