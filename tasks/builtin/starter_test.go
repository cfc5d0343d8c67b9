package builtin_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// measured returns the last number that the task's pattern finds in output.
func measured(t *testing.T, s spec, output string) float64 {
	t.Helper()
	found := regexp.MustCompile(s.Metadata.Proctor.Metric.Pattern).FindAllStringSubmatch(output, -1)
	if len(found) == 0 {
		t.Fatalf("the pattern finds nothing in:\n%s", output)
	}
	number, err := strconv.ParseFloat(found[len(found)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// The starter's defaults are those that task.toml declares, its output holds
// the metric, and what it writes scores the baseline.
func TestStarterScoresTheBaseline(t *testing.T) {
	python3(t)
	for name, tolerance := range map[string]float64{"digits": 0.0006, "diabetes": 0.0006, "speedup": 0.25} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readSpec(t, name)
			workspace := lay(t, name+"/environment")
			output := in(t, workspace, "sh", "-c", s.Metadata.Proctor.Starter)
			measured(t, s, output)
			want := s.Metadata.Proctor.Grade.Baseline
			near := func(score float64) bool { return math.Abs(score-want) <= tolerance }
			if got := judge(t, s, name, workspace, near); !near(got) {
				t.Errorf("the unchanged starter scores %v, task.toml says %v", got, want)
			}
		})
	}
}

// judge returns a workspace's score. For speedup it takes fewer rounds than a
// run gets, and again when the result is not good: a busy machine spoils a
// timing now and then, but not five in a row.
func judge(t *testing.T, s spec, name, workspace string, good func(score float64) bool) float64 {
	t.Helper()
	if name != "speedup" {
		return grade(t, name, workspace).score(t, s)
	}
	var score float64
	for range 5 {
		if score = quickly(t, workspace).score(t, s); good(score) {
			break
		}
	}
	return score
}

func TestKnobDefaultsAreTheStarters(t *testing.T) {
	python3(t)
	for _, name := range names() {
		s := readSpec(t, name)
		workspace := lay(t, name+"/environment")
		program := strings.Fields(s.Metadata.Proctor.Starter)[1]
		// argparse is asked for the defaults; nothing is trained.
		probe := fmt.Sprintf(`
import argparse, json, sys
def show(parser, *_):
    print(json.dumps({a.dest: a.default for a in parser._actions}, default=str))
    sys.exit()
argparse.ArgumentParser.parse_args = show
sys.argv = [%[1]q]
sys.path.insert(0, ".")
exec(compile(open(%[1]q).read(), %[1]q, "exec"))
`, program)
		output := in(t, workspace, "python3", "-c", probe)
		for _, k := range s.Metadata.Proctor.Knobs {
			var defaults map[string]any
			if err := json.Unmarshal([]byte(output), &defaults); err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(defaults[k.Name]), fmt.Sprint(k.Default); got != want {
				t.Errorf("%s: --%s is %s by default, task.toml says %s", name, k.Name, got, want)
			}
		}
	}
}

// Every value of every choice, and both ends of every range, is a command that
// works and tells a metric.
func TestKnobsReachTheStarter(t *testing.T) {
	python3(t)
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readSpec(t, name)
			workspace := lay(t, name+"/environment")
			output := filepath.Join(workspace, s.Metadata.Proctor.Outputs[0])
			for _, flags := range trials(s.Metadata.Proctor.Knobs) {
				os.Remove(output)
				measured(t, s, in(t, workspace, "sh", "-c", s.Metadata.Proctor.Starter+flags))
				if _, err := os.Stat(output); err != nil {
					t.Errorf("with%s there is no output: %v", flags, err)
				}
			}
		})
	}
}

// trials returns command lines at the lowest fidelity that between them give
// each knob each of its values, or both its ends, where it matters.
func trials(knobs []knob) []string {
	pivot, branches := "", []string{""}
	for _, k := range knobs {
		for other := range k.When {
			pivot = other
		}
	}
	longest := 2
	for _, k := range knobs {
		if k.Name == pivot {
			branches = k.Values
		} else {
			longest = max(longest, len(k.Values))
		}
	}
	var lines []string
	for _, branch := range branches {
		for n := range longest {
			lines = append(lines, trial(knobs, pivot, branch, n))
		}
	}
	return lines
}

// trial gives each knob its nth value, going round.
func trial(knobs []knob, pivot, branch string, n int) string {
	var line strings.Builder
	for _, k := range knobs {
		values := k.Values
		switch {
		case k.Name == pivot:
			values = []string{branch}
		case k.Fidelity:
			values = []string{fmt.Sprint(k.Min)}
		case k.Type != "choice":
			values = []string{fmt.Sprint(k.Min), fmt.Sprint(k.Max)}
		}
		fmt.Fprintf(&line, " --%s %s", k.Name, values[n%len(values)])
	}
	return line.String()
}

// The worked solutions are what gold asks for.
func TestSolutionsReachGold(t *testing.T) {
	python3(t)
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readSpec(t, name)
			workspace := lay(t, name+"/environment")
			in(t, workspace, "sh", filepath.Join(lay(t, name+"/solution"), "solve.sh"))
			gold := s.Metadata.Proctor.Grade.Thresholds.Gold
			reached := func(score float64) bool {
				return score == gold || (score > gold) == s.Metadata.Proctor.Metric.HigherIsBetter
			}
			if got := judge(t, s, name, workspace, reached); !reached(got) {
				t.Errorf("the solution scores %v, want %v or better", got, gold)
			}
		})
	}
}
