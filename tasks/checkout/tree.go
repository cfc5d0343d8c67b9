package checkout

import (
	"io/fs"
	"path"
	"slices"
)

// litter is left by programs and no part of a task.
var litter = []string{".git", ".DS_Store", "__pycache__", ".ipynb_checkpoints"}

// A Tree is a directory as it is laid out for an agent or a grader: without
// what programs left behind, and with links to files inside shown as the
// files that they lead to. Other links stay links, so that copying them fails
// rather than brings in what is not the task's.
type Tree struct {
	Dir Dir
	// Without names entries of the top directory that are left out.
	Without []string
}

// Open implements fs.FS.
func (t Tree) Open(name string) (fs.File, error) {
	if t.hides(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return t.Dir.Open(name)
}

// Stat implements fs.StatFS.
func (t Tree) Stat(name string) (fs.FileInfo, error) {
	if t.hides(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return t.Dir.Stat(name)
}

// ReadDir implements fs.ReadDirFS.
func (t Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := t.Dir.ReadDir(name)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return t.hides(path.Join(name, e.Name())) })
	for i, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if info, err := t.Dir.Stat(path.Join(name, e.Name())); err == nil && info.Mode().IsRegular() {
			entries[i] = fs.FileInfoToDirEntry(named{info, e.Name()})
		}
	}
	return entries, err
}

// Stray lists the entries of the top directory that cannot be laid out:
// links that lead elsewhere, pipes and the like.
func (t Tree) Stray() []string {
	entries, _ := t.ReadDir(".")
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

func (t Tree) hides(name string) bool {
	return slices.Contains(litter, path.Base(name)) || slices.Contains(t.Without, name)
}

type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }
