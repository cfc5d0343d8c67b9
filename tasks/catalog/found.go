package catalog

import (
	"context"
	"path/filepath"
	"strings"

	"proctor/tasks"
)

// A Found is what a directory was recognised as.
type Found struct {
	Path     string // absolute, links not resolved
	Format   string // such as "MLE-bench"
	Suite    string // the first part of its tasks' refs
	Tasks    []*tasks.Task
	Problems []tasks.Problem // tasks that cannot be read
}

// Recognise says which suite or task a directory is. Its error, for a
// directory that is none, says what each format would have.
func Recognise(ctx context.Context, dir string, set Settings) (Found, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return Found{}, err
	}
	s, name, err := set.recognise(path)
	if err != nil {
		return Found{}, err
	}
	f := Found{Path: path, Format: name, Suite: s.Name()}
	f.Tasks, f.Problems = s.List(ctx)
	return f, ctx.Err()
}

// Offering returns the root among whose tasks all of f's are already, "" when
// there is none: f's own directory, or one around it. Links are seen through.
func (f Found) Offering(ctx context.Context, roots []string) string {
	real := resolved(f.Path)
	for _, root := range roots {
		if resolved(root) == real {
			return root
		}
	}
	for _, root := range roots {
		if !strings.HasPrefix(real, strings.TrimSuffix(resolved(root), string(filepath.Separator))+string(filepath.Separator)) {
			continue
		}
		around, err := Recognise(ctx, root, nil)
		if err == nil && around.Format == f.Format && around.has(f.Tasks) {
			return root
		}
	}
	return ""
}

func (f Found) has(list []*tasks.Task) bool {
	refs := map[string]bool{}
	for _, t := range f.Tasks {
		refs[t.Ref] = true
	}
	for _, t := range list {
		if !refs[t.Ref] {
			return false
		}
	}
	return len(list) > 0
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
