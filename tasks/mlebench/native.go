package mlebench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"proctor/tasks/grade"
)

// A plan grades in Go a competition whose grade.py checks a table and takes
// one plain metric of it. The checks follow grade.py's, in its order and with
// its gaps: where it does not look at ids, neither does the plan.
type plan struct {
	metric string // for people, such as "AUROC"
	higher bool

	id  string // the column that tells rows apart; "" is the answers' first
	ids idRule
	// columns are those judged; nil means all of the answers' but the id.
	columns []string
	header  headerRule
	extra   []string // further columns that a submission must have
	single  bool     // there must be just one judged column
	gaps    bool     // a prediction may be missing
	check   func(guess []*column) error
	// only keeps the rows in which a column of the answers has a value.
	only  *condition
	score func(truth, guess []*column, answers *frame) (float64, error)
}

// An idRule is how rows of the submission and the answers meet.
type idRule int

const (
	matched    idRule = iota // sorted by id, and the ids must be equal
	sorted                   // sorted by id, whatever the ids are
	positional               // as they stand
)

// A headerRule is which columns a submission may have.
type headerRule int

const (
	atLeast headerRule = iota // those needed, and any others
	exactly                   // those needed, in any order
	idFirst                   // exactly, and the id comes first
	inOrder                   // the same as the answers', in their order
)

// A condition holds for rows whose number in a column of the answers passes.
type condition struct {
	column string
	holds  func(float64) bool
	// byPlace: the submission's rows are kept by their place in its file
	// instead of by their id.
	byPlace bool
}

// An invalidError says what is wrong with a submission. Any other error of a
// plan is the answers' fault.
type invalidError struct{ reason string }

func (e invalidError) Error() string { return e.reason }

func invalidf(format string, args ...any) error {
	return invalidError{grade.OneLine(fmt.Sprintf(format, args...), 300)}
}

// gradeFile returns the score of a submission, rounded to five decimals as
// MLE-bench does. The error is an invalidError or says what is wrong with the
// answers.
func (p *plan) gradeFile(submission, answers string) (float64, error) {
	truth, err := openFrame(answers)
	if err != nil {
		return 0, fmt.Errorf("the answers cannot be read as CSV: %w", err)
	}
	guess, err := openFrame(submission)
	if err != nil {
		return 0, invalidf("it cannot be read as CSV: %v", err)
	}
	score, err := p.grade(guess, truth)
	if err != nil {
		return 0, err
	}
	return math.RoundToEven(score*1e5) / 1e5, nil
}

func openFrame(file string) (*frame, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	return readFrame(f)
}

func (p *plan) grade(submission, answers *frame) (float64, error) {
	id, columns := p.resolve(answers)
	if p.single && len(columns) != 1 {
		return 0, fmt.Errorf("the answers have %d columns beside the id, expected one", len(columns))
	}
	for _, name := range append([]string{id}, columns...) {
		if answers.column(name) == nil {
			return 0, fmt.Errorf("the answers have no column %q", name)
		}
	}
	if err := p.checkHeader(submission, answers, id, columns); err != nil {
		return 0, err
	}
	if submission.rows != answers.rows {
		return 0, invalidf("it has %d rows, expected %d", submission.rows, answers.rows)
	}
	truth, guess := selected(answers, columns), selected(submission, columns)
	if !p.gaps && p.only == nil {
		if err := complete(guess); err != nil {
			return 0, err
		}
	}
	if p.check != nil {
		if err := p.check(guess); err != nil {
			return 0, err
		}
	}
	truthRows, guessRows, err := p.align(submission, answers, id)
	if err != nil {
		return 0, err
	}
	if p.only != nil {
		if truthRows, guessRows, err = p.only.keep(answers, truthRows, guessRows); err != nil {
			return 0, err
		}
	}
	for i := range truth {
		truth[i], guess[i] = truth[i].take(truthRows), guess[i].take(guessRows)
	}
	score, err := p.score(truth, guess, answers.take(truthRows))
	if err != nil && !errors.As(err, new(invalidError)) {
		err = invalidf("the metric cannot be computed: %v", err)
	}
	return score, err
}

// resolve names the id and the judged columns.
func (p *plan) resolve(answers *frame) (id string, columns []string) {
	id, columns = p.id, p.columns
	if id == "" && p.ids != positional {
		id = answers.columns[0].name
	}
	if columns == nil {
		for _, name := range answers.names() {
			if name != id {
				columns = append(columns, name)
			}
		}
	}
	if p.ids == positional && id == "" {
		id = columns[0]
	}
	return id, columns
}

