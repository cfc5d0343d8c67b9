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
	var lines []string
	prepare := fmt.Sprintf("run: mlebench prepare -c %s --data-dir %q (it downloads from Kaggle, whose rules for it must be accepted first)", id, d.root)
	if problem := filled(d.public); problem != nil {
		lines = append(lines, fmt.Sprintf("prepared data: %s %v; %s", d.public, problem, prepare))
	}
	if problem := d.unanswered(); problem != nil {
		lines = append(lines, fmt.Sprintf("answers: %s %v; %s", d.answers, problem, prepare))
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
