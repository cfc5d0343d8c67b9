package cgroup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// real returns this machine's hierarchies where groups may be made, without
// version 2 if only version 1's are to be used.
func real(t *testing.T, v1 bool) *Host {
	t.Helper()
	h, err := Detect()
	if err != nil {
		t.Skip(err)
	}
	if v1 {
		if h.v1["freezer"] == "" {
			t.Skip("no version 1 freezer here")
		}
		h.v2 = nil
	}
	return h
}

func group(t *testing.T, h *Host, want ...string) *Group {
	t.Helper()
	g, err := h.Make(fmt.Sprintf("%s-%d", t.Name(), time.Now().UnixNano()), want...)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.Kill(ctx); err != nil {
			t.Error(err)
		}
		if err := g.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return g
}

// child runs a script inside the group, in which it already is when it
// starts.
func child(t *testing.T, g *Group, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", "read -r go; "+script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if err := g.Add(cmd.Process.Pid, false); err != nil {
		t.Skip(err)
	}
	fmt.Fprintln(in, "go")
	return cmd
}

func size(path string) int64 {
	fi, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return fi.Size()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if poll(ctx, ok) != nil {
		t.Fatalf("never happened: %s", what)
	}
}

func TestFreezeThawKill(t *testing.T) {
	for _, v1 := range []bool{false, true} {
		t.Run(fmt.Sprintf("v1=%v", v1), func(t *testing.T) {
			g := group(t, real(t, v1))
			t.Log(g.Freezer())
			file := filepath.Join(t.TempDir(), "count")
			cmd := child(t, g, "setsid sh -c 'while :; do echo >>"+file+"; done' & while :; do (exec true); done")
			eventually(t, "it counts", func() bool { return size(file) > 10 })
			if err := g.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := size(file)
			time.Sleep(50 * time.Millisecond) // long for a process that runs
			if after := size(file); after != before {
				t.Errorf("frozen, it counted from %d to %d", before, after)
			}
			if err := g.Thaw(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it goes on", func() bool { return size(file) > before })
			if u := g.Usage(); u.Pids < 2 {
				t.Errorf("usage: %+v", u)
			}
			// Frozen again, to be killed so: a v1 freezer must be thawed.
			if err := g.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := g.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			if pids, err := g.Pids(); len(pids) != 0 || err != nil {
				t.Errorf("left after the kill: %v, %v", pids, err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, v1 := range []bool{false, true} {
		t.Run(fmt.Sprintf("v1=%v", v1), func(t *testing.T) {
			g := group(t, real(t, v1), "memory", "cpu", "pids")
			got := strings.Join(g.Limit(64<<20, 0.5, 20), " ")
			if got != strings.Join(g.Limits(), " ") {
				t.Errorf("could cap %v, capped %s", g.Limits(), got)
			}
			if strings.Contains(got, "pids") {
				cmd := child(t, g, "i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done 2>/dev/null; exit 0")
				cmd.Wait()
				if pids, _ := g.Pids(); len(pids) == 0 || len(pids) > 20 {
					t.Errorf("%d processes", len(pids))
				}
				if err := g.Kill(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(got, "memory") {
				err := child(t, g, "exec head -c 300000000 /dev/zero | tail -c 200000000 >/dev/null").Wait()
				if u := g.Usage(); err == nil && u.OOMKills == 0 {
					t.Errorf("200 MB in 64 MiB: %+v", u)
				}
			}
		})
	}
}

// The next supervisor ends and removes what one that crashed has left.
func TestSweep(t *testing.T) {
	h := real(t, false)
	g := group(t, h, "pids")
	var dirs []string
	orphan := &Group{v1: map[string]string{}}
	name := strings.Replace(filepath.Base(g.dirs()[0]), fmt.Sprintf("-%d-", os.Getpid()), "-999999999-", 1)
	for _, dir := range g.dirs() {
		left := filepath.Join(filepath.Dir(dir), name)
		if err := os.Mkdir(left, 0o755); err != nil {
			t.Skip(err)
		}
		dirs = append(dirs, left)
		if dir == g.v2 {
			orphan.v2 = left
		} else {
			orphan.v1[left] = left
		}
	}
	cmd := child(t, orphan, "exec sleep 1000")
	if orphan.Freezer() != "" {
		if err := orphan.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	h.sweep()
	cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("the orphan ended with %v", cmd.ProcessState)
	}
	h.sweep() // its remains were busy until we reaped it
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
}
