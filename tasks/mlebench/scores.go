package mlebench

import (
	"fmt"
	"math"
	"strings"

	"proctor/tasks/grade/metric"
)

// A scorer takes a metric of columns that are already checked and aligned.
// Its error completes "the metric cannot be computed: ".
type scorer = func(truth, guess []*column, answers *frame) (float64, error)

// onNumbers takes a metric of one column of numbers.
func onNumbers(f func(truth, guess []float64) (float64, error)) scorer {
	return func(truth, guess []*column, _ *frame) (float64, error) {
		t, g, err := numbersOf(truth[:1], guess[:1])
		if err != nil {
			return 0, err
		}
		return f(t[0], g[0])
	}
}

// onColumns takes a metric of all columns of numbers.
func onColumns(f func(truth, guess [][]float64) (float64, error)) scorer {
	return func(truth, guess []*column, _ *frame) (float64, error) {
		t, g, err := numbersOf(truth, guess)
		if err != nil {
			return 0, err
		}
		return f(t, g)
	}
}

// weightless leaves a metric's weights out.
func weightless[T any](f func(a, b T, weights []float64) (float64, error)) func(a, b T) (float64, error) {
	return func(a, b T) (float64, error) { return f(a, b, nil) }
}

func numbersOf(truth, guess []*column) (t, g [][]float64, err error) {
	for i := range truth {
		a, err := truth[i].values()
		if err != nil {
			return nil, nil, fmt.Errorf("in the answers %w", err)
		}
		b, err := guess[i].values()
		if err != nil {
			return nil, nil, invalidf("%v", err)
		}
		t, g = append(t, a), append(g, b)
	}
	return t, g, nil
}

// onLabels takes a metric of classes: words as they are, or whole numbers.
func onLabels(
	byName func(truth, guess []string) (float64, error),
	byNumber func(truth, guess []float64) (float64, error),
) scorer {
	return func(truth, guess []*column, _ *frame) (float64, error) {
		t, g := truth[0], guess[0]
		if t.isNumeric() != g.isNumeric() {
			return 0, invalidf("the labels in %q are of another kind than expected, such as %q instead of %q", g.name, first(g), first(t))
		}
		if !t.isNumeric() {
			return byName(t.text, g.text)
		}
		for _, x := range g.numbers {
			if x != math.Trunc(x) || math.IsInf(x, 0) {
				return 0, invalidf("the column %q has the value %v, expected classes", g.name, x)
			}
		}
		return byNumber(t.numbers, g.numbers)
	}
}

// onText takes a metric of what Python's str makes of the values.
func onText(f func(truth, guess []string) (float64, error)) scorer {
	return func(truth, guess []*column, _ *frame) (float64, error) {
		return f(texts(truth[0]), texts(guess[0]))
	}
}

func texts(c *column) []string {
	out := make([]string, len(c.text))
	for i := range out {
		out[i] = c.string(i)
	}
	return out
}

// filledLabels is onLabels with missing labels taken for the empty word.
func filledLabels(f scorer) scorer {
	return func(truth, guess []*column, answers *frame) (float64, error) {
		g := *guess[0]
		if g.kind == words {
			g.missing = nil
			g.text = blanks(guess[0])
		}
		return f(truth, []*column{&g}, answers)
	}
}

// blanks returns the texts with "" for missing ones.
func blanks(c *column) []string {
	out := make([]string, len(c.text))
	for i, text := range c.text {
		if !c.isMissing(i) {
			out[i] = text
		}
	}
	return out
}

// onIntegers takes a metric of numbers with their fractions cut off, as
// Python's int does.
func onIntegers(f func(truth, guess []int) (float64, error)) scorer {
	return onNumbers(func(truth, guess []float64) (float64, error) {
		t, err := truncated(truth)
		if err != nil {
			return 0, err
		}
		g, err := truncated(guess)
		if err != nil {
			return 0, err
		}
		return f(t, g)
	})
}

func truncated(values []float64) ([]int, error) {
	out := make([]int, len(values))
	for i, x := range values {
		if math.IsNaN(x) || math.Abs(x) > math.MaxInt64/2 {
			return nil, fmt.Errorf("the class of row %d is %v, expected a whole number", i+1, x)
		}
		out[i] = int(x)
	}
	return out, nil
}

