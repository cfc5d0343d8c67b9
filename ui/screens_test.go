package ui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"proctor/runner/control"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/runner/watch"
	"proctor/tasks"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

var update = flag.Bool("update", false, "write the golden screens anew")

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}, {40, 12}, {20, 5}}

// A scene brings a model to what a golden screen shows.
type scene struct {
	name  string
	first First
	play  func(s *stage)
}

// A stage is a model that a scene plays on, without a program around it.
type stage struct {
	t   testing.TB
	m   *model
	now time.Time
}

func newStage(t testing.TB, first First, w, h int) *stage {
	s := &stage{t: t, now: epoch}
	s.m = newModel(context.Background(), newFake(), first, func() time.Time { return s.now })
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

// send updates the model; commands are not run, a scene says what comes back.
func (s *stage) send(msgs ...tea.Msg) {
	for _, m := range msgs {
		s.m.Update(m)
		s.m.View()
	}
}

func (s *stage) keys(names ...string) {
	for _, n := range names {
		s.send(press(n))
	}
}

// press makes the message of a key.
func press(name string) tea.KeyPressMsg {
	special := map[string]rune{"home": tea.KeyHome, " ": tea.KeySpace, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// watch shows a tape as a run that is alive, at the moment at which it ends.
func (s *stage) watch(p *tape, output string, alive bool) {
	s.m.open(runID, false)
	s.now = p.wall
	s.send(openedMsg{session: s.m.view.number}, recordMsg{s.m.view.number, "/home/ada/.local/state/proctor/runs/" + runID})
	half := len(p.events) / 2
	first := &event.State{}
	for _, e := range p.events[:half] {
		first.Apply(e)
	}
	s.batch(watch.Batch{State: first, Alive: alive})
	s.batch(watch.Batch{Events: p.events[half:], Alive: alive, Output: []watch.Output{{Cols: 80, Rows: 24, Data: []byte(output)}}})
	s.send(tickMsg{})
}

func (s *stage) batch(b watch.Batch) { s.send(batchMsg{session: s.m.view.number, batch: b}) }

// launch fills the launch screen.
func (s *stage) launch() {
	f := newFake()
	all, problems := f.Tasks(s.m.ctx)
	s.send(tasksMsg{all, problems}, sandboxesMsg(f.Sandboxes(s.m.ctx)), modelsMsg(f.Models(s.m.ctx)))
	s.agents()
}

// agents answers what the launch screen has asked for the selected task.
func (s *stage) agents() {
	task := all()[0]
	for _, t := range all() {
		if start, _ := s.m.launch.Start(); start.Task == t.Ref {
			task = t
		}
	}
	s.send(agentsMsg{task, newFake().Agents(s.m.ctx, task)})
	width := s.m.launch.Width()
	s.send(renderedMsg{task.Ref, width, renderMarkdown(task.Instruction, width, s.m.theme.Markdown)})
}

const output = "\x1b[1m$\x1b[0m python3 train.py --model mlp --lr 0.020 --epochs 9\r\n" +
	"loaded 1437 images, 8x8, 10 classes\r\n" +
	"epoch 1/9  loss \x1b[33m0.8241\x1b[0m  accuracy \x1b[32m0.9028\x1b[0m\r\n" +
	"epoch 2/9  loss \x1b[33m0.4410\x1b[0m  accuracy \x1b[32m0.9306\x1b[0m\r\n" +
	"epoch 3/9  loss \x1b[33m0.3127\x1b[0m  accuracy \x1b[32m0.9444\x1b[0m\r\n" +
	"epoch 4/9 \x1b[34m━━━━━━━━━━━━━━━━━━━━━━\x1b[90m━━━━━━━━━━\x1b[0m 68%"

func scenes() []scene {
	return append(gpuScenes(), []scene{
		{name: "launch", play: func(s *stage) { s.launch() }},
		{name: "launch-empty"},
		{name: "launch-find", play: func(s *stage) { s.launch(); s.keys("/", "d", "i", "a"); s.agents() }},
		{name: "launch-refused", play: func(s *stage) { s.launch(); s.keys("tab", "tab", "G", "enter") }},
		{name: "console-connecting", play: func(s *stage) { s.m.open(runID, false); s.send(tickMsg{}) }},
		{name: "console-running", play: func(s *stage) { s.watch(running(s.t), output, true) }},
		{name: "console-terminal", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("3", "z") }},
		{name: "console-score", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("4", "z") }},
		{name: "console-pausing", play: func(s *stage) {
			s.watch(running(s.t).emit(event.TypeNote, event.Note{Level: "info", Text: "pausing after this action", Kind: event.KindPauseRequested}), output, true)
		}},
		{name: "console-paused", play: func(s *stage) {
			s.watch(searched(s.t, 8).phase(event.Running, event.Paused, event.StateChange{Actor: "ada"}).wait(9), output, true)
		}},
		{name: "console-frozen", play: func(s *stage) {
			s.watch(running(s.t).phase(event.Running, event.Paused, event.StateChange{Actor: "ada", Frozen: true}).wait(9), output, true)
		}},
		{name: "console-waiting", play: func(s *stage) { s.watch(asking(s.t).wait(7), output, true) }},
		{name: "console-waiting-later", play: func(s *stage) {
			s.watch(asking(s.t).wait(7), output, true)
			s.now = s.now.Add(2 * time.Second)
			s.keys("esc")
		}},
		{name: "console-taken", play: func(s *stage) {
			p := running(s.t)
			s.watch(p, output, true)
			s.keys("t")
			s.send(repliedMsg{session: s.m.view.number, cmd: control.Command{Cmd: control.Takeover}, reply: control.Reply{OK: true}})
			p.emit(event.TypeTakeover, event.Takeover{On: true, Author: "ada"})
			s.batch(watch.Batch{Events: p.events[len(p.events)-1:], Alive: true})
			s.keys("x")
		}},
		{name: "console-interrupted", play: func(s *stage) { s.watch(running(s.t), output, false) }},
		{name: "console-finished", play: func(s *stage) { s.watch(graded(s.t, gold()), output, true) }},
		{name: "console-none", play: func(s *stage) {
			p := running(s.t)
			raw := strings.Replace(string(p.events[0].Data), `"sandbox":"bwrap"`, `"sandbox":"none","isolation":["files: the agent can read and write what you can","network: open","processes: it can see and signal yours"]`, 1)
			p.events[0].Data = []byte(raw)
			s.watch(p, output, true)
			s.keys("5")
		}},
		{name: "console-help", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("?") }},
		{name: "console-hint", play: func(s *stage) {
			s.watch(running(s.t), output, true)
			s.keys("h")
			s.send(tea.PasteMsg{Content: "larger batches keep the loss smooth"})
		}},
		{name: "console-extend", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("e") }},
		{name: "console-stop", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("x") }},
		{name: "console-detail", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("k", "k", "k", "enter") }},
		{name: "console-find", play: func(s *stage) { s.watch(running(s.t), output, true); s.keys("3", "/", "l", "o", "s", "s", "enter") }},
		{name: "console-replay", play: func(s *stage) {
			s.m.open(runID, true)
			p := running(s.t)
			s.send(openedMsg{session: s.m.view.number})
			s.batch(watch.Batch{State: p.state(), Now: p.wall, Replay: &watch.Progress{At: 52, Total: 88, Speed: 4},
				Output: []watch.Output{{Cols: 80, Rows: 24, Data: []byte(output)}}})
		}},
		{name: "verdict-gold", play: func(s *stage) { s.watch(graded(s.t, gold()), output, true); s.keys("v") }},
		{name: "verdict-none", play: func(s *stage) {
			v := gold()
			v.Score, v.Medal, v.Rank, v.Improvement, v.AboveMedian = ptr(0.9417), "", 4, ptr(0.0496), ptr(false)
			s.watch(graded(s.t, v), output, true)
			s.keys("v")
		}},
		{name: "verdict-invalid", play: func(s *stage) {
			s.watch(graded(s.t, tasks.Verdict{Status: tasks.InvalidSubmission, Reason: "predictions.csv has 359 rows, expected 360; row 17 names the label “x”"}), output, true)
			s.keys("v")
		}},
		{name: "verdict-nothing", play: func(s *stage) {
			s.watch(graded(s.t, tasks.Verdict{Status: tasks.NoSubmission, Reason: "predictions.csv was not there"}), output, true)
			s.keys("v")
		}},
		{name: "verdict-grader-failed", play: func(s *stage) {
			s.watch(graded(s.t, tasks.Verdict{Status: tasks.GraderFailed, Reason: "the grader wrote NaN as its reward"}), output, true)
			s.keys("v")
		}},
		{name: "verdict-unavailable", play: func(s *stage) {
			s.watch(graded(s.t, tasks.Verdict{Status: tasks.GraderUnavailable, Reason: "python module “sklearn” is missing", Remedy: "pip install scikit-learn, then: proctor grade"}), output, true)
			s.keys("v")
		}},
		{name: "runs", play: func(s *stage) {
			s.m.show(screen.Runs)
			s.now = epoch.Add(3 * time.Hour)
			list, err := newFake().Runs(s.m.ctx)
			s.send(runsMsg{list, err})
		}},
		{name: "runs-attempts", play: func(s *stage) { s.attempts(); s.keys("home", "j", "j", "j") }},
		{name: "runs-attempts-open", play: func(s *stage) { s.attempts(); s.keys("home", "j", "j", "enter", "j", "j", "j", "enter") }},
		{name: "verdict-entered", play: func(s *stage) { s.watch(graded(s.t, enteredByHand()), output, true); s.keys("v") }},
		{name: "runs-empty", play: func(s *stage) { s.m.show(screen.Runs); s.send(runsMsg{}) }},
	}...)
}

