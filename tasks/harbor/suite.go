package harbor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks"
	"proctor/tasks/checkout"
	"proctor/tasks/tomlfile"
)

const manifest = "dataset.toml"

// A suite is a folder of task folders.
type suite struct {
	name  string
	where string // the folder, for messages
	files fs.FS
	// only is set when the folder is itself one task.
	only string
	// order lists the folders that dataset.toml names, in its order.
	order []string
}

// New returns the suite called name of the task folders in files.
func New(name string, files fs.FS) tasks.Suite {
	return &suite{name: name, where: name, files: files}
}

// Detect reports whether a directory of this machine is a Harbor task, a
// folder of them, or a dataset with a dataset.toml.
func Detect(dir string) bool {
	files := checkout.Dir(dir)
	for _, name := range []string{"task.toml", manifest} {
		if _, err := files.Lstat(name); err == nil {
			return true
		}
	}
	return len(taskFolders(files)) > 0
}

// Open returns the suite in a directory of this machine: all tasks of a
// dataset, or the one task that the directory is. The suite is named after
// its dataset.toml or its folder; a single task's suite after the folder that
// the task lies in. Links that lead out of dir are not followed.
func Open(dir string) (tasks.Suite, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files := checkout.Dir(dir)
	if _, err := files.ReadDir("."); err != nil {
		return nil, fmt.Errorf("opening tasks in %q: %w", dir, cause(err))
	}
	s := &suite{name: filepath.Base(dir), where: filepath.ToSlash(dir), files: files}
	if _, err := files.Lstat("task.toml"); err == nil {
		s.only = s.name
		s.name = filepath.Base(filepath.Dir(dir))
		return s, nil
	}
	if err := s.readManifest(); err != nil {
		return nil, fmt.Errorf("opening dataset %q: %w", dir, err)
	}
	if len(s.order) == 0 && len(taskFolders(files)) == 0 {
		return nil, fmt.Errorf("opening tasks in %q: no folder in it has a task.toml", dir)
	}
	return s, nil
}

func (s *suite) Name() string { return s.name }

func (s *suite) List(ctx context.Context) ([]*tasks.Task, []tasks.Problem) {
	return s.named().List(ctx)
}

func (s *suite) Open(ctx context.Context, name string) (*tasks.Task, error) {
	return s.named().Find(ctx, name)
}

func (s *suite) named() tasks.Named {
	return tasks.Named{Suite: s.name, Names: s.names(), Open: s.open}
}

func (s *suite) open(name string) (*tasks.Task, error) {
	if s.only != "" {
		return source{files: s.files, where: s.where, suite: s.name, name: name}.open()
	}
	files, err := fs.Sub(s.files, name)
	if err != nil {
		return nil, fmt.Errorf("opening task %q: %w", name, err)
	}
	return source{files: files, where: path.Join(s.where, name), suite: s.name, name: name}.open()
}

// names lists the suite's tasks: those of dataset.toml first, in its order,
// then the other folders by name.
func (s *suite) names() []string {
	if s.only != "" {
		return []string{s.only}
	}
	names := slices.Clone(s.order)
	for _, folder := range taskFolders(s.files) {
		if !slices.Contains(names, folder) {
			names = append(names, folder)
		}
	}
	return names
}

// taskFolders lists the folders that hold a task.toml. What cannot be read
// holds none.
func taskFolders(files fs.FS) []string {
	entries, _ := fs.ReadDir(files, ".")
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if _, err := fs.Lstat(files, path.Join(e.Name(), "task.toml")); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// readManifest takes the name and the order of tasks from a dataset.toml,
// where there is one. It names tasks as a registry does, org/name; their
// folders are called name.
func (s *suite) readManifest() error {
	src, err := source{files: s.files, where: s.where}.text(manifest, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	doc, err := tomlfile.Parse(path.Join(s.where, manifest), []byte(src))
	if err != nil {
		return err
	}
	top := doc.Top()
	if name := path.Base(top.Table("dataset").String("name")); name != "." && name != "/" {
		s.name = name
	}
	for _, t := range top.Tables("tasks") {
		name := path.Base(t.String("name"))
		if !fs.ValidPath(name) || name == "." {
			t.OrLacks("name", `a task's name such as "org/name"`)
			continue
		}
		if !slices.Contains(s.order, name) {
			s.order = append(s.order, name)
		}
	}
	return doc.Err()
}
