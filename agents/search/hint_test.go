package search

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"proctor/tasks"
)

// knobs has one of every kind, with names and values that try the grammar.
var knobs = []tasks.Knob{
	{Name: "model", Type: tasks.KnobChoice, Values: []string{"knn", "mlp", "SVM", "and", "two words"}, Default: "knn"},
	{Name: "lr", Type: tasks.KnobFloat, Min: 1e-4, Max: 1, Log: true, Default: "0.01"},
	{Name: "weight-decay", Type: tasks.KnobFloat, Min: -1, Max: 1, Default: "0"},
	{Name: "epochs", Type: tasks.KnobInt, Min: 1, Max: 60, Default: "10", Fidelity: true},
	{Name: "k", Type: tasks.KnobInt, Min: 1, Max: 15, Default: "5", When: map[string][]string{"model": {"knn"}}},
	{Name: "C", Type: tasks.KnobFloat, Min: 0.01, Max: 100, Log: true, Default: "1", When: map[string][]string{"model": {"SVM"}}},
}

func TestParseHint(t *testing.T) {
	tests := []struct {
		hint string
		want string // the constraints in words, or the error after "error: "
	}{
		{"model=svm", "model is SVM"},
		{"MODEL == SVM", "model is SVM"},
		{"model in knn,mlp", "model is knn or mlp"},
		{"model in [knn, mlp]", "model is knn or mlp"},
		{"model = knn or mlp", "model is knn or mlp"},
		{"model=knn|mlp", "model is knn or mlp"},
		{"model in knn and mlp", "model is knn or mlp"},
		{"model=knn,knn", "model is knn"},
		{"model!=knn", "model is not knn"},
		{"model ≠ knn", "model is not knn"},
		{"model not in (knn, mlp)", "model is not knn or mlp"},
		{"model is not knn", "model is not knn"},
		{"model is knn", "model is knn"},
		{`model="two words"`, "model is two words"},
		{"model=and", "model is and"},
		{"lr<0.1", "lr below 0.1"},
		{"lr <= 1e-1", "lr at most 0.1"},
		{"lr>=1e-3", "lr at least 0.001"},
		{"lr ≥ .001", "lr at least 0.001"},
		{"0.01<lr<0.1", "lr above 0.01; lr below 0.1"},
		{"0.1 >= lr > 0.01", "lr at most 0.1; lr above 0.01"},
		{"0.1>lr", "lr below 0.1"},
		{"epochs=20", "epochs is 20"},
		{"--epochs=20.0", "epochs is 20"},
		{"epochs in 10,20", "epochs is 10 or 20"},
		{"weight_decay < -0.5", "weight-decay below -0.5"},
		{"model=svm, lr<0.1", "model is SVM; lr below 0.1"},
		{"model in knn,mlp,lr<0.1", "model is knn or mlp; lr below 0.1"},
		{"model=knn and lr<0.1 and epochs=20", "model is knn; lr below 0.1; epochs is 20"},
		{"model=knn lr<0.1", "model is knn; lr below 0.1"},
		{"model=knn, 0.01<lr<0.1; epochs=20\nk=3", "model is knn; lr above 0.01; lr below 0.1; epochs is 20; k is 3 where it applies"},
		{"epochs in 10, 20, 0.01 < lr", "epochs is 10 or 20; lr above 0.01"},
		{"please try model=svm, and use only lr<0.1", "model is SVM; lr below 0.1"},
		{"model=knn, please try lr<0.1", "model is knn; lr below 0.1"},
		{"C<10,", "C below 10 where it applies"},

		{"", "error: it says nothing about a knob"},
		{" , and ;", "error: it says nothing about a knob"},
		{"think about the data", `error: "think" is not a knob`},
		{"don't use model=svm", `error: "don't" is not a knob`},
		{"modle=svm", `error: there is no knob "modle"; did you mean "model"?`},
		{"model=svn", `error: model has no value "svn"; it is knn, mlp, SVM, and or two words`},
		{"model<3", "error: model has no order; it is knn, mlp, SVM, and or two words"},
		{"model", `error: "model" is not followed by =, != or an order`},
		{"model svm", `error: "model" is followed by "svm", not by =, != or an order`},
		{"lr<", `error: lr < needs a number, not ""`},
		{"lr<fast", `error: lr < needs a number, not "fast"`},
		{"lr=NaN", `error: lr needs a number, not "NaN"`},
		{"lr<Inf", `error: lr < needs a number, not "Inf"`},
		{"lr<>0.1", `error: "lr" is followed by "<>", not by =, != or an order`},
		{"model in (knn, mlp", "error: the list of model is not closed"},
		{"model=", "error: model has no value after it"},
		{`model="knn`, `error: the quote before "knn" is not closed`},
		{"model=knn lr", `error: "lr" is not followed by =, != or an order`},
	}
	for _, test := range tests {
		t.Run(test.hint, func(t *testing.T) {
			constraints, err := parseHint(test.hint, knobs)
			var said []string
			for _, c := range constraints {
				said = append(said, c.String())
			}
			got := strings.Join(said, "; ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHear(t *testing.T) {
	small := newSpace([]tasks.Knob{knobs[0], knobs[3], knobs[4]}, 3) // 4 models, and knn with 15 k
	tests := []struct {
		hints []string
		want  string // the last answer
	}{
		{[]string{"model!=knn"}, "model is not knn; 4 of 19 settings left"},
		{[]string{"k<4"}, "k below 4 where it applies; 7 of 19 settings left"},
		{[]string{"k<4", "model=knn, k!=2"}, "model is knn and k is not 2 where it applies; 2 of 19 settings left"},
		{[]string{"epochs=20"}, "epochs is 20; all 19 settings left"},
		{[]string{"k<4", "reset"}, "all earlier hints undone"},
		{[]string{"k<4", "k>=4"}, "not followed: k at least 4 where it applies leaves no value of k, which is 1 to 3; the space is as before"},
		{[]string{"k=2.5"}, "not followed: k is 2.5 where it applies leaves no value of k, which is 1 to 15; the space is as before"},
		{[]string{"model=mlp", "model=knn"}, "not followed: model is knn leaves no value of model, which is mlp; the space is as before"},
		{[]string{"epochs>60"}, "not followed: epochs above 60 leaves no value of epochs, which is 1 to 60; the space is as before"},
		{[]string{"faster"}, `could not read "faster": "faster" is not a knob. I understand model="two words", model in knn,"two words", model!="two words", epochs<43, 19<epochs<43, several joined by a comma or "and", and "reset". Knobs: model (knn, mlp, SVM, and or two words), epochs (1 to 60), k (1 to 15)`},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.hints, " | "), func(t *testing.T) {
			space, answer := small, ""
			for _, hint := range test.hints {
				space, answer, _ = hear(hint, space, small)
			}
			if diff := cmp.Diff(test.want, answer); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}

	whole := newSpace(knobs, 3)
	_, answer, changed := hear("lr<0.01", whole, whole)
	if !changed || answer != "lr below 0.01; about 50 % of the space left" {
		t.Errorf("half of the logarithmic range: %q", answer)
	}
	if kept, _, changed := hear("lr<0.01, model=ghost", whole, whole); changed || kept.left["lr"].hi != 1 {
		t.Error("a hint that is refused in part changed the space")
	}
}

// FuzzHint checks that a hint that is followed leaves a space that is not
// empty and whose settings all meet it.
func FuzzHint(f *testing.F) {
	for _, seed := range []string{
		"model=svm, lr<0.1", "0.01<lr<0.1", "model in knn,mlp and epochs=20", "k!=3", "reset",
		"lr>0.09999 and lr<0.1", "k in 3,4.0", "weight-decay>-1e-300", "C=1e2", "lr != 0.01, lr=0.01",
		`model="two words"`, "1>lr>=1", "epochs<2, epochs!=1", "\xff<lr",
	} {
		f.Add(seed)
	}
	whole := newSpace(knobs, 3)
	f.Fuzz(func(t *testing.T, hint string) {
		left, answer, changed := hear(hint, whole, whole)
		if answer == "" {
			t.Fatal("no answer")
		}
		constraints, err := parseHint(hint, knobs)
		if !changed || err != nil {
			return
		}
		for i := range uint64(8) {
			r := rand.New(rand.NewPCG(i, 1))
			set := left.draw(r)
			if i%2 == 1 {
				set = left.near(r, whole.draw(r))
			}
			for level := range 3 {
				full := left.at(set, level)
				for _, c := range constraints {
					if value, ok := full[c.knob.Name]; ok && !meets(c, value) {
						t.Fatalf("%q gave %s, which is not %v", hint, left.text(full), c)
					}
				}
			}
		}
	})
}

// meets is the meaning of a constraint, told apart from how it narrows.
func meets(c constraint, value string) bool {
	is := false
	for _, v := range c.values {
		is = is || v == value
	}
	switch v, bound := parsed(value), parsed(c.values[0]); c.op {
	case in:
		return is
	case notIn:
		return !is
	case below:
		return v < bound
	case most:
		return v <= bound
	case above:
		return v > bound
	default:
		return v >= bound
	}
}
