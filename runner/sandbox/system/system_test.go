package system

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePython puts a python3 that reports the given prefixes first on PATH.
func fakePython(t *testing.T, prefix, base, executable string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' " + strings.Join([]string{prefix, base, executable}, " ") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("HOME", "/home/ada")
}

func TestPython(t *testing.T) {
	for name, c := range map[string]struct {
		prefix, base, executable string
		want                     string // prefixes, then bin
	}{
		"system":     {"/usr", "/usr", "/usr/bin/python3", ""},
		"local":      {"/usr/local", "/usr/local", "/usr/local/bin/python3", ""},
		"pyenv":      {"/home/ada/.pyenv/versions/3.12.1", "/home/ada/.pyenv/versions/3.12.1", "/home/ada/.pyenv/versions/3.12.1/bin/python3", "/home/ada/.pyenv/versions/3.12.1 /home/ada/.pyenv/versions/3.12.1/bin"},
		"venv":       {"/home/ada/p/.venv", "/usr", "/home/ada/p/.venv/bin/python3", "/home/ada/p/.venv /home/ada/p/.venv/bin"},
		"venv of uv": {"/srv/p/.venv", "/home/ada/.local/share/uv/python/cpython-3.13", "/srv/p/.venv/bin/python", "/srv/p/.venv /home/ada/.local/share/uv/python/cpython-3.13 /srv/p/.venv/bin"},
		"conda":      {"/opt/conda", "/opt/conda", "/opt/conda/bin/python3.11", "/opt/conda /opt/conda/bin"},
		"brew":       {"/home/linuxbrew/.linuxbrew/opt/python@3.13", "/home/linuxbrew/.linuxbrew/opt/python@3.13", "/home/linuxbrew/.linuxbrew/bin/python3", "/home/linuxbrew/.linuxbrew /home/linuxbrew/.linuxbrew/bin"},
		"nix":        {"/nix/store/abc-python3", "/nix/store/abc-python3", "/nix/store/abc-python3/bin/python3", ""},
		"home":       {"/home/ada", "/home/ada", "/home/ada/bin/python3", ""},
		"above home": {"/home", "/home", "/home/bin/python3", ""},
		"root":       {"/", "/", "/bin/python3", ""},
		"garbage":    {"no", "no", "no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fakePython(t, c.prefix, c.base, c.executable)
			prefixes, bin := python(t.Context())
			if got := strings.TrimSpace(strings.Join(append(prefixes, bin), " ")); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFindShowsOnlyWhatIsThere(t *testing.T) {
	v := Find(t.Context())
	for _, path := range append(append(append([]string{}, v.Dirs...), v.Etc...), v.Path...) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	for _, private := range []string{"/etc/shadow", "/etc/ssl/private", "/root", "/home", "/etc/ssh"} {
		for _, path := range append(append([]string{}, v.Dirs...), v.Etc...) {
			if path == private || strings.HasPrefix(private, path+"/") {
				t.Errorf("%s shows %s", path, private)
			}
		}
	}
}

func TestShows(t *testing.T) {
	v := View{Dirs: []string{"/usr", "/nix/store"}}
	for path, want := range map[string]bool{
		"/usr/local/bin/proctor": true, "/nix/store/x/bin/proctor": true, "/usr": true,
		"/usrlocal/bin/proctor": false, "/home/ada/go/bin/proctor": false, "/": false,
	} {
		if got := v.shows(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
