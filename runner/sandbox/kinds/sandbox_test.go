package kinds

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"proctor/runner/sandbox"
)

// each runs a test once for every kind.
func each(t *testing.T, test func(t *testing.T, k sandbox.Kind)) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			test(t, kindNamed(t, k.Name))
		})
	}
}

func TestCommandOnATerminal(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		out, exit := run(t, s, sandbox.Command{Cols: 97, Rows: 31, Argv: []string{"sh", "-c",
			"stty size; test -t 0 && test -t 1 && test -t 2 && echo yes; ps -o tpgid= -p $$ >/dev/null; pwd; exit 7"}})
		if want := "31 97\nyes\n" + s.Path("/workspace"); out != want {
			t.Errorf("got %q, want %q", out, want)
		}
		if exit.Code != 7 || exit.Signal != 0 {
			t.Errorf("exit %+v", exit)
		}
		if k.Name == "bwrap" { // its terminal has a name inside
			contains(t, sh(t, s, "tty"), "/dev/pts/")
		}
		if _, exit := shExit(t, s, "kill -TERM $$"); exit.Signal != syscall.SIGTERM || exit.Code != 143 {
			t.Errorf("after SIGTERM: %+v", exit)
		}
	})
}

func TestTypingResizingSignalling(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		p := start(t, s, sandbox.Command{Argv: []string{"sh", "-c",
			`stty noflsh # else ^C may discard what it makes the program say
			 trap 'echo changed $(stty size)' WINCH; trap 'echo bye; exit 3' INT
			 read -r line; echo "got <$line>"; while :; do sleep 0.01; done`}})
		lines := bufio.NewScanner(p)
		expect := func(want string) {
			t.Helper()
			for lines.Scan() {
				if strings.HasSuffix(strings.TrimRight(lines.Text(), "\r"), want) {
					return
				}
			}
			t.Fatalf("never read %q: %v", want, lines.Err())
		}
		io.WriteString(p, "hello\n")
		expect("got <hello>")
		if err := p.Resize(100, 50); err != nil {
			t.Fatal(err)
		}
		expect("changed 50 100")
		io.WriteString(p, "\x03")
		expect("bye")
		io.Copy(io.Discard, p)
		if exit, _ := p.Wait(); exit.Code != 3 {
			t.Errorf("exit %+v", exit)
		}

		p = start(t, s, sandbox.Command{Argv: []string{"sh", "-c", "trap 'exit 4' USR1; echo on; while :; do sleep 0.01; done"}})
		lines = bufio.NewScanner(p)
		expect("on")
		if err := p.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		if exit, _ := p.Wait(); exit.Code != 4 && exit.Signal != syscall.SIGUSR1 {
			t.Errorf("exit %+v", exit)
		}
	})
}

func TestCommandOnPipes(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var stdout, stderr bytes.Buffer
		p, err := s.Start(t.Context(), sandbox.Command{
			Argv: []string{"sh", "-c", "cat; echo err >&2; echo verdict >&3; test -t 0 || echo no terminal"},
			Env:  []string{"X=1"}, Stdin: strings.NewReader(strings.Repeat("in\n", 100_000)),
			Stdout: &stdout, Stderr: &stderr, Files: []*os.File{w}})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := p.Wait(); exit.Code != 0 || err != nil {
			t.Errorf("exit %+v, %v", exit, err)
		}
		if got := stdout.String(); len(got) != 300_000+len("no terminal\n") {
			t.Errorf("stdout has %d bytes", len(got))
		}
		if got := stderr.String(); got != "err\n" {
			t.Errorf("stderr %q", got)
		}
		if got, _ := io.ReadAll(r); string(got) != "verdict\n" {
			t.Errorf("descriptor 3: %q", got)
		}

		var both bytes.Buffer
		if p, err = s.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", "echo 1; echo 2 >&2; echo 3"}, Stdout: &both, Stderr: &both}); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		if both.String() != "1\n2\n3\n" {
			t.Errorf("one writer for both: %q", both.String())
		}
	})
}

// A leftover that holds the pipe open does not hold Wait.
func TestLeftoverHoldsThePipe(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		var out bytes.Buffer
		p, err := s.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", "sleep 1000 & echo done"}, Stdout: &out, Grace: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := p.Wait(); err != nil || exit.Code != 0 || out.String() != "done\n" {
			t.Errorf("%+v %v %q", exit, err, out.String())
		}
	})
}

func TestLeftoverHoldsTheTerminal(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		p := start(t, s, sandbox.Command{Argv: []string{"sh", "-c",
			"trap '' HUP; (while :; do echo noise || exit; done) & echo the last word; exit 5"}})
		p.Wait()
		out, err := io.ReadAll(p) // late, and with the leftover still writing
		if err != nil {
			t.Fatal(err)
		}
		contains(t, string(out), "the last word")
	})
}

