package gpu

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var testStart = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// A bench drives a Tracker second by second.
type bench struct {
	tracker *Tracker
	now     time.Time
	work    float64
	logged  []Event
	notes   []Note
}

func newBench(c Config) *bench { return &bench{tracker: NewTracker(c), now: testStart} }

// step lets wall and working time pass and takes a sample.
func (b *bench) step(wall, work float64, frozen bool, devices ...Device) Update {
	b.now = b.now.Add(time.Duration(wall * float64(time.Second)))
	b.work += work
	s := Sample{At: b.now, Source: "nvml", Devices: devices}
	if devices == nil {
		s.Err = "the collector ended"
	}
	u := b.tracker.Observe(Observation{Sample: s, Work: b.work, PIDs: []int{10}, Frozen: frozen})
	if u.Log != nil {
		b.logged = append(b.logged, *u.Log)
	}
	b.notes = append(b.notes, u.Notes...)
	return u
}

func (b *bench) steps(n int, devices ...Device) {
	for range n {
		b.step(1, 1, false, devices...)
	}
}

func (b *bench) kinds() (kinds []string) {
	for _, n := range b.notes {
		kinds = append(kinds, n.Kind)
	}
	return kinds
}

// busyDevice has a process of the run at util percent on it.
func busyDevice(index, util int) Device {
	return Device{
		Index: index, UUID: fmt.Sprintf("GPU-5a3e8bd1-0000-4c1e-9a51-%012d", index), Name: "NVIDIA H200",
		Utilization: &util, MemoryUsed: new(61 * testGiB), MemoryTotal: new(139 * testGiB),
		PowerW: new(512.0), PowerLimitW: new(700.0), TemperatureC: new(61), SMClockMHz: new(1980), MemClockMHz: new(3201),
		Throttle: []string{}, ECC: &ECC{},
		Processes: []Process{{PID: 10, Memory: new(58 * testGiB), Utilization: &util}},
	}
}

func emptyDevice(index int) Device {
	d := busyDevice(index, 0)
	d.Processes, d.MemoryUsed = []Process{}, new(int64(0))
	return d
}

func TestGPUHours(t *testing.T) {
	stranger := busyDevice(1, 90)
	stranger.Processes = []Process{proc(20, 50, 90)}
	hidden := busyDevice(1, 90)
	hidden.Processes = nil
	divided := busyDevice(0, 0)
	divided.MIGEnabled = true
	instance := busyDevice(0, 0)
	instance.MIG, instance.Utilization = &MIG{}, nil

	for _, tc := range []struct {
		name    string
		config  Config
		devices []Device
		want    float64 // device-seconds of 99 working seconds between 100 samples
	}{
		{"one of two is held", Config{}, []Device{busyDevice(0, 80), emptyDevice(1)}, 100},
		{"strangers do not count", Config{}, []Device{busyDevice(0, 80), stranger}, 100},
		{"who cannot be told counts", Config{}, []Device{busyDevice(0, 80), hidden}, 200},
		{"granted ones count unused", Config{Granted: true}, []Device{busyDevice(0, 80), emptyDevice(1)}, 200},
		{"others' devices do not", Config{Granted: true, Select: mustSelect(t, "1")}, []Device{busyDevice(0, 80), emptyDevice(1)}, 100},
		{"none", Config{Granted: true, Select: mustSelect(t, "none")}, []Device{busyDevice(0, 80)}, 0},
		{"a divided GPU counts by its instances", Config{}, []Device{divided, instance}, 100},
		{"a lost one does not count", Config{Granted: true}, []Device{{Err: "lost"}, emptyDevice(1)}, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(tc.config)
			b.steps(100, tc.devices...)
			if got := b.tracker.State().GPUSeconds; got != tc.want {
				t.Errorf("%v device-seconds, want %v", got, tc.want)
			}
		})
	}
}

