package ui

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"proctor/runner/event"
	"proctor/runner/watch"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// TestResizeStorm draws every scene at many sizes in a row: each frame fills
// its screen exactly.
func TestResizeStorm(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			s := newStage(t, sc.first, 80, 24)
			if sc.play != nil {
				sc.play(s)
			}
			for range 20 {
				w, h := 1+random.IntN(220), 1+random.IntN(70)
				s.m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				content := s.m.View().Content
				wellFormed(t, content, w, h)
				onlyColours(t, content)
				if t.Failed() {
					t.Fatalf("at %d×%d", w, h)
				}
			}
		})
	}
}

// TestAnyKeyAnywhere presses keys at random, at random sizes, while the run
// goes on: nothing breaks and every frame is whole.
func TestAnyKeyAnywhere(t *testing.T) {
	keys := []string{"tab", "j", "k", "down", "up", "pgup", "pgdown", "G", "z", "1", "2", "3", "4", "5", "6", "/", "o", "n", "N", "enter", "esc", "?",
		"h", "a", "p", "P", "e", "g", "x", "v", "r", "y", "left", "right", "backspace", "space", "+", "-", "t", "tab", "esc", "esc"}
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 7))
		s := newStage(t, First{}, 120, 40)
		s.launch()
		p := asking(t)
		for i := range 220 {
			switch {
			case i == 60:
				s.watch(p, output, true)
			case i == 180:
				p.emit(event.TypeVerdict, gold())
				s.batch(watch.Batch{Events: p.events[len(p.events)-1:], Alive: true})
			}
			switch random.IntN(12) {
			case 0:
				s.send(tea.WindowSizeMsg{Width: 1 + random.IntN(210), Height: 1 + random.IntN(65)})
			case 1:
				s.send(tea.MouseWheelMsg{X: random.IntN(120), Y: random.IntN(40), Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[random.IntN(2)]})
			case 2:
				s.send(tea.MouseClickMsg{X: random.IntN(120), Y: random.IntN(40), Button: tea.MouseLeft})
			case 3:
				s.now = s.now.Add(time.Second)
				s.send(tickMsg{})
			default:
				s.keys(keys[random.IntN(len(keys))])
			}
			wellFormed(t, s.m.View().Content, s.m.w, s.m.h)
			if t.Failed() {
				t.Fatalf("seed %d, step %d, %d×%d", seed, i, s.m.w, s.m.h)
			}
		}
	}
}

// TestEveryKeyDoesOneThing checks the table of bindings.
func TestEveryKeyDoesOneThing(t *testing.T) {
	for _, place := range []theme.Place{theme.Launch, theme.Console, theme.Replay, theme.Verdict, theme.Runs} {
		for _, twice := range theme.Duplicates(place) {
			t.Errorf("place %d: %s", place, twice)
		}
		for _, b := range theme.Bindings(place) {
			if b.Help == "" {
				t.Errorf("%s has no help", b.Deed)
			}
		}
	}
}

// TestIdleConsoleNeedsNoClock: what stands still is not drawn again.
func TestIdleConsoleNeedsNoClock(t *testing.T) {
	for name, tc := range map[string]struct {
		tape  *tape
		alive bool
		want  time.Duration
	}{
		"an action runs":  {running(t), true, 250 * time.Millisecond},
		"between actions": {searched(t, 3), true, time.Second},
		"paused":          {searched(t, 3).phase(event.Running, event.Paused, event.StateChange{}), true, 0},
		"asking":          {asking(t), true, time.Second},
		"interrupted":     {running(t), false, 0},
		"over":            {graded(t, gold()), true, 0},
	} {
		s := newStage(t, First{}, 120, 40)
		s.watch(tc.tape, "", tc.alive)
		s.m.show(screen.Console)
		if got := s.m.console.Interval(); got != tc.want {
			t.Errorf("%s: the clock ticks every %v, want %v", name, got, tc.want)
		}
	}
}

// TestViewAllocatesNothingWhenNothingChanged guards the idle frame.
func TestViewAllocatesNothingWhenNothingChanged(t *testing.T) {
	s := newStage(t, First{}, 200, 60)
	s.watch(running(t), output, true)
	if n := testing.AllocsPerRun(100, func() { s.m.View() }); n > 0 {
		t.Errorf("an idle frame allocates %v times", n)
	}
}

func BenchmarkIdleView(b *testing.B) {
	s := newStage(b, First{}, 200, 60)
	s.watch(running(b), output, true)
	b.ReportAllocs()
	for b.Loop() {
		s.m.View()
	}
}

// BenchmarkTick is a quarter second of a running action.
func BenchmarkTick(b *testing.B) {
	for _, size := range sizes[:3] {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			s := newStage(b, First{}, size[0], size[1])
			s.watch(running(b), output, true)
			b.ReportAllocs()
			for b.Loop() {
				s.now = s.now.Add(250 * time.Millisecond)
				s.m.Update(tickMsg{})
				s.m.View()
			}
		})
	}
}

// BenchmarkFlood is a frame while a program floods the pty: 64 KiB of output
// and a few events.
func BenchmarkFlood(b *testing.B) {
	line := []byte("step 1042 \x1b[32mloss 0.3127\x1b[0m accuracy 0.9444 ━━━━━━━━━━━━━━━━━━\r\n")
	var data []byte
	for len(data) < 64<<10 {
		data = append(data, line...)
	}
	for _, size := range sizes[:3] {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			s := newStage(b, First{}, size[0], size[1])
			p := running(b)
			s.watch(p, output, true)
			s.keys("3")
			message := p.emit(event.TypeNote, event.Note{Text: "still going"}).events[len(p.events)-1]
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s.m.Update(batchMsg{session: s.m.view.number, batch: watch.Batch{Alive: true, Events: []event.Event{message}, Output: []watch.Output{{Data: data}}}})
				s.m.View()
			}
		})
	}
}
