package cast

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func record(t *testing.T, limit int64, write func(*Writer)) (Header, []Event, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "terminal.cast")
	w, err := Create(path, Header{Term: Term{Cols: 80, Rows: 24}, Timestamp: 1}, limit)
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	h, err := ParseHeader([]byte(all[0]))
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for _, line := range all[1:] {
		e, ok := ParseEvent([]byte(line))
		if !ok {
			t.Fatalf("not an event: %q", line)
		}
		events = append(events, e)
	}
	return h, events, string(data)
}

func TestRecordingIsAsciicast3(t *testing.T) {
	h, events, text := record(t, 0, func(w *Writer) {
		w.Output(10*time.Millisecond, []byte("hé"))
		w.Output(12*time.Millisecond, []byte("llo\r\n\x1b[1m\"\\"))
		w.Marker(1500*time.Millisecond, "hint: go")
		w.Resize(1600*time.Millisecond, 100, 30)
		w.Exit(2*time.Second, 0)
	})
	if h.Version != 3 || h.Term.Cols != 80 || h.Term.Rows != 24 {
		t.Errorf("header %+v", h)
	}
	want := []Event{
		{10 * time.Millisecond, 'o', "héllo\r\n\x1b[1m\"\\"},
		{1490 * time.Millisecond, 'm', "hint: go"},
		{100 * time.Millisecond, 'r', "100x30"},
		{400 * time.Millisecond, 'x', "0"},
	}
	if len(events) != len(want) {
		t.Fatalf("events %+v in\n%s", events, text)
	}
	for i := range want {
		if events[i] != want[i] {
			t.Errorf("event %d: %+v, want %+v", i, events[i], want[i])
		}
	}
}

func TestIntervalsDoNotDrift(t *testing.T) {
	_, events, _ := record(t, 0, func(w *Writer) {
		for i := range 1000 {
			w.Marker(time.Duration(i)*333*time.Microsecond, "x")
		}
	})
	var sum time.Duration
	for _, e := range events {
		sum += e.After
	}
	if want := (999 * 333 * time.Microsecond).Round(time.Millisecond); sum != want {
		t.Errorf("intervals add up to %v, want %v", sum, want)
	}
}

func TestACharacterIsNotCutInHalf(t *testing.T) {
	text := "日本語 ±∑ 🙂 end"
	for cut := range len(text) {
		_, events, _ := record(t, 0, func(w *Writer) {
			w.Output(0, []byte(text[:cut]))
			if _, err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			w.Output(0, []byte(text[cut:]))
		})
		var got string
		for _, e := range events {
			got += e.Data
		}
		if got != text {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	_, events, text := record(t, 0, func(w *Writer) { w.Output(0, []byte("a\xff\xc3b\x00\x7f")) })
	if !utf8.ValidString(text) {
		t.Error("the recording is not UTF-8")
	}
	if got := events[0].Data; got != "a\ufffd\ufffdb\x00\x7f" {
		t.Errorf("recorded %q", got)
	}
}

func TestALimitedRecordingKeepsTheEndOfEachBurst(t *testing.T) {
	const limit = 256 << 10
	line := strings.Repeat("x", 99) + "\n"
	_, events, text := record(t, limit, func(w *Writer) {
		for i := range 200 {
			w.Output(time.Duration(i)*time.Second, bytes.Repeat([]byte(line), 1000))
			w.Output(time.Duration(i)*time.Second, []byte("the end of a burst\n"))
			if _, err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if most := limit + 200*3*thinned; len(text) > most {
		t.Errorf("the recording is %d bytes, want at most %d", len(text), most)
	}
	last := events[len(events)-1].Data
	if !strings.HasSuffix(last, "the end of a burst\n") || !strings.Contains(last, "not recorded") {
		t.Errorf("the last burst ends in %q", last)
	}
}

func TestAppendStringIsJSON(t *testing.T) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1b\x7f", "é\u2028\u2029<>&", "a\xffb", strings.Repeat("\xed\xa0\x80", 3)} {
		var back string
		if err := json.Unmarshal(appendString(nil, []byte(s)), &back); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && back != want {
			t.Errorf("%q came back as %q", s, back)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`[0.5, "o", "hello"]`))
	f.Add([]byte(`[1e300, "r", "80x24"]`))
	f.Add([]byte(`[-1, "x", 3]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, ok := ParseEvent(line)
		if !ok {
			return
		}
		if e.After < 0 {
			t.Errorf("%q: negative interval %v", line, e.After)
		}
		if cols, rows, ok := e.Size(); ok && (cols < 1 || rows < 1 || cols > 4096 || rows > 4096) {
			t.Errorf("%q: size %d×%d", line, cols, rows)
		}
	})
}
