package metric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// A testCase is one question put to both sides.
type testCase struct {
	Metric  string  `json:"metric"`
	Truth   any     `json:"truth"`
	Guess   any     `json:"guess"`
	Weights numeric `json:"weights"`
	Average Average `json:"average,omitempty"`
	Classes int     `json:"classes,omitempty"`
	K       int     `json:"k,omitempty"`
	Group   any     `json:"group,omitempty"`

	ours func() (float64, error)
}

// numeric writes NaN as null and infinities as a number too large for one.
type numeric []float64

func (n numeric) MarshalJSON() ([]byte, error) {
	if n == nil {
		return []byte("null"), nil
	}
	out := []byte("[")
	for i, x := range n {
		if i > 0 {
			out = append(out, ',')
		}
		switch {
		case math.IsNaN(x):
			out = append(out, "null"...)
		case math.IsInf(x, 1):
			out = append(out, "1e999"...)
		case math.IsInf(x, -1):
			out = append(out, "-1e999"...)
		default:
			out = strconv.AppendFloat(out, x, 'g', -1, 64)
		}
	}
	return append(out, ']'), nil
}

func numerics(columns [][]float64) []numeric {
	out := make([]numeric, len(columns))
	for i, c := range columns {
		out[i] = c
	}
	return out
}

// TestEqualsScikitLearn asks scikit-learn and SciPy for what they make of
// thousands of random and degenerate inputs.
func TestEqualsScikitLearn(t *testing.T) {
	python := "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import sklearn, scipy").Run(); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatalf("scikit-learn is needed (apt package python3-sklearn): %v", err)
		}
		t.Skipf("scikit-learn is not installed for %s: %v", python, err)
	}
	cases := generate(rand.New(rand.NewPCG(1, 2)))
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/reference.py")
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs []*float64
	if err := json.Unmarshal(output, &theirs); err != nil {
		t.Fatal(err)
	}
	if len(theirs) != len(cases) {
		t.Fatalf("%d answers to %d cases", len(theirs), len(cases))
	}
	scored, refused := map[string]int{}, map[string]int{}
	for i, c := range cases {
		x, err := c.ours()
		asked, _ := json.Marshal(c)
		switch want := theirs[i]; {
		case err != nil && want != nil:
			t.Errorf("%s: %v, want %v", asked, err, *want)
		case err == nil && want == nil:
			t.Errorf("%s: %v, want an error", asked, x)
		case err == nil && math.Abs(x-*want) > 1e-9*max(1, math.Abs(*want)):
			t.Errorf("%s: %v, want %v", asked, x, *want)
		case err != nil:
			refused[c.Metric]++
		default:
			scored[c.Metric]++
		}
		if t.Failed() && i > 50 {
			break
		}
	}
	t.Logf("%d cases; scored %v; undefined on both sides %v", len(cases), scored, refused)
	for _, name := range []string{"auroc", "logloss", "qwk", "pearson", "rmsle"} {
		if scored[name] == 0 || refused[name] == 0 {
			t.Errorf("%s: %d scored and %d undefined; both kinds must occur", name, scored[name], refused[name])
		}
	}
}

// generate makes the cases: random ones of many shapes, most with ties and
// some with one class, constant columns, weights of zero, or NaN.
func generate(r *rand.Rand) []*testCase {
	var cases []*testCase
	for range 220 {
		g := &generator{r: r, n: 1 + r.IntN([]int{2, 5, 30, 120}[r.IntN(4)])}
		cases = append(cases, g.binary(), g.binaryColumns(), g.logLoss(), g.logLossColumns(),
			g.classes("accuracy"), g.classes("error"), g.classes("qwk"), g.classes("mcc"),
			g.words("accuracy"), g.words("f1"), g.words("qwk"), g.f1(),
			g.labels("f1_labels"), g.labels("jaccard_labels"),
			g.regression("mae"), g.regression("rmse"), g.regression("rmsle"), g.logMAE(),
			g.columns("mcrmse"), g.columns("mean_rmsle"), g.columns("mean_spearman"),
			g.correlation("pearson"), g.correlation("spearman"), g.lrap(), g.mapAtK())
	}
	return cases
}

type generator struct {
	r *rand.Rand
	n int
}

func (g *generator) oneIn(n int) bool { return g.r.IntN(n) == 0 }

// column draws n values, often rounded so that they tie, now and then all the
// same.
func (g *generator) column(n int, value func() float64) numeric {
	round := []float64{0, 1, 10, 1000}[g.r.IntN(4)]
	constant := g.oneIn(12)
	out := make(numeric, n)
	for i := range out {
		x := value()
		if round > 0 {
			x = math.Round(x*round) / round
		}
		if out[i] = x; constant {
			out[i] = out[0]
		}
	}
	return out
}

