package bwrap

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/system"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestArguments(t *testing.T) {
	m := machine{
		options: "--disable-userns  x\n--size BYTES  y\n--perms OCTAL  z\n", memory: 8 << 30,
		view: system.View{
			Dirs:  []string{"/usr", "/home/ada/.pyenv/versions/3.12"},
			Links: map[string]string{"/lib": "usr/lib", "/bin": "usr/bin"},
			Etc:   []string{"/etc/ld.so.cache"}, Sys: []string{"/sys/devices/system/cpu"},
		},
	}
	m.program = "/usr/local/bin/proctor"
	old := m
	old.options = ""
	plain := sandbox.Spec{Workspace: "/runs/1/workspace", Workdir: "/workspace"}
	full := plain
	full.Network.Policy = "full"
	full.Devices = []string{"/dev/nvidia0"}
	full.Limits = sandbox.Limits{MemoryBytes: 1 << 30, DiskBytes: 1 << 29}
	full.ReadOnly = []string{"train.py", "lib/fixed"}
	full.Mounts = []sandbox.Mount{
		{Source: "/data/out", Target: "/workspace/out", Writable: true},
		{Source: "/data/sets", Target: "/data"},
		{Source: "/data/inner", Target: "/data/a/b"},
	}
	for name, c := range map[string]struct {
		m machine
		s sandbox.Spec
	}{"plain": {m, plain}, "full": {m, full}, "old": {old, plain}} {
		t.Run(name, func(t *testing.T) {
			args, contents := c.m.arguments(c.s, 6)
			got := strings.ReplaceAll(strings.Join(args, " "), " --", "\n--") + "\n\n" + strings.Join(contents, "\n")
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
