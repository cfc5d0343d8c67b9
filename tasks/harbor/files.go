package harbor

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// hostDir is a directory of this machine as a file system that a link cannot
// lead out of, and in which nothing but regular files and directories can be
// opened: a task comes from somewhere else, and neither its links nor a FIFO
// among its files may do anything to whoever opens it.
type hostDir string

func (d hostDir) Open(name string) (fs.File, error) {
	info, err := d.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("not a regular file but %s", info.Mode().Type())}
	}
	return inRoot(d, func(r fs.FS) (fs.File, error) { return r.Open(name) })
}

func (d hostDir) Stat(name string) (fs.FileInfo, error) {
	return inRoot(d, func(r fs.FS) (fs.FileInfo, error) { return fs.Stat(r, name) })
}

func (d hostDir) ReadDir(name string) ([]fs.DirEntry, error) {
	return inRoot(d, func(r fs.FS) ([]fs.DirEntry, error) { return fs.ReadDir(r, name) })
}

func (d hostDir) Lstat(name string) (fs.FileInfo, error) {
	return inRoot(d, func(r fs.FS) (fs.FileInfo, error) { return fs.Lstat(r, name) })
}

func (d hostDir) ReadLink(name string) (string, error) {
	return inRoot(d, func(r fs.FS) (string, error) { return fs.ReadLink(r, name) })
}

// inRoot opens the directory for one operation only, so that a catalogue of
// hundreds of tasks holds no descriptors.
func inRoot[T any](d hostDir, do func(fs.FS) (T, error)) (T, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		var none T
		return none, err
	}
	defer root.Close()
	return do(root.FS())
}

// withoutBuildFiles is environment/ as the agent gets it.
type withoutBuildFiles struct{ fs.FS }

func (w withoutBuildFiles) Open(name string) (fs.File, error) {
	if slices.Contains(buildFiles, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return w.FS.Open(name)
}

func (w withoutBuildFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, name)
	if name == "." {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(buildFiles, e.Name()) })
	}
	return entries, err
}

func (w withoutBuildFiles) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(w.FS, name) }
func (w withoutBuildFiles) ReadLink(name string) (string, error)   { return fs.ReadLink(w.FS, name) }

// flat is a directory of files taken from another file system, under names
// of their own. The zero value is an empty directory.
type flat struct {
	from  fs.FS
	paths map[string]string // by name here
}

func (f flat) Open(name string) (fs.File, error) {
	if from, ok := f.paths[name]; ok {
		return f.from.Open(from)
	}
	if name == "." {
		return flatRoot{}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (f flat) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	var entries []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(f.paths)) {
		info, err := fs.Stat(f.from, f.paths[name])
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(renamed{info, name}))
	}
	return entries, nil
}

// flatRoot is a flat's directory itself; its entries come from ReadDir.
type flatRoot struct{}

func (flatRoot) Stat() (fs.FileInfo, error) { return flatRoot{}, nil }
func (flatRoot) Close() error               { return nil }
func (flatRoot) Read([]byte) (int, error)   { return 0, fs.ErrInvalid }
func (flatRoot) Name() string               { return "." }
func (flatRoot) Size() int64                { return 0 }
func (flatRoot) Mode() fs.FileMode          { return fs.ModeDir | 0o755 }
func (flatRoot) ModTime() time.Time         { return time.Time{} }
func (flatRoot) IsDir() bool                { return true }
func (flatRoot) Sys() any                   { return nil }

type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }
