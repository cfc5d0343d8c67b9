package collect

import (
	"context"
	"time"

	"proctor/runner/gpu"
)

// An asyncReader polls a source from a goroutine of its own, so that a call
// that hangs in the driver does not hang who asks. Such a call cannot be
// ended: the goroutine is then given up, with the process soon after it.
type asyncReader struct {
	ask     chan context.Context
	answers chan answer
	ended   chan struct{}
}

type answer struct {
	sample gpu.Sample
	err    error
}

// endWait is how long a source may take to close.
const endWait = time.Second

func startReader(o options) *asyncReader {
	r := &asyncReader{ask: make(chan context.Context), answers: make(chan answer, 1), ended: make(chan struct{})}
	go r.run(o)
	return r
}

// run opens the source at the first question and answers until ask is closed.
func (r *asyncReader) run(o options) {
	defer close(r.ended)
	var src source
	defer func() {
		if src != nil {
			src.close()
		}
	}()
	for ctx := range r.ask {
		var a answer
		if src == nil {
			src, a.err = open(ctx, o.source, o.watch, o.interval)
		}
		if a.err == nil {
			a.sample, a.err = src.poll(ctx)
		}
		r.answers <- a
	}
}

// read returns an answer; ok is false when none came in time. After that the
// reader is of no more use.
func (r *asyncReader) read(ctx context.Context, limit time.Duration) (a answer, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case r.ask <- ctx:
	case <-ctx.Done():
		return answer{}, false
	}
	select {
	case a = <-r.answers:
		return a, true
	case <-ctx.Done():
		return answer{}, false
	}
}

// end closes the source, unless it hangs.
func (r *asyncReader) end() {
	close(r.ask)
	select {
	case <-r.ended:
	case <-time.After(endWait):
	}
}
