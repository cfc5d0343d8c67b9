package proc

import (
	"os"
	"os/exec"
	"testing"
)

func TestParseStat(t *testing.T) {
	line := "42 (a) b (c) S 7 42 40 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 12345 1000 3 184 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n"
	p, err := parseStat([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if p.PID != 42 || p.PPID != 7 || p.PGID != 42 || p.Session != 40 || p.State != 'S' {
		t.Errorf("got %+v", p)
	}
	if p.CPU.Seconds() != 1.0 {
		t.Errorf("CPU = %v, want 1s", p.CPU)
	}
	if p.RSS != int64(3*os.Getpagesize()) {
		t.Errorf("RSS = %d", p.RSS)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (init) S 0 1 1"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, b []byte) { parseStat(b) })
}

func TestDescendants(t *testing.T) {
	c := exec.Command("sh", "-c", "sleep 60 & sleep 60; true")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		all, err := List()
		if err != nil {
			t.Fatal(err)
		}
		if got := Descendants(all, c.Process.Pid); len(got) == 2 {
			for _, p := range got {
				if q, err := os.FindProcess(p.PID); err == nil {
					q.Kill()
				}
			}
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("children never appeared")
		}
	}
	c.Process.Kill()
	c.Wait()
}

func TestDescendantsOfALoop(t *testing.T) {
	// A torn read of the table may show a parent as its own descendant.
	all := []Process{{PID: 1, PPID: 2}, {PID: 2, PPID: 1}, {PID: 3, PPID: 2}}
	if got := Descendants(all, 1); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
}
