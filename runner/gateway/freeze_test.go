package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

// A tap collects what a client has received so far.
type tap struct {
	mu   sync.Mutex
	got  bytes.Buffer
	done bool
	err  error
}

func (p *tap) read(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		p.mu.Lock()
		p.got.Write(buf[:n])
		if err != nil {
			p.done = true
			if err != io.EOF {
				p.err = err
			}
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *tap) state() (text string, done bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got.String(), p.done, p.err
}

func TestFreezeInTheMiddleOfAStream(t *testing.T) {
	for _, r := range requests {
		if !strings.Contains(r.name, "streamed") {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			gate := make(chan struct{})
			var mu sync.Mutex
			sent := ""
			count := 0
			long := scripted.Turn{Text: strings.Repeat("one two three ", 400), Usage: turn.Usage, Gate: gate, Sent: func(e string) {
				mu.Lock()
				defer mu.Unlock()
				sent += e
				count++
			}}
			s := scripted.Start(t, scripted.Turns(long))
			h := start(t, Config{Routes: routesTo(s.URL)})

			var client tap
			var all sync.WaitGroup
			defer all.Wait()
			all.Go(func() {
				resp, err := h.web.Post("http://gateway"+r.path, "application/json", strings.NewReader(r.body))
				if err != nil {
					client.mu.Lock()
					client.done, client.err = true, err
					client.mu.Unlock()
					return
				}
				defer func() { _ = resp.Body.Close() }()
				client.read(resp.Body)
			})
			for range 5 {
				gate <- struct{}{}
			}
			var before string
			eventually(t, "the client has the first five events", func() bool {
				mu.Lock()
				defer mu.Unlock()
				before, _, _ = client.state()
				return count == 5 && before == sent
			})

			h.Freeze()
			close(gate) // the upstream says the rest
			eventually(t, "the frozen gateway has read the reply to its end", func() bool { u, _ := h.seen(); return len(u) == 1 })
			if got, done, _ := client.state(); got != before || done {
				t.Errorf("%d bytes came through the freeze, done %v", len(got)-len(before), done)
			}
			if _, x := h.seen(); len(x) != 0 {
				t.Error("the exchange was over while frozen")
			}

			h.Resume()
			eventually(t, "the client has everything", func() bool { _, done, _ := client.state(); return done })
			got, _, err := client.state()
			mu.Lock()
			defer mu.Unlock()
			if err != nil || got != sent {
				t.Errorf("%v; %d of %d bytes", err, len(got), len(sent))
			}
			if usages, _ := h.seen(); usages[0].Tokens != *turn.Usage {
				t.Errorf("usage %+v", usages)
			}
		})
	}
}

// Freezing again and again must not lose or repeat anything.
func TestFreezeAndResumeManyTimes(t *testing.T) {
	s := scripted.Start(t, func(int, scripted.Request) scripted.Turn {
		return scripted.Turn{Text: strings.Repeat("0123456789", 20_000), Chunk: 100}
	})
	h := start(t, Config{Routes: routesTo(s.URL)})
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-stop:
				h.Resume()
				return
			default:
				h.Freeze()
				h.Freeze()
				h.Resume()
			}
		}
	})
	r := requests[2]
	_, got := r.do(t, h.web, "http://gateway")
	close(stop)
	all.Wait()
	if _, want := r.do(t, http.DefaultClient, s.URL); !bytes.Equal(got, want) {
		t.Errorf("%d bytes through the gateway, %d without", len(got), len(want))
	}
}

