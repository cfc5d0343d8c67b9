package kinds

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/proc"
)

// startShapes starts counters, each a file that grows, in the shapes in
// which processes slip out of naive freezers' hands. It returns their names
// when all count.
func startShapes(t testing.TB, s sandbox.Sandbox, sp sandbox.Spec) []string {
	t.Helper()
	count := "while :; do echo >>%[1]s; done"
	shapes := map[string]string{
		"plain":  count,
		"setsid": "setsid sh -c '" + count + "' & wait",
		"daemon": "(setsid sh -c '(" + count + ") &' &); while ! test -s %[1]s; do :; done",
		"forks":  "while :; do (echo >>%[1]s; exec true); done",
		"jobs":   "set -m; sh -c '" + count + "' & sh -c '" + count + "' & wait",
		"deaf":   "trap '' TSTP TTIN TTOU HUP TERM INT CONT; " + count,
	}
	var names []string
	for name, script := range shapes {
		startSh(t, s, fmt.Sprintf(script, name))
		names = append(names, name)
	}
	for _, name := range names {
		eventually(t, name+" counts", func() bool { return counts(sp, []string{name})[0] >= 10 })
	}
	return names
}

func counts(sp sandbox.Spec, names []string) []int64 {
	var sizes []int64
	for _, name := range names {
		var size int64
		if fi, err := os.Stat(filepath.Join(sp.Workspace, name)); err == nil {
			size = fi.Size()
		}
		sizes = append(sizes, size)
	}
	return sizes
}

// A frozen command goes on where it was: it neither sees nor loses anything
// of its own.
func TestFrozenCommandGoesOnWhereItWas(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		p := start(t, s, sandbox.Command{Argv: []string{"sh", "-c", "read -r a; i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo $i; sleep 0.002; done; read -r b; echo $a$b"}})
		for _, input := range []string{"first\n", "second\n"} {
			if err := s.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Freeze(t.Context()); err != nil { // twice is once
				t.Fatal(err)
			}
			io.WriteString(p, input) // waits in the terminal
			if err := s.Thaw(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		out, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Fields(string(out))
		if got := lines[len(lines)-1]; got != "firstsecond" {
			t.Errorf("the last word is %q of %q", got, out)
		}
		for i := range 30 {
			if !strings.Contains(string(out), fmt.Sprintf("\n%d\r", i+1)) {
				t.Errorf("%d was never printed: %q", i+1, out)
			}
		}
		if exit, _ := p.Wait(); exit.Code != 0 {
			t.Errorf("exit %+v", exit)
		}
	})
}

// While frozen nothing new starts; the start happens at the thaw.
func TestStartWaitsForTheThaw(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		if err := s.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := s.Start(short, sandbox.Command{Argv: []string{"true"}}); err == nil {
			t.Error("started in a frozen sandbox")
		}
		started := make(chan error)
		go func() {
			p, err := s.Start(t.Context(), sandbox.Command{Argv: []string{"true"}})
			if err == nil {
				_, err = p.Wait()
			}
			started <- err
		}()
		if err := s.Thaw(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-started; err != nil {
			t.Error(err)
		}
	})
}

// A command that a person has stopped stays so through a freeze.
func TestThawKeepsWhatWasStopped(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		sp := spec(t)
		s := open(t, k, sp)
		startSh(t, s, "sh -c 'echo $$ >pid; while :; do echo >>stopped; done' & while ! test -s pid; do :; done; kill -STOP $(cat pid); while :; do echo >>runs; done")
		eventually(t, "one runs, one is stopped", func() bool {
			pids, _ := s.Pids()
			stopped := slices.ContainsFunc(pids, func(pid int) bool {
				p, err := proc.Read(pid)
				return err == nil && p.State == 'T'
			})
			return stopped && counts(sp, []string{"runs"})[0] > 0
		})
		before := counts(sp, []string{"stopped", "runs"})
		if err := s.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Thaw(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the other goes on", func() bool { return counts(sp, []string{"runs"})[0] > before[1]+100 })
		if now := counts(sp, []string{"stopped"}); now[0] != before[0] {
			t.Errorf("the stopped one went on from %d to %d", before[0], now[0])
		}
	})
}

// BenchmarkFreeze measures the time from the call to the last process
// standing still, under a loop that forks as fast as it can.
func BenchmarkFreeze(b *testing.B) {
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			kindNamed(b, k.Name)
			sp := spec(b)
			s := open(b, k, sp)
			b.Logf("freezer: %s", s.Isolation().Freezer)
			startShapes(b, s, sp)
			var worst, sum time.Duration
			for b.Loop() {
				began := time.Now()
				if err := s.Freeze(b.Context()); err != nil {
					b.Fatal(err)
				}
				d := time.Since(began)
				worst, sum = max(worst, d), sum+d
				if err := s.Thaw(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(b.N), "freeze-ms")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}
