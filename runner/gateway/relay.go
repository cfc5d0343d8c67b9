package gateway

import (
	"context"
	"net/http"
	"sync"
)

// maxHeld is how much of a reply waits here for its reader, in bytes. Beyond
// it the upstream has to wait too.
const maxHeld = 64 << 20

// A relay hands a reply to the client from a goroutine of its own, so that
// the upstream is read on while the run is frozen or the client is slow.
type relay struct {
	gate *gate
	w    http.ResponseWriter
	ctx  context.Context
	fail context.CancelCauseFunc // ends the call when the client is gone
	done chan struct{}

	mu     sync.Mutex
	change *sync.Cond
	held   []byte
	spare  []byte // what was written last, to be filled again
	ended  bool
	err    error
}

// newRelay begins a reply, once the gate is open, with a status.
func newRelay(ctx context.Context, fail context.CancelCauseFunc, g *gate, w http.ResponseWriter, status int) *relay {
	r := &relay{gate: g, w: w, ctx: ctx, fail: fail, done: make(chan struct{})}
	r.change = sync.NewCond(&r.mu)
	go r.run(status)
	return r
}

// Write queues a chunk. Its error is why the client cannot have it.
func (r *relay) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.held) > maxHeld && r.err == nil {
		r.change.Wait()
	}
	if r.err != nil {
		return 0, r.err
	}
	r.held = append(r.held, p...)
	r.change.Broadcast()
	return len(p), nil
}

// finish ends the reply and waits until the client has all of it or is gone.
func (r *relay) finish() error {
	r.mu.Lock()
	r.ended = true
	r.change.Broadcast()
	r.mu.Unlock()
	<-r.done
	return r.err
}

// run writes what is queued, chunk by chunk, while the gate is open.
func (r *relay) run(status int) {
	defer close(r.done)
	defer context.AfterFunc(r.ctx, func() { // wakes next
		r.mu.Lock()
		defer r.mu.Unlock()
		r.change.Broadcast()
	})()
	flush := http.NewResponseController(r.w)
	err := r.gate.wait(r.ctx)
	if err == nil {
		r.w.WriteHeader(status)
		err = flush.Flush()
	}
	for err == nil {
		p := r.next()
		if p == nil {
			err = context.Cause(r.ctx)
			break
		}
		if err = r.gate.wait(r.ctx); err != nil {
			break
		}
		if _, err = r.w.Write(p); err == nil {
			err = flush.Flush()
		}
	}
	if err != nil {
		r.mu.Lock()
		r.err = err
		r.change.Broadcast()
		r.mu.Unlock()
		r.fail(err)
	}
}

// next waits for something to write; nil means that there will be no more.
func (r *relay) next() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.held) == 0 && !r.ended && r.ctx.Err() == nil {
		r.change.Wait()
	}
	if r.ctx.Err() != nil || len(r.held) == 0 {
		return nil
	}
	p := r.held
	r.held = r.spare[:0]
	r.spare = p
	r.change.Broadcast()
	return p
}
