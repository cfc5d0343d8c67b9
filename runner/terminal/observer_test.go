package terminal

import (
	"fmt"
	"strings"
	"testing"
)

func observe(t *testing.T, in string, opts ...Option) string {
	t.Helper()
	o := NewObserver(20, 10_000, 10_000, opts...)
	if _, err := o.Write([]byte(in)); err != nil {
		t.Fatal(err)
	}
	return checkObserved(t, o)
}

func TestObserver(t *testing.T) {
	progress := func(n int, end string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "\r%3d%%|%-10s|\x1b[K", i*100/n, strings.Repeat("█", i*10/n))
		}
		return b.String() + end
	}
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"lines", "a\r\nb\r\n", "a\nb"},
		{"blank lines within stay", "\r\na\r\n\r\nb\r\n\r\n", "\na\n\nb"},
		{"colours and titles go", "\x1b[1;31mred\x1b[m\x1b]0;t\a!", "red!"},
		{"a progress bar is one line", "start\r\n" + progress(10_000, "\r100%|██████████|\r\ndone\r\n"), "start\n100%|██████████|\ndone"},
		{"two bars that move the cursor", strings.Repeat("one 1\r\ntwo 2\r\n\x1b[2A", 999) + "\x1b[2Bend", "one 1\ntwo 2\nend"},
		{"a wrapped line is whole", strings.Repeat("0123456789", 7) + "\r\nx", strings.Repeat("0123456789", 7) + "\nx"},
		{"with its spaces", strings.Repeat("0123456789012345678 ", 3) + "x", strings.Repeat("0123456789012345678 ", 3) + "x"},
		{"with a wide character at the edge", "0123456789012345678漢字", "0123456789012345678漢字"},
		{"and when it scrolls out", strings.Repeat("0123456789", 7) + strings.Repeat("\r\n", 60), strings.Repeat("0123456789", 7)},
		{"a full line is not a wrapped one", "01234567890123456789\r\nx", "01234567890123456789\nx"},
		{"tabs are columns", "a\tb", "a       b"},
		{"an overwritten word", "hello\b\b\b\b\bworld", "world"},
		{"cleared screen", "a\r\nb\x1b[H\x1b[2Jc", "c"},
		{
			"a full-screen program leaves its last screen",
			"$ vim\r\n\x1b[?1049h\x1b[Hfirst\x1b[2J\x1b[Hlast\r\n~\r\n~\x1b[?1049l$ ls\r\n",
			"$ vim\nlast\n~\n~\n$ ls",
		},
		{"one that is still there, too", "$ top\r\n\x1b[?1049h\x1b[Hload", "$ top\nload"},
		{"several", "a\r\n\x1b[?1049h\x1b[Hx\x1b[?1049lb\r\n\x1b[?1047h\x1b[Hy\x1b[?1047lc", "a\nx\nb\ny\nc"},
		{"broken text", "a\xff\x00\x1b[\x1b]", "a\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := observe(t, c.in); got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
	if got, want := observe(t, "a\nb\n", WithLineFeedNewLine()), "a\nb"; got != want {
		t.Errorf("a pipe's output: got %q, want %q", got, want)
	}
}

func TestObserverResultBetweenWrites(t *testing.T) {
	o := NewObserver(20, 100, 100)
	fmt.Fprint(o, "a\r\nb")
	for range 2 {
		if got, _ := o.Result(); got != "a\nb" {
			t.Errorf("got %q", got)
		}
	}
	fmt.Fprint(o, "c\r\n")
	if got, _ := o.Result(); got != "a\nbc" {
		t.Errorf("got %q", got)
	}
	o.Resize(10, 5)
	fmt.Fprint(o, strings.Repeat("d\r\n", 10))
	if got, _ := o.Result(); got != "a\nbc"+strings.Repeat("\nd", 10) {
		t.Errorf("got %q", got)
	}
}

func TestObserverKeepsHeadAndTail(t *testing.T) {
	o := NewObserver(40, 50, 60)
	for i := range 10_000 {
		fmt.Fprintf(o, "line %04d\r\n", i)
	}
	want := "line 0000\nline 0001\nline 0002\nline 0003\nline 0004\n" +
		"[… 9989 lines, 99.9 kB left out …]\n" +
		"line 9994\nline 9995\nline 9996\nline 9997\nline 9998\nline 9999"
	got, truncated := o.Result()
	if got != want || !truncated {
		t.Errorf("truncated %v, got\n%s\nwant\n%s", truncated, got, want)
	}
}

func TestObserverCountsWhatItLeavesOut(t *testing.T) {
	for _, tail := range []int{5, 30, 95, 1000} {
		o := NewObserver(40, 95, tail)
		const lines = 500
		for i := range lines {
			fmt.Fprintf(o, "%03d\r\n", i)
		}
		text, truncated := o.Result()
		if !truncated {
			t.Fatal("not truncated")
		}
		shown, left := 0, 0
		for line := range strings.SplitSeq(text, "\n") {
			if n, err := fmt.Sscanf(line, "[… %d line", &left); n == 1 && err == nil {
				continue
			}
			shown++
		}
		if shown+left != lines {
			t.Errorf("tail %d: %d shown and %d left out of %d:\n%s", tail, shown, left, lines, text)
		}
	}
}

func TestObserverCutsLongLinesBetweenCharacters(t *testing.T) {
	for head := range 8 {
		o := NewObserver(40, head, 10)
		fmt.Fprint(o, strings.Repeat("漢", 10_000))
		text := checkObserved(t, o)
		if strings.ContainsRune(text, '\ufffd') {
			t.Errorf("head %d: %q", head, text)
		}
		if want := strings.Repeat("漢", head/3); !strings.HasPrefix(text, want) {
			t.Errorf("head %d: %q", head, text)
		}
		if !strings.HasSuffix(text, "left out …]\n漢漢漢") {
			t.Errorf("head %d: %q", head, text)
		}
	}
}

func TestObserverOfStreams(t *testing.T) {
	for seed := range int64(100) {
		g := newGen(seed, 40, 12)
		g.clusters = true
		in := g.stream(100)
		o := NewObserver(40, 200, 200)
		o.Resize(40, 12)
		if _, err := o.Write(in); err != nil {
			t.Fatal(err)
		}
		checkObserved(t, o)
	}
}
