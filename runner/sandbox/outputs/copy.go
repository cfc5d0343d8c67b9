package outputs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Copy puts every regular file below from, a tree of ours, into the
// workspace at the same relative path, in the way of [WriteFile]. What else
// is in the workspace stays.
func Copy(from, workspace string) error {
	root, err := openDir(workspace)
	if err != nil {
		return fmt.Errorf("copy into %q: %w", workspace, err)
	}
	defer root.Close()
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyFile(root, path, filepath.ToSlash(name))
	})
	if err != nil {
		return fmt.Errorf("copy %q into %q: %w", from, workspace, err)
	}
	return nil
}

func copyFile(root *os.File, source, name string) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	fi, err := from.Stat()
	if err != nil {
		return err
	}
	mode := uint32(fi.Mode().Perm())
	return place(root, name, from, func(unix.Stat_t) uint32 { return mode })
}
