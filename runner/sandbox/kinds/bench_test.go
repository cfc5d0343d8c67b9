package kinds

import (
	"testing"
	"time"

	"proctor/runner/sandbox"
)

// BenchmarkOpen measures a sandbox's start, one command, and its end.
func BenchmarkOpen(b *testing.B) {
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			kindNamed(b, k.Name)
			var up, command, down time.Duration
			for b.Loop() {
				t0 := time.Now()
				s, err := k.Open(b.Context(), spec(b))
				if err != nil {
					b.Fatal(err)
				}
				t1 := time.Now()
				run(b, s, sandbox.Command{Argv: []string{"true"}})
				t2 := time.Now()
				s.Close()
				up, command, down = up+t1.Sub(t0), command+t2.Sub(t1), down+time.Since(t2)
			}
			for name, d := range map[string]time.Duration{"open": up, "command": command, "close": down} {
				b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), name+"-ms")
			}
		})
	}
}

// BenchmarkFlood measures what a terminal carries, and what 1 GiB of it
// leaves behind here.
func BenchmarkFlood(b *testing.B) {
	s := open(b, kindNamed(b, All()[0].Name), spec(b))
	b.SetBytes(1 << 30)
	var grown int64
	for b.Loop() {
		grown = max(grown, flood(b, s, 1<<30))
	}
	b.ReportMetric(float64(grown), "heap-bytes")
}
