package terminal

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
)

// The kinds of output that benchmarks write, a few MB each.
var streams = []struct {
	name string
	make func(b *bytes.Buffer, r *rand.Rand)
}{
	{"plain", func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "epoch %d: the quick brown fox jumps over the lazy dog, loss %.6f\r\n", r.Intn(100), r.Float64())
	}},
	{"ansi", func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "\x1b[2m10:33:%02d\x1b[0m \x1b[1;32mINFO\x1b[0m step \x1b[36m%d\x1b[0m loss=\x1b[38;2;200;100;%dm%.5f\x1b[0m lr=3e-4\r\n",
			r.Intn(60), r.Intn(100_000), r.Intn(256), r.Float64())
	}},
	{"tqdm", func(b *bytes.Buffer, r *rand.Rand) {
		n := r.Intn(40)
		fmt.Fprintf(b, "\r%3d%%|%s%-*s| %d/1000 [00:12<00:30, %.2fit/s]\x1b[K", n*100/40, strings.Repeat("█", n), 40-n, "▏", n*25, r.Float64()*100)
	}},
	{"full", func(b *bytes.Buffer, r *rand.Rand) {
		b.WriteString("\x1b[?2026h\x1b[H")
		for y := range 40 {
			fmt.Fprintf(b, "\x1b[%d;1H\x1b[48;5;%dm\x1b[1m%5d\x1b[22m %-20s \x1b[32m%5.1f%%\x1b[m\x1b[K", y+1, r.Intn(256), r.Intn(99999), "python train.py", r.Float64()*100)
		}
		b.WriteString("\x1b[?2026l")
	}},
	{"unicode", func(b *bytes.Buffer, r *rand.Rand) {
		b.WriteString([]string{"訓練ステップ ", "損失 ", "✓ done → ", "naïve é ", "Größe "}[r.Intn(5)])
		if r.Intn(8) == 0 {
			b.WriteString("👍🏽 e\u0301\r\n")
		}
	}},
}

func stream(name string, size int) []byte {
	r := rand.New(rand.NewSource(1))
	for _, s := range streams {
		if s.name == name {
			var b bytes.Buffer
			for b.Len() < size {
				s.make(&b, r)
			}
			return b.Bytes()
		}
	}
	panic(name)
}

func BenchmarkWrite(b *testing.B) {
	for _, s := range streams {
		in := stream(s.name, 4<<20)
		b.Run(s.name, func(b *testing.B) {
			term := New(120, 40)
			write(term, "\x1b[2J")
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := term.Write(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkObserver(b *testing.B) {
	for _, s := range streams {
		in := stream(s.name, 4<<20)
		b.Run(s.name, func(b *testing.B) {
			o := NewObserver(120, 10_000, 20_000)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := o.Write(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRender(b *testing.B) {
	for _, s := range streams {
		b.Run(s.name, func(b *testing.B) {
			term := New(120, 40)
			write(term, string(stream(s.name, 1<<20)))
			for b.Loop() {
				term.Render(term.Lines()-40, 40, 120)
			}
		})
	}
}

func BenchmarkDump(b *testing.B) {
	term := New(120, 40)
	write(term, string(stream("ansi", 1<<20)))
	for b.Loop() {
		term.Dump()
	}
}

func BenchmarkClean(b *testing.B) {
	in := string(stream("ansi", 1<<20))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		Clean(in)
	}
}

// BenchmarkAgainstTmux writes the same stream to a terminal and to tmux and
// reports the ratio. What tmux needs to drain its pipe is part of its time.
func BenchmarkAgainstTmux(b *testing.B) {
	for _, name := range []string{"plain", "ansi", "tqdm", "full"} {
		b.Run(name, func(b *testing.B) {
			m := newTmux(b, 120, 40)
			in := stream(name, 16<<20)
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				m.write(bytes.Clone(in))
				theirs += time.Since(start)

				term := New(120, 40)
				start = time.Now()
				if _, err := term.Write(in); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
			}
			total := float64(len(in)) * float64(b.N) / 1e6
			b.ReportMetric(total/ours.Seconds(), "MB/s")
			b.ReportMetric(total/theirs.Seconds(), "tmux-MB/s")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-tmux")
		})
	}
}
