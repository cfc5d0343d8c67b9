package e2e

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"proctor/runner/terminal"
)

// A console is the program in a terminal of its own, as a person sees it.
type console struct {
	u      *user
	cmd    *exec.Cmd
	master *os.File
	screen *terminal.Terminal
	done   sync.WaitGroup
}

// console starts a command in a terminal of 120×40 cells.
func (u *user) console(args ...string) *console {
	u.Helper()
	c := &console{u: u, screen: terminal.New(120, 40), cmd: exec.Command(program, args...)}
	c.cmd.Env, c.cmd.Dir = u.env(), u.path("home")
	var err error
	if c.master, err = pty.StartWithSize(c.cmd, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
		u.Fatal(err)
	}
	c.done.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := c.master.Read(buf)
			if _, failed := c.screen.Write(buf[:n]); err != nil || failed != nil {
				return
			}
			if replies := c.screen.Replies(); len(replies) > 0 {
				c.master.Write(replies)
			}
		}
	})
	u.Cleanup(c.kill)
	return c
}

// shows waits until a text is on the screen.
func (c *console) shows(text string) {
	c.u.Helper()
	poll(c.u, "the screen shows "+text, func() bool { return c.has(text) })
}

func (c *console) has(text string) bool { return strings.Contains(c.text(), text) }

// text is what has been on the screen, scrolled out of it or not.
func (c *console) text() string { return strings.Join(c.screen.Text(0, c.screen.Lines()), "\n") }

func (c *console) press(keys string) {
	c.u.Helper()
	if _, err := io.WriteString(c.master, keys); err != nil {
		c.u.Fatal(err)
	}
}

// kill ends the program as kill -9 does, if it has not ended by itself.
func (c *console) kill() {
	if c.cmd.ProcessState != nil {
		return
	}
	c.cmd.Process.Kill()
	c.cmd.Wait()
	c.done.Wait() // the terminal's last program is gone, so reading ends
	c.master.Close()
}

// quits waits until the program has ended by itself and returns its exit
// status.
func (c *console) quits() int {
	c.u.Helper()
	c.done.Wait()
	c.cmd.Wait()
	c.master.Close()
	return c.cmd.ProcessState.ExitCode()
}

func TestConsoleQuitsAndComesBack(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.run(u.task(task{starter: steps}))
	r.wrote("counter")
	c := u.console("attach")
	c.shows("sh train.sh")
	c.press("q")
	if code := c.quits(); code != 0 || !r.Alive() {
		t.Errorf("exit status %d, run alive: %v", code, r.Alive())
	}
	if !c.has("proctor attach") {
		t.Errorf("it does not say how to come back:\n%s", c.text())
	}
	u.must("stop")
	r.ends()
}

// Who is the agent types in the terminal, leaves the shell, and sees what
// that was worth: nobody assisted them.
func TestAPersonIsTheAgent(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	c := u.console("run", u.task(task{}), "--agent", "human", "--sandbox", u.anyBox())
	c.shows("ends your work and submits it")
	c.press("t")
	c.shows("every key goes there")
	c.press("echo 0.9 >out.txt; exit\r")
	c.shows("GRADED")
	if v := verdict(t, u.newest().ends()); *v.Score != 0.9 || v.Assisted || v.Takeovers != 0 {
		t.Errorf("verdict %+v", v)
	}
	c.press("q")
	if code := c.quits(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
