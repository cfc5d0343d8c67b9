package gateway

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"proctor/agents/llm/wire"
)

// recordName is the file in the record's directory: one exchange a line.
const recordName = "exchanges.jsonl"

// whole is how often a request is recorded whole, and not by what is new in
// it, so that a damaged line costs few others.
const whole = 64

// A RecordedBody is a body without keys, as it is recorded.
//
// An agent sends the whole conversation with every call, each a little
// longer than the one before. So the record of a request may say only what
// is new: the body is the first Head bytes of the request Like, then Text,
// then the last Tail bytes of it. ReadRecord puts them together.
type RecordedBody struct {
	Bytes     int64  `json:"bytes"`               // before it was cut
	Truncated bool   `json:"truncated,omitempty"` // Text is only its beginning
	Like      int64  `json:"like,omitempty"`      // N of an earlier exchange
	Head      int    `json:"head,omitempty"`
	Tail      int    `json:"tail,omitempty"`
	Text      string `json:"text,omitempty"`
	Binary    []byte `json:"binary,omitempty"` // instead of Text, when it is not UTF-8
}

// Body returns the recorded bytes of a body that is not Like another.
func (b *RecordedBody) Body() []byte {
	if b == nil {
		return nil
	}
	if b.Binary != nil {
		return b.Binary
	}
	return []byte(b.Text)
}

func (b *RecordedBody) set(p []byte) {
	if utf8.Valid(p) {
		b.Text = string(p)
	} else {
		b.Binary = bytes.Clone(p)
	}
}

// bodyLimit is how much of a body is kept, in bytes.
func (g *Gateway) bodyLimit() int64 {
	if g.config.RecordBody > 0 {
		return g.config.RecordBody
	}
	return 4 << 20
}

// keep is a request's body as it may be kept.
func (g *Gateway) keep(raw []byte) *RecordedBody {
	k := newKeeper(g)
	k.add(g.redact.Bytes(g.config.Redact.Bytes(raw)))
	k.size = int64(len(raw))
	return k.body()
}

// A keeper keeps the beginning of a body that passes.
type keeper struct {
	limit int64
	size  int64
	text  []byte
}

func newKeeper(g *Gateway) *keeper {
	if g.record == nil && g.config.OnExchange == nil {
		return &keeper{}
	}
	return &keeper{limit: g.bodyLimit()}
}

func (k *keeper) add(p []byte) {
	k.size += int64(len(p))
	if room := k.limit - int64(len(k.text)); room > 0 {
		k.text = append(k.text, p[:min(room, int64(len(p)))]...)
	}
}

func (k *keeper) body() *RecordedBody {
	b := &RecordedBody{Bytes: k.size}
	p := k.text
	if int64(len(p)) == k.limit && k.size > k.limit {
		b.Truncated = true
		for len(p) > 0 && !utf8.Valid(p[max(0, len(p)-utf8.UTFMax):]) && len(k.text)-len(p) < utf8.UTFMax {
			p = p[:len(p)-1] // not in the middle of a character
		}
	}
	b.set(p)
	return b
}

// A recorder appends exchanges to a file, which is made with the first one.
type recorder struct {
	path  string
	total int64

	mu   sync.Mutex
	file *os.File
	size int64
	last map[wire.Format]lastRequest
	err  error // the first
}

type lastRequest struct {
	n     int64
	body  []byte
	since int // requests that were recorded whole
}

func newRecorder(c Config) *recorder {
	total := c.RecordTotal
	if total == 0 {
		total = 512 << 20
	}
	return &recorder{path: filepath.Join(c.Record, recordName), total: total, last: map[wire.Format]lastRequest{}}
}

// write records one exchange. After an error nothing more is recorded: a
// record with a hole in it would not say so.
func (r *recorder) write(x Exchange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	r.err = r.append(x)
	return r.err
}

func (r *recorder) append(x Exchange) error {
	if r.file == nil {
		if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
			return err
		}
		if err := r.open(); err != nil {
			return err
		}
	}
	if x.Request != nil {
		x.Request = r.shorten(x)
	}
	var line bytes.Buffer
	to := json.NewEncoder(&line)
	to.SetEscapeHTML(false)
	if err := to.Encode(x); err != nil {
		return err
	}
	if r.size+int64(line.Len()) > r.total {
		return fmt.Errorf("%s has reached its limit of %d MiB; later exchanges are not recorded", r.path, r.total>>20)
	}
	n, err := r.file.Write(line.Bytes())
	r.size += int64(n)
	return err
}

// open opens the file. A line that a crash has torn is ended.
func (r *recorder) open() error {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	r.file = f
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	r.size = info.Size()
	var end [1]byte
	if _, err := f.ReadAt(end[:], r.size-1); err != nil || end[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}

// shorten says a request by what is new in it.
func (r *recorder) shorten(x Exchange) *RecordedBody {
	b := *x.Request
	if b.Truncated || b.Binary != nil {
		return &b
	}
	body := []byte(b.Text)
	old := r.last[x.Format]
	next := lastRequest{n: x.N, body: body}
	if old.n != 0 && old.since < whole {
		head, tail := common(old.body, body)
		if head+tail > len(body)/2 {
			next.since = old.since + 1
			b.Like, b.Head, b.Tail, b.Text = old.n, head, tail, string(body[head:len(body)-tail])
		}
	}
	r.last[x.Format] = next
	return &b
}

// common returns how many bytes two texts share at their beginnings and,
// beyond those, at their ends, without cutting a character in two.
func common(a, b []byte) (head, tail int) {
	const block = 4096 // compared at once
	short := min(len(a), len(b))
	for head+block <= short && bytes.Equal(a[head:head+block], b[head:head+block]) {
		head += block
	}
	for head < short && a[head] == b[head] {
		head++
	}
	for head > 0 && head < len(b) && !utf8.RuneStart(b[head]) {
		head--
	}
	for tail+block <= short-head && bytes.Equal(a[len(a)-tail-block:len(a)-tail], b[len(b)-tail-block:len(b)-tail]) {
		tail += block
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(b[len(b)-tail]) {
		tail--
	}
	return head, tail
}

func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
		r.file = nil
	}
	return r.err
}

// ReadRecord calls f for each exchange that was recorded in a directory, in
// order, with its bodies whole, until f returns false. A line that a crash
// has torn is skipped. A directory without a record has none.
func ReadRecord(dir string, f func(Exchange) bool) error {
	file, err := os.Open(filepath.Join(dir, recordName))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	last := map[wire.Format]lastRequest{}
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %q: %w", file.Name(), err)
		}
		var x Exchange
		if json.Unmarshal(line, &x) != nil {
			continue
		}
		if b := x.Request; b != nil {
			old := last[x.Format]
			switch {
			case b.Like == 0:
			case b.Like != old.n, b.Head < 0, b.Tail < 0, b.Head > len(old.body), b.Tail > len(old.body):
				return fmt.Errorf("reading %q: exchange %d needs the request of %d, which is not there", file.Name(), x.N, b.Like)
			default:
				b.Text = string(old.body[:b.Head]) + b.Text + string(old.body[len(old.body)-b.Tail:])
				b.Like, b.Head, b.Tail = 0, 0, 0
			}
			if !b.Truncated && b.Binary == nil {
				last[x.Format] = lastRequest{n: x.N, body: []byte(b.Text)}
			}
		}
		if !f(x) {
			return nil
		}
	}
}
