//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"proctor/runner/event"
	"proctor/runner/gpu"
	"proctor/tasks"
)

// A driver is a stand-in for NVIDIA's library, with what goes wrong with it.
type driver struct {
	dir string
	env []string
}

// driver compiles the stand-in. It has eight GPUs, and finds a run's
// processes by a word in their command lines, as the host sees them.
func (u *user) driver(flags []string, env ...string) driver {
	u.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		u.without("no C compiler to build a stand-in for the driver: " + err.Error())
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		u.without("the program under test is built without cgo, so it loads no driver")
	}
	args := append(flags, "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1",
		"-o", u.path("libnvidia-ml.so.1"), filepath.Join("..", "runner", "gpu", "collect", "testdata", "nvml.c"))
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		u.Fatalf("compiling the stand-in: %v\n%s", err, out)
	}
	u.configure("[gpu]\nsample = \"200ms\"\n")
	return driver{u.root, env}
}

// without skips a test that lacks a program, or fails it where all must be.
func (u *user) without(reason string) {
	u.Helper()
	if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
		u.Fatal(reason)
	}
	u.Skip(reason)
}

// train is a starter whose process of some seconds is known by its user's
// directory, so that tests beside each other do not see each other's.
func (u *user) train(seconds string) string {
	return "sh -c 'sleep " + seconds + "; :' " + u.worker() + "\n" + writeNumber
}

func (u *user) worker() string { return "gpu-worker-" + filepath.Base(u.root) }

// onGPUs runs a task to its end with the stand-in; before is what the program
// is run through.
func (u *user) onGPUs(d driver, k task, before []string, args ...string) (result, []event.Event) {
	u.Helper()
	u.needBox("bwrap")
	line := append(before, "env", "LD_LIBRARY_PATH="+d.dir, "NVML_OURS=@"+u.worker(), "NVML_OTHERS=1")
	line = append(append(line, d.env...), program, "run", u.task(k), "--agent", "baseline", "--sandbox", "bwrap", "--headless", "--json")
	r := u.startFile(line[0], append(line[1:], args...)...).wait()
	return r, parseEvents(u, r.out)
}

// readingsOf returns what the log has of a device.
func readingsOf(t testing.TB, events []event.Event, id string) []gpu.Reading {
	t.Helper()
	var all []gpu.Reading
	for _, e := range only[gpu.Event](t, events, event.TypeGPU) {
		for _, r := range e.Readings {
			if r.ID == id {
				all = append(all, r)
			}
		}
	}
	return all
}

// A run beside strangers on a machine on which a GPU is divided and another
// is lost after ten samples.
func TestGPUsOfARun(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	res, events := u.onGPUs(u.driver(nil, "NVML_MIG=7", "NVML_LOST=3:10"), task{starter: u.train("4")}, nil, "--gpu-hours", "1")
	if res.code != 0 {
		t.Fatalf("exit status %d: %s", res.code, res.err)
	}
	texts := func(id string, total int64) map[string]bool {
		seen := map[string]bool{}
		for _, r := range readingsOf(t, events, id) {
			s := r.Share(total << 30)
			seen[s.UtilizationText()+" · "+s.MemoryText()+" · "+r.Err] = true
		}
		return seen
	}
	for id, want := range map[string]string{
		"0":   "87 %, this run 85 %, others 2 % · 61 of 80 GiB, this run 58 · ",
		"1":   "10 %, this run 10 % · 1.0 of 80 GiB, this run 1.0 · ",
		"2":   "20 %, this run 0 %, others 20 % · 2.0 of 80 GiB, this run 0 · ",
		"7:0": "n/a · 7.0 of 80 GiB, this run 1.0 · ",
	} {
		if seen := texts(id, 80); !seen[want] {
			t.Errorf("GPU %s is never %q, but %v", id, want, seen)
		}
	}
	lost := readingsOf(t, events, "3")
	if first, last := lost[0], lost[len(lost)-1]; first.Err != "" || !strings.Contains(last.Err, "lost") {
		t.Errorf("GPU 3 is at first %q, at last %q", first.Err, last.Err)
	}
	s := fold(events)
	if use := s.Actions[0].GPU; use == nil || !strings.Contains(use.String(), "GPU 0 ran at 85 %") || use.Devices[0].PeakMemory != 58<<10 {
		t.Errorf("the action's use of the GPUs: %+v", use)
	}
	// Four seconds on GPU 0, on GPU 1 and on an instance of GPU 7.
	if v := verdict(t, s); v.Status != tasks.Graded || v.GPUHours < 9.0/3600 || v.GPUHours > 60.0/3600 {
		t.Errorf("verdict %s with %v GPU-hours", v.Status, v.GPUHours)
	}
}

