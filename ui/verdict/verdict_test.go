package verdict

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"proctor/tasks"
	"proctor/ui/theme"
)

func ptr(v float64) *float64 { return &v }

func TestTheBetterIsAtTheRightWhateverTheDirection(t *testing.T) {
	look := theme.New(true, theme.NoColours)
	v := &tasks.Verdict{Status: tasks.Graded, Score: ptr(52), Baseline: ptr(60), Thresholds: tasks.Thresholds{Gold: ptr(50), Bronze: ptr(56)}}
	text := ansi.Strip(strings.Join(bar(look, v, 80, 3), "\n"))
	order := []string{"baseline 60.00", "bronze 56.00", "gold 50.00"}
	at := -1
	for _, name := range order {
		i := strings.Index(text, name)
		column := i - strings.LastIndex(text[:max(i, 0)], "\n")
		if i < 0 || column <= at {
			t.Fatalf("%q is not to the right of what is worse:\n%s", name, text)
		}
		at = column
	}
}

func TestBarOfOddVerdicts(t *testing.T) {
	look := theme.New(true, theme.NoColours)
	inf := 1e308
	for _, v := range []*tasks.Verdict{
		{}, {Score: ptr(1)}, {Score: ptr(1), Baseline: ptr(1)}, {Score: ptr(-inf), Baseline: ptr(1), Thresholds: tasks.Thresholds{Gold: ptr(2)}},
		{Baseline: ptr(0)},
	} {
		for _, w := range []int{10, 36, 100} {
			for _, l := range bar(look, v, w, 2) {
				if n := ansi.StringWidth(l); n != w {
					t.Errorf("%+v: a line of %d cells, want %d", v, n, w)
				}
			}
		}
	}
}

func TestBigLetters(t *testing.T) {
	lines, ok := big("1", 10)
	if !ok || lines[0] != "▄█ " || lines[1] != " █ " || lines[2] != "▀▀▀" {
		t.Errorf("%q", lines)
	}
	if _, ok := big("GOLD", 5); ok {
		t.Error("fits where it does not")
	}
	if _, ok := big("é", 50); ok {
		t.Error("writes what it has no letter for")
	}
	for _, word := range []string{"GOLD", "SILVER", "BRONZE", "PASS", "FAIL", "NO MEDAL", "GRADED", "NOTHING", "INVALID", "UNGRADED", "-0.123456789", "1.5e+07"} {
		if _, ok := big(word, 200); !ok {
			t.Errorf("%s cannot be written", word)
		}
	}
}
