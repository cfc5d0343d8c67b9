package mlebench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A dataset is where a competition's prepared data lies on this machine.
type dataset struct {
	root    string // the data directory
	public  string // what the agent sees
	private string // what only the grader sees
	answers string // a file, mostly in private
	sample  string // a valid submission, in public or private
}

func datasetOf(c *config, data string) dataset {
	prepared := filepath.Join(data, c.ID, "prepared")
	return dataset{
		root:    data,
		public:  filepath.Join(prepared, "public"),
		private: filepath.Join(prepared, "private"),
		answers: filepath.Join(data, filepath.FromSlash(c.Dataset.Answers)),
		sample:  filepath.Join(data, filepath.FromSlash(c.Dataset.SampleSubmission)),
	}
}

// missing says what must be there before a run may start, one line each.
func (d dataset) missing(id string) []string {
	public, answers := filled(d.public), d.unanswered()
	if public == nil && answers == nil {
		return nil
	}
	prepare := "accept its rules on kaggle.com, then run: mlebench prepare -c " + id
	if cache, err := os.UserCacheDir(); err != nil || d.root != filepath.Join(cache, "mle-bench", "data") {
		prepare += fmt.Sprintf(" --data-dir %q", d.root)
	}
	if _, err := os.Stat(filepath.Dir(d.public)); errors.Is(err, os.ErrNotExist) {
		return []string{fmt.Sprintf("prepared data: %s is missing; %s", filepath.Dir(d.public), prepare)}
	}
	var lines []string
	if public != nil {
		lines = append(lines, fmt.Sprintf("prepared data: %s %v; %s", d.public, public, prepare))
	}
	if answers != nil {
		lines = append(lines, fmt.Sprintf("answers: %s %v; %s", d.answers, answers, prepare))
	}
	return lines
}

// unanswered says what is wrong with the answers, nil if they are there.
func (d dataset) unanswered() error {
	f, err := os.Open(d.answers)
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("is missing")
	}
	if err != nil {
		return fmt.Errorf("cannot be read (%w)", cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	head := make([]byte, 200)
	n, err := io.ReadFull(f, head)
	switch {
	case n == 0:
		return errors.New("is empty")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("cannot be read (%w)", cause(err))
	case isPointer(head[:n]):
		return errors.New("is a git-LFS pointer")
	}
	return nil
}

// filled says what is wrong with a directory that should hold something.
func filled(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("is missing")
	case err != nil:
		return fmt.Errorf("cannot be read (%w)", cause(err))
	case len(entries) == 0:
		return errors.New("is empty")
	}
	return nil
}
