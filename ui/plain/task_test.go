package plain

import (
	"strings"
	"testing"
	"time"

	"proctor/tasks"
)

func TestTask(t *testing.T) {
	x := func(f float64) *float64 { return &f }
	task := &tasks.Task{
		Ref: "bench/one", Title: "One", Summary: "Do one.", Instruction: "# One\n\nDo it.\n", Notes: "Said by whom.",
		Metric: tasks.Metric{Name: "accuracy", HigherIsBetter: true}, Outputs: []string{"a.csv", "b"},
		Budget: tasks.Budget{Time: time.Hour, Steps: 5}, Needs: tasks.Needs{GPUs: 1, GPUMemory: 40 << 30, Modules: []string{"torch"}},
		Standing: tasks.Standing{
			Baseline: x(0.5), Thresholds: tasks.Thresholds{Gold: x(0.9), Median: x(0.6)},
			References: []tasks.Reference{{Name: "kNN", Score: 0.7, How: "k=3"}},
			Published: []tasks.Reference{
				{Name: "Best", Score: 77.78, How: "leak", Scale: "any medal, %"}, {Name: "Human", Score: 0.95}, {Name: "Next", Score: 60, Scale: "any medal, %"},
			},
		},
		Warnings: []string{"leaks"},
	}
	want := `bench/one: One
Do one.

metric      accuracy ↑, higher is better
baseline    0.5
medals      gold 0.9, median 0.6
to beat     0.7        kNN (k=3)
published   any medal, %:
            77.78      Best (leak)
            60         Next
            0.95       Human
budget      1:00:00 of working time, 5 steps
needs       1 GPU of 40 GiB, python: torch
hands in    a.csv, b
missing     the data
            a GPU
note        cannot be graded here
warning     leaks

INSTRUCTION

# One

Do it.

NOTES

Said by whom.
`
	if got := Task(task, []string{"the data", "a GPU"}, []string{"cannot be graded here"}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := Task(task, nil, nil); !strings.Contains(got, "runs here   yes\n") {
		t.Errorf("got:\n%s", got)
	}
}
