package needs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"proctor/runner/gpu"
	"proctor/runner/sandbox"
	"proctor/tasks"
)

// script writes a program, and fails the test when that cannot be.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func box(targets bool) sandbox.Kind {
	return sandbox.Kind{Name: "box", Probe: func(context.Context) sandbox.Probe {
		return sandbox.Probe{OK: true, Isolation: sandbox.Isolation{Targets: targets}}
	}}
}

func device(gib int64) gpu.Device {
	total := gib << 30
	return gpu.Device{Name: "H200", MemoryTotal: &total}
}

func TestWhatTasksLack(t *testing.T) {
	machine := Machine{Sandbox: box(false), GPUs: func(context.Context) ([]gpu.Device, error) { return []gpu.Device{device(40)}, nil }}
	for name, tc := range map[string]struct {
		task tasks.Task
		want []string // "!" before what stops a run
	}{
		"nothing":            {tasks.Task{}, nil},
		"data":               {tasks.Task{Missing: []string{"the data"}}, []string{"!the data"}},
		"a GPU":              {tasks.Task{Needs: tasks.Needs{GPUs: 1, GPUMemory: 40 << 30}}, nil},
		"GPU memory":         {tasks.Task{Needs: tasks.Needs{GPUs: 1, GPUMemory: 80 << 30}}, []string{"!a GPU with 80 GiB, and the run would have: 0 H200 40 GiB; choose others with --gpus"}},
		"GPUs":               {tasks.Task{Needs: tasks.Needs{GPUs: 2}}, []string{"!2 GPUs, and the run would have: 0 H200 40 GiB; choose others with --gpus"}},
		"memory":             {tasks.Task{Needs: tasks.Needs{MemoryBytes: 1 << 60}}, []string{"!1.07e+09 GiB of memory, this machine has"}},
		"a grader's mount":   {tasks.Task{Needs: tasks.Needs{Grading: tasks.Grading{Mounts: true}}}, []string{"cannot be graded here: it lacks a sandbox that shows the grader's files at paths of their own, which box cannot"}},
		"a program":          {tasks.Task{Needs: tasks.Needs{Grading: tasks.Grading{Commands: []string{"no-such-program-1", "no-such-program-2"}}}}, []string{"cannot be graded here: it lacks the program no-such-program-1 or no-such-program-2"}},
		"a program it has":   {tasks.Task{Needs: tasks.Needs{Grading: tasks.Grading{Commands: []string{"no-such-program-1", "sh"}}}}, nil},
		"a licence":          {tasks.Task{Needs: tasks.Needs{Terms: "the licence"}}, []string{"terms to accept: the licence"}},
		"several":            {tasks.Task{Missing: []string{"a", "b"}, Needs: tasks.Needs{GPUs: 2}}, []string{"!a", "!b", "!2 GPUs"}},
		"only its own words": {tasks.Task{Missing: []string{"x"}, Warnings: []string{"w"}}, []string{"!x"}},
	} {
		lacks := machine.Check(context.Background(), []*tasks.Task{{}, &tc.task})[1]
		if !matches(lacks, tc.want) {
			t.Errorf("%s: lacks %+v, want %q", name, lacks, tc.want)
		}
		stopped := slices.ContainsFunc(tc.want, func(w string) bool { return w[0] == '!' })
		if (len(Stopping(lacks)) > 0) != stopped || len(Stopping(lacks))+len(Remarks(lacks)) != len(tc.want) {
			t.Errorf("%s: stops for %q, remarks on %q", name, Stopping(lacks), Remarks(lacks))
		}
		if ready := len(tc.want) == 0 || name == "a licence"; Ready(lacks) != ready {
			t.Errorf("%s: ready is %v", name, !ready)
		}
	}
}

func matches(lacks []Lack, want []string) bool {
	return slices.EqualFunc(lacks, want, func(l Lack, w string) bool {
		text, stops := strings.CutPrefix(w, "!")
		return l.Stops == stops && strings.HasPrefix(l.String(), text)
	})
}

func TestNoSandbox(t *testing.T) {
	m := Machine{Refused: errors.New("nothing isolates here")}
	if got := Stopping(m.Check(context.Background(), []*tasks.Task{{}})[0]); !slices.Equal(got, []string{"nothing isolates here"}) {
		t.Errorf("got %q", got)
	}
}

// Only what is asked for is looked at, and what cannot be looked at is not
// said to be missing.
func TestLooksOnlyWhereAsked(t *testing.T) {
	m := Machine{
		Sandbox: sandbox.Kind{Probe: func(context.Context) sandbox.Probe { t.Error("probed"); return sandbox.Probe{} }},
		GPUs:    func(context.Context) ([]gpu.Device, error) { t.Error("read"); return nil, nil },
	}
	if got := m.Check(context.Background(), []*tasks.Task{{}, {}}); len(got[0])+len(got[1]) > 0 {
		t.Errorf("got %+v", got)
	}
	m.GPUs = func(context.Context) ([]gpu.Device, error) { return nil, errors.New("the driver hangs") }
	if got := m.Check(context.Background(), []*tasks.Task{{Needs: tasks.Needs{GPUs: 1}}}); len(got[0]) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReadGPUs(t *testing.T) {
	for text, want := range map[string]string{
		`echo '{"at":"2026-11-21T10:00:00Z","devices":[{"index":0,"name":"H200"},{"index":1,"name":"H200"}]}'`: "2",
		`echo '{"at":"2026-11-21T10:00:00Z"}'; exit 3`:                                                         "0",
		"exit 1":     "error",
		"echo x":     "error",
		"sleep 1000": "error",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		if strings.HasPrefix(text, "sleep") {
			cancel()
		}
		devices, err := ReadGPUs(script(t, "gpu", text))(ctx)
		got := string(rune('0' + len(devices)))
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %v, %v", text, devices, err)
		}
		cancel()
	}
}

func TestKinds(t *testing.T) {
	lacks := []Lack{{Kind: Module}, {Kind: Data}, {Kind: Module}, {Kind: GPU}}
	if got := Kinds(lacks); got != "Python modules, data, a GPU" {
		t.Errorf("got %q", got)
	}
}

func TestInsist(t *testing.T) {
	lacks := []Lack{stops(Module, "m"), stops(Data, "d"), stops(GPU, "g"), stops(Memory, "b")}
	if got := Stopping(Insist(lacks)); !slices.Equal(got, []string{"d", "g"}) {
		t.Errorf("still stops for %q", got)
	}
	if !lacks[0].Stops {
		t.Error("what was given is changed")
	}
}
