// Package outputs takes files out of a workspace, and puts some in, without
// ever following a link that a sandboxed program may have planted there, now
// or while it runs.
package outputs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Caps bounds what is taken. Zero is no bound.
type Caps struct {
	FileBytes int64 // of one file
	Bytes     int64 // of all, each by its length or what it occupies, whichever is more
	Files     int
}

// Taken says what became of the declared outputs.
type Taken struct {
	Files   []File            // sorted by path
	Missing []string          // patterns that nothing matched
	Refused map[string]string // what matched and was not taken, with the reason
	Bytes   int64             // of all files
	// SHA256 is over the sorted files: of each, the length of its path and
	// its path, the length of its content and its content. Hexadecimal.
	SHA256 string
}

// A File was taken.
type File struct {
	Path  string // slash-separated, relative to the workspace
	Bytes int64
	Links int // names that the file has; more than 1 is worth a note
}

// Collect copies the outputs that patterns name from workspace to dest,
// which it makes. A pattern is the path of a file or directory relative to
// the workspace, or has [path.Match]'s wildcards in its parts. Nothing but
// regular files is taken, and directories as far as they hold any; one that a
// pattern names and that is empty is made, and missing all the same.
//
// An error means that the copy is not whole for a reason outside the
// workspace, such as a full disk; what is wrong with a file is a Refusal.
func Collect(workspace string, patterns []string, dest string, caps Caps) (Taken, error) {
	fail := func(err error) (Taken, error) {
		return Taken{}, fmt.Errorf("collect outputs from %q: %w", workspace, err)
	}
	root, err := openDir(workspace)
	if err != nil {
		return fail(err)
	}
	defer root.Close()
	if err := os.MkdirAll(dest, 0o755); err != nil {
		return fail(err)
	}
	c := &collector{root: root, dest: dest, caps: caps, hash: sha256.New(), taken: Taken{Refused: map[string]string{}}}
	var names []string
	for _, pattern := range patterns {
		found, err := c.match(pattern)
		if err != nil {
			return fail(err)
		}
		if len(found) == 0 {
			c.taken.Missing = append(c.taken.Missing, pattern)
			if err := c.keepEmpty(pattern); err != nil {
				return fail(err)
			}
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := c.take(name); err != nil {
			return fail(err)
		}
	}
	c.taken.SHA256 = hex.EncodeToString(c.hash.Sum(nil))
	return c.taken, nil
}

type collector struct {
	root  *os.File
	dest  string
	caps  Caps
	hash  hash.Hash
	taken Taken
	full  bool
}

func (c *collector) refuse(name, reason string) { c.taken.Refused[name] = reason }

// keepEmpty makes the directory that a pattern names and that holds nothing,
// so that whoever grades can tell it from what was never there.
func (c *collector) keepEmpty(pattern string) error {
	clean := path.Clean(filepath.ToSlash(pattern))
	if !filepath.IsLocal(clean) {
		return nil
	}
	st, err := lstatBeneath(c.root, clean)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil // it is not there
	}
	return os.MkdirAll(filepath.Join(c.dest, filepath.FromSlash(clean)), 0o755)
}

// match returns every path that is there under a pattern, directories
// expanded to all below them: regular or not, in no order.
func (c *collector) match(pattern string) ([]string, error) {
	clean := path.Clean(strings.TrimSuffix(filepath.ToSlash(pattern), "/"))
	if !filepath.IsLocal(clean) {
		c.refuse(pattern, "leaves the workspace")
		return nil, nil
	}
	if _, err := path.Match(clean, ""); err != nil {
		return nil, fmt.Errorf("output pattern %q: %w", pattern, err)
	}
	level := []string{"."}
	if clean != "." {
		for part := range strings.SplitSeq(clean, "/") {
			level = c.step(level, part)
		}
	}
	var found []string
	for _, name := range level {
		found = append(found, c.expand(name, len(found))...)
	}
	return found, nil
}

