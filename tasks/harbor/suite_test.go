package harbor

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// dataset lays out tasks called a, b and c, of which c is broken, and some
// folders that are no tasks.
func dataset(t *testing.T) string {
	t.Helper()
	f := files{"README.md": "x", "notes/x.md": "x", ".hidden/task.toml": ""}
	for _, name := range []string{"a", "b", "c"} {
		for file, data := range goodTask() {
			f[name+"/"+file] = data
		}
	}
	f["c/task.toml"] = "agent = 1"
	return f.write(t)
}

func refs(list []*tasks.Task, problems []tasks.Problem) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Ref)
	}
	for _, p := range problems {
		out = append(out, "!"+p.Ref)
	}
	return strings.Join(out, " ")
}

func TestSuiteOfFolders(t *testing.T) {
	dir := dataset(t)
	if !Detect(dir) || !Detect(filepath.Join(dir, "a")) || Detect(filepath.Join(dir, "notes")) || Detect(filepath.Join(dir, "gone")) {
		t.Error("Detect is wrong")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if got, want := refs(s.List(ctx)), "task/a task/b !task/c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	task, err := s.Open(ctx, "b")
	if err != nil || task.Ref != "task/b" || task.Suite != "task" || task.Name != "b" {
		t.Errorf("%+v, %v", task, err)
	}
	for name, want := range map[string]string{
		"c":        `opening task "c": ` + dir + `/c/task.toml:1: agent is 1, expected a table`,
		"a-long":   `suite "task" has no task "a-long"`,
		"notes":    `suite "task" has no task "notes"`,
		"../other": `suite "task" has no task "../other"`,
	} {
		if _, err := s.Open(ctx, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if got := refs(s.List(cancelled)); got != "" {
		t.Errorf("listed after the end: %s", got)
	}
	if _, err := s.Open(cancelled, "a"); err == nil {
		t.Error("opened after the end")
	}
}

func TestSuiteWithManifest(t *testing.T) {
	dir := dataset(t)
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, manifest), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("schema_version = '1.0'\n[dataset]\nname = 'lab/set'\n[[tasks]]\nname = 'lab/b'\ndigest = 'sha256:0'\n[[tasks]]\nname = 'lab/gone'\n")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, problems := s.List(context.Background())
	if got, want := refs(list, problems), "set/b set/a !set/gone !set/c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := problems[0].Err.Error(), `opening task "gone": `+dir+`/gone/task.toml: missing, expected the task's settings`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		"[dataset]\nname = 1":             ":2: dataset.name is 1, expected a string",
		"[[tasks]]\ndigest = ''":          `:1: tasks[0] lacks name, a task's name such as "org/name"`,
		"[[tasks]]\nname = 'x/../..'":     `:2: tasks[0].name is the string "x/../..", expected a task's name such as "org/name"`,
		"tasks = 1":                       ":1: tasks is 1, expected a list of tables",
		"[dataset\n":                      ":1: not valid TOML: expected '.' or ']' to end table name, but got '\\n' instead",
		strings.Repeat("#", maxConfig+10): ": longer than 128 KiB, expected text",
	} {
		write(text)
		want = `opening dataset "` + dir + `": ` + dir + "/dataset.toml" + want
		if _, err := Open(dir); err == nil || err.Error() != want {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

func TestOpenNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || err.Error() != `opening tasks in "`+dir+`": no folder in it has a task.toml` {
		t.Error(err)
	}
	gone := filepath.Join(dir, "gone")
	if _, err := Open(gone); err == nil || err.Error() != `opening tasks in "`+gone+`": no such file or directory` {
		t.Error(err)
	}
}

func TestEmbeddedSuite(t *testing.T) {
	f := fstest.MapFS{}
	for name, data := range goodTask() {
		f["one/"+name] = &fstest.MapFile{Data: []byte(data)}
	}
	f["two/task.toml"] = &fstest.MapFile{Data: []byte("x")}
	list, problems := New("builtin", f).List(context.Background())
	if got, want := refs(list, problems), "builtin/one !builtin/two"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := problems[0].Err.Error(); !strings.HasPrefix(got, `opening task "two": builtin/two/task.toml:1: not valid TOML`) {
		t.Error(got)
	}
}

// The file systems that tasks hand out must be whole ones: the sandbox copies
// them with whatever the standard library offers.
func TestFileSystems(t *testing.T) {
	dir := files{"a.txt": "a", "d/b.txt": "b", "Dockerfile": "FROM x"}.write(t)
	if err := os.Symlink("a.txt", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		files fs.FS
		want  []string
	}{
		"checkout.Dir":      {checkout.Dir(dir), []string{"a.txt", "d/b.txt", "Dockerfile", "link"}},
		"withoutBuildFiles": {withoutBuildFiles{checkout.Dir(dir)}, []string{"a.txt", "d/b.txt", "link"}},
		"flat":              {flat{checkout.Dir(dir), map[string]string{"a.txt": "a.txt", "b.txt": "d/b.txt"}}, []string{"a.txt", "b.txt"}},
		"empty":             {flat{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			copied := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(copied, tc.files); err != nil {
				t.Fatal(err)
			}
			if err := filepath.WalkDir(copied, func(p string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					rel, _ := filepath.Rel(copied, p)
					got = append(got, filepath.ToSlash(rel))
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if !slices.Equal(got, tc.want) {
				t.Errorf("copied %q, want %q", got, tc.want)
			}
			if _, err := fs.ReadFile(tc.files, "nothing"); err == nil {
				t.Error("read a file that is not there")
			}
			if name == "withoutBuildFiles" {
				if _, err := fs.ReadFile(tc.files, "Dockerfile"); err == nil {
					t.Error("read a build file")
				}
			}
		})
	}
}
