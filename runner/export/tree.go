package export

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// A tree is the export while it is made. Names are slash-separated and
// relative to its root.
type tree struct {
	stage, final string
	files        []string
	notes        []string
	next         string
}

// at is where a file will be found when all is done.
func (t *tree) at(name string) string { return filepath.Join(t.final, filepath.FromSlash(name)) }

func (t *tree) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// create opens a new file.
func (t *tree) create(name string) (*os.File, error) {
	file := filepath.Join(t.stage, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	t.files = append(t.files, name)
	return os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (t *tree) write(name string, fill func(io.Writer) error) error {
	file, err := t.create(name)
	if err != nil {
		return err
	}
	if err := fill(file); err != nil {
		file.Close()
		return fmt.Errorf("writing %q: %w", name, err)
	}
	return file.Close()
}

func (t *tree) text(name, content string) error {
	return t.write(name, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

func (t *tree) json(name string, v any) error {
	return t.write(name, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	})
}

// copy copies a regular file of a run directory; there being none is no
// error, and reported.
func (t *tree) copy(name, from string) (there bool, err error) {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	source, err := os.Open(from)
	if err != nil {
		return false, err
	}
	defer source.Close()
	return true, t.write(name, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}

// copyAll copies the regular files below a directory, which need not be there,
// and returns their names relative to it, in order.
func (t *tree) copyAll(name, from string) (names []string, err error) {
	if _, err := os.Lstat(from); err != nil {
		return nil, nil
	}
	err = fs.WalkDir(os.DirFS(from), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		names = append(names, file)
		_, err = t.copy(path.Join(name, file), filepath.Join(from, filepath.FromSlash(file)))
		return err
	})
	return names, err
}

// publish moves the whole to its place.
func (t *tree) publish() error {
	if err := os.Chmod(t.stage, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(t.final); err != nil {
		return os.Rename(t.stage, t.final)
	}
	entries, err := os.ReadDir(t.stage)
	if err != nil {
		return err
	}
	for _, e := range entries {
		to := filepath.Join(t.final, e.Name())
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(t.stage, e.Name()), to); err != nil {
			return err
		}
	}
	return nil
}
