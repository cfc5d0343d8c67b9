package lines

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// growing is a file that grows between reads: each element is what one
// stretch of reading finds before its end.
type growing [][]byte

func (g *growing) Read(p []byte) (int, error) {
	if len(*g) == 0 {
		return 0, io.EOF
	}
	first := (*g)[0]
	if len(first) == 0 {
		*g = (*g)[1:]
		return 0, io.EOF
	}
	n := copy(p, first)
	(*g)[0] = first[n:]
	return n, nil
}

func TestReaderWaitsForTheEndOfALine(t *testing.T) {
	g := growing{[]byte("one\ntw"), []byte("o\n\nthree"), []byte("\n")}
	r := NewReader(&g, 100)
	var got []string
	for range 10 {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			got = append(got, "EOF")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
	want := "one,EOF,two,,EOF,three,EOF,EOF,EOF,EOF"
	if strings.Join(got, ",") != want {
		t.Errorf("read %q, want %q", strings.Join(got, ","), want)
	}
	if r.Offset() != 100+int64(len("one\ntwo\n\nthree\n")) {
		t.Errorf("offset %d", r.Offset())
	}
}

func TestReaderDropsAnOverlongLine(t *testing.T) {
	long := bytes.Repeat([]byte("x"), Max+5)
	src := append(append([]byte("a\n"), long...), "\nb\n"...)
	r := NewReader(bytes.NewReader(src), 0)
	for _, want := range []string{"a", "", "b"} {
		line, err := r.Next()
		if err != nil || string(line) != want {
			t.Fatalf("read %d bytes, %v; want %q", len(line), err, want)
		}
	}
	if r.Offset() != int64(len(src)) {
		t.Errorf("offset %d, want %d", r.Offset(), len(src))
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb"), uint8(1))
	f.Add([]byte("\n\n\n"), uint8(2))
	f.Fuzz(func(t *testing.T, src []byte, cut uint8) {
		n := min(int(cut), len(src))
		g := growing{src[:n:n], src[n:]}
		r := NewReader(&g, 0)
		var got []byte
		for range len(src) + 4 {
			if line, err := r.Next(); err == nil {
				got = append(append(got, line...), '\n')
			}
		}
		want := src[:bytes.LastIndexByte(src, '\n')+1]
		if !bytes.Equal(got, want) || r.Offset() != int64(len(want)) {
			t.Errorf("read %q to %d, want %q", got, r.Offset(), want)
		}
	})
}
