package bwrap

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/local"
)

// uid is an ordinary user's, whoever started us.
const uid = 1000

// homeOf returns where commands have their home: beside the workspace and the
// mounts, which would hide it.
func homeOf(spec sandbox.Spec) string {
	const usual, other = "/home/" + local.User, "/run/" + local.User
	hides := func(target string) bool {
		return target == usual || strings.HasPrefix(usual, target+"/") || strings.HasPrefix(target, usual+"/")
	}
	if hides(spec.Workdir) || slices.ContainsFunc(spec.Mounts, func(m sandbox.Mount) bool { return hides(m.Target) }) {
		return other
	}
	return usual
}

// arguments returns bwrap's options and the contents of the files that they
// name by descriptor, counted from firstData.
func (m machine) arguments(spec sandbox.Spec, firstData int) (args, contents []string) {
	add := func(a ...string) { args = append(args, a...) }
	id := strconv.Itoa(uid)
	add("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
	if spec.Network.Policy != local.NetworkFull {
		add("--unshare-net")
	}
	if m.knows("--disable-userns") { // seccomp refuses them too
		add("--disable-userns")
	}
	add("--uid", id, "--gid", id, "--hostname", "sandbox")
	add("--die-with-parent", "--as-pid-1", "--cap-drop", "ALL")

	for _, dir := range slices.Sorted(slices.Values(m.view.Dirs)) {
		add("--ro-bind", dir, dir)
	}
	if m.program != "" {
		add("--ro-bind", "/dev/null", m.program)
	}
	for _, link := range slices.Sorted(maps.Keys(m.view.Links)) {
		add("--symlink", m.view.Links[link], link)
	}
	for _, path := range slices.Concat(m.view.Etc, m.view.Sys) {
		add("--ro-bind", path, path)
	}
	add("--proc", "/proc", "--dev", "/dev")
	m.scratch(add, spec)
	if len(spec.Devices) > 0 {
		// Drivers' libraries find their cards through these.
		for _, path := range []string{"/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module"} {
			add("--ro-bind-try", path, path)
		}
	}
	for _, dev := range spec.Devices {
		add("--dev-bind", dev, dev)
	}
	for _, f := range synthesized(spec) {
		if f.host != "" {
			add("--ro-bind-try", f.host, f.path)
			continue
		}
		if m.knows("--perms") {
			add("--perms", "0444")
		}
		add("--ro-bind-data", strconv.Itoa(firstData+len(contents)), f.path)
		contents = append(contents, f.content)
	}
	for _, b := range binds(spec) {
		add(b...)
	}
	// What bwrap made the root and /dev of would be writable, without bound.
	// Below /proc, a user who is root outside owns switches of the whole
	// machine, such as the program that the kernel runs for core dumps.
	add("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/")
	return args, contents
}

func (m machine) knows(option string) bool { return strings.Contains(m.options, option+" ") }

// scratch adds what is writable beside the workspace, in memory and with a
// bound where bwrap can give one.
func (m machine) scratch(add func(...string), spec sandbox.Spec) {
	size := m.memory / 4
	for _, bound := range []int64{spec.Limits.MemoryBytes, spec.Limits.DiskBytes} {
		if bound > 0 {
			size = min(size, bound)
		}
	}
	for _, dir := range []struct{ path, mode string }{{"/dev/shm", "1777"}, {"/tmp", "1777"}, {homeOf(spec), "0700"}} {
		if m.knows("--perms") {
			add("--perms", dir.mode)
		}
		if m.knows("--size") {
			add("--size", strconv.FormatInt(max(size, 1<<20), 10))
		}
		add("--tmpfs", dir.path)
	}
	add("--symlink", "/tmp", "/var/tmp", "--dir", "/run")
}

// binds returns the workspace and the mounts, outer ones first, and last the
// workspace's read-only paths.
func binds(spec sandbox.Spec) [][]string {
	mounts := append([]sandbox.Mount{{Source: spec.Workspace, Target: spec.Workdir, Writable: true}}, spec.Mounts...)
	slices.SortStableFunc(mounts, func(a, b sandbox.Mount) int {
		return cmp.Or(strings.Count(a.Target, "/")-strings.Count(b.Target, "/"), strings.Compare(a.Target, b.Target))
	})
	var out [][]string
	for _, m := range mounts {
		option := "--ro-bind"
		if m.Writable {
			option = "--bind"
		}
		out = append(out, []string{option, m.Source, m.Target})
	}
	for _, path := range spec.ReadOnly {
		out = append(out, []string{"--ro-bind-try",
			filepath.Join(spec.Workspace, path), filepath.Join(spec.Workdir, path)})
	}
	return out
}

// A file of /etc that the host's own is not shown for, or only where the
// network is the host's.
type file struct{ path, content, host string }

func synthesized(spec sandbox.Spec) []file {
	files := []file{
		{path: "/etc/passwd", content: fmt.Sprintf("root:x:0:0:root:/root:/usr/sbin/nologin\n"+
			"%[1]s:x:%[2]d:%[2]d:%[1]s:%[3]s:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			local.User, uid, homeOf(spec))},
		{path: "/etc/group", content: fmt.Sprintf("root:x:0:\ntty:x:5:\n%s:x:%d:\nnogroup:x:65534:\n", local.User, uid)},
		{path: "/etc/nsswitch.conf", content: "passwd: files\ngroup: files\nhosts: files dns\n"},
	}
	if spec.Network.Policy == local.NetworkFull {
		return append(files,
			file{path: "/etc/hosts", host: "/etc/hosts"},
			file{path: "/etc/resolv.conf", host: "/etc/resolv.conf"})
	}
	return append(files, file{path: "/etc/hosts", content: "127.0.0.1 localhost sandbox\n"})
}
