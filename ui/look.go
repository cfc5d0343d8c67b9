package ui

import (
	"context"
	"io"
	"sync"

	"proctor/runner/watch"
)

// A lookout reads a source for one session. Closing it ends a Next that is
// waiting, and returns only when nothing reads the source any more.
type lookout struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	source watch.Source // nil once closed, and until it was opened
}

func newLookout(ctx context.Context) *lookout {
	l := &lookout{}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l
}

// open keeps the source that make returns, unless the session has been left.
func (l *lookout) open(make func(context.Context) (watch.Source, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	source, err := make(l.ctx)
	if err != nil {
		return err
	}
	if l.ctx.Err() != nil {
		_ = source.Close() // it was left before it opened
		return l.ctx.Err()
	}
	l.source = source
	return nil
}

func (l *lookout) next() (watch.Batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.source == nil {
		return watch.Batch{}, io.EOF
	}
	return l.source.Next(l.ctx)
}

// close leaves the session. The source is only looked at, so that nothing is
// lost if it does not close well.
func (l *lookout) close() {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.source != nil {
		_ = l.source.Close()
		l.source = nil
	}
}
