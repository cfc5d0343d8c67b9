package redact

import (
	"bytes"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		secrets        []string
	}{
		{"plain", "key sk-12345678 end", "key [redacted] end", []string{"sk-12345678"}},
		{"twice", "sk-12345678sk-12345678", "[redacted][redacted]", []string{"sk-12345678"}},
		{"longest first", "sk-12345678-long", "[redacted]", []string{"sk-12345678", "sk-12345678-long"}},
		{"in JSON", `{"k":"a\"b<cdefgh"}`, `{"k":"a\"b<cdefgh"}`, []string{"unrelated-secret"}},
		{"JSON escapes", `{"k":"a\"bcdefghi"}`, `{"k":"[redacted]"}`, []string{`a"bcdefghi`}},
		{"in a URL", "/?key=a%2Fbcdefgh", "/?key=[redacted]", []string{"a/bcdefgh"}},
		{"too short to be one", "none of it", "none of it", []string{"none", "", "x"}},
		{"no secrets", "text", "text", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(c.secrets...)
			if got := r.String(c.in); got != c.want {
				t.Errorf("String(%q) = %q, want %q", c.in, got, c.want)
			}
			if got := string(r.Bytes([]byte(c.in))); got != c.want {
				t.Errorf("Bytes(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
	if got := (*Redactor)(nil).String("x"); got != "x" {
		t.Errorf("a nil Redactor changed its input to %q", got)
	}
}

func TestStreamHoldsBackOnlyBeginnings(t *testing.T) {
	s := New("sk-12345678").Stream()
	if got := string(s.Next([]byte("data: hello\n\n"))); got != "data: hello\n\n" {
		t.Errorf("text that cannot begin a secret was held: got %q", got)
	}
	if got := string(s.Next([]byte("a sk-1234"))); got != "a " {
		t.Errorf("got %q, want %q", got, "a ")
	}
	if got := string(s.Next([]byte("5678 b"))); got != "[redacted] b" {
		t.Errorf("got %q, want %q", got, "[redacted] b")
	}
	s.Next([]byte("sk-"))
	if got := string(s.Rest()); got != "sk-" {
		t.Errorf("Rest = %q, want %q", got, "sk-")
	}
}

func FuzzStream(f *testing.F) {
	f.Add("x sk-12345678 y", 3)
	f.Add("sk-1sk-12345678", 1)
	f.Add("aaaaaaaaaaaaaaab", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		const secret = "sk-12345678"
		size = max(1, size%16)
		s := New(secret, "aaaaaaaab").Stream()
		var out bytes.Buffer
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			out.Write(s.Next([]byte(rest[:n])))
			rest = rest[n:]
		}
		out.Write(s.Rest())
		if strings.Contains(out.String(), secret) {
			t.Errorf("the secret came through: %q", out.String())
		}
		if !strings.Contains(text, secret) && !strings.Contains(text, "aaaaaaaab") && out.String() != text {
			t.Errorf("a text without secrets was changed: %q to %q", text, out.String())
		}
	})
}
