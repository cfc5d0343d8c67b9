package kinds

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"proctor/runner/sandbox"
)

// kindNamed returns a kind that works here. Without it the test is skipped,
// or fails where every program that tests need is to be installed.
func kindNamed(t testing.TB, name string) sandbox.Kind {
	t.Helper()
	for _, k := range All() {
		if k.Name != name {
			continue
		}
		if p := probe(k); !p.OK {
			if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
				t.Fatalf("sandbox kind %q must work here: %s", name, p.Reason)
			}
			t.Skipf("sandbox kind %q does not work here: %s", name, p.Reason)
		}
		return k
	}
	t.Skipf("no sandbox kind %q on this system", name)
	panic("unreachable")
}

var probes sync.Map // of sandbox.Probe by kind: once is enough for all tests

func probe(k sandbox.Kind) sandbox.Probe {
	once, _ := probes.LoadOrStore(k.Name, sync.OnceValue(func() sandbox.Probe { return k.Probe(context.Background()) }))
	return once.(func() sandbox.Probe)()
}

// needPython skips a test that runs Python inside.
func needPython(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

var opened atomic.Int64

// spec returns one over an empty workspace.
func spec(t testing.TB) sandbox.Spec {
	t.Helper()
	return sandbox.Spec{
		Name:      fmt.Sprintf("test-%d-%d", os.Getpid(), opened.Add(1)),
		Workspace: workspace(t), Workdir: "/workspace",
		Log: logTo{t},
	}
}

// workspace is like t.TempDir, whose cleanup fails on what tests lock.
func workspace(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

type logTo struct{ t testing.TB }

func (l logTo) Write(b []byte) (int, error) {
	l.t.Logf("sandbox: %s", bytes.TrimSpace(b))
	return len(b), nil
}

func open(t testing.TB, k sandbox.Kind, s sandbox.Spec) sandbox.Sandbox {
	t.Helper()
	box, err := k.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return box
}

// sh runs a shell script on a terminal and returns what it printed.
func sh(t testing.TB, s sandbox.Sandbox, script string) string {
	t.Helper()
	out, _ := shExit(t, s, script)
	return out
}

func shExit(t testing.TB, s sandbox.Sandbox, script string) (string, sandbox.Exit) {
	t.Helper()
	return run(t, s, sandbox.Command{Argv: []string{"sh", "-c", script}})
}

// python runs a script that is not seen on any command line.
func python(t testing.TB, s sandbox.Sandbox, script string) string {
	t.Helper()
	var out bytes.Buffer
	p, err := s.Start(t.Context(), sandbox.Command{Argv: []string{"python3", "-"},
		Stdin: strings.NewReader(script), Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func run(t testing.TB, s sandbox.Sandbox, c sandbox.Command) (string, sandbox.Exit) {
	t.Helper()
	p := start(t, s, c)
	out, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.ReplaceAll(string(out), "\r\n", "\n")), exit
}

func start(t testing.TB, s sandbox.Sandbox, c sandbox.Command) sandbox.Process {
	t.Helper()
	c.TTY = true
	p, err := s.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startSh starts a script whose output nobody waits for.
func startSh(t testing.TB, s sandbox.Sandbox, script string) sandbox.Process {
	t.Helper()
	p := start(t, s, sandbox.Command{Argv: []string{"sh", "-c", script}})
	go io.Copy(io.Discard, p)
	return p
}

// eventually polls until ok holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func write(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

func contains(t testing.TB, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("got %q, want it to contain %q", got, want)
	}
}
