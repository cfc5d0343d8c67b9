// Package scripted is a model server for tests. It answers from a script, in
// the four wire formats, streamed and whole, over loopback, and keeps the
// requests it got. It is not a model: it says what it was told to say, and
// it misbehaves in every way that real servers have been seen to.
//
//	s := scripted.Start(t, scripted.Turns(
//		scripted.Turn{Calls: []scripted.Call{{Name: "bash", Args: `{"command":"ls"}`}}},
//		scripted.Turn{Text: "done", Usage: &wire.Usage{Input: 120, Cached: 100, Output: 7}},
//	))
//	m := llm.Model{Provider: llm.Compatible, BaseURL: s.URL + "/v1", Name: "any"}
package scripted

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"proctor/agents/llm/wire"
)

// A Turn is one reply.
type Turn struct {
	Reasoning string
	Text      string
	Calls     []Call
	// Usage is what the server says it counted, in normalised terms; it is
	// written in each format's own accounting. Nil: the server does not say.
	Usage *wire.Usage

	Chunk int                // characters of text in one event; 0 means 16
	Gate  <-chan struct{}    // received from before every event of a stream
	Pace  time.Duration      // waited before every event of a stream
	Sent  func(event string) // called after each event has been flushed

	Status      int    // other than 200: an error in the provider's shape
	Message     string // its message
	RetryAfter  string // its Retry-After header
	Body        string // sent as it is instead of everything above, with Status
	ContentType string // of Body; "" means application/json

	Cut         bool   // hang up half-way
	StreamError string // half-way, send an error object with this message and end
	NoIDs       bool   // tool calls without id, index and type
}

// A Call is a tool call. Args is sent as it is, JSON or not.
type Call struct {
	ID   string // "" means call_1, call_2, …
	Name string
	Args string
}

// A Script gives the reply to the n-th call of a model, from 0. It is called
// for one request at a time.
type Script func(n int, r Request) Turn

// Turns is the script that gives one turn after the other. Once they are
// used up it refuses with 400.
func Turns(turns ...Turn) Script {
	return func(n int, _ Request) Turn {
		if n < len(turns) {
			return turns[n]
		}
		return Turn{Status: http.StatusBadRequest, Message: "the script has no more turns"}
	}
}

// A Request is a call that the server got.
type Request struct {
	Format wire.Format
	Method string
	Path   string // with the query
	Header http.Header
	Body   []byte
	Model  string
	Stream bool
	Tools  []string // names of the tools offered
}

// Key returns the key that came with the request, in whichever header.
func (r Request) Key() string {
	if k := r.Header.Get("X-Api-Key"); k != "" {
		return k
	}
	if k := r.Header.Get("X-Goog-Api-Key"); k != "" {
		return k
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// Contains reports whether a text is in one of the strings of the body, such
// as a message.
func (r Request) Contains(text string) bool {
	d := json.NewDecoder(strings.NewReader(string(r.Body)))
	for {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := t.(string); ok && strings.Contains(s, text) {
			return true
		}
	}
}

// A Server answers from its script. It is safe for concurrent use.
type Server struct {
	URL string // such as http://127.0.0.1:41234, without a path

	script  Script
	mu      sync.Mutex
	calls   int // of a model
	seen    []Request
	dropped int
}

// Start starts a server, which ends with the test.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting the scripted model server: %v", err)
	}
	s := &Server{URL: "http://" + l.Addr().String(), script: script}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // returns when the test closes it
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return s
}

// Requests returns the calls of a model so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Dropped returns how many replies could not be finished because whoever
// asked had gone away.
func (s *Server) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

var geminiPath = regexp.MustCompile(`^/v1beta/models/([^/:]+):(generateContent|streamGenerateContent)$`)

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body}
	var v struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Declarations []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	_ = json.Unmarshal(body, &v) // GET has none; a bad one shows in the test
	req.Model, req.Stream = v.Model, v.Stream
	for _, t := range v.Tools {
		for _, name := range []string{t.Name, t.Function.Name} {
			if name != "" {
				req.Tools = append(req.Tools, name)
			}
		}
		for _, d := range t.Declarations {
			req.Tools = append(req.Tools, d.Name)
		}
	}
	gemini := geminiPath.FindStringSubmatch(r.URL.Path)
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model","owned_by":"tests"}]}`)
		return
	case r.URL.Path == "/v1/messages/count_tokens":
		_, _ = io.WriteString(w, `{"input_tokens":42}`)
		return
	case r.URL.Path == "/v1/chat/completions":
		req.Format = wire.Chat
	case r.URL.Path == "/v1/responses":
		req.Format = wire.Responses
	case r.URL.Path == "/v1/messages":
		req.Format = wire.Messages
	case gemini != nil:
		req.Format, req.Model = wire.Gemini, gemini[1]
		req.Stream = gemini[2] == "streamGenerateContent"
	default:
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	turn := s.script(s.calls, req)
	s.calls++
	s.seen = append(s.seen, req)
	s.mu.Unlock()
	if req.Format == wire.Chat && req.Stream && !v.StreamOptions.IncludeUsage {
		turn.Usage = nil // it is not said unless asked for
	}
	s.answer(w, r, req, turn)
}

// answer writes one turn.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req Request, t Turn) {
	if t.RetryAfter != "" {
		w.Header().Set("Retry-After", t.RetryAfter)
	}
	switch {
	case t.Body != "":
		w.Header().Set("Content-Type", first(t.ContentType, "application/json"))
		w.WriteHeader(max(t.Status, http.StatusOK))
		_, _ = io.WriteString(w, t.Body)
	case t.Status != 0 && t.Status != http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(t.Status)
		_, _ = w.Write(wire.ErrorBody(req.Format, t.Status, "scripted", first(t.Message, http.StatusText(t.Status))))
	case !req.Stream:
		s.whole(w, req, t)
	default:
		s.stream(w, r, req, t)
	}
}

func (s *Server) whole(w http.ResponseWriter, req Request, t Turn) {
	body := marshal(whole(req, t))
	w.Header().Set("Content-Type", "application/json")
	if t.Cut {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, req Request, t Turn) {
	events := stream(req, t)
	array := req.Format == wire.Gemini && r.URL.Query().Get("alt") != "sse"
	w.Header().Set("Content-Type", "text/event-stream")
	if array {
		w.Header().Set("Content-Type", "application/json")
	}
	flush := http.NewResponseController(w)
	for i, e := range events {
		half := i == (len(events)+1)/2
		if half && t.Cut {
			panic(http.ErrAbortHandler)
		}
		if half && t.StreamError != "" {
			_, _ = io.WriteString(w, streamError(req.Format, t.StreamError))
			return
		}
		if !wait(r, t) {
			s.mu.Lock()
			s.dropped++
			s.mu.Unlock()
			return
		}
		text := e.sse()
		if array {
			text = e.element(i, len(events))
		}
		if _, err := io.WriteString(w, text); err != nil || flush.Flush() != nil {
			s.mu.Lock()
			s.dropped++
			s.mu.Unlock()
			return
		}
		if t.Sent != nil {
			t.Sent(text)
		}
	}
}

// wait holds until the next event may go; false means that nobody waits for
// it any more.
func wait(r *http.Request, t Turn) bool {
	if t.Pace > 0 {
		select {
		case <-time.After(t.Pace):
		case <-r.Context().Done():
			return false
		}
	}
	if t.Gate != nil {
		select {
		case <-t.Gate:
		case <-r.Context().Done():
			return false
		}
	}
	return true
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
