package mlagentbench

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks"
	"proctor/tasks/checkout"
)

// maxTable bounds a submission.csv, in bytes; the largest that is asked for,
// run-length masks, has some megabytes.
const maxTable = 256 << 20

// check reports what is wrong with the submission.csv in dir, as the end of a
// sentence that begins with its name. eval.py would crash on most of it, and
// score some by luck: where rows are compared by position, one more or another
// order gives a number all the same. task has the answers.
func (s *shape) check(dir, task checkout.Dir) (tasks.Status, error) {
	rows, err := readTable(dir, "submission.csv")
	if err != nil {
		return tasks.InvalidSubmission, err
	}
	if err := s.columnsOf(rows); err != nil {
		return tasks.InvalidSubmission, err
	}
	if err := s.cellsOf(rows); err != nil {
		return tasks.InvalidSubmission, err
	}
	if s.answers == "" {
		return tasks.InvalidSubmission, s.countOf(rows)
	}
	answers, err := readTable(task, "scripts/"+s.answers)
	if err != nil {
		return tasks.DataMissing, fmt.Errorf("has nothing to be compared with: scripts/%s %w", s.answers, err)
	}
	return tasks.InvalidSubmission, s.against(rows, answers)
}

// A grid is a parsed CSV file.
type grid struct {
	header []string
	rows   [][]string
}

// readTable reads a CSV file; its error completes a sentence that begins with
// the file's name.
func readTable(dir checkout.Dir, name string) (*grid, error) {
	info, err := dir.Stat(name)
	switch {
	case err != nil:
		return nil, errors.New("is missing")
	case info.IsDir():
		return nil, errors.New("is a directory, expected a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	case info.Size() == 0:
		return nil, errors.New("is empty")
	case info.Size() > maxTable:
		return nil, fmt.Errorf("has %d bytes, more than the %d allowed", info.Size(), maxTable)
	}
	f, err := dir.Open(name)
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	defer f.Close()
	return parseTable(f)
}

func parseTable(r io.Reader) (*grid, error) {
	in := csv.NewReader(r)
	in.LazyQuotes = true
	in.ReuseRecord = false
	header, err := in.Read()
	if err == io.EOF {
		return nil, errors.New("is empty")
	}
	if err != nil {
		return nil, badLine(err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	g := &grid{header: header}
	for {
		row, err := in.Read()
		if err == io.EOF {
			return g, nil
		}
		if err != nil {
			return nil, badLine(err)
		}
		g.rows = append(g.rows, row)
	}
}

func badLine(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return fmt.Errorf("is no table: line %d: %w", at.Line, at.Err)
	}
	return errors.New("cannot be read")
}

// column returns where a column is; "#1" is the first, whatever its name.
func (g *grid) column(name string) int {
	if name == "#1" {
		return 0
	}
	return slices.Index(g.header, name)
}

func (s *shape) columnsOf(g *grid) error {
	for i, name := range g.header {
		if name != "" && slices.Contains(g.header[:i], name) {
			return fmt.Errorf("has the column %q twice", name)
		}
	}
	for _, name := range append(slices.Clone(s.columns), s.booleans...) {
		if g.column(name) < 0 {
			return fmt.Errorf("lacks the column %q; it has %s", name, some(g.header))
		}
	}
	if s.width > 0 && len(g.header) != s.width {
		return fmt.Errorf("has %d columns, expected %d", len(g.header), s.width)
	}
	if len(g.rows) == 0 {
		return errors.New("has a header and no rows")
	}
	return nil
}

// cellsOf looks at every cell that will be read as a number or truth value,
// and for ids that come twice.
func (s *shape) cellsOf(g *grid) error {
	id := g.column(s.id)
	var numbers []int
	for i, name := range g.header {
		if slices.Contains(s.numbers, name) || slices.Contains(s.numbers, "*") && i != id {
			numbers = append(numbers, i)
		}
	}
	seen := make(map[string]bool, len(g.rows))
	truths := map[string]bool{}
	for n, row := range g.rows {
		line := n + 2
		for _, i := range numbers {
			if err := number(row[i]); err != nil {
				return fmt.Errorf("line %d: %s is %w", line, label(g, i), err)
			}
		}
		for _, name := range s.booleans {
			kind := truth(row[g.column(name)])
			if truths[kind] = true; kind == "" || len(truths) > 1 {
				return fmt.Errorf("line %d: %s is %.20q, expected True or False as in every row", line, name, row[g.column(name)])
			}
		}
		for _, name := range s.filled {
			if strings.TrimSpace(row[g.column(name)]) == "" {
				return fmt.Errorf("line %d: %s is empty", line, name)
			}
		}
		if id < 0 {
			continue
		}
		if seen[row[id]] {
			return fmt.Errorf("line %d: the %s %.40q is there twice", line, label(g, id), row[id])
		}
		seen[row[id]] = true
	}
	return nil
}

// number reports why a cell is no finite number.
func number(cell string) error {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return errors.New("empty, expected a number")
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), strings.ContainsAny(cell, "xXpP_"):
		return fmt.Errorf("%.20q, expected a number", cell)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("%.20q, which is no finite number", cell)
	}
	return nil
}

// truth says in which notation a cell is a truth value, "" if in none.
func truth(cell string) string {
	switch strings.TrimSpace(cell) {
	case "True", "False", "true", "false", "TRUE", "FALSE":
		return "word"
	case "0", "1", "0.0", "1.0":
		return "number"
	}
	return ""
}

// countOf is all that can be checked where the answers are not a table.
func (s *shape) countOf(g *grid) error {
	if s.rows > 0 && len(g.rows) != s.rows {
		return fmt.Errorf("has %d rows, expected %d", len(g.rows), s.rows)
	}
	return nil
}

// against compares the rows' ids with those of the answers.
func (s *shape) against(g, answers *grid) error {
	id, theirs := g.column(s.id), answers.column(s.id)
	if len(g.rows) != len(answers.rows) {
		return fmt.Errorf("has %d rows, expected %d", len(g.rows), len(answers.rows))
	}
	if id < 0 || theirs < 0 {
		return nil
	}
	place := make(map[string]int, len(answers.rows))
	for i, row := range answers.rows {
		place[row[theirs]] = i
	}
	var moved error
	for n, row := range g.rows {
		at, known := place[row[id]]
		if !known {
			return fmt.Errorf("line %d: the test set has no %s %.40q", n+2, s.id, row[id])
		}
		if at != n && moved == nil {
			moved = fmt.Errorf("is in another order than the test set (from line %d), and the suite compares by position: sort it as the test set is", n+2)
		}
	}
	if s.ordered {
		return moved
	}
	return nil
}

// label names a column for a message.
func label(g *grid, i int) string {
	if g.header[i] == "" {
		return fmt.Sprintf("column %d", i+1)
	}
	return fmt.Sprintf("%.40s", g.header[i])
}

// some lists the first of a table's columns.
func some(names []string) string {
	rest := ""
	if len(names) > 8 {
		names, rest = names[:8], ", …"
	}
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%.40q", name))
	}
	return strings.Join(quoted, ", ") + rest
}
