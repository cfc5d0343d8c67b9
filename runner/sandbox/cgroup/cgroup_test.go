package cgroup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake builds a machine below a directory: mounts and our own paths as the
// kernel tells them, and files as it makes them with each group.
func fake(t *testing.T, mountinfo, own string) (*Host, string) {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "proc/self/mountinfo"), mountinfo)
	put(t, filepath.Join(root, "proc/self/cgroup"), own)
	if err := os.MkdirAll(filepath.Join(root, "proc/self/ns"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pid:[77]", filepath.Join(root, "proc/self/ns/pid")); err != nil {
		t.Fatal(err)
	}
	h, err := detect(root)
	if err != nil {
		t.Fatal(err)
	}
	h.mkdir = func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		files := map[string]string{"cgroup.procs": ""}
		parent := filepath.Dir(dir)
		switch {
		case slices.Contains(h.v2, parent):
			files["cgroup.controllers"] = strings.ReplaceAll(readFile(filepath.Join(parent, "cgroup.subtree_control")), "+", " ")
			for _, f := range []string{"cgroup.freeze", "cgroup.events", "cgroup.kill", "memory.max", "memory.swap.max", "cpu.max", "pids.max"} {
				files[f] = ""
			}
		default:
			for _, f := range []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "cpu.cfs_quota_us", "pids.max", "freezer.state"} {
				files[f] = ""
			}
		}
		for name, content := range files {
			put(t, filepath.Join(dir, name), content)
		}
		return nil
	}
	return h, root
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

const (
	pureV2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	hybrid = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
37 31 0:34 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
	container = "700 600 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
)

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		mounts, own string
		v2          string // our directory and its parents
		memory, cpu string
	}{
		"v2": {pureV2, "0::/user.slice/user-1000.slice/app.slice/x.scope\n",
			"/sys/fs/cgroup/user.slice/user-1000.slice/app.slice/x.scope /sys/fs/cgroup/user.slice/user-1000.slice/app.slice " +
				"/sys/fs/cgroup/user.slice/user-1000.slice /sys/fs/cgroup/user.slice /sys/fs/cgroup", "", ""},
		"hybrid": {hybrid, "4:memory:/job/1\n3:cpu,cpuacct:/\n9:name=systemd:/\n0::/\n",
			"/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory/job/1", "/sys/fs/cgroup/cpu,cpuacct"},
		"a part of v2":                  {container, "0::/docker/abc/inner\n", "/sys/fs/cgroup/inner /sys/fs/cgroup", "", ""},
		"namespaced":                    {container, "0::/\n", "/sys/fs/cgroup", "", ""},
		"outside of the namespace":      {pureV2, "0::/../../sibling\n", "/sys/fs/cgroup", "", ""},
		"a mount point with characters": {strings.Replace(pureV2, "/sys/fs/cgroup", `/cg\040x`, 1), "0::/\n", "/cg x", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := fake(t, c.mounts, c.own)
			strip := func(path string) string { return strings.TrimPrefix(path, root) }
			var v2 []string
			for _, dir := range h.v2 {
				v2 = append(v2, strip(dir))
			}
			if got := strings.Join(v2, " "); got != c.v2 {
				t.Errorf("v2:\ngot  %s\nwant %s", got, c.v2)
			}
			if got := strip(h.v1["memory"]); got != c.memory {
				t.Errorf("memory: %s", got)
			}
			if got := strip(h.v1["cpu"]); got != c.cpu {
				t.Errorf("cpu: %s", got)
			}
		})
	}
	if _, err := detect(t.TempDir()); err == nil {
		t.Error("detected without procfs")
	}
}

func FuzzParseMount(f *testing.F) {
	for line := range strings.Lines(pureV2 + hybrid + container) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parseMount(line); ok && m.version != 1 && m.version != 2 {
			t.Errorf("%+v", m)
		}
	})
}

