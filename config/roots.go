package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks/tomlfile"
)

// newFile begins a settings file that Proctor makes.
const newFile = `# Your settings for Proctor. Keys that are not here keep their defaults.

`

// AddRoot writes a directory into the roots of [tasks] in the settings file at
// path, which is made, mode 0600, where there is none. Everything else in the
// file stays as it is. The directory should be absolute.
func AddRoot(path, dir string) error {
	return editRoots(path, func(list []string) []string { return append(slices.Clone(list), dir) })
}

// RemoveRoot takes out of the roots the ones that mean the directory, and
// reports whether there was any.
func RemoveRoot(path, dir string) (removed bool, err error) {
	err = editRoots(path, func(list []string) []string {
		left := slices.DeleteFunc(slices.Clone(list), func(root string) bool { return Expand(root) == filepath.Clean(dir) })
		removed = len(left) < len(list)
		return left
	})
	return removed, err
}

// Expand replaces a leading ~ of a path by the person's home directory, and
// cleans the path.
func Expand(path string) string {
	rest, tilde := strings.CutPrefix(path, "~")
	if home, err := os.UserHomeDir(); err == nil && tilde && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		path = home + rest
	}
	return filepath.Clean(path)
}

// editRoots changes the roots as they are written: one with ~ stays so.
func editRoots(path string, change func([]string) []string) error {
	// A settings file may be a link into a folder that is kept elsewhere.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	src, err := os.ReadFile(path)
	made := errors.Is(err, fs.ErrNotExist)
	if err != nil && !made {
		return fmt.Errorf("changing the settings: %w", err)
	}
	if made {
		src = []byte(newFile)
	}
	before, err := rootsIn(path, src)
	if err != nil {
		return err
	}
	after := change(before)
	if slices.Equal(before, after) {
		return nil
	}
	edited := []byte(writeRoots(string(src), before, after))
	if got, err := rootsIn(path, edited); err != nil || !slices.Equal(got, after) {
		return fmt.Errorf("changing the settings: %q is written in a way that cannot be changed safely; set [tasks] roots = %s there yourself", path, inline(after))
	}
	return replaceFile(path, edited)
}

// rootsIn reads the roots of a settings file as they are written.
func rootsIn(path string, src []byte) ([]string, error) {
	doc, err := tomlfile.Parse(path, src)
	if err != nil {
		return nil, err
	}
	list := doc.Top().Table("tasks").Strings("roots")
	return list, doc.Err()
}

// writeRoots returns the file with other roots: the list rewritten where
// there is one, keeping its comments, else put below [tasks], else added at
// the end.
func writeRoots(src string, before, after []string) string {
	if at, ok := findRoots(src); ok {
		a := scanArray(src, at)
		return src[:a.open] + a.rewritten(src, before, after) + src[a.end:]
	}
	if i := findHeader(src); i >= 0 {
		end := strings.IndexByte(src[i:], '\n')
		if end < 0 {
			return src + "\n" + block(after)
		}
		return src[:i+end+1] + block(after) + src[i+end+1:]
	}
	if src != "" && !strings.HasSuffix(src, "\n") {
		src += "\n"
	}
	if src != "" && !strings.HasSuffix(src, "\n\n") {
		src += "\n"
	}
	return src + "[tasks]\n" + block(after)
}

// block is the setting with one root a line.
func block(list []string) string {
	if len(list) == 0 {
		return "roots = []\n"
	}
	var b strings.Builder
	b.WriteString("roots = [\n")
	for _, root := range list {
		b.WriteString("    " + quote(root) + ",\n")
	}
	b.WriteString("]\n")
	return b.String()
}

func inline(list []string) string {
	quoted := make([]string, len(list))
	for i, root := range list {
		quoted[i] = quote(root)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// replaceFile writes a file whole or not at all, with the mode that it had.
func replaceFile(path string, data []byte) error {
	fail := func(err error) error { return fmt.Errorf("writing the settings: %w", err) }
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail(err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml")
	if err != nil {
		return fail(err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fail(err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fail(err)
	}
	return nil
}