func TestGPUHoursOverPausesAndGaps(t *testing.T) {
	b := newBench(Config{})
	b.steps(10, busyDevice(0, 80))
	for range 50 {
		b.step(1, 0, true, busyDevice(0, 0)) // frozen
	}
	if got := b.tracker.State().GPUSeconds; got != 10 {
		t.Errorf("a pause counts: %v", got)
	}
	b.step(1, 1, false)                      // the collector is down
	b.step(99, 99, false, busyDevice(0, 80)) // held before and after
	if got := b.tracker.State().GPUSeconds; got != 110 {
		t.Errorf("after a gap: %v, want 110", got)
	}
	b.steps(1, emptyDevice(0))
	b.step(100, 100, false, busyDevice(0, 80)) // not held before
	if got := b.tracker.State().GPUSeconds; got != 110 {
		t.Errorf("after a gap that began without the device: %v, want 110", got)
	}
	if b.tracker.SetGPUHours(2); b.tracker.GPUHours() != 2 {
		t.Error("an earlier count is not continued")
	}
}

func mustSelect(t *testing.T, text string) Selection {
	t.Helper()
	s, err := ParseSelection(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A day of 8 GPUs must fit into 20 MB of log, whatever they do. Half an hour
// of it is lived through; what is allowed at once counts for each such stretch,
// so a whole day is no larger.
func TestLogOfADayIsSmall(t *testing.T) {
	const stretch, stretches, limit = 1800, 48, 20_000_000
	for name, load := range map[string]func(device, second int) int{
		"steady":     func(int, int) int { return 97 },
		"noise":      func(int, int) int { return rand.IntN(101) },
		"steps":      func(d, s int) int { return 100 * ((s / (3 + d)) % 2) },
		"epochs":     func(_, s int) int { return map[bool]int{true: 95, false: 12}[s%90 < 70] },
		"flickers":   func(d, s int) int { return 100 * ((s + d) % 2) },
		"sixteen":    func(int, int) int { return rand.IntN(101) },
		"worst luck": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gpus := 8
			if name == "sixteen" {
				gpus = 16
			}
			b := newBench(Config{})
			var size, events int
			var longest time.Duration
			last := testStart
			for s := range stretch {
				devices := make([]Device, gpus)
				for i := range devices {
					if load == nil { // every second a device is lost or comes back
						devices[i] = busyDevice(i, rand.IntN(101))
						if (s+i)%2 == 0 {
							devices[i] = Device{Index: i, UUID: devices[i].UUID, Err: strings.Repeat("trouble ", 30)}
						}
						continue
					}
					devices[i] = busyDevice(i, load(i, s))
				}
				u := b.step(1, 1, false, devices...)
				b.notes, b.logged = nil, nil
				if u.Log == nil {
					continue
				}
				text, err := json.Marshal(u.Log)
				if err != nil {
					t.Fatal(err)
				}
				size += len(text) + len(`{"seq":1234567,"at":"2026-11-21T10:33:15.123456789Z","work":86399.123,"type":"gpu","data":}`) + 1
				events++
				longest = max(longest, b.now.Sub(last))
				last = b.now
			}
			t.Logf("%.1f MB a day in %d events, at most %s apart", stretches*float64(size)/1e6, stretches*events, longest)
			if stretches*size > limit {
				t.Errorf("a day takes %d bytes", stretches*size)
			}
			if longest > 2*time.Minute {
				t.Errorf("%s without an event", longest)
			}
		})
	}
}

