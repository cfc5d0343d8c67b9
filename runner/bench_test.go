package runner

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"proctor/agents"
)

// BenchmarkFlood measures how fast a command can write to its terminal: all
// of it is recorded, searched for metrics, and rendered for the agent.
func BenchmarkFlood(b *testing.B) {
	const size = 64 << 20
	var stream bytes.Buffer
	for i := 0; stream.Len() < size; i++ {
		fmt.Fprintf(&stream, "\x1b[3%dmepoch %6d\x1b[0m loss %.6f  lr %.2e  grad %.4f  throughput %7.1f img/s  eta %4ds\n",
			i%8, i, 1/float64(i+1), 1e-3/float64(i%97+1), float64(i%89)/89, 900+float64(i%101), i%3600)
	}
	b.SetBytes(int64(stream.Len()))
	l := begin(b, func(ctx context.Context, s *agents.Session) error {
		if err := s.WriteFile("stream", stream.Bytes()); err != nil {
			return err
		}
		for b.Loop() {
			if o, err := s.Run(ctx, shell("cat stream")); err != nil || !o.Truncated {
				return errorf("cat: %+v, %v", o, err)
			}
		}
		return score(ctx, s, "0.5")
	})
	if s := l.ends(); s.Verdict == nil {
		b.Error(s.Reason)
	}
}
