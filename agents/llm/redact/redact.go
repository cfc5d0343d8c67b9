// Package redact keeps secrets out of whatever is shown or kept: files,
// screens, error messages, and streams that pass through.
package redact

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// minLength is the shortest secret worth hiding, in bytes. What a local
// server takes for a key ("x", "none", "EMPTY") is not one, and hiding it
// would tear holes into ordinary words.
const minLength = 8

// A Redactor hides a fixed set of secrets. The zero value and nil hide
// nothing. It is safe for concurrent use.
type Redactor struct {
	words [][]byte // longest first
}

// New returns a Redactor for secrets. Those shorter than eight bytes are
// left alone. Each is also hidden as it looks in JSON and in a URL.
func New(secrets ...string) *Redactor {
	r := new(Redactor)
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) < minLength {
			continue
		}
		quoted, err := json.Marshal(s)
		forms := []string{s, url.QueryEscape(s), url.PathEscape(s)}
		if err == nil {
			forms = append(forms, string(quoted[1:len(quoted)-1]))
		}
		for _, f := range forms {
			if !slices.ContainsFunc(r.words, func(w []byte) bool { return string(w) == f }) {
				r.words = append(r.words, []byte(f))
			}
		}
	}
	slices.SortStableFunc(r.words, func(a, b []byte) int { return len(b) - len(a) })
	return r
}

// String returns s without the secrets.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	for _, w := range r.words {
		s = strings.ReplaceAll(s, string(w), Mark)
	}
	return s
}

// Bytes returns p without the secrets: p itself when it has none.
func (r *Redactor) Bytes(p []byte) []byte {
	if r == nil {
		return p
	}
	for _, w := range r.words {
		if bytes.Contains(p, w) {
			p = bytes.ReplaceAll(p, w, []byte(Mark))
		}
	}
	return p
}

// Stream returns a Stream that hides r's secrets.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// A Stream redacts a text that comes in chunks, in which a secret may be cut
// in two. It holds back only an end of a chunk that could be the beginning
// of a secret, so what cannot be one is never late.
type Stream struct {
	r    *Redactor
	held []byte
}

// Next returns what may be passed on after p has come. The result is valid
// until p is changed or the next call.
func (s *Stream) Next(p []byte) []byte {
	if s.r == nil || len(s.r.words) == 0 {
		return p
	}
	if len(s.held) > 0 {
		p = append(s.held, p...)
		s.held = nil
	}
	p = s.r.Bytes(p)
	if n := s.r.tail(p); n > 0 {
		s.held = bytes.Clone(p[len(p)-n:])
		p = p[:len(p)-n]
	}
	return p
}

// Rest returns what was held back, at the end of the text.
func (s *Stream) Rest() []byte {
	p := s.held
	s.held = nil
	return p
}

// tail returns the length of the longest end of p that begins a secret.
func (r *Redactor) tail(p []byte) int {
	longest := 0
	for _, w := range r.words {
		for n := min(len(p), len(w)-1); n > longest; n-- {
			if p[len(p)-n] == w[0] && bytes.HasPrefix(w, p[len(p)-n:]) {
				longest = n
				break
			}
		}
	}
	return longest
}