func TestThinning(t *testing.T) {
	b := newBench(Config{})
	b.steps(1, emptyDevice(0))
	if len(b.logged) != 1 || len(b.logged[0].Inventory) != 1 {
		t.Fatalf("the first sample gives %+v", b.logged)
	}
	b.steps(59, emptyDevice(0))
	if len(b.logged) != 1 {
		t.Errorf("an idle minute gives %d events", len(b.logged)-1)
	}
	b.steps(1, emptyDevice(0))
	if len(b.logged) != 2 {
		t.Errorf("after an idle minute there are %d events", len(b.logged)-1)
	}

	b.logged = nil
	b.steps(3, busyDevice(0, 80)) // a change is logged soon
	if len(b.logged) != 1 || *b.logged[0].Readings[0].RunMemory != 58*1024 {
		t.Fatalf("a process that starts gives %+v", b.logged)
	}

	b.logged = nil
	for i := range 20 {
		b.steps(1, busyDevice(0, 70+20*(i%2)))
	}
	if len(b.logged) > 1 {
		t.Errorf("a load that flickers about its mean gives %d events in 20 s", len(b.logged))
	}
	b.steps(60, busyDevice(0, 80))
	b.logged = nil
	for i := range 20 {
		b.steps(1, busyDevice(0, 81+i))
	}
	if n := len(b.logged); n == 0 || n > 3 {
		t.Errorf("a load that rises slowly gives %d events in 20 s", n)
	}
	b.steps(45, busyDevice(0, 100))
	b.logged = nil
	b.steps(6, busyDevice(0, 10)) // late in a long window
	if n := len(b.logged); n == 0 {
		t.Error("a load that drops gives no event in 6 s")
	}

	b.logged = nil
	lost := Device{UUID: busyDevice(0, 0).UUID, Name: "NVIDIA H200", MemoryTotal: new(139 * testGiB), PowerLimitW: new(700.0), Err: "lost"}
	b.steps(1, lost)
	if len(b.logged) != 1 || b.logged[0].Readings[0].Err != "lost" {
		t.Errorf("a lost device gives %+v", b.logged)
	}
	b.logged = nil
	b.step(1, 1, false)
	if len(b.logged) != 1 || b.logged[0].Err == "" {
		t.Errorf("a collector that is down gives %+v", b.logged)
	}
}

// The log tells the same as the live feed, only coarser.
// What is wrong for long is in the log once, not once a sample.
func TestAnErrorIsLoggedOnce(t *testing.T) {
	b := newBench(Config{})
	b.steps(20, busyDevice(0, 90))
	for range 3600 {
		b.step(1, 1, false)
	}
	b.steps(20, busyDevice(0, 90))
	for range 3600 {
		b.step(1, 1, false)
	}
	var errs int
	for _, e := range b.logged {
		if e.Err != "" {
			errs++
		}
	}
	if errs != 2 {
		t.Errorf("two outages are logged %d times", errs)
	}
}

// A run that ends loses nothing of what was not yet due.
func TestRest(t *testing.T) {
	b := newBench(Config{})
	if e := b.tracker.Rest(); e != nil {
		t.Errorf("before the first sample: %+v", e)
	}
	b.steps(37, busyDevice(0, 90))
	var logged State
	for _, e := range b.logged {
		logged.Apply(0, e)
	}
	rest := b.tracker.Rest()
	if rest == nil || logged.GPUSeconds >= 37 || rest.GPUSeconds != 37 {
		t.Fatalf("%v s are logged, the rest is %+v", logged.GPUSeconds, rest)
	}
	var seconds float64
	for _, e := range append(b.logged, *rest) {
		seconds += e.Seconds
	}
	if seconds != 37 {
		t.Errorf("the log covers %v s of 37", seconds)
	}
	if again := b.tracker.Rest(); again != nil {
		t.Errorf("there is still %+v", again)
	}
}

// Whoever comes late sees what the log had not been told yet as it was, and an
// outage as one.
func TestComingLate(t *testing.T) {
	b := newBench(Config{})
	b.steps(37, busyDevice(0, 90))
	var s State
	for _, e := range b.logged {
		s.Apply(1, e) // the only one so far, of the first second
	}
	s.Apply(38, b.step(1, 1, false, busyDevice(0, 90)).Live)
	covered := func() (sum float64) {
		for _, p := range s.Series["0"].Points() {
			sum += p.Seconds
		}
		return sum
	}
	if len(b.logged) != 1 || covered() != 38 {
		t.Errorf("after %d events %v s of 38 are covered", len(b.logged), covered())
	}
	s.Apply(39, b.step(1, 1, false).Live)
	for range 20 {
		b.step(1, 1, false)
	}
	s.Apply(60, b.step(1, 1, false, busyDevice(0, 90)).Live)
	if covered() != 48 { // the newest sample speaks for ten seconds at most
		t.Errorf("with an outage %v s are covered", covered())
	}
}