// step goes from directories to what a part of a pattern matches in them.
func (c *collector) step(dirs []string, part string) []string {
	var next []string
	for _, dir := range dirs {
		if !strings.ContainsAny(part, `*?[\`) {
			next = append(next, path.Join(dir, part))
			continue
		}
		names, err := c.names(dir)
		if err != nil {
			continue // not a directory, or not there: nothing matches
		}
		for _, name := range names {
			if ok, _ := path.Match(part, name); ok {
				next = append(next, path.Join(dir, name))
			}
		}
	}
	return next
}

// expand returns name, or all files below it if it is a directory.
func (c *collector) expand(name string, have int) (found []string) {
	st, err := lstatBeneath(c.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return []string{name} // to be looked at, and perhaps refused, by take
	}
	names, err := c.names(name)
	if err != nil {
		c.refuse(name, reason(err))
		return nil
	}
	for _, child := range names {
		if c.caps.Files > 0 && have+len(found) > c.caps.Files {
			break // take refuses what is too many
		}
		found = append(found, c.expand(path.Join(name, child), have+len(found))...)
	}
	return found
}

func (c *collector) names(dir string) ([]string, error) {
	f, err := openBeneath(c.root, dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// take copies one file, or refuses it.
func (c *collector) take(name string) error {
	if c.caps.Files > 0 && len(c.taken.Files) >= c.caps.Files {
		if !c.full { // the rest of a million files is no news
			c.refuse(name, fmt.Sprintf("it and what follows are more than the %d files allowed", c.caps.Files))
		}
		c.full = true
		return nil
	}
	// Without O_NONBLOCK, opening a FIFO waits for a writer.
	from, err := openBeneath(c.root, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		c.refuse(name, reason(err))
		return nil
	}
	defer from.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &st); err != nil {
		return err
	}
	if why := c.unfit(st); why != "" {
		c.refuse(name, why)
		return nil
	}
	n, err := c.copy(name, from, st)
	if err != nil {
		return err
	}
	c.taken.Files = append(c.taken.Files, File{Path: name, Bytes: n, Links: int(st.Nlink)})
	c.taken.Bytes += n
	return nil
}

// unfit says why a file is not taken, "" if it is.
func (c *collector) unfit(st unix.Stat_t) string {
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "not a regular file but " + kindOf(uint32(st.Mode))
	}
	size := max(st.Size, int64(st.Blocks)*512)
	switch {
	case c.caps.FileBytes > 0 && size > c.caps.FileBytes:
		return fmt.Sprintf("%d bytes are more than the %d allowed for a file", size, c.caps.FileBytes)
	case c.caps.Bytes > 0 && c.taken.Bytes+size > c.caps.Bytes:
		return fmt.Sprintf("with its %d bytes, the outputs exceed %d", size, c.caps.Bytes)
	}
	return ""
}

// copy copies at most the bytes that the file had when it was looked at.
func (c *collector) copy(name string, from *os.File, st unix.Stat_t) (n int64, err error) {
	target := filepath.Join(c.dest, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return 0, err
	}
	mode := fs.FileMode(0o644)
	if st.Mode&0o100 != 0 {
		mode = 0o755
	}
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	content := sha256.New()
	n, err = io.Copy(io.MultiWriter(to, content), io.LimitReader(from, st.Size))
	c.frame([]byte(name))
	c.frame(content.Sum(nil))
	return n, err
}

// frame adds a length and what is so long to the hash.
func (c *collector) frame(b []byte) {
	c.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	c.hash.Write(b)
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "a directory"
	case unix.S_IFLNK:
		return "a symbolic link"
	case unix.S_IFIFO:
		return "a FIFO"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "a device"
	}
	return "of an unknown kind"
}

// reason puts what an open failed with into words.
func reason(err error) string {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV), errors.Is(err, unix.EMLINK):
		return "a symbolic link, or behind one"
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return "not a regular file but a socket or a device"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err.Error()
}
