// Package cgroup puts a sandbox's processes into a control group of their
// own where this machine and this user's rights allow it: limits, use, a
// freezer that the frozen cannot notice, and a kill that nothing survives.
//
// It knows version 2, version 1, and the hybrid of both, in which version 2
// has the freezer and version 1 the controllers. A group is a directory
// beside or below our own, with the same name in every hierarchy; the name
// holds the supervisor's identity, so that the next one can remove what a
// crashed one left.
package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// controllers are those that a sandbox may use.
var controllers = []string{"memory", "cpu", "pids", "freezer", "io"}

// A Host is where this process stands in the machine's hierarchies.
type Host struct {
	proc string            // where procfs is
	v2   []string          // our own directory, then its parents up to the mount
	v1   map[string]string // our own directory by controller

	mkdir func(string) error // as the kernel does: with the group's files in it
}

// ErrNone says that no hierarchy is mounted.
var ErrNone = errors.New("no cgroup hierarchy is mounted")

// Detect finds the hierarchies.
func Detect() (*Host, error) { return detect("/") }

// detect looks below root, which tests replace.
func detect(root string) (*Host, error) {
	h := &Host{proc: filepath.Join(root, "proc"), v1: map[string]string{},
		mkdir: func(dir string) error { return os.Mkdir(dir, 0o755) }}
	own, err := ownPaths(filepath.Join(h.proc, "self/cgroup"))
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(h.proc, "self/mountinfo"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		m, ok := parseMount(lines.Text())
		if !ok {
			continue
		}
		top := filepath.Join(root, m.target)
		if m.version == 2 {
			h.v2 = nil
			for dir := m.inside(top, own[""]); ; dir = filepath.Dir(dir) {
				h.v2 = append(h.v2, dir)
				if dir == top || len(dir) <= len(top) {
					break
				}
			}
			continue
		}
		for _, c := range m.controllers {
			if slices.Contains(controllers, c) && h.v1[c] == "" {
				h.v1[c] = m.inside(top, own[c])
			}
		}
	}
	if h.v2 == nil && len(h.v1) == 0 {
		return nil, ErrNone
	}
	return h, nil
}

// ownPaths reads /proc/self/cgroup: our path by controller, that of version
// 2 under "".
func ownPaths(file string) (map[string]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 {
			for c := range strings.SplitSeq(f[1], ",") {
				own[c] = f[2]
			}
		}
	}
	return own, nil
}

// A mount is a line of /proc/self/mountinfo, proc_pid_mountinfo(5).
type mount struct {
	version      int
	root, target string
	controllers  []string
}

func parseMount(line string) (mount, bool) {
	before, after, ok := strings.Cut(line, " - ")
	f, g := strings.Fields(before), strings.Fields(after)
	if !ok || len(f) < 5 || len(g) < 3 {
		return mount{}, false
	}
	m := mount{root: unescape(f[3]), target: unescape(f[4])}
	switch g[0] {
	case "cgroup2":
		m.version = 2
	case "cgroup":
		m.version = 1
		m.controllers = strings.Split(g[2], ",")
	}
	return m, m.version != 0
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// inside returns the directory of a hierarchy's path: where the mount shows
// only a part of the hierarchy (in a container), relative to that part.
func (m mount) inside(top, path string) string {
	if m.root != "/" {
		path = strings.TrimPrefix(path, m.root)
	}
	dir := filepath.Join(top, path) // Join cleans a "..", as of a parent namespace
	if !strings.HasPrefix(dir, top) {
		return top
	}
	return dir
}

// Make makes a group for a sandbox and removes those of crashed
// supervisors. Of version 1's hierarchies it uses those of the named
// controllers, and the freezer's where version 2 has none: moving a process
// costs milliseconds for each. The error says why no hierarchy let it.
func (h *Host) Make(name string, want ...string) (*Group, error) {
	h.sweep()
	full, err := h.fullName(name)
	if err != nil {
		return nil, err
	}
	g := &Group{v1: map[string]string{}}
	failed := h.makeV2(g, full)
	if g.Freezer() == "" {
		want = append(want[:len(want):len(want)], "freezer")
	}
	for c, own := range h.v1 {
		if !slices.Contains(want, c) {
			continue
		}
		dir := filepath.Join(own, full)
		if err := h.mkdir(dir); err != nil && !errors.Is(err, os.ErrExist) {
			failed = err
			continue
		}
		g.v1[c] = dir
	}
	if g.v2 == "" && len(g.v1) == 0 {
		if failed == nil {
			failed = errNoController
		}
		var path *os.PathError
		if errors.As(failed, &path) {
			failed = path.Err // which of many directories it was is no news
		}
		return nil, fmt.Errorf("control groups may not be made here: %w", failed)
	}
	return g, nil
}

// makeV2 takes the nearest of our own group and its parents where a group
// has all the controllers that there are: a group with processes, as our
// own is, cannot give its children any.
func (h *Host) makeV2(g *Group, name string) (failed error) {
	if h.v2 == nil {
		return nil
	}
	want := have(h.v2[len(h.v2)-1], "cgroup.controllers")
	best := -1
	for _, parent := range h.v2 {
		// A process moves only under a common parent that we may write.
		procs, err := os.OpenFile(filepath.Join(parent, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			failed = err
			continue
		}
		procs.Close()
		dir := filepath.Join(parent, name)
		if err := h.mkdir(dir); err != nil {
			failed = err
			continue
		}
		for _, c := range want {
			write(parent, "cgroup.subtree_control", "+"+c) // the score shows whether it took
		}
		score := len(have(dir, "cgroup.controllers"))
		if score <= best {
			os.Remove(dir)
			continue
		}
		if g.v2 != "" {
			os.Remove(g.v2)
		}
		if g.v2, best = dir, score; score >= len(want) {
			break
		}
	}
	if g.v2 != "" {
		return nil
	}
	return failed
}

// have returns which of our controllers a file of a v2 group names.
func have(dir, file string) []string {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(string(b)), func(c string) bool {
		return !slices.Contains(controllers, c)
	})
}

// write writes a control file, which must be there already.
func write(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
