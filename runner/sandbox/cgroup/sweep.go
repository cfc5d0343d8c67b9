package cgroup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"proctor/runner/sandbox/proc"
)

const prefix = "proctor-"

// fullName is proctor-NAMESPACE-PID-START-NAME: whose group it is, beyond
// any reuse of process ids.
func (h *Host) fullName(name string) (string, error) {
	start, err := proc.StartTime(os.Getpid())
	if err != nil {
		return "", err
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, name)
	if len(clean) > 100 {
		clean = clean[:100]
	}
	return fmt.Sprintf("%s%s-%d-%d-%s", prefix, h.namespace(), os.Getpid(), start, clean), nil
}

// namespace identifies the pid namespace that process ids belong to.
func (h *Host) namespace() string {
	link, err := os.Readlink(filepath.Join(h.proc, "self/ns/pid"))
	if err != nil {
		return "0"
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}

// orphaned says whether a group's supervisor is gone for certain.
func (h *Host) orphaned(group string) bool {
	f := strings.SplitN(strings.TrimPrefix(group, prefix), "-", 4)
	if !strings.HasPrefix(group, prefix) || len(f) != 4 || f[0] != h.namespace() {
		return false
	}
	pid, err1 := strconv.Atoi(f[1])
	start, err2 := strconv.ParseUint(f[2], 10, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	now, err := proc.StartTime(pid)
	return err != nil || now != start
}

// sweep kills and removes the groups of supervisors that are gone: what
// they had frozen with a v1 freezer could not die with them.
func (h *Host) sweep() {
	left := map[string]*Group{}
	add := func(parent, controller string) {
		dirs, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
		for _, dir := range dirs {
			name := filepath.Base(dir)
			if !h.orphaned(name) {
				continue
			}
			if left[name] == nil {
				left[name] = &Group{v1: map[string]string{}}
			}
			if controller == "" {
				left[name].v2 = dir
			} else {
				left[name].v1[controller] = dir
			}
		}
	}
	for c, own := range h.v1 {
		add(own, c)
	}
	for _, dir := range h.v2 {
		add(dir, "")
	}
	for _, g := range left {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		g.Kill(ctx)
		g.Remove(ctx)
		cancel()
	}
}
