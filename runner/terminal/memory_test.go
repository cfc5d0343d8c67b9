package terminal

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// liveHeap returns the memory in use after a collection.
func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestMemoryIsBounded compares memory after 10 MB with that after 100 MB, or 1 GB
// with PROCTOR_BENCH_LARGE=1 (20 MB under the race detector, which is slow).
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	large := 100_000_000
	switch {
	case os.Getenv("PROCTOR_BENCH_LARGE") == "1":
		large = 1_000_000_000
	case raceDetector:
		large = 20_000_000
	}
	for _, name := range []string{"ansi", "unicode"} {
		part := stream(name, 1_000_000)
		before := liveHeap()
		term := New(120, 40)
		o := NewObserver(120, 10_000, 20_000)
		var small uint64
		for written := 0; written < large; written += len(part) {
			if written > 10_000_000 && small == 0 {
				small = liveHeap() - before
			}
			_, _ = term.Write(part)
			if written%(10*len(part)) == 0 { // it is as fast, but one flood is enough
				_, _ = o.Write(part)
			}
		}
		end := liveHeap() - before
		t.Logf("%s: %.1f MB after 10 MB, %.1f MB after %d MB", name, float64(small)/1e6, float64(end)/1e6, large/1_000_000)
		if end > 2*small+1_000_000 {
			t.Errorf("%s: memory grew from %d to %d bytes", name, small, end)
		}
		runtime.KeepAlive(term)
		runtime.KeepAlive(o)
		runtime.KeepAlive(part)
	}
}

// TestFloodsOfOneKind writes many megabytes of what a careless emulator would
// keep: an endless title, ever new characters, ever wider lines.
func TestFloodsOfOneKind(t *testing.T) {
	term := New(120, 40)
	o := NewObserver(120, 1000, 1000)
	before := liveHeap()
	flood := func(s string) {
		_, _ = term.Write([]byte(s))
		_, _ = o.Write([]byte(s))
	}
	flood("\x1b]0;")
	for range 20 {
		flood(strings.Repeat("A", 1<<20))
	}
	flood("\a")
	for i := range 60_000 {
		flood(string(rune('a'+i%26)) + string(rune(0x300+i/26%60)) + string(rune(0x300+i/1560%60)) + string(rune(0x300+i/93600)))
	}
	flood(strings.Repeat("\x1b[4096b", 100))
	flood(strings.Repeat("a\u0301", 1<<16))
	flood(strings.Repeat("\x1b[999S", 1<<12))
	flood(strings.Repeat("\x1b[?1049h\x1b[?1049l", 1<<12))
	checkInvariants(t, term)
	checkObserved(t, o)
	if grown := int64(liveHeap()) - int64(before); grown > 32<<20 {
		t.Errorf("%d bytes kept", grown)
	}
}