func (p *plan) checkHeader(submission, answers *frame, id string, columns []string) error {
	needed := slices.Concat([]string{id}, columns, p.extra)
	var lacks []string
	for _, name := range needed {
		if submission.column(name) == nil && !slices.Contains(lacks, name) {
			lacks = append(lacks, name)
		}
	}
	if len(lacks) > 0 {
		return invalidf("it lacks the column %s; it has %s", quoted(lacks), quoted(submission.names()))
	}
	switch p.header {
	case exactly, idFirst:
		for _, name := range submission.names() {
			if !slices.Contains(needed, name) {
				return invalidf("it has a column %q that does not belong there, expected %s", name, quoted(needed))
			}
		}
		if p.header == idFirst && submission.columns[0].name != id {
			return invalidf("its first column is %q, expected %q", submission.columns[0].name, id)
		}
	case inOrder:
		if !slices.Equal(submission.names(), answers.names()) {
			return invalidf("its columns are not those of the sample submission in the same order")
		}
	}
	return nil
}

// quoted lists names for a message, at most five.
func quoted(names []string) string {
	var out []string
	for i, name := range names {
		if i == 5 {
			out = append(out, fmt.Sprintf("and %d more", len(names)-i))
			break
		}
		out = append(out, fmt.Sprintf("%q", grade.OneLine(name, 40)))
	}
	return strings.Join(out, ", ")
}

func selected(f *frame, names []string) []*column {
	columns := make([]*column, len(names))
	for i, name := range names {
		columns[i] = f.column(name)
	}
	return columns
}

// align returns the rows of the answers and those of the submission that
// belong to them, in step.
func (p *plan) align(submission, answers *frame, id string) (truth, guess []int, err error) {
	if p.ids == positional {
		truth = make([]int, answers.rows)
		for i := range truth {
			truth[i] = i
		}
		return truth, truth, nil
	}
	ours, theirs := answers.column(id), submission.column(id)
	truth, guess = ours.order(), theirs.order()
	if p.ids == sorted {
		return truth, guess, nil
	}
	if ours.isNumeric() != theirs.isNumeric() {
		return nil, nil, invalidf("the values of %q are of another kind than expected, such as %q instead of %q",
			id, grade.OneLine(first(theirs), 40), grade.OneLine(first(ours), 40))
	}
	for i := range truth {
		if ours.key(truth[i]) != theirs.key(guess[i]) || theirs.isMissing(guess[i]) {
			return nil, nil, mismatch(ours, theirs)
		}
	}
	return truth, guess, nil
}

func first(c *column) string {
	if len(c.text) == 0 {
		return ""
	}
	return c.text[0]
}

// mismatch says in what way a submission's ids are not the expected ones.
func mismatch(ours, theirs *column) error {
	expected := map[string]int{}
	for i := range ours.text {
		expected[ours.key(i)]++
	}
	seen := map[string]int{}
	var unknown, repeated []string
	for i := range theirs.text {
		key := theirs.key(i)
		seen[key]++
		switch {
		case expected[key] == 0:
			unknown = append(unknown, key)
		case seen[key] > expected[key]:
			repeated = append(repeated, key)
		}
	}
	switch {
	case len(repeated) > 0:
		return invalidf("%d rows repeat an %q that came before, such as %s", len(repeated), theirs.name, quoted(repeated[:1]))
	default:
		return invalidf("%d rows have an %q that is not in the test set, such as %s", len(unknown), theirs.name, quoted(unknown[:min(1, len(unknown))]))
	}
}

// keep drops the rows for which the condition does not hold.
func (c *condition) keep(answers *frame, truth, guess []int) (keptTruth, keptGuess []int, err error) {
	column := answers.column(c.column)
	if column == nil || !column.isNumeric() {
		return nil, nil, fmt.Errorf("the answers have no numbers in a column %q", c.column)
	}
	for i, row := range truth {
		if c.holds(column.numbers[row]) {
			keptTruth = append(keptTruth, row)
		}
		decisive := row
		if c.byPlace {
			decisive = guess[i]
		}
		if c.holds(column.numbers[decisive]) {
			keptGuess = append(keptGuess, guess[i])
		}
	}
	return keptTruth, keptGuess, nil
}

// take returns the frame's rows in the given order.
func (f *frame) take(rows []int) *frame {
	t := &frame{rows: len(rows)}
	for _, c := range f.columns {
		t.columns = append(t.columns, c.take(rows))
	}
	return t
}
