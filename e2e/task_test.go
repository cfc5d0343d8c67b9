package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A task is written for one test. Its starter code, which the agent baseline
// runs, plays the agent.
type task struct {
	starter string            // sh; "" writes 0.8 to out.txt
	grader  string            // bash; "" hands in the number in out.txt
	outputs []string          // nil is out.txt
	files   map[string]string // more of them, or others in place of the usual
	own     string            // more of [metadata.proctor]
	limit   float64           // the grader's, in seconds
}

// gradeNumber is a grader that trusts the submission with nothing but a
// number.
const gradeNumber = `read -r score <"$PROCTOR_SUBMISSION/out.txt"
printf '{"accuracy": %.6f}' "$score" >&"$PROCTOR_VERDICT_FD"
`

const writeNumber = "echo acc 0.8; echo 0.8 >out.txt\n"

// task writes a Harbor task directory and returns its path.
func (u *user) task(k task) string {
	u.Helper()
	dir, err := os.MkdirTemp(u.path("tasks"), "task")
	if err != nil {
		u.Fatal(err)
	}
	if k.starter == "" {
		k.starter = writeNumber
	}
	if k.grader == "" {
		k.grader = gradeNumber
	}
	if k.outputs == nil {
		k.outputs = []string{"out.txt"}
	}
	if k.limit == 0 {
		k.limit = 60
	}
	if !strings.Contains(k.own, "proctor.budget") {
		// What a killed test leaves behind ends by itself.
		k.own += "\n[metadata.proctor.budget]\ntime = \"10m\"\n"
	}
	config := fmt.Sprintf(`schema_version = "1.4"
[task]
name = "e2e/task"
description = "A task of the tests."
[verifier]
timeout_sec = %g
[metadata.proctor]
schema = 1
outputs = ["%s"]
starter = "sh train.sh"
%s
[metadata.proctor.metric]
name = "accuracy"
higher_is_better = true
pattern = 'acc ([0-9.]+)'
[metadata.proctor.grade]
baseline = 0.5
[metadata.proctor.grade.thresholds]
gold = 0.9
silver = 0.75
bronze = 0.6
`, k.limit, strings.Join(k.outputs, `", "`), k.own)
	files := map[string]string{
		"task.toml": config, "instruction.md": "# Task\n\nDo it.\n",
		"environment/train.sh": k.starter, "tests/test.sh": k.grader,
	}
	for name, text := range k.files {
		files[name] = text
	}
	for name, text := range files {
		write(u, filepath.Join(dir, name), text)
	}
	return dir
}

// boxes says which sandboxes work here, and why the others do not.
var boxes = sync.OnceValues(func() (map[string]string, error) {
	return probeBoxes()
})

// needBox skips a test that is about one kind of sandbox where that does not
// work; where every program that tests need is to be installed, it fails.
func (u *user) needBox(name string) {
	u.Helper()
	reasons, err := boxes()
	if err != nil {
		u.Fatal(err)
	}
	reason, known := reasons[name]
	switch {
	case known && reason == "":
	case os.Getenv("PROCTOR_TEST_REQUIRE") == "1":
		u.Fatalf("the sandbox %q must work here: %s", name, reason)
	default:
		u.Skipf("the sandbox %q does not work here: %s", name, reason)
	}
}

// anyBox is the best sandbox that works here.
func (u *user) anyBox() string {
	u.Helper()
	reasons, err := boxes()
	if err != nil {
		u.Fatal(err)
	}
	for _, name := range []string{"bwrap", "landlock"} {
		if reason, known := reasons[name]; known && reason == "" {
			return name
		}
	}
	return "none"
}
