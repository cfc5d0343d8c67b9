package checkout

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

func TestReadOnly(t *testing.T) {
	tree := fstest.MapFS{
		"train.csv": {}, "test.csv": {}, "train.py": {}, "data/a.csv": {}, "data/deep/b.csv": {}, "methods/BaseMethod.py": {},
	}
	for text, want := range map[string][]string{
		"":                            nil,
		"# none\n\n":                  nil,
		"./train.csv\n./test.csv":     {"test.csv", "train.csv"},
		"data/*\r\n":                  {"data"},
		"methods/BaseMethod.py":       {"methods/BaseMethod.py"},
		"./*.csv":                     {"test.csv", "train.csv"},
		"*.csv":                       {"data/a.csv", "data/deep/b.csv", "test.csv", "train.csv"},
		"./t[!r]*":                    {"test.csv"},
		"./t[re]??*.csv\nabsent/file": {"absent/file", "test.csv", "train.csv"},
		"data/[":                      nil,
		"./*":                         {"test.csv", "train.csv", "train.py"},
	} {
		got, err := ReadOnly(text, tree)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"../x", "/etc/*", ".."} {
		if got, err := ReadOnly(text, tree); err == nil {
			t.Errorf("%q: %q, want an error", text, got)
		}
	}
}

func FuzzReadOnly(f *testing.F) {
	for _, seed := range []string{"data/*", "./t[!r]*", "[]", "[!]a]?", "[z-a]", "a[\\", "**", "\xf6*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		paths, err := ReadOnly(text, fstest.MapFS{"a/b.csv": {}, "c.py": {}})
		if err != nil {
			return
		}
		for _, p := range paths {
			if !filepath.IsLocal(p) {
				t.Errorf("%q gives %q", text, p)
			}
		}
	})
}

func TestDirStaysInside(t *testing.T) {
	dir := t.TempDir()
	d := Dir(filepath.Join(dir, "in"))
	for _, err := range []error{
		os.MkdirAll(filepath.Join(string(d), "sub"), 0o755),
		os.WriteFile(filepath.Join(dir, "secret"), []byte("s"), 0o600),
		os.WriteFile(filepath.Join(string(d), "plain"), []byte("\ufeffp\r\n"), 0o600),
		os.Symlink("../secret", filepath.Join(string(d), "out")),
		os.Symlink("plain", filepath.Join(string(d), "alias")),
		os.Symlink("..", filepath.Join(string(d), "up")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Text("out", 10); err == nil {
		t.Error("a link out was followed")
	}
	if text, err := d.Text("alias", 10); err != nil || text != "p\n" {
		t.Errorf("a link inside: %q, %v", text, err)
	}
	if _, err := d.Text("plain", 2); err == nil {
		t.Error("a file larger than the limit was read")
	}
	if _, err := d.Sub("up"); err == nil {
		t.Error("a link in a directory's place was taken")
	}
	if got, want := (Tree{Dir: d}).Stray(), []string{"out", "up"}; !slices.Equal(got, want) {
		t.Errorf("stray %q, want %q", got, want)
	}
	if _, err := (Tree{Dir: d, Without: []string{"plain"}}).Open("plain"); err == nil {
		t.Error("what is left out can be opened")
	}
}
