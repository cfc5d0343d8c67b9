package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/agents/llm/scripted"
	"proctor/agents/llm/wire"
)

// The record of a conversation that grows must grow with what is new, not
// with its square, and give every request back whole.
func TestRecordOfALongConversation(t *testing.T) {
	const steps = 300
	s := scripted.Start(t, func(int, scripted.Request) scripted.Turn { return turn })
	h := start(t, Config{Routes: routesTo(s.URL)})
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var talk []message
	var sent []string
	total := 0
	for i := range steps {
		talk = append(talk, message{"user", fmt.Sprintf("observation %d: 日本語 %s", i, strings.Repeat("line of output ", 20))})
		body, err := json.Marshal(map[string]any{"model": "m", "messages": talk, "tools": []string{"bash", "plan"}})
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, string(body))
		total += len(body)
		request{path: "/v1/chat/completions", body: string(body)}.do(t, h.web, "http://gateway")
	}
	h.last(t, steps)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := ReadRecord(h.record, func(x Exchange) bool {
		got = append(got, string(x.Request.Body()))
		if x.N != int64(len(got)) || x.Usage == nil || x.Response.Text == "" {
			t.Errorf("exchange %d: %+v", len(got), x)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Fatalf("requests (-sent +recorded):\n%.2000s", diff)
	}
	info, err := os.Stat(filepath.Join(h.record, recordName))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests of %d KiB in %d KiB", steps, total>>10, info.Size()>>10)
	if info.Size() > int64(total/10) {
		t.Errorf("%d bytes recorded of %d sent", info.Size(), total)
	}
}

func TestRecordAfterACrash(t *testing.T) {
	dir := t.TempDir()
	write := func(n int64, text string) {
		t.Helper()
		r := newRecorder(Config{Record: dir})
		if err := r.write(Exchange{N: n, Format: wire.Chat, Request: &RecordedBody{Text: text, Bytes: int64(len(text))}}); err != nil {
			t.Fatal(err)
		}
		if err := r.write(Exchange{N: n + 1, Format: wire.Chat, Request: &RecordedBody{Text: text + "!"}}); err != nil {
			t.Fatal(err)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "before the crash")
	path := filepath.Join(dir, recordName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-9], 0o600); err != nil { // the second line is torn
		t.Fatal(err)
	}
	write(1, "after the crash")
	var got []string
	if err := ReadRecord(dir, func(x Exchange) bool { got = append(got, x.Request.Text); return true }); err != nil {
		t.Fatal(err)
	}
	want := []string{"before the crash", "after the crash", "after the crash!"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := ReadRecord(t.TempDir(), func(Exchange) bool { t.Error("an exchange of nothing"); return false }); err != nil {
		t.Errorf("a directory without a record: %v", err)
	}
}

func TestBinaryBodies(t *testing.T) {
	dir := t.TempDir()
	r := newRecorder(Config{Record: dir})
	b := &RecordedBody{}
	b.set([]byte("\xff\xfe\x00"))
	if err := r.write(Exchange{N: 1, Response: b}); err != nil {
		t.Fatal(err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if err := ReadRecord(dir, func(x Exchange) bool {
		if string(x.Response.Body()) != "\xff\xfe\x00" {
			t.Errorf("got %q", x.Response.Body())
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func FuzzReadRecord(f *testing.F) {
	f.Add([]byte(`{"n":1,"format":"chat","request":{"text":"abcdef"}}` + "\n" + `{"n":2,"format":"chat","request":{"like":1,"head":2,"tail":2,"text":"x"}}` + "\n"))
	f.Add([]byte(`{"n":2,"request":{"like":9,"head":-1,"tail":99}}` + "\n{\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, recordName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = ReadRecord(dir, func(Exchange) bool { return true }) // must only not panic
	})
}

func FuzzCommon(f *testing.F) {
	f.Add("日本語", "日本人語")
	f.Add("aaa", "aaaaa")
	f.Fuzz(func(t *testing.T, a, b string) {
		head, tail := common([]byte(a), []byte(b))
		if head+tail > len(b) || head+tail > len(a) {
			t.Fatalf("head %d and tail %d overlap in %q, %q", head, tail, a, b)
		}
		if got := a[:head] + b[head:len(b)-tail] + a[len(a)-tail:]; got != b {
			t.Errorf("put together %q, want %q", got, b)
		}
	})
}

func FuzzReadBody(f *testing.F) {
	f.Add([]byte(`{"model":"m","stream":true,"stream_options":{"a":1},"x":[1,2,{"y":null}]}`))
	f.Add([]byte(`{"stream":true,"stream_options":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := readBody(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		var before, after map[string]any
		if err := json.Unmarshal(data, &before); err != nil {
			t.Fatalf("took what is not JSON: %q", data)
		}
		asked, err := b.askForUsage()
		if err != nil {
			return
		}
		if !asked && string(b.raw) != string(data) {
			t.Errorf("changed for nothing: %q to %q", data, b.raw)
		}
		if err := json.Unmarshal(b.raw, &after); err != nil {
			t.Fatalf("made what is not JSON: %q", b.raw)
		}
		delete(before, "stream_options")
		delete(after, "stream_options")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("other fields changed:\n%s", diff)
		}
	})
}
