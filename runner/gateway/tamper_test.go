package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"proctor/agents/llm/scripted"
)

// A trap is another host that must never be called.
type trap struct {
	addr string
	hits atomic.Int64
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &trap{addr: l.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.hits.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return p
}

// raw sends bytes as they are and returns the status of the answer, 0 when
// there is none.
func (h *harness) raw(t *testing.T, request string) (int, string) {
	t.Helper()
	c, err := net.Dial("unix", h.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, request); err != nil {
		return 0, ""
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // as much as there is
	return resp.StatusCode, string(body)
}

func TestNothingInARequestChoosesTheHost(t *testing.T) {
	const body = `{"model":"m","messages":[]}`
	post := func(target, headers string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n%s", target, len(body), headers, body)
	}
	other := newTrap(t)
	for _, c := range []struct {
		name, request string
		status        int // 0 is any but 200
	}{
		{"as it should be", post("/v1/chat/completions", "Host: gateway\r\n"), 200},
		{"another Host", post("/v1/chat/completions", "Host: "+other.addr+"\r\n"), 200},
		{"forwarding headers", post("/v1/chat/completions", "Host: x\r\nX-Forwarded-Host: "+other.addr+"\r\nForwarded: host="+other.addr+"\r\nX-Original-URL: http://"+other.addr+"/\r\n"), 200},
		{"an address in the request line", post("http://"+other.addr+"/v1/chat/completions", "Host: "+other.addr+"\r\n"), 400},
		{"with another scheme", post("ftp://"+other.addr+"/v1/chat/completions", "Host: x\r\n"), 400},
		{"two slashes", post("//"+other.addr+"/v1/chat/completions", "Host: x\r\n"), 404},
		{"a tunnel", "CONNECT " + other.addr + " HTTP/1.1\r\nHost: " + other.addr + "\r\n\r\n", 400},
		{"an upgrade", post("/v1/chat/completions", "Host: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n"), 0},
		{"up and down", post("/v1/../v1/chat/completions", "Host: x\r\n"), 404},
		{"up", post("/v1/chat/completions/../../../admin", "Host: x\r\n"), 404},
		{"up, encoded", post("/v1/%2e%2e/admin", "Host: x\r\n"), 404},
		{"up, encoded twice", post("/v1/%252e%252e/admin", "Host: x\r\n"), 404},
		{"a file", post("/v1/files", "Host: x\r\n"), 404},
		{"the root", post("/", "Host: x\r\n"), 404},
		{"everything", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404},
		{"another method", "DELETE /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n", 404},
		{"a model that is a path", post("/v1beta/models/../../admin:generateContent", "Host: x\r\n"), 404},
		{"a model that is a path, encoded", post("/v1beta/models/..%2f..%2fadmin:generateContent", "Host: x\r\n"), 404},
		{"a model that is an address", post("/v1beta/models/m@"+other.addr+":generateContent", "Host: x\r\n"), 404},
		{"a model with a query", post("/v1beta/models/m%3fx=y:generateContent", "Host: x\r\n"), 404},
		{"another verb", post("/v1beta/models/m:deleteModel", "Host: x\r\n"), 404},
		{"two lengths", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}", 0},
		{"a length and chunks", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://" + other.addr + "/ HTTP/1.1\r\n\r\n", 0},
		{"a line break in the path", post("/v1/chat/completions%0d%0aHost:%20"+other.addr, "Host: x\r\n"), 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
			h := start(t, Config{Routes: routesTo(s.URL)})
			status, answer := h.raw(t, c.request)
			if c.status != 0 && status != c.status {
				t.Errorf("status %d, want %d: %s", status, c.status, answer)
			}
			for _, up := range s.Requests() {
				if up.Path != "/v1/chat/completions" || up.Header.Get("Upgrade") != "" {
					t.Errorf("the upstream was asked for %s", up.Path)
				}
				if raw := fmt.Sprint(up.Header); strings.Contains(raw, other.addr) {
					t.Errorf("the other host is in the headers: %s", raw)
				}
			}
			if n := other.hits.Load(); n != 0 {
				t.Fatalf("the other host was called")
			}
			if strings.Contains(answer, testKey) {
				t.Errorf("the key is in the answer: %s", answer)
			}
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := newTrap(t)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+other.addr+"/v1/chat/completions", http.StatusTemporaryRedirect)
	})
	h := start(t, Config{Routes: routesTo(up)})
	resp, _ := requests[1].do(t, h.web, "http://gateway")
	if resp.StatusCode != http.StatusTemporaryRedirect || resp.Header.Get("Location") != "" || other.hits.Load() != 0 {
		t.Errorf("status %d, Location %q, other host called %d times", resp.StatusCode, resp.Header.Get("Location"), other.hits.Load())
	}
}

// serve starts an upstream of a test's own.
func serve(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: f}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return "http://" + l.Addr().String()
}

func TestBodiesThatTrick(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"a model named twice", `{"model":"m","model":"dear"}`, 400},
		{"and escaped", `{"model":"m","\u006dodel":"dear"}`, 400},
		{"another capital", `{"Model":"dear","model":"m"}`, 200}, // another field; the upstream has to know it as such
		{"a list", `[{"model":"m"}]`, 400},
		{"two objects", `{"model":"m"}{"model":"dear"}`, 400},
		{"half an object", `{"model":"m"`, 400},
		{"not JSON", `model=m`, 400},
		{"nothing", ``, 400},
		{"a model that is not a string", `{"model":{"a":1}}`, 200}, // counts as none; there is one only
	} {
		s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
		h := start(t, Config{Routes: routesTo(s.URL)})
		resp, body := request{path: "/v1/chat/completions", body: c.body}.do(t, h.web, "http://gateway")
		if resp.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, resp.StatusCode, c.status, body)
		}
		if n := len(s.Requests()); c.status != 200 && n != 0 {
			t.Errorf("%s: %d calls were made", c.name, n)
		}
	}
	s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
	h := start(t, Config{Routes: routesTo(s.URL)})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway/v1/responses", strings.NewReader("zzz"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "zstd")
	resp, err := h.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("an encoded request: status %d", resp.StatusCode)
	}
}

