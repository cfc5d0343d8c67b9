package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRootsAreWrittenIn(t *testing.T) {
	for name, tc := range map[string]struct{ before, added, removed string }{
		"no table": {
			"[run]\nagent = \"bash\"",
			"[run]\nagent = \"bash\"\n\n[tasks]\nroots = [\n    \"/new\",\n]\n",
			"[run]\nagent = \"bash\"\n\n[tasks]\nroots = [\n]\n",
		},
		"an empty table": {
			"# mine\n[tasks] # suites\n\n[run]\nagent = \"bash\"\n",
			"# mine\n[tasks] # suites\nroots = [\n    \"/new\",\n]\n\n[run]\nagent = \"bash\"\n",
			"# mine\n[tasks] # suites\nroots = [\n]\n\n[run]\nagent = \"bash\"\n",
		},
		"a table at the end": {"[tasks]", "[tasks]\nroots = [\n    \"/new\",\n]\n", "[tasks]\nroots = [\n]\n"},
		"an empty list":      {"[tasks]\nroots = []  # none yet\n", "[tasks]\nroots = [\"/new\"]  # none yet\n", "[tasks]\nroots = []  # none yet\n"},
		"one line":           {"[tasks]\nroots = ['/a b', \"~/c\"]\n", "[tasks]\nroots = [\"/a b\", \"~/c\", \"/new\"]\n", "[tasks]\nroots = [\"/a b\", \"~/c\"]\n"},
		"lines with comments": {
			"[tasks]\nroots = [\n  # the big one, not [this]\n  \"/a\", # \"first\"\n  \"/b\" # second\n  # no more\n]\n[run]\n",
			"[tasks]\nroots = [\n  # the big one, not [this]\n  \"/a\", # \"first\"\n  \"/b\", # second\n  \"/new\",\n  # no more\n]\n[run]\n",
			"[tasks]\nroots = [\n  # the big one, not [this]\n  \"/a\", # \"first\"\n  \"/b\", # second\n  # no more\n]\n[run]\n",
		},
		"a bracket on the last line": {
			"[tasks]\nroots = [\"/a\",\n  \"/]\\\"\"]\n",
			"[tasks]\nroots = [\"/a\",\n  \"/]\\\"\",\n    \"/new\",]\n",
			"[tasks]\nroots = [\"/a\",\n  \"/]\\\"\",\n    ]\n",
		},
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, tc.before)
		if err := AddRoot(path, "/new"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := read(t, path); got != tc.added {
			t.Errorf("%s: added:\n%s\nwant:\n%s", name, got, tc.added)
		}
		removed, err := RemoveRoot(path, "/new")
		if got := read(t, path); err != nil || !removed || got != tc.removed {
			t.Errorf("%s: removed (%v, %v):\n%s\nwant:\n%s", name, removed, err, got, tc.removed)
		}
		if removed, err := RemoveRoot(path, "/new"); removed || err != nil {
			t.Errorf("%s: removed again: %v, %v", name, removed, err)
		}
	}
}

// A file in which the list is not where it is looked for stays as it is.
func TestRootsThatCannotBeWritten(t *testing.T) {
	for src, want := range map[string]string{
		"tasks = { roots = [\"/a\"] }\n":                    `set [tasks] roots = ["/a", "/new"] there yourself`,
		"tasks.roots = [\"/a\"]\n":                          `set [tasks] roots = ["/a", "/new"] there yourself`,
		"[\"tasks\"]\nroots = [\"/a\"]\n":                   `set [tasks] roots = ["/a", "/new"] there yourself`,
		"x = \"\"\"\n[tasks]\n\"\"\"\n":                     `set [tasks] roots = ["/new"] there yourself`,
		"[tasks\n":                                          "not valid TOML",
		"[tasks]\nroots = 7\n":                              "tasks.roots is 7, expected a list of strings",
		"[tasks]\n\"roots\" = [\"/a\"]\n[run]\nx = \"[\"\n": `set [tasks] roots = ["/a", "/new"] there yourself`,
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, src)
		if err := AddRoot(path, "/new"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
		if got := read(t, path); got != src {
			t.Errorf("%q became %q", src, got)
		}
	}
}

func TestRootsFileIsMadePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proctor", "config.toml")
	if err := AddRoot(path, `/a "b" \c`); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := read(t, path); got != newFile+"[tasks]\nroots = [\n    \"/a \\\"b\\\" \\\\c\",\n]\n" {
		t.Errorf("made:\n%s", got)
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 1 {
		t.Errorf("left behind %v, %v", names, err)
	}
}

// A settings file that is a link stays one, and its file keeps its mode.
func TestRootsThroughALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.toml"), filepath.Join(dir, "config.toml")
	write(t, real, "")
	if err := errors.Join(os.Chmod(real, 0o640), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	if err := AddRoot(link, "/new"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(read(t, real), "/new") {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

func TestRootsExpand(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	c, err := load(t, "[tasks]\nroots = ['~', '~/suites/', '~other/x', '/a/../b', 'rel']\n")
	want := []string{"/home/ada", "/home/ada/suites", "~other/x", "/b", "rel"}
	if err != nil || !slices.Equal(c.Tasks.Roots, want) {
		t.Errorf("got %q, %v, want %q", c.Tasks.Roots, err, want)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, "[tasks]\nroots = ['~/suites']\n")
	if removed, err := RemoveRoot(path, "/home/ada/suites"); !removed || err != nil {
		t.Errorf("removing what is written with ~: %v, %v", removed, err)
	}
}

// Whatever valid settings are edited, they come out with the same roots and
// the new one, or stay as they are.
func FuzzAddRoot(f *testing.F) {
	for _, src := range []string{"", "[tasks]\nroots = ['a', # b\n'''c''']\n", "[tasks]\nroots = [\n]", "tasks = {}", "[[tasks]]", "[tasks]\r\nroots = [\r\n\"a\"\r\n]\r\n"} {
		f.Add(src, "/new")
	}
	f.Fuzz(func(t *testing.T, src, dir string) {
		path := filepath.Join(t.TempDir(), "config.toml")
		write(t, path, src)
		before, readErr := rootsIn(path, []byte(src))
		if err := AddRoot(path, dir); err != nil {
			if got := read(t, path); got != src {
				t.Errorf("failed, and left %q", got)
			}
			return
		}
		after, err := rootsIn(path, []byte(read(t, path)))
		if readErr != nil || err != nil || !slices.Equal(after, append(before, dir)) {
			t.Errorf("%q and %q became %q (%v)", before, dir, after, err)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