// spoil makes one value NaN or infinite, seldom.
func (g *generator) spoil(column numeric) numeric {
	if g.oneIn(25) {
		column[g.r.IntN(len(column))] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[g.r.IntN(3)]
	}
	return column
}

func (g *generator) weights() numeric {
	if g.oneIn(2) {
		return nil
	}
	w := make(numeric, g.n)
	zero := g.oneIn(8)
	for i := range w {
		if !zero && !g.oneIn(4) {
			w[i] = math.Round(g.r.Float64()*8) / 4
		}
	}
	return w
}

func (g *generator) zeroOne(n int) numeric {
	share := []float64{0, 0.1, 0.5, 0.5, 0.9, 1}[g.r.IntN(6)]
	out := make(numeric, n)
	for i := range out {
		if g.r.Float64() < share {
			out[i] = 1
		}
	}
	return out
}

func (g *generator) binary() *testCase {
	truth, score, w := g.zeroOne(g.n), g.spoil(g.column(g.n, g.r.Float64)), g.weights()
	return &testCase{Metric: "auroc", Truth: truth, Guess: score, Weights: w,
		ours: func() (float64, error) { return AUROC(truth, score, w) }}
}

func (g *generator) binaryColumns() *testCase {
	var truth, score [][]float64
	for range 2 + g.r.IntN(4) {
		truth, score = append(truth, g.zeroOne(g.n)), append(score, g.column(g.n, g.r.NormFloat64))
	}
	return &testCase{Metric: "auroc_columns", Truth: numerics(truth), Guess: numerics(score),
		ours: func() (float64, error) { return MeanAUROC(truth, score, nil) }}
}

func (g *generator) logLoss() *testCase {
	truth, p, w := g.zeroOne(g.n), g.spoil(g.column(g.n, g.r.Float64)), g.weights()
	return &testCase{Metric: "logloss", Truth: truth, Guess: p, Weights: w,
		ours: func() (float64, error) { return LogLoss(truth, p, w) }}
}

func (g *generator) logLossColumns() *testCase {
	classes := 2 + g.r.IntN(6)
	truth, p := make([][]float64, classes), make([][]float64, classes)
	for c := range classes {
		truth[c], p[c] = make([]float64, g.n), make([]float64, g.n)
	}
	for i := range g.n {
		truth[g.r.IntN(classes)][i] = 1
		var sum float64
		for c := range classes {
			if p[c][i] = g.r.Float64(); g.oneIn(5) {
				p[c][i] = 0
			}
			sum += p[c][i]
		}
		for c := range classes {
			if sum > 0 && g.r.IntN(10) > 0 {
				p[c][i] /= sum
			}
		}
	}
	w := g.weights()
	return &testCase{Metric: "logloss_columns", Truth: numerics(truth), Guess: numerics(p), Weights: w,
		ours: func() (float64, error) { return LogLossColumns(truth, p, w) }}
}

func (g *generator) ints(classes int) []int {
	out := make([]int, g.n)
	constant := g.oneIn(8)
	for i := range out {
		if out[i] = g.r.IntN(classes)*3 - 2; constant {
			out[i] = out[0]
		}
	}
	return out
}

func (g *generator) classes(name string) *testCase {
	classes := 1 + g.r.IntN(6)
	truth, guess, w := g.ints(classes), g.ints(classes+g.r.IntN(2)), g.weights()
	f := map[string]func([]int, []int, []float64) (float64, error){
		"accuracy": Accuracy[int], "error": Error[int], "qwk": QWK[int], "mcc": MCC[int],
	}[name]
	return &testCase{Metric: name, Truth: truth, Guess: guess, Weights: w,
		ours: func() (float64, error) { return f(truth, guess, w) }}
}

func (g *generator) words(name string) *testCase {
	a, b := g.ints(4), g.ints(5)
	truth, guess := make([]string, g.n), make([]string, g.n)
	for i := range truth {
		truth[i], guess[i] = fmt.Sprint("c", a[i]), fmt.Sprint("c", b[i])
	}
	f := map[string]func([]string, []string, []float64) (float64, error){
		"accuracy": Accuracy[string], "qwk": QWK[string],
		"f1": func(t, g []string, w []float64) (float64, error) { return F1(t, g, Macro, w) },
	}[name]
	return &testCase{Metric: name, Truth: truth, Guess: guess, Average: Macro,
		ours: func() (float64, error) { return f(truth, guess, nil) }}
}

