package pane

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/ui/theme"
)

func TestWriting(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{Clock(102 * time.Second), "1:42"},
		{Clock(3*time.Hour + 12*time.Minute + 4*time.Second), "3:12:04"},
		{Clock(-time.Second), "0:00"},
		{Left(time.Millisecond), "0:01"},
		{Left(0), "0:00"},
		{Took(0.44), "0.4s"},
		{Took(9.96), "10s"},
		{Took(185), "3m05s"},
		{Took(59.6), "1m00s"},
		{Took(7260), "2h01m"},
		{Took(math.NaN()), "–"},
		{Value(0.98333), "0.9833"},
		{Value(53.9471), "53.95"},
		{Value(0), "0.0000"},
		{Value(-1234.5), "-1234"},
		{Value(math.Inf(1)), "+Inf"},
		{Unit(2.5, "s"), "2.500 s"},
		{Bytes(-1), "unknown"},
		{Bytes(71 << 20), "71 MiB"},
		{Bytes(61 << 30), "61 GiB"},
		{Count(-1234567), "-1,234,567"},
		{Count(999), "999"},
		{Plural(1, "hint"), "1 hint"},
		{Plural(0, "hint"), "0 hints"},
		{Ago(90 * time.Minute), "1h"},
		{since(3*time.Hour + 12*time.Minute), "3h12"},
		{OverBaseline(0.99, 0.9, true), "+10.0 %"},
		{OverBaseline(45, 50, false), "+10.0 %"},
		{OverBaseline(1, 0, true), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func TestReached(t *testing.T) {
	v := func(f float64) *float64 { return &f }
	up := tasks.Thresholds{Gold: v(0.9), Silver: v(0.8), Bronze: v(0.7)}
	down := tasks.Thresholds{Gold: v(50), Silver: v(55), Bronze: v(60)}
	for _, tc := range []struct {
		th     tasks.Thresholds
		score  float64
		higher bool
		want   string
	}{{up, 0.9, true, "gold"}, {up, 0.89, true, "silver"}, {up, 0.5, true, ""}, {down, 50, false, "gold"}, {down, 58, false, "bronze"}, {down, 61, false, ""}, {tasks.Thresholds{}, 1, true, ""}} {
		if got := Reached(tc.th, tc.score, tc.higher); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.score, got, tc.want)
		}
	}
}

func TestElide(t *testing.T) {
	const before = "python3 train.py --model mlp --lr 0.10"
	for _, tc := range []struct {
		title string
		room  int
		want  string
	}{
		{"python3 train.py --model knn --k 3", 40, "… --model knn --k 3"},
		{"python3 train.py --model knn --k 3", 14, "… knn --k 3"},
		{"ls -la", 10, "ls -la"},
		{"python3 other.py", 10, "… other.py"},
	} {
		if got := elide(tc.title, before, tc.room); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestSpending(t *testing.T) {
	s := &event.State{Limits: tasks.Budget{Time: 2 * time.Minute, Cost: 20}, Steps: 3,
		Usage: event.UsageTotal{Calls: 2, Input: 900, Output: 100, Cost: 3.2, UnknownCost: true},
		Fired: []event.Budget{{Dimension: "time", What: "hard"}}}
	list := Spending(s, 30*time.Second)
	if len(list) != 4 {
		t.Fatalf("%d dimensions", len(list))
	}
	if d := list[0]; d.Left != "1:30" || d.Fraction != 0.25 || !d.Reached || d.Tone(0.8) != theme.Bad {
		t.Errorf("time: %+v", d)
	}
	if d := list[1]; d.Limit != "" || d.Used != "3" {
		t.Errorf("steps: %+v", d)
	}
	if d := list[2]; d.Used != "1,000" {
		t.Errorf("tokens: %+v", d)
	}
	if d := list[3]; d.Used != "≥ $3.20" || d.Left != "$16.80" {
		t.Errorf("cost: %+v", d)
	}
}

func TestBarShowsItsFractionWithoutColour(t *testing.T) {
	look := theme.New(true, theme.NoColours)
	text := func(fraction, soft float64) string {
		var b strings.Builder
		for _, s := range bar(look, 10, fraction, soft, theme.Plain) {
			b.WriteString(s.Text)
		}
		return b.String()
	}
	for _, tc := range []struct {
		fraction, soft float64
		want           string
	}{{0, 0, "──────────"}, {0.45, 0, "━━━━╸─────"}, {1.7, 0.8, "━━━━━━━━━━"}, {0.2, 0.8, "━━──────┼─"}, {-1, 1, "──────────"}} {
		if got := text(tc.fraction, tc.soft); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.fraction, got, tc.want)
		}
	}
	if got := spark([]float64{0, 1, 2, 4}, 3, 0); got != "▃▄▇" {
		t.Errorf("spark %q", got)
	}
}

