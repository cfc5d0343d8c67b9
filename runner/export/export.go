// Package export writes finished runs in the forms that other tools read.
//
// A Format is one function that turns runs into files; the table in formats
// lists them. The files are made beside the place they are meant for and moved
// there when all of them are whole, so that nobody finds half an export.
package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"proctor/tasks"
)

// A Format is a form that other tools read.
type Format struct {
	Name    string
	Summary string // one line
	write   func(t *tree, runs []*Run) error
}

// Formats lists the formats.
func Formats() []Format {
	return []Format{
		{"mle-bench", "the submission.jsonl that mlebench grade reads, the submissions, and MLE-bench's grading report", mleBench},
		{"harbor", "a Harbor job with a trial for each run", harbor},
	}
}

// Find returns the format called name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	hint := ""
	if near := tasks.Nearest(name, names); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return Format{}, fmt.Errorf("there is no export format %q: the formats are %s%s", name, strings.Join(names, ", "), hint)
}

// A Result is what was written.
type Result struct {
	Format string   `json:"format"`
	Dir    string   `json:"dir"` // absolute
	Runs   []string `json:"runs"`
	Files  []string `json:"files"`           // relative to Dir, in order
	Notes  []string `json:"notes,omitempty"` // what a person should know about them
	Next   string   `json:"next,omitempty"`  // the command that reads them
}

// ErrNotEmpty means that the directory to write to holds something already.
var ErrNotEmpty = errors.New("the directory is not empty")

// Write writes runs into the directory dir, which it makes. A directory that
// holds something is left alone, with ErrNotEmpty, unless force is set: then
// what has the names of the export's own files and folders is replaced, and
// everything else stays.
func (f Format) Write(dir string, runs []*Run, force bool) (Result, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Result{}, err
	}
	if err := vacant(dir, force); err != nil {
		return Result{}, err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return Result{}, fmt.Errorf("making the folder to export to: %w", err)
	}
	stage, err := os.MkdirTemp(parent, ".proctor-export-")
	if err != nil {
		return Result{}, fmt.Errorf("making a folder to export to: %w", err)
	}
	defer os.RemoveAll(stage)
	t := &tree{stage: stage, final: dir}
	if err := f.write(t, runs); err != nil {
		return Result{}, fmt.Errorf("exporting as %s: %w", f.Name, err)
	}
	if err := t.publish(); err != nil {
		return Result{}, fmt.Errorf("moving the export into place: %w", err)
	}
	slices.Sort(t.files)
	result := Result{Format: f.Name, Dir: dir, Files: t.files, Notes: t.notes, Next: t.next}
	for _, r := range runs {
		result.Runs = append(result.Runs, r.ID())
	}
	return result, nil
}

// vacant says what is wrong with a place to write to.
func vacant(dir string, force bool) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at the folder to export to: %w", err)
	case len(entries) > 0 && !force:
		return fmt.Errorf("exporting to %q: %w: name another with --out, or replace what the export has too with --force", dir, ErrNotEmpty)
	}
	return nil
}