func (g *generator) f1() *testCase {
	classes := 1 + g.r.IntN(6)
	truth, guess, w := g.ints(classes), g.ints(classes), g.weights()
	average := []Average{Micro, Macro}[g.r.IntN(2)]
	return &testCase{Metric: "f1", Truth: truth, Guess: guess, Weights: w, Average: average,
		ours: func() (float64, error) { return F1(truth, guess, average, w) }}
}

func (g *generator) labels(name string) *testCase {
	classes := 2 + g.r.IntN(6)
	draw := func() [][]int {
		rows := make([][]int, g.n)
		for i := range rows {
			rows[i] = []int{}
			for range g.r.IntN(5) {
				rows[i] = append(rows[i], g.r.IntN(classes))
			}
		}
		return rows
	}
	truth, guess, w := draw(), draw(), g.weights()
	average := []Average{Micro, Macro, Samples}[g.r.IntN(3)]
	f := F1Labels
	if name == "jaccard_labels" {
		f = JaccardLabels
	}
	return &testCase{Metric: name, Truth: truth, Guess: guess, Weights: w, Average: average, Classes: classes,
		ours: func() (float64, error) { return f(truth, guess, classes, average, w) }}
}

// real draws a value that is mostly above zero, of one of several sizes.
func (g *generator) real() func() float64 {
	scale := []float64{1e-6, 1, 1, 1e6}[g.r.IntN(4)]
	shift := []float64{0, 3, 3, 5}[g.r.IntN(4)]
	return func() float64 { return scale * (g.r.NormFloat64() + shift) }
}

func (g *generator) regression(name string) *testCase {
	value := g.real()
	truth, guess, w := g.column(g.n, value), g.spoil(g.column(g.n, value)), g.weights()
	f := map[string]func(a, b, w []float64) (float64, error){"mae": MAE, "rmse": RMSE, "rmsle": RMSLE}[name]
	return &testCase{Metric: name, Truth: truth, Guess: guess, Weights: w,
		ours: func() (float64, error) { return f(truth, guess, w) }}
}

func (g *generator) logMAE() *testCase {
	value := g.real()
	truth, guess := g.column(g.n, value), g.column(g.n, value)
	group := make([]string, g.n)
	for i := range group {
		group[i] = fmt.Sprint("t", g.r.IntN(3))
	}
	return &testCase{Metric: "log_mae", Truth: truth, Guess: guess, Group: group,
		ours: func() (float64, error) { return LogMAE(truth, guess, group) }}
}

func (g *generator) columns(name string) *testCase {
	var truth, guess [][]float64
	value := g.real()
	for range 1 + g.r.IntN(4) {
		truth, guess = append(truth, g.column(g.n, value)), append(guess, g.column(g.n, value))
	}
	f := map[string]func(t, p [][]float64) (float64, error){
		"mcrmse":        func(t, p [][]float64) (float64, error) { return MCRMSE(t, p, nil) },
		"mean_rmsle":    func(t, p [][]float64) (float64, error) { return MeanRMSLE(t, p, nil) },
		"mean_spearman": MeanSpearman,
	}[name]
	return &testCase{Metric: name, Truth: numerics(truth), Guess: numerics(guess),
		ours: func() (float64, error) { return f(truth, guess) }}
}

func (g *generator) correlation(name string) *testCase {
	value := g.real()
	x, y := g.column(g.n, value), g.column(g.n, g.r.NormFloat64)
	f := Pearson
	if name == "spearman" {
		f = Spearman
	}
	return &testCase{Metric: name, Truth: x, Guess: y,
		ours: func() (float64, error) { return f(x, y) }}
}

func (g *generator) lrap() *testCase {
	labels := 2 + g.r.IntN(5)
	truth, score := make([][]float64, g.n), make([][]float64, g.n)
	for i := range truth {
		truth[i], score[i] = g.zeroOne(labels), g.column(labels, g.r.Float64)
	}
	w := g.weights()
	return &testCase{Metric: "lrap", Truth: numerics(truth), Guess: numerics(score), Weights: w,
		ours: func() (float64, error) { return LRAP(truth, score, w) }}
}

func (g *generator) mapAtK() *testCase {
	draw := func(most int) [][]string {
		rows := make([][]string, g.n)
		for i := range rows {
			rows[i] = []string{}
			for range g.r.IntN(most) {
				rows[i] = append(rows[i], fmt.Sprint("w", g.r.IntN(8)))
			}
		}
		return rows
	}
	truth, guess, k := draw(4), draw(9), 1+g.r.IntN(6)
	return &testCase{Metric: "map", Truth: truth, Guess: guess, K: k,
		ours: func() (float64, error) { return MAP(truth, guess, k) }}
}
