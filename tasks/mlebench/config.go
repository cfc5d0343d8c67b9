package mlebench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// The most that is read of a competition's text files; the longest real
// description has 50 kB.
const (
	maxConfig      = 64 << 10
	maxDescription = 1 << 20
)

// A config is a competition's config.yaml. Keys that are not named here are
// of no use to a runner, or of another version, and are passed over.
type config struct {
	ID      string `yaml:"id"`
	Name    string `yaml:"name"`
	Dataset struct {
		Answers          string `yaml:"answers"`           // below the data directory
		SampleSubmission string `yaml:"sample_submission"` // below the data directory
	} `yaml:"dataset"`
	Grader struct {
		Name    string `yaml:"name"`     // a label, not always right
		GradeFn string `yaml:"grade_fn"` // module:function
	} `yaml:"grader"`
}

var gradeFn = regexp.MustCompile(`^[\w.-]+:\w+$`)

// parseConfig reads a config.yaml. The errors say which key is wrong and what
// was expected.
func parseConfig(src []byte) (c *config, err error) {
	c = &config{}
	if err := yaml.Unmarshal(src, c); err != nil {
		return nil, fmt.Errorf("not the YAML that is expected there: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	var wrong []error
	want := func(ok bool, key, value, expected string) {
		switch {
		case value == "":
			wrong = append(wrong, fmt.Errorf("it lacks %s, expected %s", key, expected))
		case !ok:
			wrong = append(wrong, fmt.Errorf("%s is %q, expected %s", key, value, expected))
		}
	}
	below := func(p string) bool { return filepath.IsLocal(filepath.FromSlash(p)) }
	want(c.ID == filepath.Base(c.ID) && !strings.HasPrefix(c.ID, "."), "id", c.ID, "the competition's id")
	want(below(c.Dataset.Answers), "dataset.answers", c.Dataset.Answers, "a path below the data directory")
	want(below(c.Dataset.SampleSubmission), "dataset.sample_submission", c.Dataset.SampleSubmission, "a path below the data directory")
	want(gradeFn.MatchString(c.Grader.GradeFn), "grader.grade_fn", c.Grader.GradeFn, "module:function")
	c.Name = cmp.Or(c.Name, c.ID)
	return c, errors.Join(wrong...)
}

// readText reads a text file of a checkout.
func readText(file string, limit int64, purpose string) (string, error) {
	data, err := readFile(file, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: missing, expected %s", file, purpose)
	case err != nil:
		return "", fmt.Errorf("%s: cannot be read: %w", file, err)
	case isPointer(data):
		return "", fmt.Errorf("%s: a git-LFS pointer, expected %s; run git lfs pull in the checkout", file, purpose)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s: not UTF-8 text, expected %s", file, purpose)
	}
	return string(data), nil
}

// readFile reads a regular file of at most limit bytes.
func readFile(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("longer than %d KiB", limit>>10)
	}
	return data, err
}

// isPointer reports whether data is what git-LFS leaves in place of a file
// that has not been fetched.
func isPointer(data []byte) bool {
	return strings.HasPrefix(string(data[:min(len(data), 200)]), "version https://git-lfs.github.com/spec/")
}

// cause takes the path out of an error whose message will name it anyway.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
