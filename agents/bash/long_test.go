//go:build unix

package bash

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

// TestLongRun is a run of many steps: its requests and the memory that it
// holds do not grow with them. PROCTOR_TEST_LONG=1 makes it 1,000 steps.
func TestLongRun(t *testing.T) {
	steps := 150
	if os.Getenv("PROCTOR_TEST_LONG") != "" {
		steps = 1000
	}
	var first, last, recorded, early int64
	var largest [2]int // request in the first and in the second half
	tr := newTrial(t, func(n int, r scripted.Request) scripted.Turn {
		switch n {
		case steps / 2:
			first, early = heap(), recorded
		case steps:
			last = heap() - (recorded - early) // what the server itself keeps
		}
		half := min(1, 2*n/steps)
		largest[half] = max(largest[half], len(r.Body))
		recorded += int64(len(r.Body))
		switch n {
		case steps:
			return write
		case steps + 1:
			return finish
		}
		turn := shell(fmt.Sprintf("seq %d %d # step", 100*n, 100*n+300))
		turn.Usage = &wire.Usage{Input: int64(len(r.Body)) / 3, Output: 20}
		return turn
	})
	tr.model.Context, tr.model.MaxOutput = 8192, 1024
	tr.ok(t)
	if got := len(tr.Actions); got != steps+1 {
		t.Fatalf("%d actions", got)
	}
	if len(tr.Notes) < 3 || len(tr.Notes) > steps/3 {
		t.Errorf("compacted %d times in %d steps", len(tr.Notes), steps)
	}
	if largest[1] > largest[0]*5/4 {
		t.Errorf("requests grew from %d to %d bytes", largest[0], largest[1])
	}
	// The test's host keeps each action and its output, some 4 KiB.
	if grown := last - first; grown > int64(steps)*8<<10/2+2<<20 {
		t.Errorf("memory grew by %d KiB from step %d to %d", grown>>10, steps/2, steps)
	}
	t.Logf("%d steps: heap %d KiB at half, %d KiB at the end; compacted %d times; largest request %d bytes",
		steps, first>>10, last>>10, len(tr.Notes), largest[1])
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