// On version 2 a group is made where it has the controllers: not below our
// own group, which holds processes, but beside it.
func TestVersion2(t *testing.T) {
	h, root := fake(t, pureV2, "0::/app.slice/x.scope\n")
	top := filepath.Join(root, "sys/fs/cgroup")
	for dir, enabled := range map[string]string{"": "cpu memory pids io", "app.slice": "cpu memory pids io", "app.slice/x.scope": ""} {
		put(t, filepath.Join(top, dir, "cgroup.procs"), "")
		put(t, filepath.Join(top, dir, "cgroup.controllers"), "cpu memory pids io hugetlb")
		put(t, filepath.Join(top, dir, "cgroup.subtree_control"), enabled)
		if enabled == "" { // as the kernel refuses a group with processes
			os.Chmod(filepath.Join(top, dir, "cgroup.subtree_control"), 0o444)
			if os.Geteuid() == 0 { // whom modes do not stop
				os.Remove(filepath.Join(top, dir, "cgroup.subtree_control"))
			}
		}
	}
	g, err := h.Make("run 1/x", "memory")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(g.v2) != filepath.Join(top, "app.slice") || len(g.v1) != 0 {
		t.Errorf("made at %s", g.v2)
	}
	if !strings.HasSuffix(g.v2, "-run-1-x") {
		t.Errorf("name: %s", g.v2)
	}
	if left, _ := filepath.Glob(filepath.Join(top, "app.slice/x.scope/proctor-*")); len(left) > 0 {
		t.Logf("tried and left: %v (a real kernel's rmdir takes the files along)", left)
	}
	if got := g.Limit(1<<30, 1.5, 100); !slices.Equal(got, []string{"memory", "cpu", "pids"}) {
		t.Errorf("limits: %v", got)
	}
	for file, want := range map[string]string{"memory.max": "1073741824", "memory.swap.max": "0", "cpu.max": "150000 100000", "pids.max": "100"} {
		if got := readFile(filepath.Join(g.v2, file)); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	put(t, filepath.Join(g.v2, "cpu.stat"), "usage_usec 1500000\nuser_usec 1\n")
	put(t, filepath.Join(g.v2, "memory.current"), "1000000\n")
	put(t, filepath.Join(g.v2, "memory.stat"), "anon 5\ninactive_file 400000\n")
	put(t, filepath.Join(g.v2, "memory.events"), "low 0\noom 3\noom_kill 2\n")
	put(t, filepath.Join(g.v2, "io.stat"), "8:0 rbytes=100 wbytes=20 rios=1\n8:16 rbytes=1 wbytes=2\n")
	put(t, filepath.Join(g.v2, "cgroup.procs"), "10\n0\n11\n")
	if got, want := g.Usage(), (Usage{1.5, 600000, 2, 101, 22, 2}); got != want {
		t.Errorf("usage: %+v, want %+v", got, want)
	}
	if got := g.Freezer(); got != "cgroup v2" {
		t.Errorf("freezer: %q", got)
	}
	put(t, filepath.Join(g.v2, "cgroup.events"), "populated 1\nfrozen 1\n")
	if err := g.Freeze(t.Context()); err != nil || readFile(filepath.Join(g.v2, "cgroup.freeze")) != "1" {
		t.Errorf("freeze: %v", err)
	}
	put(t, filepath.Join(g.v2, "cgroup.events"), "populated 1\nfrozen 0\n")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := g.Freeze(ctx); err == nil || readFile(filepath.Join(g.v2, "cgroup.freeze")) != "0" {
		t.Errorf("a freeze that does not come about: %v", err)
	}
}

// On a hybrid, version 2 freezes and version 1 limits; only the hierarchies
// that are wanted are used.
func TestHybrid(t *testing.T) {
	h, root := fake(t, hybrid, "4:memory:/job\n3:cpu,cpuacct:/\n0::/\n")
	top := filepath.Join(root, "sys/fs/cgroup")
	put(t, filepath.Join(top, "unified/cgroup.procs"), "")
	put(t, filepath.Join(top, "unified/cgroup.controllers"), "hugetlb")
	put(t, filepath.Join(top, "memory/job/cgroup.procs"), "")
	for _, dir := range []string{"cpu,cpuacct", "pids", "freezer"} {
		put(t, filepath.Join(top, dir, "cgroup.procs"), "")
	}
	g, err := h.Make("x", "memory", "cpu")
	if err != nil {
		t.Fatal(err)
	}
	if g.Freezer() != "cgroup v2" || len(g.v1) != 2 || filepath.Dir(g.v1["memory"]) != filepath.Join(top, "memory/job") {
		t.Errorf("group: %+v", g)
	}
	if got := g.Limit(1<<20, 0.5, 9); !slices.Equal(got, []string{"memory", "cpu"}) {
		t.Errorf("limits: %v", got)
	}
	if got := readFile(filepath.Join(g.v1["cpu"], "cpu.cfs_quota_us")); got != "50000" {
		t.Errorf("quota: %q", got)
	}
	if err := g.Add(4711, false); err != nil {
		t.Fatal(err)
	}
	for _, dir := range g.dirs() {
		if got := readFile(filepath.Join(dir, "cgroup.procs")); got != "4711" {
			t.Errorf("%s: %q", dir, got)
		}
	}
	// Without version 2, version 1 freezes.
	h.v2 = nil
	if g, err = h.Make("y"); err != nil || g.Freezer() != "cgroup v1" || g.FreezerState() == "" {
		t.Errorf("v1: %+v, %v", g, err)
	}
}

func TestNothingMayBeMade(t *testing.T) {
	h, _ := fake(t, pureV2, "0::/x\n")
	if _, err := h.Make("x"); err == nil || !strings.Contains(err.Error(), "control groups") {
		t.Errorf("error: %v", err)
	}
	var g *Group
	if g.Limit(1, 1, 1) != nil || g.Freezer() != "" || g.Kill(t.Context()) != nil || g.Remove(t.Context()) != nil || g.Usage().Pids != -1 {
		t.Error("a nil group does something")
	}
	if _, err := g.Pids(); err == nil {
		t.Error("a nil group has processes")
	}
}

// Only the group of a supervisor that is gone for certain is an orphan.
func TestOrphaned(t *testing.T) {
	h, _ := fake(t, pureV2, "0::/\n")
	mine, err := h.fullName("x")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		mine: false,
		fmt.Sprintf("proctor-77-%d-1-x", os.Getpid()): true, // the id was reused
		"proctor-77-999999999-1-x":                    true,
		"proctor-78-999999999-1-x":                    false, // of another pid namespace
		"proctor-x":                                   false,
		"docker-77-999999999-1-x":                     false,
		"proctor-77-abc-1-x":                          false,
	} {
		if got := h.orphaned(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