// The budget of GPU-hours ends an action that goes on.
func TestGPUHoursEndARun(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	res, events := u.onGPUs(u.driver(nil), task{starter: writeNumber + u.train("60")}, nil, "--gpu-hours", "0.0005")
	limits := only[event.Budget](t, events, event.TypeBudget)
	if n := len(limits); res.code != 0 || n == 0 || limits[n-1].What != "hard" || limits[n-1].Dimension != event.GPUHours {
		t.Fatalf("exit status %d, limits %+v: %s", res.code, limits, res.err)
	}
	if v := verdict(t, fold(events)); v.Status != tasks.Graded || v.GPUHours < 0.0005 {
		t.Errorf("verdict %+v", v)
	}
}

// Whatever the driver does, the run goes on and ends in time.
func TestGPUDriverFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags, env []string
		recovers   bool
		says       string
	}{
		"a call hangs":         {env: []string{"NVML_HANG=3"}},
		"the driver is gone":   {env: []string{"NVML_RELOAD=3"}, recovers: true, says: "unloaded"},
		"it ends its process":  {flags: []string{"-DDAMAGED"}, says: "undefined symbol"},
		"it is not loaded":     {env: []string{"NVML_INIT=9"}},
		"it does not match it": {env: []string{"NVML_INIT=18"}, says: "different versions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			res, events := u.onGPUs(u.driver(tc.flags, tc.env...), task{starter: u.train("5")}, nil)
			if v := verdict(t, fold(events)); res.code != 0 || v.WorkingSeconds < 4.5 || v.WorkingSeconds > 40 {
				t.Errorf("exit status %d after %v s: %s", res.code, v.WorkingSeconds, res.err)
			}
			var errs, back int
			for _, e := range only[gpu.Event](t, events, event.TypeGPU) {
				switch {
				case e.Err != "":
					contains(t, e.Err, tc.says)
					errs++
				case errs > 0 && len(e.Readings) > 0:
					back++
				}
			}
			if tc.recovers && back == 0 {
				t.Errorf("there are no readings after %d errors", errs)
			}
			if most := 1 + back; errs > most || tc.says != "" && errs == 0 {
				t.Errorf("the log has the error %d times", errs)
			}
			if pid := processWith(func(argv []string) bool { return strings.Contains(strings.Join(argv, " "), u.worker()) }); pid != 0 {
				t.Errorf("process %d of the run is left", pid)
			}
		})
	}
}

// A machine's device nodes are files here, in a place of their own.
func TestGPUsGiven(t *testing.T) {
	t.Parallel()
	look := "env | grep CUDA_V >env.txt; ls /dev/nvidia* >nodes.txt 2>&1\n" + writeNumber
	for _, tc := range []struct {
		gpus, env, nodes string
	}{
		{"0,2", "CUDA_VISIBLE_DEVICES=0,1\n", "/dev/nvidia-uvm\n/dev/nvidia5\n/dev/nvidia7\n/dev/nvidiactl\n"},
		{"2", "CUDA_VISIBLE_DEVICES=0\n", "/dev/nvidia-uvm\n/dev/nvidia5\n/dev/nvidiactl\n"},
		{"none", "CUDA_VISIBLE_DEVICES=\n", ""},
	} {
		t.Run(tc.gpus, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.needBox("bwrap")
			machine := []string{"bwrap", "--bind", "/", "/", "--dev", "/dev"}
			for _, node := range []string{"nvidia0", "nvidia5", "nvidia7", "nvidiactl", "nvidia-uvm"} {
				machine = append(machine, "--bind", write(t, u.path("dev", node), ""), "/dev/"+node)
			}
			if out, err := exec.Command(machine[0], append(machine[1:], program, "doctor")...).CombinedOutput(); !strings.Contains(string(out), "bwrap") {
				u.without("no machine of its own for the test: " + string(out) + " " + err.Error())
			}
			res, _ := u.onGPUs(u.driver(nil), task{starter: look}, machine, "--gpus", tc.gpus)
			if res.code != 0 {
				t.Fatalf("exit status %d: %s", res.code, res.err)
			}
			w := u.newest().Workspace()
			if env, nodes := read(w+"/env.txt"), read(w+"/nodes.txt"); env != tc.env || tc.nodes != "" && nodes != tc.nodes || tc.nodes == "" && !strings.Contains(nodes, "No such file") {
				t.Errorf("the agent has %q and %q", env, nodes)
			}
		})
	}
}

// What a task needs is looked for before anything is started.
func TestGPUsNeeded(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	d := u.driver(nil)
	dir := u.task(task{})
	config := read(dir + "/task.toml")
	write(t, dir+"/task.toml", config+"\n[environment]\ngpus = 9\n")
	res := u.startFile("env", "LD_LIBRARY_PATH="+d.dir, program, "run", dir, "--agent", "baseline", "--sandbox", u.anyBox(), "--headless").wait()
	if res.code == 0 {
		t.Errorf("a task that needs nine GPUs was run on eight:\n%s", res.out)
	}
	contains(t, res.out+res.err, "9 GPUs, and the run would have", "0 NVIDIA Test 80GB 80 GiB", "--gpus")
	if ids, err := u.store().IDs(); err != nil || len(ids) > 0 {
		t.Errorf("there are runs %q, %v", ids, err)
	}
}
