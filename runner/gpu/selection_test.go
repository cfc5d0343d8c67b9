package gpu

import (
	"strings"
	"testing"
)

func machine() []Device {
	return []Device{
		{Index: 0, UUID: "GPU-a", Name: "NVIDIA A100", MemoryTotal: new(40 * testGiB)},
		{Index: 1, UUID: "GPU-b", Name: "NVIDIA A100", MemoryTotal: new(40 * testGiB), MIGEnabled: true},
		{Index: 1, UUID: "MIG-b0", Name: "A100 MIG 3g.20gb", MemoryTotal: new(20 * testGiB), MIG: &MIG{Number: 0, Parent: "GPU-b", GPUInstance: 1}},
		{Index: 1, UUID: "MIG-b1", Name: "A100 MIG 3g.20gb", MemoryTotal: new(20 * testGiB), MIG: &MIG{Number: 1, Parent: "GPU-b", GPUInstance: 2}},
		{Index: 2, UUID: "GPU-c", Name: "NVIDIA A100", MemoryTotal: new(80 * testGiB)},
		{Index: 3, UUID: "GPU-d", Name: "NVIDIA A100", Err: "the GPU is lost"},
	}
}

func idsOf(devices []Device) string {
	var ids []string
	for _, d := range devices {
		ids = append(ids, d.ID())
	}
	return strings.Join(ids, " ")
}

func TestSelection(t *testing.T) {
	for _, tc := range []struct{ text, as, picks, err string }{
		{"", "all", "0 1:0 1:1 2", ""},
		{"all", "all", "0 1:0 1:1 2", ""},
		{"none", "none", "", ""},
		{"2,0", "2,0", "0 2", ""},
		{"0-1", "0,1", "0 1:0 1:1", ""},
		{" 0 , 1:1 ", "0,1:1", "0 1:1", ""},
		{"GPU-c,MIG-b0", "GPU-c,MIG-b0", "1:0 2", ""},
		{"GPU-b", "GPU-b", "1:0 1:1", ""},
		{"3", "3", "", "GPU 3 does not work: the GPU is lost"},
		{"7", "7", "", "there is no GPU 7; there are 0, 1:0, 1:1, 2, 3"},
	} {
		s, err := ParseSelection(tc.text)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		if s.String() != tc.as {
			t.Errorf("%q is %q, want %q", tc.text, s, tc.as)
		}
		picked, err := s.Pick(machine())
		if got := idsOf(picked); got != tc.picks || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%q picks %q, %v; want %q, %q", tc.text, got, err, tc.picks, tc.err)
		}
	}
	one, err := ParseSelection("0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Pick(nil); err == nil || !strings.Contains(err.Error(), "no GPU was found on this machine") {
		t.Errorf("on a machine without: %v", err)
	}
	if all := (Selection{}); !all.All() || all.None() || !noGPU.None() || noGPU.All() {
		t.Error("all and none are not told apart")
	}
}

func TestParseSelectionRejects(t *testing.T) {
	for _, text := range []string{"x", "0,", ",", "-1", "0-", "3-1", "0,0", "0-2,1", "1:", ":1", "1:x", "0x1", "256", "99999999999", "GPU-\x1b[31m", "all,0", "none,1", "1-2-3"} {
		if s, err := ParseSelection(text); err == nil {
			t.Errorf("%q is taken for %q", text, s)
		}
	}
}

func FuzzParseSelection(f *testing.F) {
	for _, text := range []string{"all", "none", "0,2", "0-3", "0:1", "GPU-5a3e8bd1", "MIG-1,2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelection(text)
		if err != nil {
			return
		}
		again, err := ParseSelection(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q is %q, which is %q, %v", text, s, again, err)
		}
	})
}

func TestCheck(t *testing.T) {
	a, c, unknown := machine()[0], machine()[4], Device{Index: 5, Name: "GPU"}
	for _, tc := range []struct {
		picked []Device
		count  int
		gib    int64
		want   string
	}{
		{nil, 0, 0, ""},
		{nil, 1, 0, "the task needs a GPU, and the run would have none; choose some with --gpus, or run it on a machine that has them"},
		{[]Device{a}, 1, 40, ""},
		{[]Device{a, c}, 2, 40, ""},
		{[]Device{a, c}, 1, 80, ""},
		{[]Device{a, c}, 2, 80, "the task needs 2 GPUs with 80 GiB each, and the run would have: 0 NVIDIA A100 40 GiB, 2 NVIDIA A100 80 GiB; choose others with --gpus"},
		{[]Device{a}, 0, 80, "the task needs a GPU with 80 GiB, and the run would have: 0 NVIDIA A100 40 GiB; choose others with --gpus"},
		{[]Device{unknown}, 1, 80, ""},
	} {
		got := ""
		if err := Check(tc.picked, tc.count, tc.gib*testGiB); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%d with %d GiB of %s:\n%q\nwant\n%q", tc.count, tc.gib, idsOf(tc.picked), got, tc.want)
		}
	}
}
