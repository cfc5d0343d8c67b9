package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/agents"
	"proctor/runner/cast"
	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/rundir"
)

// A writer makes a run's record as a supervisor would.
type writer struct {
	t    testing.TB
	dir  rundir.Dir
	log  *event.Writer
	cast *cast.Writer
	at   time.Time
	work time.Duration
}

func newWriter(t testing.TB) *writer {
	t.Helper()
	dir, err := rundir.NewStore(t.TempDir()).Create(rundir.Request{ID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{t: t, dir: dir, at: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	if w.log, err = event.NewWriter(dir.Events(), func() time.Time { return w.at }); err != nil {
		t.Fatal(err)
	}
	if w.cast, err = cast.Create(dir.Cast(), cast.Header{Term: cast.Term{Cols: 80, Rows: 24}}, 0); err != nil {
		t.Fatal(err)
	}
	w.emit(event.TypeRunStarted, event.RunStarted{ID: "run"})
	w.emit(event.TypeState, event.StateChange{To: event.Running})
	return w
}

func (w *writer) emit(t event.Type, v any) {
	w.t.Helper()
	if _, err := w.log.Append(t, w.work, v); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) pass(d time.Duration) { w.at, w.work = w.at.Add(d), w.work+d }

func (w *writer) show(text string) { w.cast.Output(w.work, []byte(text)) }

func (w *writer) flush() int64 {
	n, err := w.cast.Flush()
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// all reads a source to its end and returns its state and output.
func all(t testing.TB, s Source) (event.State, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var state event.State
	var out strings.Builder
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return state, out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.State != nil {
			state = *b.State
		}
		for _, e := range b.Events {
			state.Apply(e)
		}
		for _, o := range b.Output {
			if o.Cols > 0 {
				fmt.Fprintf(&out, "<%dx%d>", o.Cols, o.Rows)
			}
			if o.Skipped > 0 {
				out.WriteString("<skipped>")
			}
			out.Write(o.Data)
		}
	}
}

func TestADeadRunIsReadToItsEnd(t *testing.T) {
	w := newWriter(t)
	w.show("hello\r\n")
	w.cast.Resize(0, 100, 30)
	w.show("world")
	w.flush()
	w.emit(event.TypeNote, event.Note{Text: "n"})
	file, err := os.OpenFile(w.dir.Events(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"seq":4,"type":"no`); err != nil {
		t.Fatal(err)
	}
	file.Close()
	live, err := Attach(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	state, out := all(t, live)
	if state.Seq != 3 || len(state.Feed) != 1 || out != "<80x24>hello\r\n<100x30>world" {
		t.Errorf("read to %d, output %q", state.Seq, out)
	}
}

func TestALiveRunIsFollowedToItsEnd(t *testing.T) {
	w := newWriter(t)
	lock, err := w.dir.Lock()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	server, err := control.Listen(socket, func(context.Context, control.Command) control.Reply { return control.Reply{} })
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.SetSocket(socket); err != nil {
		t.Fatal(err)
	}
	live, err := Attach(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	first, err := live.Next(t.Context())
	if err != nil || !first.Alive || first.State.Phase != event.Running {
		t.Fatalf("first batch %+v, %v", first, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 300 {
			w.emit(event.TypeMetric, agents.Metric{Name: "m", Value: float64(i)})
			w.show(fmt.Sprintf("%d\n", i))
			server.Notify(control.Notice{Events: w.log.Offset(), Output: w.flush()})
		}
		w.emit(event.TypeState, event.StateChange{To: event.Done})
		server.Close()
		lock.Unlock()
	}()
	state, out := all(t, live)
	<-done
	if state.Phase != event.Done || len(state.Points) != 300 || !strings.HasSuffix(out, "298\n299\n") {
		t.Errorf("phase %s, %d points, output ends %q", state.Phase, len(state.Points), out[max(0, len(out)-20):])
	}
}

func TestAKeyframeIsOnlyAShortCut(t *testing.T) {
	w := newWriter(t)
	w.show("old output\n")
	k := event.Keyframe{Events: w.log.Offset(), Cast: w.flush(), Cols: 80, Rows: 24, Screen: []byte("redrawn\n")}
	k.State = &event.State{}
	live, err := Attach(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := all(t, live)
	live.Close()
	k.State = &state
	if err := w.dir.WriteKeyframe(k); err != nil {
		t.Fatal(err)
	}
	w.emit(event.TypeNote, event.Note{Text: "later"})
	w.show("new\n")
	w.flush()
	read := func() (event.State, string) {
		live, err := Attach(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		return all(t, live)
	}
	if state, out := read(); len(state.Feed) != 1 || out != "<80x24>redrawn\nnew\n" {
		t.Errorf("with a keyframe: %d notes, %q", len(state.Feed), out)
	}
	if err := os.WriteFile(w.dir.Keyframe(), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if state, out := read(); len(state.Feed) != 1 || out != "<80x24>old output\nnew\n" {
		t.Errorf("with a torn keyframe: %d notes, %q", len(state.Feed), out)
	}
}

func TestAViewerThatFallsBehindSkipsAhead(t *testing.T) {
	w := newWriter(t)
	line := strings.Repeat("x", 120) + "\n"
	for range 4 * backlog / len(line) {
		w.show(line)
	}
	w.show("the end\n")
	w.flush()
	live, err := Attach(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	_, out := all(t, live)
	if len(out) > backlog || !strings.Contains(out, "<skipped>") || !strings.HasSuffix(out, "the end\n") {
		t.Errorf("%d bytes of output", len(out))
	}
}

func TestAReplayShowsEverythingInOrder(t *testing.T) {
	w := newWriter(t)
	for i := range 50 {
		w.pass(time.Second)
		w.emit(event.TypeMetric, agents.Metric{Name: "m", Value: float64(i)})
		w.show(fmt.Sprintf("%d\n", i))
	}
	w.emit(event.TypeState, event.StateChange{From: event.Running, To: event.Paused})
	w.at = w.at.Add(time.Hour)
	w.emit(event.TypeState, event.StateChange{From: event.Paused, To: event.Running})
	w.pass(time.Second)
	w.emit(event.TypeState, event.StateChange{To: event.Done})
	w.flush()
	r, err := NewReplay(w.dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if want := 51*time.Second + longestPause; r.total != want {
		t.Errorf("the replay lasts %v, want %v", r.total, want)
	}
	r.TogglePause()
	b, err := r.Next(t.Context())
	if err != nil || b.State == nil || !b.Replay.Paused {
		t.Fatalf("first batch %+v, %v", b, err)
	}
	state := *b.State
	for _, e := range b.Events {
		state.Apply(e)
	}
	r.TogglePause()
	rest, out := all(t, r)
	if n := len(rest.Points); n != 50 || rest.Phase != event.Done {
		t.Errorf("%d points, phase %s", n, rest.Phase)
	}
	if !strings.HasSuffix(out, "48\n49\n") {
		t.Errorf("output ends %q", out[max(0, len(out)-20):])
	}
}

// BenchmarkAttachMillion opens a run of a million events, with the keyframe
// that its supervisor would have left.
func BenchmarkAttachMillion(b *testing.B) {
	w := newWriter(b)
	var s event.State
	var k event.Keyframe
	for i := range 1_000_000 {
		e, err := w.log.Append(event.TypeMetric, w.work, agents.Metric{Name: "m", Value: float64(i), Source: agents.Measured})
		if err != nil {
			b.Fatal(err)
		}
		s.Apply(e)
		if w.log.Offset()-k.Events > 256<<10 {
			k = event.Keyframe{Events: w.log.Offset(), Cast: w.flush(), Cols: 80, Rows: 24, State: &s}
			if i > 990_000 {
				if err := w.dir.WriteKeyframe(k); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		begin func()
	}{
		{"keyframe", func() {}},
		{"log alone", func() { os.Remove(w.dir.Keyframe()) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.begin()
			for b.Loop() {
				live, err := Attach(w.dir)
				if err != nil {
					b.Fatal(err)
				}
				batch, err := live.Next(b.Context())
				if err != nil || batch.State.Seq != 1_000_002 {
					b.Fatalf("attached at %d, %v", batch.State.Seq, err)
				}
				live.Close()
			}
		})
	}
}