func asking(t testing.TB) *tape {
	p := searched(t, 9)
	p.phase(event.Running, event.Waiting, event.StateChange{Reason: "a question"})
	return p.emit(event.TypeAsk, event.Ask{ID: "q1", Kind: "approve", Text: "run a command that deletes files?", Detail: "rm -rf checkpoints/rung-1", Options: []string{"approve", "deny", "edit"}, Default: "deny"})
}

// TestScreens compares every scene at every size with its golden cells.
func TestScreens(t *testing.T) {
	for _, sc := range scenes() {
		for _, size := range sizes {
			name := fmt.Sprintf("%s-%dx%d", sc.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				s := newStage(t, sc.first, size[0], size[1])
				if sc.play != nil {
					sc.play(s)
				}
				s.m.stale = true
				view := s.m.View()
				shoot(t, name, view.Content)
				got := cells(view.Content, size[0], size[1])
				wellFormed(t, view.Content, size[0], size[1])
				golden(t, name, got)
			})
		}
	}
}

// cells is what a terminal shows of a frame.
func cells(content string, w, h int) string {
	emu := terminal.New(w, h, terminal.WithLineFeedNewLine(), terminal.WithHistory(0))
	_, _ = emu.Write([]byte(content))
	return strings.Join(emu.Text(0, h), "\n") + "\n"
}

