package launch

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"proctor/tasks"
	"proctor/ui/theme"
)

// many is three groups of tasks, one of 75, and two problems.
func many() *taskList {
	var all []*tasks.Task
	add := func(suite, split string, n int, missing ...string) {
		for i := range n {
			name := fmt.Sprintf("task-%02d", i)
			all = append(all, &tasks.Task{Ref: suite + "/" + split + name, Suite: suite, Split: split, Name: name, Title: "A title", Keywords: []string{"kaggle"}, Missing: missing})
		}
	}
	add("bench", "low", 22, "data")
	add("own", "", 3)
	add("bench", "high", 53)
	l := &taskList{}
	l.set(all, []tasks.Problem{{Ref: "bench/broken", Err: errors.New("no")}, {Ref: "own/torn", Err: errors.New("no")}})
	return l
}

var styles = regexp.MustCompile("\x1b\\[[0-9;:]*m")

func drawn(l *taskList, h int) []string {
	lines := l.draw(theme.New(true, theme.NoColours), 40, h, true)
	for i := range lines {
		lines[i] = strings.TrimRight(styles.ReplaceAllString(lines[i], ""), " ")
	}
	return lines
}

func TestLongListKeepsItsHeading(t *testing.T) {
	l := many()
	for l.selected < len(l.shown)-1 {
		lines := drawn(l, 10)
		task := l.current()
		if !strings.HasPrefix(lines[0], task.Suite) && !contains(lines, task.Suite+" "+task.Split) && !contains(lines, task.Suite) {
			t.Fatalf("%s: no heading in sight:\n%s", task.Ref, strings.Join(lines, "\n"))
		}
		if !contains(lines, theme.Arrow+" "+task.Name) {
			t.Fatalf("%s: not in sight:\n%s", task.Ref, strings.Join(lines, "\n"))
		}
		l.move(1)
	}
	l.move(-1 << 20)
	if lines := drawn(l, 10); !strings.HasPrefix(lines[0], "bench low") || !strings.Contains(lines[0], "0 of 22 ready") {
		t.Errorf("the top is\n%s", strings.Join(lines, "\n"))
	}
}

func contains(lines []string, prefix string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, prefix) {
			return true
		}
	}
	return false
}

func TestGroupsStayTogether(t *testing.T) {
	var got []string
	for _, r := range many().rows() {
		if r.heading != "" {
			got = append(got, fmt.Sprint(r.heading, " ", r.ready, "/", r.size))
		}
	}
	if want := "bench low 0/22, bench high 53/53, own 3/3, cannot be read 0/0"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

func TestProblemsCanBePicked(t *testing.T) {
	l := many()
	l.move(1 << 20)
	if p := l.problem(); p == nil || p.Ref != "own/torn" || l.current() != nil {
		t.Fatalf("at the end: %+v, %+v", p, l.current())
	}
	l.move(-2)
	if l.problem() != nil || l.current() == nil || l.current().Suite != "own" {
		t.Errorf("before the problems: %+v, %+v", l.problem(), l.current())
	}
}

func TestFind(t *testing.T) {
	l := many()
	for query, want := range map[string]string{
		"low":      "22 tasks, 0 problems, first bench/lowtask-00",
		"own 02":   "1 tasks, 0 problems, first own/task-02",
		"OWN":      "3 tasks, 1 problems, first own/task-00",
		"kaggle":   "78 tasks, 0 problems, first bench/lowtask-00",
		"broken":   "0 tasks, 1 problems, first bench/broken",
		"blt21":    "1 tasks, 0 problems, first bench/lowtask-21", // letters in their order
		"xyzzy":    "0 tasks, 0 problems, first ",
		"title 51": "1 tasks, 0 problems, first bench/hightask-51",
	} {
		l.filter(query)
		first := ""
		if task := l.current(); task != nil {
			first = task.Ref
		} else if p := l.problem(); p != nil {
			first = p.Ref
		}
		if got := fmt.Sprintf("%d tasks, %d problems, first %s", len(l.shown), len(l.broken), first); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		drawn(l, 8)
	}
}

// A click picks the line that is drawn there; the heading that stays in sight
// is none.
func TestPickByLine(t *testing.T) {
	l := many()
	l.move(40)
	lines := drawn(l, 10)
	if l.top == 0 || l.pick(0) {
		t.Fatalf("top %d; a heading was picked:\n%s", l.top, strings.Join(lines, "\n"))
	}
	if !l.pick(3) || !strings.Contains(lines[3], l.current().Name) {
		t.Errorf("picked %s of\n%s", l.current().Ref, strings.Join(lines, "\n"))
	}
}

func TestCrowdedThresholds(t *testing.T) {
	x := func(f float64) *float64 { return &f }
	if crowded(tasks.Thresholds{Gold: x(0.98), Silver: x(0.97), Bronze: x(0.97)}) {
		t.Error("equal thresholds are not crowded")
	}
	if !crowded(tasks.Thresholds{Gold: x(0.99823), Silver: x(0.99822)}) {
		t.Error("thresholds that look the same are crowded")
	}
}
