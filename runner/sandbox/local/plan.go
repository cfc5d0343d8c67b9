// Package local runs sandboxes on this machine. A kind of sandbox says how
// the guest is started and what that keeps apart (a [Plan]); everything
// else is the same for all of them and lives here: the conversation with
// the guest, terminals and pipes, control groups, the freezer, limits that
// must be watched, and the end.
package local

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/wire"
)

// A Plan is how a kind starts its guest.
type Plan struct {
	Spec      sandbox.Spec
	Isolation sandbox.Isolation // limits, freezer and their gaps are filled in
	Setup     wire.Setup        // name, limits and network are filled in

	// Namespace says that the guest is process 1 of a pid namespace. Argv
	// then starts it and Files are its descriptors from the fourth on, the
	// third being the control socket. Without one, a warden starts it.
	Namespace bool
	Argv      []string
	Files     []*os.File

	DropCapabilities bool // of a guest below a warden

	// Listeners are where the network's ports are reached, the model
	// endpoint's first, when the sandbox has no network of its own to listen
	// in. See [Loopback].
	Listeners []net.Listener

	// Paths are targets that are found elsewhere, since nothing is mounted.
	Paths []sandbox.Mount
	// Cleanup is called when everything inside has ended.
	Cleanup func()
}

// Network policies.
const (
	NetworkNone  = "none"
	NetworkModel = "model"
	NetworkAllow = "allow"
	NetworkFull  = "full"
)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Validate checks what a spec must have for any kind and returns it with
// its defaults.
func Validate(kind string, s sandbox.Spec) (sandbox.Spec, error) {
	fail := func(format string, args ...any) (sandbox.Spec, error) {
		return s, fmt.Errorf("open sandbox %q: %w", s.Name, fmt.Errorf(format, args...))
	}
	if !namePattern.MatchString(s.Name) {
		return fail("its name may have letters, digits, '.', '_' and '-'")
	}
	if fi, err := os.Stat(s.Workspace); err != nil || !fi.IsDir() || !filepath.IsAbs(s.Workspace) {
		return fail("workspace %q is not an absolute path of a directory", s.Workspace)
	}
	if !filepath.IsAbs(s.Workdir) || filepath.Clean(s.Workdir) == "/" {
		return fail("workdir %q is not an absolute path below /", s.Workdir)
	}
	s.Workdir = filepath.Clean(s.Workdir)
	s.Mounts = slices.Clone(s.Mounts)
	for i, m := range s.Mounts {
		if !filepath.IsAbs(m.Source) || !filepath.IsAbs(m.Target) || filepath.Clean(m.Target) == "/" {
			return fail("mount of %q at %q: both must be absolute paths", m.Source, m.Target)
		}
		if _, err := os.Stat(m.Source); err != nil {
			return fail("mount of %q at %q: %w", m.Source, m.Target, err)
		}
		s.Mounts[i].Target = filepath.Clean(m.Target)
	}
	for _, path := range s.ReadOnly {
		if !filepath.IsLocal(path) {
			return fail("read-only path %q leaves the workspace", path)
		}
	}
	switch s.Network.Policy {
	case "":
		s.Network.Policy = NetworkNone
	case NetworkNone, NetworkFull:
	case NetworkModel:
		if s.Network.Socket == "" {
			return fail(`network policy "model" needs a socket to forward to`)
		}
	case NetworkAllow:
		return fail(`network policy "allow" cannot be enforced by sandbox kind %q; use "none", "model" or "full"`, kind)
	default:
		return fail(`no network policy %q; there are "none", "model" and "full"`, s.Network.Policy)
	}
	return s, nil
}

// Environment returns the fixed base of every command's environment, with
// the spec's own behind it.
func Environment(home, tmp, path string, s sandbox.Spec) []string {
	shell := "/bin/sh"
	if _, err := os.Stat("/bin/bash"); err == nil {
		shell = "/bin/bash"
	}
	base := []string{
		"PATH=" + path, "HOME=" + home, "TMPDIR=" + tmp, "SHELL=" + shell,
		"USER=" + User, "LOGNAME=" + User, "LANG=C.UTF-8", "TERM=xterm-256color",
	}
	return append(base, s.Env...)
}

// User is who commands believe they are.
const User = "agent"

// translate replaces the longest target of paths that path lies at or
// below by its source.
func translate(paths []sandbox.Mount, path string) string {
	best, out := -1, path
	for _, m := range paths {
		if len(m.Target) <= best {
			continue
		}
		if path == m.Target {
			best, out = len(m.Target), m.Source
		} else if rest, ok := strings.CutPrefix(path, m.Target+"/"); ok {
			best, out = len(m.Target), filepath.Join(m.Source, rest)
		}
	}
	return out
}
