package local

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// A transcript passes the sandbox's own trouble on and keeps its beginning
// for the error that it explains.
type transcript struct {
	to io.Writer

	mu    sync.Mutex
	first bytes.Buffer
}

const transcriptKeep = 2 << 10

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := transcriptKeep - t.first.Len(); room > 0 {
		t.first.Write(b[:min(room, len(b))])
	}
	if t.to != nil {
		t.to.Write(b) // a full disk must not stop the sandbox
	}
	return len(b), nil
}

func (t *transcript) printf(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// said returns what was written first, on one line.
func (t *transcript) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.FieldsFunc(t.first.String(), func(r rune) bool { return r == '\n' }), "; ")
}