func TestStartFails(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		for want, c := range map[string]sandbox.Command{
			`"no-such-program": executable file not found`: {Argv: []string{"no-such-program"}},
			`enter "/nowhere"`: {Argv: []string{"true"}, Dir: "/nowhere"},
			"no command":       {},
			"./absent":         {Argv: []string{"./absent"}},
		} {
			for _, c.TTY = range []bool{true, false} {
				if _, err := s.Start(t.Context(), c); err == nil {
					t.Errorf("%q started", c.Argv)
				} else {
					contains(t, err.Error(), want)
				}
			}
		}
		// and has not harmed the sandbox
		if out := sh(t, s, "echo fine"); out != "fine" {
			t.Error(out)
		}
	})
}

// Nothing of the user's environment passes, and no descriptor of ours.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_KEY", "sk-live")
	each(t, func(t *testing.T, k sandbox.Kind) {
		sp := spec(t)
		sp.Env = []string{"FROM_SPEC=1", "LANG=de_DE.UTF-8"}
		s := open(t, k, sp)
		out, _ := run(t, s, sandbox.Command{Argv: []string{"env"}, Env: []string{"FROM_COMMAND=2"}})
		var names []string
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(line, "=")
			names = append(names, name)
		}
		slices.Sort(names)
		want := "FROM_COMMAND FROM_SPEC HOME LANG LOGNAME PATH PROCTOR_COMMAND PROCTOR_SANDBOX SHELL TERM TMPDIR USER"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		contains(t, out, "LANG=de_DE.UTF-8")
		fds, _ := run(t, s, sandbox.Command{Argv: []string{"sh", "-c", "exec ls /proc/self/fd"}})
		if got := strings.Join(strings.Fields(fds), " "); got != "0 1 2 3" { // 3 is ls's own
			t.Errorf("open descriptors: %s", got)
		}
	})
}

func TestFilesGoBothWays(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		sp := spec(t)
		data, out := workspace(t), workspace(t)
		write(t, filepath.Join(data, "deep/input"), "data")
		write(t, filepath.Join(sp.Workspace, "starter.py"), "starter")
		write(t, filepath.Join(sp.Workspace, "fixed/rules"), "rules")
		sp.Mounts = []sandbox.Mount{{Source: data, Target: "/data"}, {Source: out, Target: "/workspace/out", Writable: true}}
		sp.ReadOnly = []string{"fixed", "absent"}
		s := open(t, k, sp)
		script := fmt.Sprintf(`set -e; cat %s/deep/input starter.py; echo w >starter.py; echo o >%s/o
			touch $HOME/x $TMPDIR/y; mkdir -p a/b; mv starter.py a/b/
			! echo z 2>/dev/null >fixed/rules; ! echo z 2>/dev/null >%s/deep/input; ! rm -f fixed/rules 2>/dev/null; echo ok`,
			s.Path("/data"), s.Path("/workspace/out"), s.Path("/data"))
		if k.Name == None && os.Geteuid() == 0 {
			script = strings.ReplaceAll(script, "!", "true ||") // modes do not bind root
		}
		if got := sh(t, s, script); got != "datastarterok" {
			t.Errorf("got %q", got)
		}
		if got := read(filepath.Join(sp.Workspace, "a/b/starter.py")); got != "w\n" {
			t.Errorf("moved file: %q", got)
		}
		if got := read(filepath.Join(out, "o")); got != "o\n" {
			t.Errorf("writable mount: %q", got)
		}
		if got := read(filepath.Join(sp.Workspace, "fixed/rules")); got != "rules" {
			t.Errorf("read-only path: %q", got)
		}
		if got := s.Path("/data/deep/input"); k.Name != "bwrap" && got != filepath.Join(data, "deep/input") ||
			k.Name == "bwrap" && got != "/data/deep/input" {
			t.Errorf("Path: %s", got)
		}
	})
}

func TestPythonRuns(t *testing.T) {
	needPython(t)
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		got := python(t, s, "import ssl, sqlite3, ctypes, multiprocessing as m\nq = m.Lock()\nprint(6 * 7)")
		if got != "42" {
			t.Errorf("got %q", got)
		}
	})
}

func TestKillEndsDescendants(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		sp := spec(t)
		s := open(t, k, sp)
		other := startSh(t, s, "echo >other; sleep 1000")
		p := startSh(t, s, "(setsid sh -c 'sleep 1001 & sleep 1002' &) ; sh -c 'sleep 1003' & echo >started; sleep 1004")
		eventually(t, "all started", func() bool {
			pids, _ := s.Pids()
			return len(pids) >= 8 && read(filepath.Join(sp.Workspace, "started")) != ""
		})
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if exit, _ := p.Wait(); exit.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v", exit)
		}
		eventually(t, "only the other command is left", func() bool {
			pids, err := s.Pids()
			return err == nil && len(pids) == 2
		})
		if err := other.Kill(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestContextEndsTheCommand(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		ctx, cancel := context.WithCancel(t.Context())
		p, err := s.Start(ctx, sandbox.Command{Argv: []string{"sleep", "1000"}})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if exit, _ := p.Wait(); exit.Signal != syscall.SIGKILL {
			t.Errorf("exit %+v", exit)
		}
		if _, err := s.Start(ctx, sandbox.Command{Argv: []string{"true"}}); err != nil {
			t.Logf("start under an ended context: %v", err)
		}
	})
}