func TestLogAgreesWithLive(t *testing.T) {
	var live, log State
	b := newBench(Config{})
	for i := range 2000 {
		u := b.step(1, 1, false, busyDevice(0, i*100/2000), busyDevice(1, rand.IntN(101)))
		live.Apply(b.work, u.Live)
		if u.Log != nil {
			log.Apply(b.work, *u.Log)
		}
	}
	if live.GPUSeconds != 4000 || log.GPUSeconds < 3950 {
		t.Errorf("live %v, log %v device-seconds, want 4000", live.GPUSeconds, log.GPUSeconds)
	}
	for _, span := range [][2]float64{{0, 1900}, {500, 1000}, {1200, 1300}} {
		a, b := live.Between(span[0], span[1]), log.Between(span[0], span[1])
		for i := range a {
			if d := *a[i].Run - *b[i].Run; d < -2 || d > 2 {
				t.Errorf("%v: device %d ran at %d live and at %d by the log", span, i, *a[i].Run, *b[i].Run)
			}
		}
	}
	// A viewer that gets both sees no time twice.
	both := live.Series["0"].points
	log.Series["0"].add(Point{Work: 100, Seconds: 10})
	if n := len(log.Series["0"].points); both[len(both)-1].Work != 2000 || log.Series["0"].points[n-1].Work > 2000 {
		t.Error("the series goes back in time")
	}
	if got, want := live.Holding(), 2*58*testGiB; got != want {
		t.Errorf("holding %d, want %d", got, want)
	}
}

func TestStateJSON(t *testing.T) {
	b := newBench(Config{})
	b.steps(30, busyDevice(0, 50))
	text, err := json.Marshal(b.tracker.State())
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.tracker.State().Readings, back.Readings); diff != "" {
		t.Error(diff)
	}
	if back.GPUSeconds != 30 || len(back.Series["0"].Points()) != 30 || back.Info("0").Name != "NVIDIA H200" {
		t.Errorf("read back: %+v", back)
	}
}

func TestAction(t *testing.T) {
	b := newBench(Config{})
	b.steps(60, emptyDevice(0))
	if _, ok := b.tracker.Action("a1", 0, 60); ok {
		t.Error("an action without a GPU has a use")
	}
	b.steps(40, busyDevice(0, 20))
	b.steps(20, busyDevice(0, 29))
	b.steps(30, busyDevice(0, 99))
	e, ok := b.tracker.Action("a2", 60, 120)
	if !ok || e.Action.ID != "a2" || e.Action.String() != "GPU 0 ran at 23 %: data-bound" {
		t.Errorf("got %+v: %q", e, e.Action)
	}
	if u := e.Action.Devices[0]; u.PeakMemory != 58*1024 || u.Held != 60 {
		t.Errorf("got %+v", u)
	}
	before := len(b.tracker.State().Readings)
	b.tracker.State().Apply(150, e)
	if len(b.tracker.State().Readings) != before {
		t.Error("an action's event takes the readings away")
	}
}

