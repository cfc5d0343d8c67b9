package local

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/runner/sandbox"
)

func TestTranslate(t *testing.T) {
	paths := []sandbox.Mount{
		{Target: "/workspace", Source: "/runs/1/workspace"},
		{Target: "/data", Source: "/sets"},
		{Target: "/workspace/out", Source: "/elsewhere"},
	}
	for target, want := range map[string]string{
		"/workspace": "/runs/1/workspace", "/workspace/a/b": "/runs/1/workspace/a/b", "/workspaces": "/workspaces",
		"/workspace/out": "/elsewhere", "/workspace/out/x": "/elsewhere/x", "/data/x": "/sets/x", "/usr/bin": "/usr/bin",
	} {
		if got := translate(paths, target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

// What a kind without mounts changes in the workspace, it gives back.
func TestUnmountedGivesModesBack(t *testing.T) {
	ws := t.TempDir()
	fixed := filepath.Join(ws, "lib/fixed.py")
	if err := os.MkdirAll(filepath.Dir(fixed), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fixed, nil, 0o664); err != nil {
		t.Fatal(err)
	}
	os.Chmod(fixed, 0o664)
	os.Symlink("/etc/passwd", filepath.Join(ws, "lib/link"))
	u, err := NewUnmounted(sandbox.Spec{Name: "x", Workspace: ws, Workdir: "/w", ReadOnly: []string{"lib", "absent"}})
	if err != nil {
		t.Fatal(err)
	}
	mode := func(path string) os.FileMode {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Mode().Perm()
	}
	if got := mode(fixed); got != 0o444 {
		t.Errorf("while open: %v", got)
	}
	locked := filepath.Join(u.Home, "locked")
	if err := os.MkdirAll(filepath.Join(locked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	os.Chmod(locked, 0)
	u.Close()
	if got := mode(fixed); got != 0o664 {
		t.Errorf("afterwards: %v", got)
	}
	if _, err := os.Stat(filepath.Dir(u.Home)); err == nil {
		t.Error("its directories are still there")
	}
}

// Close ends a Read that waits, and a deadline does.
func TestTerminalDoesNotBlock(t *testing.T) {
	for _, end := range []string{"close", "hangup"} {
		term, slave, err := openTerminal(80, 24)
		if err != nil {
			t.Fatal(err)
		}
		defer slave.Close()
		done := make(chan error, 1)
		go func() {
			_, err := term.Read(make([]byte, 10))
			done <- err
		}()
		if err := term.resize(100, 30); err != nil {
			t.Error(err)
		}
		if end == "close" {
			term.Close()
		} else {
			term.hangup()
		}
		select {
		case err := <-done:
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", end, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: Read still waits", end)
		}
	}
}

// What was written before the hangup is read after it, however late.
func TestTerminalKeepsTheLastWords(t *testing.T) {
	term, slave, err := openTerminal(80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	cmd := exec.Command("sh", "-c", "stty -opost; head -c 3000 /dev/zero | tr '\\0' x")
	cmd.Stdin, cmd.Stdout = slave, slave
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	term.hangup()
	got, err := io.ReadAll(term)
	if string(got) != strings.Repeat("x", 3000) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestTranscript(t *testing.T) {
	var to strings.Builder
	log := &transcript{to: &to}
	for range 1000 {
		log.printf("bwrap: no luck")
	}
	if got := log.said(); !strings.HasPrefix(got, "bwrap: no luck; bwrap: ") || len(got) > 2*transcriptKeep {
		t.Errorf("said %q", got)
	}
	if to.Len() != 15_000 {
		t.Errorf("passed on %d bytes", to.Len())
	}
}
