package search

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

// TestDraw checks what is drawn: in range, whole where it should be, spread
// over the scale, and only knobs that matter.
func TestDraw(t *testing.T) {
	s := newSpace(knobs, 3)
	const n = 4000
	lowLR, models := 0, map[string]int{}
	ends := map[string]int{}
	for i := range uint64(n) {
		set := s.draw(rand.New(rand.NewPCG(9, i)))
		if !s.contains(set) {
			t.Fatalf("%v is not in the space", set)
		}
		if parsed(set["lr"]) < 0.01 {
			lowLR++
		}
		models[set["model"]]++
		_, hasK := set["k"]
		_, hasC := set["C"]
		if hasK != (set["model"] == "knn") || hasC != (set["model"] == "SVM") {
			t.Fatalf("%v has knobs that do not matter, or lacks some", set)
		}
		if hasK {
			if _, err := strconv.Atoi(set["k"]); err != nil {
				t.Fatalf("k is %q", set["k"])
			}
			ends[set["k"]]++
		}
		if set["epochs"] != "60" {
			t.Fatalf("the fidelity drawn is %s, want the highest", set["epochs"])
		}
	}
	if math.Abs(float64(lowLR)/n-0.5) > 0.05 {
		t.Errorf("lr is in the lower half of its logarithmic range in %d of %d", lowLR, n)
	}
	for model, count := range models {
		if math.Abs(float64(count)/n-0.2) > 0.04 {
			t.Errorf("%s is drawn %d times of %d", model, count, n)
		}
	}
	if len(ends) != 15 || ends["1"] < 25 || ends["15"] < 25 {
		t.Errorf("the ends of k are drawn too seldom: %v", ends)
	}
}

func TestNear(t *testing.T) {
	s := newSpace(knobs, 3)
	from := setting{"model": "knn", "k": "8", "lr": "0.01", "weight-decay": "0", "epochs": "10"}
	var near, changed int
	for i := range uint64(500) {
		set := s.near(rand.New(rand.NewPCG(4, i)), from)
		if !s.contains(set) {
			t.Fatalf("%v is not in the space", set)
		}
		if v := parsed(set["lr"]); v > 0.001 && v < 0.1 {
			near++
		}
		if set["model"] != "knn" {
			changed++
		}
	}
	if near < 450 || changed == 0 || changed > 100 {
		t.Errorf("of 500 neighbours %d are near in lr and %d have another model", near, changed)
	}
}

func TestRungs(t *testing.T) {
	float := tasks.Knob{Name: "share", Type: tasks.KnobFloat, Min: 0, Max: 1, Fidelity: true}
	whole := tasks.Knob{Name: "epochs", Type: tasks.KnobInt, Min: 4, Max: 36, Fidelity: true}
	tests := []struct {
		name  string
		knob  tasks.Knob
		hint  string
		depth int
		want  []string
	}{
		{"whole", whole, "", 2, []string{"36", "12", "4", "4"}},
		{"float from zero", float, "", 3, []string{"1", "0.3333", "0.1111"}},
		{"bounded", whole, "epochs<=20", 1, []string{"20", "6"}},
		{"open", float, "share<1", 3, []string{"0.9844", "0.3333"}},
		{"fixed", whole, "epochs=20", 0, []string{"20", "20"}},
		{"listed", whole, "epochs in 20,5,10", 2, []string{"20", "5", "5"}},
		{"without the top", whole, "epochs!=36", 2, []string{"35", "12"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSpace([]tasks.Knob{test.knob}, 3)
			if test.hint != "" {
				var changed bool
				if s, _, changed = hear(test.hint, s, s); !changed {
					t.Fatal("the hint was refused")
				}
			}
			if got := s.depth(); got != test.depth {
				t.Errorf("depth %d, want %d", got, test.depth)
			}
			var got []string
			for level := range test.want {
				got = append(got, s.left[test.knob.Name].rung(level, 3))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	s := newSpace(knobs, 3)
	set := setting{"model": "two words", "lr": "1e-05", "weight-decay": "-0.5", "epochs": "10"}
	if got, want := s.flags(set), "--model 'two words' --lr 1e-05 --weight-decay -0.5 --epochs 10"; got != want {
		t.Errorf("flags: %s\nwant:  %s", got, want)
	}
	if got, want := s.key(set), "model=two words lr=1e-05 weight-decay=-0.5"; got != want {
		t.Errorf("key: %s, want %s", got, want)
	}
	for value, want := range map[string]string{"": "''", "a'b": `'a'\''b'`, "$x": "'$x'", "é": "'é'", "a-b/c": "a-b/c"} {
		if got := quote(value); got != want {
			t.Errorf("quote(%q) = %s, want %s", value, got, want)
		}
	}
}

// TestCycle checks that knobs that wait for each other do not hang a search.
func TestCycle(t *testing.T) {
	s := newSpace([]tasks.Knob{
		{Name: "a", Type: tasks.KnobChoice, Values: []string{"1"}, Default: "1", When: map[string][]string{"b": {"1"}}},
		{Name: "b", Type: tasks.KnobChoice, Values: []string{"1"}, Default: "1", When: map[string][]string{"a": {"1"}}},
	}, 3)
	if set := s.draw(rand.New(rand.NewPCG(1, 1))); len(set) != 0 {
		t.Errorf("drew %v", set)
	}
}

func TestDefaults(t *testing.T) {
	want := setting{"model": "knn", "lr": "0.01", "weight-decay": "0", "epochs": "10", "k": "5"}
	if diff := cmp.Diff(want, newSpace(knobs, 3).defaults()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