func TestNotes(t *testing.T) {
	full := busyDevice(0, 50)
	full.MemoryUsed = new(138 * testGiB)
	failing := func(count int, code int64, ecc int64) Device {
		d := busyDevice(0, 50)
		d.Xid, d.ECC = &Xid{Code: code, Count: count}, &ECC{Uncorrected: ecc}
		return d
	}
	lost := Device{UUID: busyDevice(0, 0).UUID, Err: "the GPU is lost"}
	for _, tc := range []struct {
		name string
		do   func(b *bench)
		want []string
		text string // of the first
	}{
		{"idle for ten minutes", func(b *bench) { b.steps(1300, busyDevice(0, 2)) }, []string{NoteIdle},
			"GPU 0: idle for 10 min while this run holds it, with 58 GiB of its memory"},
		{"not quite", func(b *bench) {
			b.steps(599, busyDevice(0, 2))
			b.steps(5, busyDevice(0, 80))
			b.steps(599, busyDevice(0, 2))
		}, nil, ""},
		{"idle twice", func(b *bench) {
			b.steps(601, busyDevice(0, 2))
			b.steps(5, busyDevice(0, 80))
			b.steps(601, busyDevice(0, 2))
		},
			[]string{NoteIdle, NoteIdle}, ""},
		{"given and never used", func(b *bench) {
			b.tracker = NewTracker(Config{Granted: true})
			b.steps(1300, emptyDevice(0))
		}, []string{NoteIdle}, "GPU 0: idle for 10 min although it was given to this run"},
		{"idle, but not held", func(b *bench) { b.steps(700, emptyDevice(0)) }, nil, ""},
		{"paused is not idle", func(b *bench) {
			for range 700 {
				b.step(1, 0, true, busyDevice(0, 0))
			}
		}, nil, ""},
		{"nearly full", func(b *bench) { b.steps(20, full); b.steps(5, busyDevice(0, 50)); b.steps(20, full) },
			[]string{NoteMemoryFull, NoteMemoryFull}, "GPU 0: memory nearly full, 138 of 139 GiB, this run 58"},
		{"full for a moment", func(b *bench) { b.steps(2, full); b.steps(5, busyDevice(0, 50)) }, nil, ""},
		{"Xid", func(b *bench) {
			b.steps(3, failing(0, 0, 0))
			b.steps(5, failing(1, 79, 0))
			b.steps(3, failing(2, 31, 0))
		},
			[]string{NoteXid, NoteXid}, "GPU 0: Xid 79, the GPU has fallen off the bus"},
		{"Xid after a restart of the collector", func(b *bench) { b.steps(2, failing(3, 79, 0)); b.steps(2, failing(1, 31, 0)) },
			[]string{NoteXid, NoteXid}, ""},
		{"memory errors", func(b *bench) { b.steps(3, failing(0, 0, 4)); b.steps(5, failing(0, 0, 6)) },
			[]string{NoteECC}, "GPU 0: 2 uncorrected memory errors (ECC)"},
		{"lost and back", func(b *bench) { b.steps(2, busyDevice(0, 50)); b.steps(3, lost); b.steps(2, busyDevice(0, 50)) },
			[]string{NoteLost, NoteBack}, "GPU 0: the GPU is lost"},
		{"gone", func(b *bench) { b.steps(2, busyDevice(0, 50), busyDevice(1, 50)); b.steps(3, busyDevice(1, 50)) },
			[]string{NoteLost}, "GPU 0: the driver no longer lists it"},
		{"the collector is down", func(b *bench) { b.steps(2, busyDevice(0, 50)); b.steps(2) }, nil, ""},
		{"busy although frozen", func(b *bench) {
			for range 20 {
				b.step(1, 0, true, busyDevice(0, 90))
			}
		}, []string{NoteFrozenBusy}, "GPU 0: still 90 % busy with this run's work although the run is frozen"},
		{"the last kernel after a freeze", func(b *bench) {
			for range 4 {
				b.step(1, 0, true, busyDevice(0, 90))
			}
			for range 9 {
				b.step(1, 0, true, busyDevice(0, 0))
			}
		}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(Config{})
			tc.do(b)
			if got := b.kinds(); !slices.Equal(got, tc.want) {
				t.Fatalf("got %q, want %q", got, tc.want)
			}
			if tc.text != "" && b.notes[0].Text != tc.text {
				t.Errorf("says %q, want %q", b.notes[0].Text, tc.text)
			}
		})
	}
}

// BenchmarkObserve is what the supervisor does with each sample of 8 devices
// and 200 processes.
func BenchmarkObserve(b *testing.B) {
	devices := make([]Device, 8)
	for i := range devices {
		devices[i] = busyDevice(i, 80)
		for pid := 100; pid < 124; pid++ {
			devices[i].Processes = append(devices[i].Processes, proc(pid, 1, 0))
		}
	}
	t := newBench(Config{})
	line, err := json.Marshal(Sample{At: t.now, Devices: devices})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := ParseSample(line)
		if err != nil {
			b.Fatal(err)
		}
		t.step(1, 1, false, s.Devices...)
		t.logged = nil
	}
}
