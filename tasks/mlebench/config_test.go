package mlebench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const realShape = `id: spaceship-titanic
name: Spaceship Titanic
competition_type: simple
awards_medals: false
prizes: null
description: mlebench/competitions/spaceship-titanic/description.md
dataset:
  answers: spaceship-titanic/prepared/private/test.csv
  sample_submission: spaceship-titanic/prepared/public/sample_submission.csv
grader:
  name: accuracy
  grade_fn: mlebench.competitions.spaceship-titanic.grade:grade
preparer: mlebench.competitions.spaceship-titanic.prepare:prepare
`

func TestParseConfig(t *testing.T) {
	c, err := parseConfig([]byte(realShape))
	if err != nil || c.ID != "spaceship-titanic" || c.Grader.Name != "accuracy" || !strings.HasSuffix(c.Dataset.Answers, "private/test.csv") {
		t.Errorf("%+v, %v", c, err)
	}
	for change, want := range map[[2]string]string{
		{realShape, ""}:                      "it lacks id",
		{"id: spaceship-titanic", "id: a/b"}: `id is "a/b"`,
		{"id: spaceship-titanic", "id: .."}:  `id is ".."`,
		{"answers: spaceship-titanic/prepared/private/test.csv", "answers: /etc/passwd"}: `dataset.answers is "/etc/passwd"`,
		{"sample_submission:", "sample:"}:                                                "it lacks dataset.sample_submission",
		{".grade:grade", ".grade"}:                                                       "expected module:function",
		{"dataset:", "dataset: 7\nother:"}:                                               "not the YAML",
		{"prizes: null", "prizes: *nowhere"}:                                             "not the YAML",
	} {
		src := strings.Replace(realShape, change[0], change[1], 1)
		if _, err := parseConfig([]byte(src)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n\n") {
			t.Errorf("%q: %v, want %q", change[1], err, want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(realShape))
	files, err := filepath.Glob("testdata/checkout/mlebench/competitions/*/config.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("a: &a [*a, *a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > maxConfig {
			return
		}
		c, err := parseConfig(src)
		if err == nil && (!filepath.IsLocal(c.Dataset.Answers) || c.ID == "" || strings.Contains(c.ID, "/")) {
			t.Errorf("accepted %+v", c)
		}
	})
}
