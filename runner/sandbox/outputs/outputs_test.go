package outputs

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(taken Taken) string {
	var all []string
	for _, f := range taken.Files {
		all = append(all, f.Path)
	}
	return strings.Join(all, " ")
}

func TestCollect(t *testing.T) {
	ws := t.TempDir()
	for _, name := range []string{"submission.csv", "model/a.bin", "model/deep/b.bin", "model/deep/c.txt", "runs/1/best.pt", "runs/2/best.pt", "runs/2/last.pt", "[x]"} {
		put(t, ws, name, "content of "+name)
	}
	os.Mkdir(filepath.Join(ws, "empty"), 0o755)
	os.Chmod(filepath.Join(ws, "model/a.bin"), 0o755)
	for _, c := range []struct {
		patterns, files, missing string
	}{
		{"submission.csv", "submission.csv", ""},
		{"model", "model/a.bin model/deep/b.bin model/deep/c.txt", ""},
		{"model/ submission.csv model/a.bin", "model/a.bin model/deep/b.bin model/deep/c.txt submission.csv", ""},
		{"runs/*/best.pt", "runs/1/best.pt runs/2/best.pt", ""},
		{"*/deep/*.txt", "model/deep/c.txt", ""},
		{"runs/[2-9]", "runs/2/best.pt runs/2/last.pt", ""},
		{`\[x\]`, "[x]", ""},
		{"absent absent/x runs/*/no empty submission.csv/x", "", "absent absent/x runs/*/no empty"},
		{".", "[x] model/a.bin model/deep/b.bin model/deep/c.txt runs/1/best.pt runs/2/best.pt runs/2/last.pt submission.csv", ""},
	} {
		t.Run(c.patterns, func(t *testing.T) {
			dest := filepath.Join(t.TempDir(), "out")
			taken, err := Collect(ws, strings.Fields(c.patterns), dest, Caps{})
			if err != nil {
				t.Fatal(err)
			}
			if got := names(taken); got != c.files {
				t.Errorf("took %q, want %q", got, c.files)
			}
			if got := strings.Join(taken.Missing, " "); got != c.missing {
				t.Errorf("missing %q, want %q", got, c.missing)
			}
			for _, f := range taken.Files {
				if b, err := os.ReadFile(filepath.Join(dest, f.Path)); string(b) != "content of "+f.Path || err != nil {
					t.Errorf("%s: %q, %v", f.Path, b, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dest, "empty")); (err == nil) != strings.Contains(c.patterns, "empty") {
				t.Errorf("an empty directory: %v", err)
			}
			if fi, err := os.Stat(filepath.Join(dest, "model/a.bin")); err == nil && fi.Mode().Perm()&0o111 == 0 {
				t.Error("an executable file lost its mode")
			}
		})
	}
}

// The hash covers names and contents, and nothing moves between them.
func TestHash(t *testing.T) {
	seen := map[string]string{}
	for _, files := range []map[string]string{
		{"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "12"}, {"ab": "12"}, {"a1": "2"}, {}, {"a": "1", "b": "2", "c": ""},
	} {
		ws := t.TempDir()
		for name, content := range files {
			put(t, ws, name, content)
		}
		first, err := Collect(ws, []string{"."}, filepath.Join(t.TempDir(), "1"), Caps{})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Collect(ws, []string{"."}, filepath.Join(t.TempDir(), "2"), Caps{})
		if first.SHA256 != again.SHA256 || len(first.SHA256) != 64 {
			t.Errorf("%v: %s, then %s", files, first.SHA256, again.SHA256)
		}
		if other, dup := seen[first.SHA256]; dup {
			t.Errorf("%v has the hash of %s", files, other)
		}
		seen[first.SHA256] = fmt.Sprint(files)
	}
}

// hostile fills a workspace with what is not to be taken. It returns a
// secret beside it.
func hostile(t *testing.T) (ws, secret string) {
	t.Helper()
	base := t.TempDir()
	ws = filepath.Join(base, "ws")
	secret = put(t, base, "answers/secret", "CANARY")
	put(t, ws, "out/good", "good")
	out := filepath.Join(ws, "out")
	for _, err := range []error{
		os.Symlink(secret, filepath.Join(out, "link")),
		os.Symlink("good", filepath.Join(out, "inner-link")),
		os.Symlink(filepath.Dir(secret), filepath.Join(out, "dirlink")),
		os.Symlink("/proc/self/root", filepath.Join(out, "magic")),
		unix.Mkfifo(filepath.Join(out, "fifo"), 0o644),
		os.WriteFile(filepath.Join(out, "sparse"), nil, 0o644),
		os.Truncate(filepath.Join(out, "sparse"), 1<<40),
		os.Link(filepath.Join(out, "good"), filepath.Join(out, "twin")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if l, err := net.Listen("unix", filepath.Join(out, "sock")); err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return ws, secret
}

func TestCollectRefuses(t *testing.T) {
	ws, _ := hostile(t)
	device := unix.Mknod(filepath.Join(ws, "out/device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil
	dest := filepath.Join(t.TempDir(), "dest")
	taken, err := Collect(ws, []string{"out", "out/dirlink/secret", "../answers", "/etc/passwd"}, dest, Caps{FileBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(taken); got != "out/good out/twin" {
		t.Errorf("took %q", got)
	}
	if taken.Files[0].Links != 2 {
		t.Errorf("links: %d", taken.Files[0].Links)
	}
	want := map[string]string{
		"out/link": "symbolic link", "out/inner-link": "symbolic link", "out/dirlink": "symbolic link",
		"out/magic": "symbolic link", "out/fifo": "FIFO", "out/sparse": "more than", "out/sock": "socket",
		"out/dirlink/secret": "symbolic link", "../answers": "leaves", "/etc/passwd": "leaves",
	}
	if device {
		want["out/device"] = "device"
	}
	for name, reason := range want {
		if !strings.Contains(taken.Refused[name], reason) {
			t.Errorf("%s: %q, want %q", name, taken.Refused[name], reason)
		}
	}
	if len(taken.Refused) != len(want) {
		t.Errorf("refused: %v", taken.Refused)
	}
	filepath.WalkDir(dest, func(path string, d fs.DirEntry, err error) error {
		if b, _ := os.ReadFile(path); strings.Contains(string(b), "CANARY") {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
}

// Where openat2 is missing, the walk refuses the same.
func TestWalkBeneathIsAsStrict(t *testing.T) {
	ws, _ := hostile(t)
	root, err := openDir(ws)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"out/good", "out/../out/good", "out/link", "out/inner-link", "out/dirlink", "out/dirlink/secret",
		"out/magic/etc/passwd", "../answers/secret", "out/absent", "absent/x", "out", ".", "/etc/passwd", "out/good/x"} {
		f, err1 := openBeneath(root, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
		g, err2 := walkBeneath(root, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
		if (err1 == nil) != (err2 == nil) {
			t.Errorf("%s: openat2 %v, walk %v", name, err1, err2)
		}
		for _, f := range []*os.File{f, g} {
			if f != nil {
				f.Close()
			}
		}
	}
}

func TestCaps(t *testing.T) {
	ws := t.TempDir()
	for i := range 50 {
		put(t, ws, fmt.Sprintf("many/%02d", i), strings.Repeat("x", 5000))
	}
	collect := func(caps Caps) Taken {
		taken, err := Collect(ws, []string{"many"}, filepath.Join(t.TempDir(), "d"), caps)
		if err != nil {
			t.Fatal(err)
		}
		return taken
	}
	if taken := collect(Caps{Files: 7}); len(taken.Files) != 7 || len(taken.Refused) != 1 {
		t.Errorf("took %d files, refused %v", len(taken.Files), taken.Refused)
	}
	if taken := collect(Caps{Bytes: 20_000}); taken.Bytes > 20_000 || len(taken.Files) == 0 || len(taken.Refused) == 0 {
		t.Errorf("took %d bytes, refused %d", taken.Bytes, len(taken.Refused))
	}
}

func TestReadAndWrite(t *testing.T) {
	ws, secret := hostile(t)
	if err := WriteFile(ws, "a/b/c.txt", []byte("one")); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Join(ws, "a/b/c.txt"), 0o751)
	if err := WriteFile(ws, "a/b/c.txt", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(ws, "a/b/c.txt", 100); string(b) != "two" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := ReadFile(ws, "a/b/c.txt", 2); string(b) != "tw" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if fi, err := os.Stat(filepath.Join(ws, "a/b/c.txt")); err != nil || fi.Mode().Perm() != 0o751 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	for _, name := range []string{"out/link", "out/dirlink/secret", "out/fifo", "out", "../answers/secret", secret, "absent"} {
		if b, err := ReadFile(ws, name, 100); err == nil {
			t.Errorf("read %s: %q", name, b)
		}
	}
	for _, name := range []string{"out/dirlink/new", "out/dirlink/secret", "out/fifo", "out", "../x", "/tmp/x", ".", ""} {
		if err := WriteFile(ws, name, []byte("evil")); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
	// A link in the file's own place is replaced, not followed.
	if err := WriteFile(ws, "out/link", []byte("mine")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(secret); string(b) != "CANARY" {
		t.Errorf("the file behind the link: %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(ws, "*/.proctor-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCopy(t *testing.T) {
	from, ws := t.TempDir(), t.TempDir()
	put(t, from, "x/y", "restored")
	put(t, from, "z", "z")
	put(t, ws, "x/y", "changed")
	put(t, ws, "kept", "kept")
	outside := put(t, t.TempDir(), "outside", "outside")
	os.Symlink(outside, filepath.Join(ws, "z"))
	if err := Copy(from, ws); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"x/y": "restored", "kept": "kept", "z": "z"} {
		if b, _ := os.ReadFile(filepath.Join(ws, name)); string(b) != want {
			t.Errorf("%s: %q", name, b)
		}
	}
	if b, _ := os.ReadFile(outside); string(b) != "outside" {
		t.Error("a link was followed")
	}
	os.RemoveAll(filepath.Join(ws, "x"))
	os.Symlink(filepath.Dir(outside), filepath.Join(ws, "x"))
	if err := Copy(from, ws); err == nil {
		t.Error("went through a link")
	}
}

// While a program swaps a directory for a link, the walk sees one or the
// other, never what is behind the link.
func TestRace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("exchanges two names at once, as only Linux can")
	}
	ws, _ := hostile(t)
	put(t, ws, "real/secret", "innocent")
	os.Symlink("../answers", filepath.Join(ws, "fake"))
	done := make(chan error)
	go func() {
		var err error
		for range 2000 {
			err = errors.Join(err, exchange(filepath.Join(ws, "real"), filepath.Join(ws, "fake")))
		}
		done <- err
	}()
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		for _, name := range []string{"real/secret", "fake/secret"} {
			if b, err := ReadFile(ws, name, 100); err == nil && string(b) != "innocent" {
				t.Fatalf("read %q", b)
			}
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a", "*", "../x", "a/../../b", "[", "/", "a//b", "\\", "x\x00y", "*/*/*"} {
		f.Add(s)
	}
	base := f.TempDir()
	ws := filepath.Join(base, "ws")
	os.MkdirAll(filepath.Join(ws, "d"), 0o755)
	os.WriteFile(filepath.Join(ws, "d/in"), []byte("in"), 0o644)
	os.WriteFile(filepath.Join(base, "out"), []byte("out"), 0o644)
	f.Fuzz(func(t *testing.T, pattern string) {
		taken, err := Collect(ws, []string{pattern}, filepath.Join(t.TempDir(), "d"), Caps{})
		if err != nil {
			return
		}
		if slices.ContainsFunc(taken.Files, func(f File) bool { return f.Path != "d/in" }) {
			t.Errorf("%q took %v", pattern, taken.Files)
		}
	})
}
