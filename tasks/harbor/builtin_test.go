package harbor

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"proctor/tasks"
	"proctor/tasks/builtin"
)

// needPython skips a test where there is no python3.
func needPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err == nil {
		return
	}
	if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
		t.Fatal("python3 is required and is not here")
	}
	t.Skip("the embedded tasks are graded by python3, which is not here")
}

// The embedded tasks' own graders must speak the contract as it is read here,
// on either kind of bench.
func TestEmbeddedGraders(t *testing.T) {
	needPython(t)
	list, problems := New("builtin", builtin.FS()).List(context.Background())
	if len(list) == 0 || len(problems) > 0 {
		t.Fatalf("%d tasks, problems %v", len(list), problems)
	}
	for _, task := range list {
		for _, mounts := range []bool{false, true} {
			v := gradeWith(t, task.Grader, tasks.Submission{Dir: t.TempDir()}, newBench(t, mounts))
			if v.Status != tasks.NoSubmission || v.Reason == "" {
				t.Errorf("%s, nothing handed in, mounts %v: %s, %q", task.Ref, mounts, v.Status, v.Reason)
			}
			s := tasks.Submission{Dir: t.TempDir()}
			for _, output := range task.Outputs {
				file := filepath.Join(s.Dir, output)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte("\x00garbage\xff"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			v = gradeWith(t, task.Grader, s, newBench(t, mounts))
			if v.Status != tasks.InvalidSubmission || v.Reason == "" {
				t.Errorf("%s, garbage handed in, mounts %v: %s, %q", task.Ref, mounts, v.Status, v.Reason)
			}
		}
	}
}

// The worked solution must get its full score through the whole path: seeds,
// solution, submission, grader, verdict.
func TestEmbeddedSolutionIsGraded(t *testing.T) {
	needPython(t)
	names := []string{"diabetes"} // takes seconds; PROCTOR_TEST_SOLUTIONS=1 adds the slower ones
	if all := os.Getenv("PROCTOR_TEST_SOLUTIONS"); all != "" {
		names = []string{"diabetes", "digits", "speedup"}
	}
	for _, name := range names {
		task, err := New("builtin", builtin.FS()).Open(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		work := workspace(t, task)
		solution, err := fs.Sub(builtin.FS(), name+"/solution")
		if err != nil {
			t.Fatal(err)
		}
		apart := filepath.Join(t.TempDir(), "solution")
		if err := os.CopyFS(apart, solution); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", filepath.Join(apart, "solve.sh"))
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		v := gradeWith(t, task.Grader, tasks.Submission{Dir: work}, newBench(t, false))
		if v.Status != tasks.Graded || v.Medal == "" {
			t.Errorf("%s: %s %q, medal %q", name, v.Status, v.Reason, v.Medal)
			continue
		}
		t.Logf("%s: %v %s, medal %s, rank %d of %d", name, *v.Score, v.Metric, v.Medal, v.Rank, v.Of)
	}
}

// workspace lays a task's seeds into a new directory.
func workspace(t *testing.T, task *tasks.Task) string {
	t.Helper()
	dir := t.TempDir()
	for _, seed := range task.Seeds {
		if err := os.CopyFS(filepath.Join(dir, seed.To), seed.From); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "Dockerfile")); err == nil {
		t.Errorf("%s: the agent gets the Dockerfile", task.Ref)
	}
	return dir
}