func TestNoCallBeginsWhileFrozen(t *testing.T) {
	s := scripted.Start(t, scripted.Turns(turn))
	asked := make(chan struct{}, 1)
	h := start(t, Config{Routes: routesTo(s.URL), Budget: func() error { asked <- struct{}{}; return nil }})
	h.Freeze()
	answered := make(chan int, 1)
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		resp, err := h.web.Post("http://gateway/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`))
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	})
	eventually(t, "the request is at the gate", func() bool { return h.n.Load() == 1 })
	if n := len(s.Requests()); n != 0 || len(asked) != 0 {
		t.Errorf("%d calls, %d budgets asked while frozen", n, len(asked))
	}
	h.Resume()
	if status := <-answered; status != http.StatusOK {
		t.Errorf("status %d after the freeze", status)
	}
}

func TestClientThatGoesAwayEndsTheCall(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		gate := make(chan struct{}, 4)
		for range cap(gate) {
			gate <- struct{}{}
		}
		s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("word ", 1000), Gate: gate}))
		h := start(t, Config{Routes: routesTo(s.URL)})
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://gateway/v1/messages", strings.NewReader(requests[4].body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := h.web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if frozen {
			h.Freeze()
		}
		cancel()
		_ = resp.Body.Close()
		eventually(t, "the upstream notices that nobody listens", func() bool { return s.Dropped() == 1 })
		x := h.last(t, 1)
		if !x.Gone || !x.Cut || x.Usage == nil || !x.Usage.Estimated {
			t.Errorf("frozen %v: exchange %+v, usage %+v: want one that is gone, cut and estimated", frozen, x, x.Usage)
		}
	}
}

func TestCloseEndsCallsAndWaits(t *testing.T) {
	gate := make(chan struct{}, 4)
	for range cap(gate) {
		gate <- struct{}{}
	}
	s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: strings.Repeat("word ", 1000), Gate: gate}))
	h := start(t, Config{Routes: routesTo(s.URL)})
	resp, err := h.web.Post("http://gateway/v1/messages", "application/json", strings.NewReader(requests[4].body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	h.Freeze()
	if err := h.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, x := h.seen(); len(x) != 1 || !x[0].Cut {
		t.Errorf("exchanges after Close: %+v", x)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the client took the torn reply for whole")
	}
	n := 0
	if err := ReadRecord(h.record, func(Exchange) bool { n++; return true }); err != nil || n != 1 {
		t.Errorf("the record has %d exchanges, %v", n, err)
	}
}

// An upstream that falls silent must not hold an agent for ever, and a
// freeze must not count as silence.
func TestSilence(t *testing.T) {
	hang := make(chan struct{})
	s := scripted.Start(t, scripted.Turns(scripted.Turn{Text: "never", Gate: hang}))
	h := start(t, Config{Routes: routesTo(s.URL), Silence: 50 * time.Millisecond})
	resp, err := h.web.Post("http://gateway/v1/responses", "application/json", strings.NewReader(requests[2].body))
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK && err == nil {
			t.Error("a reply that never came looks whole")
		}
	}
	if x := h.last(t, 1); x.Gone || !strings.Contains(x.Error, "nothing for") {
		t.Errorf("exchange %+v", x)
	}

	s = scripted.Start(t, scripted.Turns(scripted.Turn{Text: "hello", Usage: &wire.Usage{Input: 1, Output: 1}}))
	h = start(t, Config{Routes: routesTo(s.URL), Silence: 50 * time.Millisecond})
	began := make(chan struct{})
	h.config.Budget = func() error { close(began); h.Freeze(); return nil }
	var all sync.WaitGroup
	var body []byte
	all.Go(func() {
		resp, err := h.web.Post("http://gateway/v1/responses", "application/json", strings.NewReader(requests[2].body))
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if err != nil {
			t.Errorf("a freeze longer than the limit on silence: %v", err)
		}
	})
	<-began
	eventually(t, "the reply waits in the gateway", func() bool { u, _ := h.seen(); return len(u) == 1 })
	time.Sleep(150 * time.Millisecond) // the time itself is what is tested: longer than Silence
	h.Resume()
	all.Wait()
	if !bytes.Contains(body, []byte("response.completed")) {
		t.Errorf("the reply lost its end: %s", body)
	}
}
