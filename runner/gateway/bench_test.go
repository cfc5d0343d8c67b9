package gateway

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

// BenchmarkChunk is the way of one streamed chunk from the upstream to the
// client, one at a time: each is sent when the one before has arrived. It
// reports what the gateway adds and the ratio to a direct connection.
func BenchmarkChunk(b *testing.B) {
	direct := newPacer(b)
	through := newPacer(b)
	h := start(b, Config{Routes: routesTo(through.url)})
	without := direct.run(b, http.DefaultClient, direct.url)
	with := through.run(b, h.web, "http://gateway")
	n := float64(b.N)
	b.ReportMetric(float64(without.Nanoseconds())/n, "direct-ns/chunk")
	b.ReportMetric(float64(with.Nanoseconds())/n, "through-ns/chunk")
	b.ReportMetric(float64((with-without).Nanoseconds())/n, "added-ns/chunk")
	b.ReportMetric(float64(with)/float64(without), "ratio")
	b.ReportMetric(0, "ns/op")
}

// A pacer is an upstream that sends one event for each word to do so.
type pacer struct {
	url  string
	next chan struct{}
}

func newPacer(b *testing.B) *pacer {
	p := &pacer{next: make(chan struct{})}
	p.url = serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		for range p.next {
			_, err := io.WriteString(w, `data: {"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`+"\n\n")
			if err != nil || flush.Flush() != nil {
				return
			}
		}
	})
	return p
}

// run asks for b.N events, each when the one before has arrived.
func (p *pacer) run(b *testing.B, web *http.Client, base string) time.Duration {
	defer close(p.next)
	resp := make(chan *http.Response, 1)
	go func() {
		r, err := web.Post(base+requests[0].path, "application/json", strings.NewReader(requests[0].body))
		if err != nil {
			b.Error(err)
		}
		resp <- r
	}()
	p.next <- struct{}{} // the first also brings the headers
	r := <-resp
	if r == nil {
		return 1
	}
	defer func() { _ = r.Body.Close() }()
	in := bufio.NewReader(r.Body)
	read := func() {
		for range 2 { // the data and the blank line
			if _, err := in.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
		}
	}
	read()
	begun := time.Now()
	for range b.N {
		p.next <- struct{}{}
		read()
	}
	return time.Since(begun)
}

// BenchmarkThroughput is a reply of 10 MB in chunks of 1 KiB as fast as it
// goes, beside the same over a direct connection.
func BenchmarkThroughput(b *testing.B) {
	s := scripted.Start(b, func(int, scripted.Request) scripted.Turn {
		return scripted.Turn{Text: strings.Repeat("blah blah ", 1<<20), Chunk: 1024, Usage: &wire.Usage{Input: 1, Output: 1}}
	})
	h := start(b, Config{Routes: routesTo(s.URL)})
	var bytes int64
	run := func(web *http.Client, base string) time.Duration {
		begun := time.Now()
		resp, err := web.Post(base+requests[0].path, "application/json", strings.NewReader(requests[0].body))
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		bytes += n
		return time.Since(begun)
	}
	var direct, through time.Duration
	for b.Loop() {
		direct += run(http.DefaultClient, s.URL)
		through += run(h.web, "http://gateway")
	}
	half := float64(bytes) / 2 / 1e6
	b.ReportMetric(half/direct.Seconds(), "direct-MB/s")
	b.ReportMetric(half/through.Seconds(), "through-MB/s")
	b.ReportMetric(direct.Seconds()/through.Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}
