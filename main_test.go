package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the program: a run starts it again for its
// supervisor, its sandbox and its GPU sampler.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
		return
	}
	os.Exit(m.Run())
}

// A desk is a person with a home of their own who types commands.
type desk struct {
	testing.TB
	box string // the sandbox that works here
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	short, err := os.MkdirTemp("", "pr") // a socket's path may not be long
	if err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"XDG_STATE_HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(), "XDG_RUNTIME_DIR": short} {
		t.Setenv(name, dir)
	}
	a := &app{}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What a test leaves behind ends before its home does.
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			alive, err := a.store.Alive()
			if err != nil || len(alive) == 0 || time.Now().After(deadline) {
				break
			}
		}
		os.RemoveAll(short)
	})
	return &desk{t, a.demoSandbox(t.Context())}
}

// types carries out a command and returns what it printed and its exit
// status.
func (d *desk) types(ctx context.Context, out, err *bytes.Buffer, args ...string) int {
	d.Helper()
	root := newRoot(&app{out: out, err: err})
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	failed := root.ExecuteContext(ctx)
	if failed == nil {
		return 0
	}
	err.WriteString(failed.Error())
	var exit exitError
	if errors.As(failed, &exit) {
		return exit.code
	}
	return exitUsage
}

// does is types for a command that must succeed; its output is read into v
// if that is not nil.
func (d *desk) does(v any, args ...string) string {
	d.Helper()
	var out, err bytes.Buffer
	if code := d.types(d.Context(), &out, &err, args...); code != 0 {
		d.Fatalf("proctor %q: exit status %d\n%s%s", args, code, out.String(), err.String())
	}
	if v != nil {
		if bad := json.Unmarshal(out.Bytes(), v); bad != nil {
			d.Fatalf("proctor %q printed %s: %v", args, out.String(), bad)
		}
	}
	return out.String()
}

// task writes a task whose starter code and grader are shell scripts.
func (d *desk) task(starter, grader string) string {
	d.Helper()
	dir := filepath.Join(d.TempDir(), "tiny")
	for name, text := range map[string]string{
		"task.toml": `schema_version = "1.4"
[task]
name = "tests/tiny"
[verifier]
timeout_sec = 60
[metadata.proctor]
schema = 1
outputs = ["out.txt"]
starter = "sh train.sh"
[metadata.proctor.budget]
time = "2m"
[metadata.proctor.metric]
name = "accuracy"
higher_is_better = true
pattern = 'acc ([0-9.]+)'
[metadata.proctor.grade]
baseline = 0.5
[metadata.proctor.grade.thresholds]
gold = 0.9
silver = 0.75
bronze = 0.6
`,
		"instruction.md": "# Tiny\n", "environment/train.sh": starter, "tests/test.sh": grader,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			d.Fatal(err)
		}
	}
	return dir
}