// firstWord makes a submission that lists several answers in a row, best
// first, one of the best.
func firstWord(f scorer) scorer {
	return func(truth, guess []*column, answers *frame) (float64, error) {
		g := &column{name: guess[0].name}
		for i := range guess[0].text {
			word, _, _ := strings.Cut(strings.TrimSpace(guess[0].string(i)), " ")
			g.text = append(g.text, word)
		}
		g.infer()
		return f(truth, []*column{g}, answers)
	}
}

// onTags takes micro F1 of lists of tags, parted by spaces. Only tags that
// occur in the answers count.
func onTags(truth, guess []*column, _ *frame) (float64, error) {
	if guess[0].isNumeric() && !allMissing(guess[0]) {
		return 0, invalidf("the column %q has numbers only, expected lists of tags", guess[0].name)
	}
	number := map[string]int{}
	lists := func(c *column, learn bool) [][]int {
		rows := make([][]int, len(c.text))
		for i, text := range blanks(c) {
			for _, tag := range strings.Fields(text) {
				if _, there := number[tag]; !there && learn {
					number[tag] = len(number)
				}
				if n, there := number[tag]; there {
					rows[i] = append(rows[i], n)
				}
			}
		}
		return rows
	}
	t := lists(truth[0], true)
	return metric.F1Labels(t, lists(guess[0], false), len(number), metric.Micro, nil)
}

func allMissing(c *column) bool {
	for i := range c.text {
		if !c.isMissing(i) {
			return false
		}
	}
	return true
}

// onWords takes the mean Jaccard similarity of the words of two texts.
// bothEmpty says whether two texts without a word are allowed; they count 0.
func onWords(bothEmpty bool) scorer {
	return func(truth, guess []*column, _ *frame) (float64, error) {
		number := map[string]int{}
		sets := func(c *column) [][]int {
			rows := make([][]int, len(c.text))
			for i, text := range blanks(c) {
				for _, word := range strings.Fields(strings.ToLower(text)) {
					if _, there := number[word]; !there {
						number[word] = len(number)
					}
					rows[i] = append(rows[i], number[word])
				}
			}
			return rows
		}
		t, g := sets(truth[0]), sets(guess[0])
		for i := range t {
			if !bothEmpty && len(t[i])+len(g[i]) == 0 {
				return 0, fmt.Errorf("row %d is empty in both", i+1)
			}
		}
		return metric.JaccardLabels(t, g, len(number), metric.Samples, nil)
	}
}

// onRankings takes MAP at k of lists parted by spaces.
func onRankings(k int) scorer {
	return func(truth, guess []*column, _ *frame) (float64, error) {
		lists := func(c *column) [][]string {
			rows := make([][]string, len(c.text))
			for i := range rows {
				rows[i] = strings.Split(c.string(i), " ")
			}
			return rows
		}
		return metric.MAP(lists(truth[0]), lists(guess[0]), k)
	}
}

// onLabelRanking takes label-ranking precision, each row weighing as much as
// it has labels.
func onLabelRanking(truth, guess []*column, _ *frame) (float64, error) {
	t, g, err := numbersOf(truth, guess)
	if err != nil {
		return 0, err
	}
	rows := func(columns [][]float64) [][]float64 {
		out := make([][]float64, len(columns[0]))
		for i := range out {
			for _, c := range columns {
				out[i] = append(out[i], c[i])
			}
		}
		return out
	}
	labels := rows(t)
	weights := make([]float64, len(labels))
	for i, row := range labels {
		for _, label := range row {
			if label > 0 {
				weights[i]++
			}
		}
	}
	return metric.LRAP(labels, rows(g), weights)
}

// onTypes takes the log of MAE averaged over the answers' column type.
func onTypes(truth, guess []*column, answers *frame) (float64, error) {
	group := answers.column("type")
	if group == nil {
		return 0, fmt.Errorf("the answers have no column %q", "type")
	}
	t, g, err := numbersOf(truth, guess)
	if err != nil {
		return 0, err
	}
	return metric.LogMAE(t[0], g[0], texts(group))
}

// whole rounds a score to a whole number.
func whole(f scorer) scorer {
	return func(truth, guess []*column, answers *frame) (float64, error) {
		x, err := f(truth, guess, answers)
		return math.RoundToEven(x), err
	}
}
