package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
)

const oracleStreams = 300

// TestAgainstVT compares screens with those of another emulator library.
func TestAgainstVT(t *testing.T) {
	const cols, rows = 40, 12
	for seed := range int64(oracleStreams) {
		g := newGen(seed, cols, rows)
		g.simple = true
		in := g.stream(60)
		emu := vt.NewEmulator(cols, rows)
		drained := make(chan struct{})
		go func() { // or a query would block Write
			defer close(drained)
			_, _ = io.Copy(io.Discard, emu)
		}()
		if _, err := emu.Write(in); err != nil {
			t.Fatal(err)
		}
		var want []string
		for y := range rows {
			var line strings.Builder
			for x := range cols {
				if c := emu.CellAt(x, y); c != nil && c.Width > 0 {
					line.WriteString(c.Content)
				}
			}
			want = append(want, strings.TrimRight(line.String(), " "))
		}
		got := g.term.Text(g.term.Lines()-rows, rows)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stream %d differs from x/vt:\n%s\n%q", seed, diff, in)
		}
		_ = emu.InputPipe().(io.Closer).Close() // its own Close races with Read
		<-drained
		if t.Failed() {
			return
		}
	}
}

// tmux is a terminal multiplexer with one pane, whose bytes the test writes.
type tmux struct {
	t      testing.TB
	socket string
	feed   io.Writer
	marks  int
}

func newTmux(t testing.TB, cols, rows int) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal("tmux is required and missing")
		}
		t.Skip("tmux is not installed")
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "pane")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	m := &tmux{t: t, socket: fmt.Sprintf("proctor-test-%d-%s", os.Getpid(), filepath.Base(dir))}
	m.run("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows),
		"stty raw -echo; exec cat '"+fifo+"'")
	t.Cleanup(func() { _ = m.cmd("kill-server").Run() })
	m.run("set-option", "-g", "status", "off")
	m.run("set-option", "-g", "history-limit", "10000")
	f, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	m.feed = f
	return m
}

func (m *tmux) cmd(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", m.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=", "SHELL=/bin/sh")
	return cmd
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := m.cmd(args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// write writes to the pane and waits until tmux has taken it all in, which a
// title set at the end shows.
func (m *tmux) write(in []byte) {
	m.t.Helper()
	m.marks++
	mark := fmt.Sprintf("mark-%d", m.marks)
	if _, err := m.feed.Write(append(in, "\x1b]2;"+mark+"\x1b\\"...)); err != nil {
		m.t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for strings.TrimSpace(m.run("display-message", "-p", "#{pane_title}")) != mark {
		if time.Now().After(deadline) {
			m.t.Fatal("tmux did not take the stream in")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAgainstTmux compares screens, styles and cursors with tmux's.
func TestAgainstTmux(t *testing.T) {
	const cols, rows = 40, 12
	m := newTmux(t, cols, rows)
	for seed := range int64(oracleStreams / 2) {
		g := newGen(1000+seed, cols, rows)
		in := g.stream(60)
		m.write(append([]byte("\x1bc\x1b[?1049l\x1bc"), in...))

		// What tmux shows, as styled lines, drawn by this package.
		styled := strings.TrimSuffix(m.run("capture-pane", "-e", "-p", "-N"), "\n")
		shown := New(cols, rows)
		write(shown, "\x1b[?7l\x1b)0"+strings.ReplaceAll(styled, "\n", "\r\n"))
		want := visible(shown.Render(shown.Lines()-rows, rows, cols))
		got := visible(g.term.Render(g.term.Lines()-rows, rows, cols))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stream %d differs from tmux:\n%s\n%q", seed, diff, in)
		}
		x, y, _ := g.term.Cursor()
		at := fmt.Sprintf("%d,%d", x, y-g.term.Lines()+rows)
		if want := strings.TrimSpace(m.run("display-message", "-p", "#{cursor_x},#{cursor_y}")); at != want {
			t.Errorf("stream %d: cursor at %s, tmux's at %s\n%q", seed, at, want, in)
		}
		if t.Failed() {
			return
		}
	}
}

var trailing = regexp.MustCompile(`( |\x1b\[[0-9;:]*m)*$`)

// visible cuts what comes after the last character of each line: tmux's capture
// does not tell the colour of blanks there.
func visible(lines []string) []string {
	for i := range lines {
		lines[i] = trailing.ReplaceAllString(lines[i], "")
	}
	return lines
}