// No key in what the agent gets, in what is recorded, or in what is told,
// even when the upstream says it aloud and in pieces.
func TestTheKeyIsNowhere(t *testing.T) {
	const hidden = "hf_this-is-another-secret"
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
		w.Header().Set("X-Echo", key)
		if strings.Contains(r.URL.RawQuery, testKey) {
			t.Errorf("the key that the client put into the query reached the upstream: %s", r.URL.RawQuery)
		}
		switch r.Header.Get("User-Agent") {
		case "fail":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, key)
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			text := fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":\"your key: %s and %s\"}}]}\n\n", key, hidden)
			for i := range len(text) { // byte by byte
				_, _ = io.WriteString(w, text[i:i+1])
				_ = http.NewResponseController(w).Flush()
			}
		default:
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"}}]}`, key)
		}
	})
	h := start(t, Config{Routes: routesTo(up), Redact: redactor(hidden)})
	n := 0
	var seen bytes.Buffer
	for _, how := range []string{"fail", "stream", "whole"} {
		for _, r := range requests {
			// and the agent, who has it from somewhere, says it too
			r.body = strings.Replace(r.body, `"hi"`, `"my key is `+testKey+`"`, 1)
			sep := "?"
			if strings.Contains(r.path, "?") {
				sep = "&"
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://gateway"+r.path+sep+"key="+testKey, strings.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("User-Agent", how)
			resp, err := h.web.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			_, _ = fmt.Fprintf(&seen, "%v\n%s\n", resp.Header, body)
			if !bytes.Contains(body, []byte("[redacted]")) {
				t.Errorf("%s %s: the upstream's words did not come through: %s", how, r.name, body)
			}
			n++
		}
	}
	// a path and an error with the key in them
	resp, err := h.web.Post("http://gateway/v1/"+testKey, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	seen.Write(body)
	h.last(t, n+1)
	_, exchanges := h.seen()
	told, err := json.Marshal(exchanges)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(filepath.Join(h.record, recordName))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string][]byte{"the answers": seen.Bytes(), "what is told": told, "the record": recorded} {
		for _, secret := range []string{testKey, hidden} {
			if i := bytes.Index(text, []byte(secret)); i >= 0 {
				t.Errorf("%s: a secret: …%s…", where, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
	if info, err := os.Stat(filepath.Join(h.record, recordName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record's mode: %v, %v", info.Mode(), err)
	}
}
