package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"proctor/agents"
	"proctor/tasks"
)

func read(t *testing.T, path string) (events []Event, skipped int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := NewReader(file, 0)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, r.Skipped()
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func TestLogGoesOnAfterATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	now := func() time.Time { return time.Date(2026, 11, 21, 10, 33, 15, 123456789, time.UTC) }
	w, err := NewWriter(path, now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := w.Append(TypeNote, time.Duration(i)*time.Second, Note{Level: "info", Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"at":"2026-11-21T10:33:15.123456789Z","work":0,"type":"note","data":{"level":"info","text":"0"}}`
	if first, _, _ := strings.Cut(string(whole), "\n"); first != want {
		t.Errorf("the first line is\n%s, want\n%s", first, want)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := last; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(path, now)
		if err != nil {
			t.Fatal(err)
		}
		e, err := w.Append(TypeNote, time.Minute, Note{Level: "info", Text: "after"})
		if err != nil || e.Seq != 3 {
			t.Fatalf("cut at %d: appended %d, %v", cut, e.Seq, err)
		}
		w.Close()
		events, skipped := read(t, path)
		if len(events) != 3 || skipped != 0 {
			t.Fatalf("cut at %d: %d events, %d skipped", cut, len(events), skipped)
		}
	}
}

func TestReaderSkipsWhatIsNoEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	text := `{"seq":1,"type":"note","data":{}}` + "\n\x00\xff garbage\n{\"seq\":\n[]\n" + `{"seq":2,"type":"from.the.future","data":[1]}` + "\n" + `{"seq":3,"type":"note"`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	events, skipped := read(t, path)
	if len(events) != 2 || skipped != 3 {
		t.Errorf("%d events, %d skipped", len(events), skipped)
	}
	var s State
	for _, e := range events {
		s.Apply(e)
	}
	if s.Seq != 2 || s.Unreadable != 0 {
		t.Errorf("folded to %d, %d unreadable", s.Seq, s.Unreadable)
	}
}

// story is a run in events, one of every kind that matters.
func story() []Event {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var all []Event
	add := func(work float64, t Type, payload any) {
		data, err := json.Marshal(payload)
		if err != nil {
			panic(err)
		}
		all = append(all, Event{Seq: uint64(len(all) + 1), At: at.Add(time.Duration(work * 1.5 * float64(time.Second))), Work: work, Type: t, Data: data})
	}
	add(0, TypeRunStarted, RunStarted{ID: "r", Task: TaskInfo{Ref: "builtin/x", Metric: "acc", HigherIsBetter: true}, Agent: "search", Budget: tasks.Budget{Time: time.Minute, Steps: 9}})
	add(0, TypeState, StateChange{From: Preparing, To: Running})
	add(0, TypePlan, Plan{Entries: []agents.PlanEntry{{Content: "try", Status: agents.InProgress}}})
	add(1, TypeActionStarted, ActionStarted{ID: "a1", Step: 1, Kind: agents.Execute, Title: "train"})
	add(2, TypeMetric, agents.Metric{Name: "acc", Value: 0.7, Source: agents.Measured, Step: 1})
	add(2.5, TypeMetric, agents.Metric{Name: "acc", Value: 0.9, Source: agents.Measured, Step: 1})
	add(2.6, TypeMetric, agents.Metric{Name: "loss", Value: 3, Source: agents.Measured, Step: 1})
	add(3, TypeHint, Hint{ID: "h1", Text: "model=svm", Author: "ann"})
	add(3, TypeActionFinished, ActionFinished{ID: "a1", Observation: agents.Observation{Text: "ok", Seconds: 2}})
	add(3, TypeHintDelivered, HintDelivered{ID: "h1", How: agents.Queued, Reply: "only svm"})
	add(3, TypeState, StateChange{From: Running, To: Paused, Actor: "ann", Frozen: true})
	add(3, TypeState, StateChange{From: Paused, To: Running, Actor: "ann"})
	add(4, TypeAsk, Ask{ID: "q1", Text: "more?"})
	add(4, TypeAnswer, Answer{ID: "q1", Choice: "extend", Author: "ann"})
	add(4, TypeBudget, Budget{Dimension: Time, Used: 4, Limit: 90, What: "extended"})
	add(5, TypeUsage, Usage{Model: "m", Input: 100, Cached: 50, Output: 10})
	add(6, TypeVerdict, tasks.Verdict{Status: tasks.Graded})
	add(6, TypeState, StateChange{From: Grading, To: Done})
	add(6, TypeRunEnded, RunEnded{Status: "graded"})
	return all
}

func TestFold(t *testing.T) {
	var s State
	for _, e := range story() {
		s.Apply(e)
	}
	if s.Unreadable != 0 {
		t.Fatalf("%d events could not be read", s.Unreadable)
	}
	if s.Phase != Done || s.Steps != 1 || *s.Best != 0.9 || len(s.Points) != 3 {
		t.Errorf("phase %s, %d steps, best %v, %d points", s.Phase, s.Steps, s.Best, len(s.Points))
	}
	if a := s.Actions[0]; a.Finished == nil || a.Finished.Text != "ok" || a.Metric == nil || *a.Metric != 0.9 {
		t.Errorf("action %+v", a)
	}
	if h := s.Hints[0]; h.How != agents.Queued || h.Reply != "only svm" || h.Step != 1 {
		t.Errorf("hint %+v", h)
	}
	if !s.Assisted() || s.Extensions != 1 || s.Limits.Time != 90*time.Second || s.Limits.Steps != 9 {
		t.Errorf("assisted %v, %d extensions, limits %+v", s.Assisted(), s.Extensions, s.Limits)
	}
	if !s.Usage.UnknownCost || s.Usage.Tokens() != 110 || s.Ask != nil || s.Verdict == nil || s.Ended == nil {
		t.Errorf("usage %+v, ask %v", s.Usage, s.Ask)
	}
}

func TestAKeyframeAnywhereChangesNothing(t *testing.T) {
	all := story()
	var whole State
	for _, e := range all {
		whole.Apply(e)
	}
	for cut := range all {
		var before, after State
		for _, e := range all[:cut] {
			before.Apply(e)
		}
		data, err := json.Marshal(Keyframe{State: &before})
		if err != nil {
			t.Fatal(err)
		}
		k := Keyframe{State: &after}
		if err := json.Unmarshal(data, &k); err != nil {
			t.Fatal(err)
		}
		for _, e := range all[cut:] {
			after.Apply(e)
		}
		if diff := cmp.Diff(whole, after); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
	}
}

func TestAStateIsBounded(t *testing.T) {
	var s State
	s.Apply(story()[0])
	long := strings.Repeat("日", MaxObservation/2)
	for i := range 2 * MaxActions {
		id := fmt.Sprint(i)
		for _, p := range []struct {
			t Type
			v any
		}{
			{TypeActionStarted, ActionStarted{ID: id, Step: i + 1}},
			{TypeActionFinished, ActionFinished{ID: id, Observation: agents.Observation{Text: long}}},
			{TypeMetric, agents.Metric{Name: "acc", Value: float64(i % 1000), Source: agents.Measured}},
			{TypeNote, Note{Text: "x"}},
			{TypeHint, Hint{ID: id, Text: "x"}},
		} {
			if p.t == TypeHint && i > 100 {
				continue
			}
			data, err := json.Marshal(p.v)
			if err != nil {
				t.Fatal(err)
			}
			s.Apply(Event{Seq: uint64(i), Type: p.t, Data: data, Work: float64(i)})
		}
	}
	if len(s.Actions) > MaxActions*5/4 || len(s.Points) > MaxPoints || len(s.Feed) > MaxNotes*5/4 || len(s.Marks) > MaxNotes*5/4 {
		t.Errorf("%d actions, %d points, %d notes, %d marks", len(s.Actions), len(s.Points), len(s.Feed), len(s.Marks))
	}
	if s.Steps != 2*MaxActions || *s.Best != 999 {
		t.Errorf("%d steps, best %v", s.Steps, *s.Best)
	}
	best := 0.0
	for _, p := range s.Points {
		best = max(best, p.Value)
	}
	if best != 999 {
		t.Errorf("thinning lost the best point: %v", best)
	}
	if got := s.Actions[0].Finished.Text; len(got) > MaxObservation || !strings.Contains(got, "\n…\n") || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("observation of %d bytes", len(got))
	}
}

func FuzzFold(f *testing.F) {
	for _, e := range story() {
		f.Add(string(e.Type), []byte(e.Data))
	}
	f.Fuzz(func(t *testing.T, typ string, data []byte) {
		var s State
		for _, e := range story() {
			s.Apply(e)
			s.Apply(Event{Seq: e.Seq, Type: Type(typ), Data: data, Work: e.Work})
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("the state does not marshal: %v", err)
		}
	})
}

func BenchmarkFold(b *testing.B) {
	all := story()
	var s State
	for i := 0; b.Loop(); i++ {
		s.Apply(all[i%len(all)])
	}
}
