// Package system says what of this machine's software a sandbox shows its
// programs, read-only: the distribution's directories, the few files of
// /etc that programs need, and the Python that the person's PATH finds
// first, wherever it is installed.
package system

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A View is what is shown. Every path exists.
type View struct {
	Dirs  []string          // at their own path
	Links map[string]string // such as /bin to usr/bin
	Etc   []string          // files and directories below /etc
	Sys   []string          // below /sys
	Path  []string          // where programs are found
}

// Program returns the path of this very program where the view shows it, ""
// otherwise: what it carries, such as the answers of the tasks that are built
// in, would be shown with it.
func (v View) Program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || !v.shows(path) {
		return "" // it is gone, or was never seen
	}
	return path
}

func (v View) shows(path string) bool {
	return slices.ContainsFunc(v.Dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

var (
	// dirs hold software and nothing of any user's.
	dirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/nix/store", "/gnu/store", "/run/current-system/sw"}

	// etc has nothing that is private to root: a sandbox that root starts
	// could read it.
	etc = []string{"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone",
		"os-release", "debian_version", "mime.types", "protocols", "services", "magic", "terminfo", "fonts",
		"inputrc", "bash.bashrc", "python3", "matplotlibrc", "R", "OpenCL", "glvnd", "vulkan",
		"ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "ca-certificates", "ca-certificates.conf",
		"pki/tls/certs", "pki/tls/openssl.cnf", "pki/tls/cert.pem", "pki/ca-trust/extracted", "crypto-policies"}

	// sys tells how many processors there are and how they are joined.
	sys = []string{"devices/system/cpu", "devices/system/node"}

	path = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
		"/run/current-system/sw/bin"}
)

// Find looks at this machine. Asking Python where it lives may take some
// tens of milliseconds.
func Find(ctx context.Context) View {
	v := View{Links: map[string]string{}}
	for _, dir := range dirs {
		fi, err := os.Lstat(dir)
		switch {
		case err != nil:
		case fi.Mode()&os.ModeSymlink == 0:
			v.Dirs = append(v.Dirs, dir)
		case strings.Count(dir, "/") == 1:
			if target, err := os.Readlink(dir); err == nil {
				v.Links[dir] = target
			}
		default: // bound by what it leads to
			v.Dirs = append(v.Dirs, dir)
		}
	}
	prefixes, bin := python(ctx)
	v.Dirs = append(v.Dirs, prefixes...)
	if bin != "" {
		v.Path = append(v.Path, bin)
	}
	v.Etc = existing("/etc", etc)
	v.Sys = existing("/sys", sys)
	for _, dir := range path {
		if _, err := os.Stat(dir); err == nil && !slices.Contains(v.Path, dir) {
			v.Path = append(v.Path, dir)
		}
	}
	return v
}

func existing(below string, names []string) []string {
	var found []string
	for _, name := range names {
		path := filepath.Join(below, name)
		if _, err := os.Stat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// PATH returns the view's search path as an environment has it.
func (v View) PATH() string { return strings.Join(v.Path, string(filepath.ListSeparator)) }

// python finds the first python3 on PATH and, where that lies outside the
// system's directories, what it needs to be shown: its own prefix, that of
// the installation it was made from if it is a virtual environment, and the
// directory that is to be searched first.
func python(ctx context.Context) (prefixes []string, bin string) {
	found, err := exec.LookPath("python3")
	if err != nil {
		return nil, ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// It may be a shim, a link, or part of a virtual environment: only
	// itself knows.
	out, err := exec.CommandContext(ctx, found, "-I", "-c",
		"import sys; print(sys.prefix, sys.base_prefix, sys.executable, sep='\\n')").Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 {
		return nil, ""
	}
	home, _ := os.UserHomeDir()
	for _, prefix := range lines[:2] {
		prefix = whole(prefix)
		if inSystem(prefix) {
			continue
		}
		if !showable(prefix, home) {
			return nil, ""
		}
		if !slices.Contains(prefixes, prefix) {
			prefixes = append(prefixes, prefix)
		}
	}
	if len(prefixes) == 0 {
		return nil, ""
	}
	return prefixes, filepath.Dir(lines[2])
}

// whole widens a prefix to the tree that its links lead around in.
func whole(prefix string) string {
	const brew = "/.linuxbrew"
	if i := strings.Index(prefix+"/", brew+"/"); i >= 0 {
		return prefix[:i+len(brew)]
	}
	return filepath.Clean(prefix)
}

func inSystem(dir string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return dir == d || strings.HasPrefix(dir, d+"/") })
}

// showable refuses a prefix that is more than an installation: the person's
// home, or anything above it.
func showable(prefix, home string) bool {
	if !filepath.IsAbs(prefix) || strings.Count(prefix, "/") < 2 {
		return false
	}
	return home == "" || prefix != home && !strings.HasPrefix(home, prefix+"/")
}
