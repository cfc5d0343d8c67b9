package mlebench

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks/grade"
)

// A frame is a table read from CSV by the rules of pandas' read_csv, on which
// the benchmark's graders are built: what counts as missing, and which type
// a column has, decides whether two values are equal.
type frame struct {
	columns []*column
	rows    int
}

// A kind is a column's type.
type kind int

const (
	words    kind = iota
	integers      // all values are, and none is missing
	floats        // numbers; missing ones are NaN
	booleans      // True and False, none missing
)

// A column is the values of one name.
type column struct {
	name    string
	kind    kind
	text    []string  // as they stood in the file
	missing []bool    // for words; nil when none is
	numbers []float64 // for everything but words
}

// maxColumns bounds the width of a table; the widest real one has 121.
const maxColumns = 100_000

// readFrame reads a table. Its errors complete "it cannot be read as CSV: ".
func readFrame(r io.Reader) (*frame, error) {
	reader := csv.NewReader(r)
	reader.LazyQuotes = true
	reader.FieldsPerRecord = -1
	reader.ReuseRecord = true
	header, err := reader.Read()
	if err == io.EOF {
		return nil, errors.New("it is empty")
	}
	if err != nil {
		return nil, err
	}
	if len(header) > maxColumns {
		return nil, fmt.Errorf("it has %d columns", len(header))
	}
	f := &frame{columns: nameColumns(header)}
	for {
		row, err := reader.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(row) > len(f.columns) {
			line, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("line %d has %d fields, the header has %d", line, len(row), len(f.columns))
		}
		for i, c := range f.columns {
			value := ""
			if i < len(row) {
				value = strings.Clone(row[i])
			}
			c.text = append(c.text, value)
		}
		f.rows++
	}
	for _, c := range f.columns {
		c.infer()
	}
	return f, nil
}

// nameColumns makes the header's columns. A name that appears again gets a
// number, so that the first keeps it.
func nameColumns(header []string) []*column {
	columns := make([]*column, len(header))
	seen := map[string]int{}
	for i, name := range header {
		if i == 0 {
			name = strings.TrimPrefix(name, "\ufeff")
		}
		name = strings.Clone(name)
		unique := name
		for seen[unique] > 0 {
			unique = fmt.Sprintf("%s.%d", name, seen[name])
			seen[name]++
		}
		seen[unique]++
		columns[i] = &column{name: unique}
	}
	return columns
}

// column returns the column of a name, or nil.
func (f *frame) column(name string) *column {
	for _, c := range f.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

// names lists the columns' names in order.
func (f *frame) names() []string {
	names := make([]string, len(f.columns))
	for i, c := range f.columns {
		names[i] = c.name
	}
	return names
}

// infer decides the column's type.
func (c *column) infer() {
	for _, try := range []struct {
		kind  kind
		parse func(string) (float64, bool)
	}{{integers, parseInteger}, {booleans, parseBoolean}, {floats, parseFloat}} {
		if numbers, ok := parseAll(c.text, try.parse); ok {
			c.kind, c.numbers = try.kind, numbers
			return
		}
	}
	for i, text := range c.text {
		if isMissing(text) {
			if c.missing == nil {
				c.missing = make([]bool, len(c.text))
			}
			c.missing[i] = true
		}
	}
}

func parseAll(texts []string, parse func(string) (float64, bool)) ([]float64, bool) {
	numbers := make([]float64, 0, len(texts))
	for _, text := range texts {
		x, ok := parse(text)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, x)
	}
	return numbers, true
}

func parseInteger(text string) (float64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return float64(n), err == nil
}

func parseBoolean(text string) (float64, bool) {
	switch text {
	case "True", "TRUE", "true":
		return 1, true
	case "False", "FALSE", "false":
		return 0, true
	}
	return 0, false
}

func parseFloat(text string) (float64, bool) {
	if isMissing(text) {
		return math.NaN(), true
	}
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "xXpP_") {
		return 0, false // Go reads hexadecimal, pandas does not
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil || errors.Is(err, strconv.ErrRange)
}

// isMissing reports whether pandas takes a text for a missing value.
func isMissing(text string) bool {
	switch text {
	case "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
		"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null":
		return true
	}
	return false
}

func (c *column) isMissing(i int) bool {
	if c.kind == words {
		return c.missing != nil && c.missing[i]
	}
	return math.IsNaN(c.numbers[i])
}

// key identifies a value, such that equal values of one kind have equal keys
// whether a number is written 7 or 7.0.
func (c *column) key(i int) string {
	switch c.kind {
	case integers:
		n, _ := strconv.ParseInt(strings.TrimSpace(c.text[i]), 10, 64)
		return strconv.FormatInt(n, 10)
	case floats, booleans:
		return strconv.FormatFloat(c.numbers[i], 'f', -1, 64)
	}
	return c.text[i]
}

// string is what Python's str makes of a value.
func (c *column) string(i int) string {
	switch {
	case c.isMissing(i):
		return "nan"
	case c.kind == integers:
		return c.key(i)
	case c.kind == booleans:
		return map[float64]string{0: "False", 1: "True"}[c.numbers[i]]
	case c.kind == floats:
		return pythonFloat(c.numbers[i])
	}
	return c.text[i]
}

// pythonFloat prints a float as Python does: with a point, or an exponent
// from 1e16 on and below 1e-4.
func pythonFloat(x float64) string {
	if math.IsInf(x, 0) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'g', -1, 64), "+"))
	}
	if size := math.Abs(x); x != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// isNumeric reports whether the values are numbers; booleans are 0 and 1.
func (c *column) isNumeric() bool { return c.kind != words }

// values returns the column as numbers.
func (c *column) values() ([]float64, error) {
	if c.isNumeric() {
		return c.numbers, nil
	}
	for i, text := range c.text {
		if _, ok := parseFloat(text); !ok {
			return nil, fmt.Errorf("the column %q has %q in row %d, expected numbers", c.name, grade.OneLine(text, 40), i+1)
		}
	}
	return nil, fmt.Errorf("the column %q mixes numbers with other values", c.name)
}

// order returns the rows in the column's ascending order, missing ones last.
func (c *column) order() []int {
	rows := make([]int, len(c.text))
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		if am, bm := c.isMissing(a), c.isMissing(b); am || bm {
			return cmp.Compare(place(am), place(bm))
		}
		if c.kind == words {
			return strings.Compare(c.text[a], c.text[b])
		}
		if d := cmp.Compare(c.numbers[a], c.numbers[b]); d != 0 || c.kind != integers {
			return d
		}
		return exactOrder(c.text[a], c.text[b])
	})
	return rows
}

// exactOrder compares integers too long for a float64.
func exactOrder(a, b string) int {
	x, _ := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	y, _ := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	return cmp.Compare(x, y)
}

func place(missing bool) int {
	if missing {
		return 1
	}
	return 0
}

// take returns the column's values in the given rows.
func (c *column) take(rows []int) *column {
	t := &column{name: c.name, kind: c.kind, text: pick(c.text, rows)}
	if c.missing != nil {
		t.missing = pick(c.missing, rows)
	}
	if c.numbers != nil {
		t.numbers = pick(c.numbers, rows)
	}
	return t
}

func pick[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}
