// Package checkout reads a benchmark's checkout without trusting it. A
// checkout comes from somewhere else: its links must not lead a reader to
// other files of this machine, nor from the files that an agent may see to
// those that it may not.
package checkout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A Dir is a directory of this machine as a file system that no link leads
// out of, and in which nothing but regular files and directories can be
// opened: neither a link nor a FIFO may do anything to whoever opens it. It
// holds no descriptor between calls.
type Dir string

// Open implements fs.FS.
func (d Dir) Open(name string) (fs.File, error) {
	info, err := d.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("not a regular file but %s", info.Mode().Type())}
	}
	return inside(d, func(files fs.FS) (fs.File, error) { return files.Open(name) })
}

// Stat follows links that stay inside.
func (d Dir) Stat(name string) (fs.FileInfo, error) {
	return inside(d, func(files fs.FS) (fs.FileInfo, error) { return fs.Stat(files, name) })
}

// Lstat follows no link at the end of name.
func (d Dir) Lstat(name string) (fs.FileInfo, error) {
	return inside(d, func(files fs.FS) (fs.FileInfo, error) { return fs.Lstat(files, name) })
}

// ReadLink implements fs.ReadLinkFS, with Lstat.
func (d Dir) ReadLink(name string) (string, error) {
	return inside(d, func(files fs.FS) (string, error) { return fs.ReadLink(files, name) })
}

// ReadDir implements fs.ReadDirFS.
func (d Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	return inside(d, func(files fs.FS) ([]fs.DirEntry, error) { return fs.ReadDir(files, name) })
}

// inside opens the directory for one operation only, so that a catalogue of
// hundreds of tasks holds no descriptors.
func inside[T any](d Dir, do func(fs.FS) (T, error)) (T, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		var none T
		return none, err
	}
	defer root.Close()
	return do(root.FS())
}

// Path joins name, slash-separated, to the directory.
func (d Dir) Path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

// Sub returns a directory below d as a world of its own: its links lead
// nowhere outside it. A link in the directory's own place is an error.
func (d Dir) Sub(name string) (Dir, error) {
	info, err := d.Lstat(name)
	if err != nil {
		return "", fmt.Errorf("%q: %w", d.Path(name), cause(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q: not a directory of its own", d.Path(name))
	}
	return Dir(d.Path(name)), nil
}

// HasFile reports whether name is a regular file, or a link to one inside.
func (d Dir) HasFile(name string) bool {
	info, err := d.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// HasDir reports whether name is a directory and not a link to one.
func (d Dir) HasDir(name string) bool {
	info, err := d.Lstat(name)
	return err == nil && info.IsDir()
}

// Dirs lists the directories directly below d whose name is not hidden, by
// name. What cannot be read has none.
func (d Dir) Dirs() []string {
	entries, _ := d.ReadDir(".")
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "__") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Text returns a file of at most limit bytes as text: UTF-8, without a byte
// order mark, lines ended by "\n". The error names the file.
func (d Dir) Text(name string, limit int64) (string, error) {
	f, err := d.Open(name)
	if err != nil {
		return "", fmt.Errorf("%q: %w", d.Path(name), cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%q: %w", d.Path(name), cause(err))
	case int64(len(data)) > limit:
		return "", fmt.Errorf("%q: larger than %d bytes", d.Path(name), limit)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%q: not UTF-8 text", d.Path(name))
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

// cause strips the path that messages here name themselves.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
