package harbor

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"proctor/tasks"
)

// buildFiles of environment/ are instructions to an image builder and no
// part of what the agent gets.
var buildFiles = []string{"Dockerfile", ".dockerignore", ".gitkeep"}

// seeds returns what of environment/ lies in the workspace. As Harbor does
// it: with a Dockerfile that is what its COPY lines name, without one it is
// everything. Files copied to places outside the workspace are named in
// outside.
func seeds(env fs.FS, d *dockerfile, workdir string) (list []tasks.Seed, outside []string, err error) {
	if d == nil {
		return []tasks.Seed{{From: withoutBuildFiles{env}, To: "."}}, nil, nil
	}
	for _, c := range d.copies {
		matches, err := fs.Glob(env, c.from)
		if err != nil || len(matches) == 0 {
			return nil, nil, fmt.Errorf("environment/Dockerfile copies %q, which environment/ does not have", c.from)
		}
		for _, from := range matches {
			seed, ok, err := c.seed(env, from, workdir)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				list = append(list, seed)
			} else {
				outside = append(outside, from+" → "+c.to)
			}
		}
	}
	return list, outside, nil
}

// seed copies one file or directory; ok is false when its place lies outside
// the workspace.
func (c copying) seed(env fs.FS, from, workdir string) (seed tasks.Seed, ok bool, err error) {
	info, err := fs.Stat(env, from)
	if err != nil {
		return seed, false, fmt.Errorf("environment/%s: %w", from, err)
	}
	target := path.Clean(c.to)
	if !info.IsDir() && strings.HasSuffix(c.to, "/") {
		target = path.Join(target, path.Base(from))
	}
	if !within(workdir, target) || !info.IsDir() && target == workdir {
		return seed, false, nil
	}
	to := strings.TrimPrefix(strings.TrimPrefix(target, workdir), "/")
	if !info.IsDir() {
		file := flat{from: env, paths: map[string]string{path.Base(to): from}}
		return tasks.Seed{From: file, To: path.Dir(to)}, true, nil
	}
	tree, err := fs.Sub(env, from)
	if from == "." {
		tree = withoutBuildFiles{env}
	}
	if to == "" {
		to = "."
	}
	return tasks.Seed{From: tree, To: to}, err == nil, err
}

// inSeeds reports whether the workspace path p will be there before the run.
func inSeeds(list []tasks.Seed, p string) bool {
	return slices.ContainsFunc(list, func(s tasks.Seed) bool {
		rel := p
		if s.To != "." {
			if p == s.To || strings.HasPrefix(s.To, p+"/") {
				return true
			}
			var below bool
			if rel, below = strings.CutPrefix(p, s.To+"/"); !below {
				return false
			}
		}
		_, err := fs.Stat(s.From, rel)
		return err == nil
	})
}
