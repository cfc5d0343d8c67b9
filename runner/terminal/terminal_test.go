package terminal

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// TestConcurrentUse reads while a flood is written.
func TestConcurrentUse(t *testing.T) {
	term := New(80, 24)
	in := stream("ansi", 1<<20)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				term.Version()
				for _, line := range term.Render(max(0, term.Lines()-24), 24, 80) {
					if !strings.HasSuffix(line, sgrReset) {
						t.Errorf("line without a reset: %q", line)
					}
				}
				term.Text(0, 5)
				term.Dump()
				term.Replies()
				term.Cursor()
				term.EncodeKey(Key{Name: "up"})
			}
		})
	}
	for i := range 4 {
		_, _ = term.Write(in)
		term.Resize(80-i, 24-i)
	}
	close(done)
	readers.Wait()
	checkInvariants(t, term)
}

// TestVersion checks that what is visible has a version of its own, and that a
// program can hold it, but not for long.
func TestVersion(t *testing.T) {
	term := New(10, 4)
	now := time.Unix(0, 0)
	term.now = func() time.Time { return now }
	last := term.Version()
	step := func(name, in string, changes bool) {
		t.Helper()
		write(term, in)
		v := term.Version()
		if (v != last) != changes {
			t.Errorf("%s: version %d after %d, want a change: %v", name, v, last, changes)
		}
		last = v
	}
	step("text", "a", true)
	step("nothing", "", false)
	step("cursor", "\x1b[H", true)
	step("half a sequence", "\x1b[3", false)
	step("its other half", "1m", true)
	step("a query", "\x1b[>c", false)
	step("clipboard", "\x1b]52;c;aGk=\a", false)
	step("title", "\x1b]0;t\a", true)
	step("hold", "\x1b[?2026h", false)
	step("held text", "b", false)
	step("release", "\x1b[?2026l", true)
	step("hold again", "\x1b[?2026hc", false)
	now = now.Add(syncHold)
	step("held for too long", "", true)
	step("text after that", "d", true)
	before := term.Version()
	term.Resize(5, 5)
	if term.Version() == before {
		t.Error("a resize is no new version")
	}
}