// What a command leaves behind to go on does so, however soon the context of
// the command ends after it.
func TestContextSparesWhatGoesOn(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		var left []string
		for i := range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			p, err := s.Start(ctx, sandbox.Command{TTY: true, Argv: []string{"sh", "-c", fmt.Sprintf(
				"setsid sh -c 'echo $$ >%[1]d.new; mv %[1]d.new %[1]d; exec sleep 300' </dev/null >/dev/null 2>&1 & while [ ! -e %[1]d ]; do :; done; cat %[1]d", i)}})
			if err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(); err != nil {
				t.Fatal(err)
			}
			cancel()
			left = append(left, strings.TrimSpace(string(out)))
		}
		if gone := sh(t, s, "for p in "+strings.Join(left, " ")+"; do kill -0 $p 2>/dev/null || echo $p; done"); gone != "" {
			t.Errorf("of %v these have ended: %v", left, strings.Fields(gone))
		}
	})
}

func TestSeveralAtOnce(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		var all sync.WaitGroup
		for i := range 6 {
			sp := spec(t)
			all.Go(func() {
				s, err := k.Open(t.Context(), sp)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				p, err := s.Start(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", fmt.Sprintf("echo %d >me; cat me", i)}, TTY: true})
				if err != nil {
					t.Error(err)
					return
				}
				if out, _ := io.ReadAll(p); strings.TrimSpace(string(out)) != fmt.Sprint(i) {
					t.Errorf("got %q in sandbox %d", out, i)
				}
			})
		}
		all.Wait()
	})
}

func TestCloseEndsEverything(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		t.Run(fmt.Sprintf("frozen=%v", frozen), func(t *testing.T) {
			each(t, func(t *testing.T, k sandbox.Kind) {
				s := open(t, k, spec(t))
				p := startSh(t, s, "trap '' HUP TERM INT; setsid sh -c 'sleep 1001 & sleep 1002' & sleep 1003")
				var pids []int
				eventually(t, "all started", func() bool {
					pids, _ = s.Pids()
					return len(pids) >= 4
				})
				if frozen {
					if err := s.Freeze(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				for _, pid := range pids {
					if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
						t.Errorf("process %d after Close: %v", pid, err)
					}
				}
				if exit, _ := p.Wait(); exit.Signal != syscall.SIGKILL {
					t.Errorf("exit %+v", exit)
				}
				select {
				case <-s.Done():
				default:
					t.Error("not Done")
				}
				if _, err := s.Start(t.Context(), sandbox.Command{Argv: []string{"true"}}); err == nil {
					t.Error("started a command after Close")
				}
			})
		})
	}
}

func TestUsageAndPids(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		s := open(t, k, spec(t))
		startSh(t, s, "x=; while [ ${#x} -lt 20000 ]; do x=x$x; done; while :; do :; done")
		eventually(t, "processor time is counted", func() bool {
			u, err := s.Usage()
			if err != nil {
				t.Fatal(err)
			}
			return u.CPUSeconds > 0.1 && u.Pids == 1 && u.MemoryBytes > 1<<18
		})
		pids, err := s.Pids()
		if err != nil || len(pids) != 1 {
			t.Fatalf("pids %v, %v", pids, err)
		}
		if read(fmt.Sprintf("/proc/%d/comm", pids[0])) != "sh\n" {
			t.Error("not a host process id")
		}
	})
}

// What a program writes is never gathered here, however much it is.
func TestFloodStaysOutOfMemory(t *testing.T) {
	if grown := flood(t, open(t, kindNamed(t, All()[0].Name), spec(t)), 128<<20); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// flood has a program write size bytes to its terminal and returns by how
// much the heap has grown afterwards.
func flood(t testing.TB, s sandbox.Sandbox, size int64) int64 {
	t.Helper()
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	p := start(t, s, sandbox.Command{Argv: []string{"sh", "-c", fmt.Sprintf("stty -opost; exec head -c %d /dev/zero", size)}})
	n, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{p}, make([]byte, 64<<10))
	if err != nil || n != size {
		t.Errorf("read %d bytes of %d: %v", n, size, err)
	}
	return heap() - before
}

// A workspace at /home does not hide the home of commands, nor do they write
// theirs into it.
func TestHomeBesideTheWorkspace(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		sp := spec(t)
		sp.Workdir = "/home"
		out := sh(t, open(t, k, sp), `pwd; touch "$HOME/x" && ls "$HOME"`)
		if !strings.HasSuffix(out, "\nx") {
			t.Errorf("got %q", out)
		}
		if entries, err := os.ReadDir(sp.Workspace); err != nil || len(entries) > 0 {
			t.Errorf("the workspace has %v, %v", entries, err)
		}
	})
}