func TestChart(t *testing.T) {
	look := theme.New(true, theme.NoColours)
	v := func(f float64) *float64 { return &f }
	c := Chart{Points: []XY{{10, 0.5}, {20, 0.9}, {30, 0.7}}, Higher: true, Until: 40,
		Levels: Levels(look, tasks.Thresholds{Gold: v(0.95)}, v(0.5)), Marks: []AxisMark{{20, theme.Flag, theme.Plain}}}
	lines := c.Draw(look, 44, 8)
	if len(lines) != 8 {
		t.Fatalf("%d lines", len(lines))
	}
	text := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{"gold", "base", theme.Flag, "0:00", "0:40"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, odd := range []Chart{{Until: 5}, {Points: []XY{{0, 1}}, Until: 5}, {Points: []XY{{9, 1}, {-1, 1e300}, {2, -1e300}}, Until: 5}} {
		for _, l := range odd.Draw(look, 40, 6) {
			if ansi.StringWidth(l) != 40 {
				t.Errorf("a line of %d cells", ansi.StringWidth(l))
			}
		}
	}
}

func BenchmarkChart(b *testing.B) {
	look := theme.New(true, theme.FullColours)
	c := Chart{Higher: true, Until: 4000}
	for i := range 4000 {
		c.Points = append(c.Points, XY{float64(i), math.Log(float64(i + 1))})
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Draw(look, 100, 12)
	}
}

func frame(s *event.State) Frame {
	return Frame{State: s, Version: s.Seq, Now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), Theme: theme.New(true, theme.NoColours)}
}

func TestTerminalStaysOnItsTextWhenScrolledBack(t *testing.T) {
	p := &Terminal{Screen: terminal.New(40, 10, terminal.WithHistory(50), terminal.WithLineFeedNewLine())}
	write := func(n, from int) {
		for i := range n {
			_, _ = p.Screen.Write([]byte("line " + Count(int64(from+i)) + "\n"))
		}
	}
	write(40, 0)
	f := frame(&event.State{})
	first := func() string { return strings.TrimSpace(ansi.Strip(p.Body(f, 40, 10, true)[0])) }
	if got := first(); got != "line 31" {
		t.Fatalf("follows at %q", got)
	}
	p.Move(-10)
	before := first()
	write(25, 40) // some lines leave the scrollback
	if got := first(); got != before {
		t.Errorf("slid from %q to %q", before, got)
	}
	if !strings.Contains(p.Note(f)[0].Text, "G follows") {
		t.Error("does not say that it stands still")
	}
	p.Ends(1)
	if got := first(); got != "line 56" {
		t.Errorf("at the end it shows %q", got)
	}
	if !p.Find(f, "line 50", -1) || !strings.Contains(strings.Join(p.Body(f, 40, 10, true), "\n"), "line 50") {
		t.Error("does not find what is in sight")
	}
}

func TestActionsKeepTheirPlace(t *testing.T) {
	s := &event.State{Started: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Phase: event.Running}
	p := &Actions{}
	add := func(n int) {
		for range n {
			s.Seq++
			s.Steps++
			s.Actions = append(s.Actions, event.ActionState{
				ActionStarted: event.ActionStarted{ID: Count(int64(s.Steps)), Step: s.Steps, Kind: agents.Execute, Title: "command " + Count(int64(s.Steps))},
				At:            s.Started.Add(time.Duration(s.Steps) * time.Second), Finished: &agents.Observation{},
			})
		}
	}
	add(30)
	p.Body(frame(s), 50, 8, true)
	p.Move(-5)
	d, _ := p.Selected(frame(s))
	add(10)
	s.Actions = s.Actions[4:] // the oldest go, as in a long run
	p.Body(frame(s), 50, 8, true)
	if now, _ := p.Selected(frame(s)); now.Title != d.Title {
		t.Errorf("the selection moved from %q to %q", d.Title, now.Title)
	}
	p.Ends(1)
	p.Body(frame(s), 50, 8, true)
	if now, _ := p.Selected(frame(s)); now.Title != "command 40" {
		t.Errorf("the end is %q", now.Title)
	}
}
