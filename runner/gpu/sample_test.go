package gpu

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The line format is read by other programs and by other versions of this
// one: what is here must not change.
func TestSampleFormat(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 33, 15, 0, time.UTC)
	s := Sample{At: at, Source: "nvml", Driver: "590.12", ForeignPIDs: true, Devices: []Device{{
		UUID: "GPU-1", Name: "H200", PCI: "00000000:17:00.0", Minor: new(3), MIGEnabled: true,
		Utilization: new(0), MemoryUsed: new(int64(5)), MemoryTotal: new(int64(9)), PowerW: new(1.5), PowerLimitW: new(700.0),
		TemperatureC: new(61), SMClockMHz: new(1), MemClockMHz: new(2), Throttle: []string{}, ECC: &ECC{1, 2},
		Xid: &Xid{79, 1, at}, Processes: []Process{{PID: 7, Memory: new(int64(3)), Utilization: new(4)}, {PID: 8}},
	}, {
		Index: 1, UUID: "MIG-1", Name: "H200 MIG", MIG: &MIG{1, "GPU-1", 2, 3}, Err: "lost",
	}}}
	want := `{"at":"2026-11-21T10:33:15Z","source":"nvml","driver":"590.12","foreign_pids":true,"devices":[` +
		`{"index":0,"uuid":"GPU-1","name":"H200","pci":"00000000:17:00.0","minor":3,"mig_enabled":true,"utilization":0,` +
		`"memory_used":5,"memory_total":9,"power_w":1.5,"power_limit_w":700,"temperature_c":61,"sm_clock_mhz":1,"mem_clock_mhz":2,` +
		`"throttle":[],"ecc":{"corrected":1,"uncorrected":2},"xid":{"code":79,"count":1,"at":"2026-11-21T10:33:15Z"},` +
		`"processes":[{"pid":7,"memory":3,"utilization":4},{"pid":8}]},` +
		`{"index":1,"uuid":"MIG-1","name":"H200 MIG","mig":{"number":1,"parent":"GPU-1","gpu_instance":2,"compute_instance":3},"error":"lost"}]}`
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	back, err := ParseSample(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Error(diff)
	}
	if id := back.Devices[1].ID(); id != "1:1" {
		t.Errorf("the instance is called %s", id)
	}
}

func TestParseSampleCleans(t *testing.T) {
	s, err := ParseSample([]byte(`{"at":"2026-11-21T10:33:15Z","error":"a\u001b[31mb","devices":[{"index":-4,"name":"` +
		strings.Repeat("x", 400) + `","utilization":101,"memory_used":-1,"processes":[{"pid":1,"memory":-5,"utilization":4000}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d := s.Devices[0]
	if s.Err != "a[31mb" || d.Index != 0 || len(d.Name) > maxText+4 || d.Utilization != nil || d.MemoryUsed != nil {
		t.Errorf("got %+v, %+v", s, d)
	}
	if p := d.Processes[0]; p.Memory != nil || p.Utilization != nil {
		t.Errorf("got %+v", p)
	}
}

func TestParseSampleRejects(t *testing.T) {
	for line, want := range map[string]string{
		``:                       "unexpected end",
		`nvidia-smi: not found`:  "nvidia-smi: not found",
		`{"devices":[]}`:         "no time",
		`{"at":"2026-11-21T10:3`: "unexpected end",
		`{"at":"2026-11-21T10:33:15Z","devices":[{"utilization":1e99}]}`: "utilization",
	} {
		if _, err := ParseSample([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want it to say %q", line, err, want)
		}
	}
	if _, err := ParseSample(make([]byte, MaxLine+1)); err == nil {
		t.Error("a line without end is accepted")
	}
}

func FuzzParseSample(f *testing.F) {
	f.Add([]byte(`{"at":"2026-11-21T10:33:15Z","source":"nvml","devices":[{"index":0,"uuid":"GPU-1","utilization":87,"memory_used":5,"memory_total":9,"processes":[{"pid":7,"utilization":85}],"mig":{"number":1}}]}`))
	f.Add([]byte(`{"at":"2026-11-21T10:33:15Z","error":"no GPU found"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := ParseSample(line)
		if err != nil {
			return
		}
		for _, share := range new(Attributor).Attribute(s, []int{7}) {
			if share.Run != nil && (*share.Run < 0 || *share.Others < 0 || *share.Run+*share.Others != *share.Utilization) {
				t.Errorf("%s is divided into %d and %d", share.UtilizationText(), *share.Run, *share.Others)
			}
		}
		tr := NewTracker(Config{})
		tr.Observe(Observation{Sample: s, Work: 1, PIDs: []int{7}})
		u := tr.Observe(Observation{Sample: s, Work: 2, PIDs: []int{7}})
		if _, err := json.Marshal(u.Live); err != nil {
			t.Error(err)
		}
	})
}