// wellFormed checks that a frame fills the screen exactly.
func wellFormed(t testing.TB, content string, w, h int) {
	t.Helper()
	lines := strings.Split(content, "\n")
	if len(lines) != h {
		t.Errorf("the frame has %d lines, want %d", len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Errorf("line %d is %d cells wide, want %d: %q", i, n, w, ansi.Strip(l))
		}
	}
}

func golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the screen changed (-want +got); run with -update if that is meant:\n%s", diff)
	}
}

// shoot writes a frame as it goes to the terminal into the directory named by
// PROCTOR_SHOT, to be looked at.
func shoot(t testing.TB, name, content string) {
	dir := os.Getenv("PROCTOR_SHOT")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".ansi"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestThemes draws every scene in every theme: the cells are the same, only
// colours differ, and without colours there are none.
func TestThemes(t *testing.T) {
	for _, sc := range scenes() {
		if sc.play == nil {
			continue
		}
		for _, look := range []struct {
			name    string
			dark    bool
			colours theme.Colours
		}{{"light", false, theme.FullColours}, {"16", true, theme.Colours16}, {"16-light", false, theme.Colours16}, {"none", true, theme.NoColours}} {
			t.Run(sc.name+"-"+look.name, func(t *testing.T) {
				s := newStage(t, sc.first, 120, 40)
				s.m.look(look.dark, look.colours)
				sc.play(s)
				s.m.stale = true
				content := s.m.View().Content
				wellFormed(t, content, 120, 40)
				shoot(t, sc.name+"-"+look.name, content)
				if look.colours != theme.FullColours && strings.Contains(strings.ReplaceAll(content, output, ""), "38;2;") {
					t.Error("a theme without full colours uses them")
				}
			})
		}
	}
}
