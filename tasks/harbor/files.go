package harbor

import (
	"io/fs"
	"maps"
	"slices"
	"time"
)

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
