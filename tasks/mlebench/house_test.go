package mlebench

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"proctor/tasks"
)

const noPython = "/nonexistent/python3"

// python is the interpreter that the tests' graders run with.
const python = "/usr/bin/python3"

// needPython skips a test, or fails it where everything must be there, when
// the graders cannot run.
func needPython(t *testing.T) {
	t.Helper()
	if out, err := exec.Command(python, "-c", "import pandas, sklearn").CombinedOutput(); err != nil {
		if os.Getenv("PROCTOR_TEST_REQUIRE") == "1" {
			t.Fatalf("pandas and scikit-learn are needed (apt packages python3-pandas, python3-sklearn): %s", out)
		}
		t.Skipf("pandas or scikit-learn is not installed for %s", python)
	}
}

// A house is a checkout with prepared data, made of testdata, and a fair
// submission to each competition.
type house struct {
	root, data  string
	submissions map[string]string // by competition
}

// newHouse lays out the checkout in a temporary directory.
func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{root: filepath.Join(t.TempDir(), "mle-bench"), submissions: map[string]string{}}
	h.data = filepath.Join(h.root, "data")
	if err := os.CopyFS(h.root, os.DirFS("testdata/checkout")); err != nil {
		t.Fatal(err)
	}
	h.tumors(t)
	h.digits(t)
	h.diabetes(t)
	return h
}

// open opens the house with a certain Python.
func (h *house) open(t *testing.T, python string) tasks.Suite {
	t.Helper()
	s, err := OpenWith(h.root, Options{Python: python})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (h *house) task(t *testing.T, id, python string) *tasks.Task {
	t.Helper()
	task, err := h.open(t, python).Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// competition writes a competition's files: what the agent sees, the answers
// under the name that config.yaml has, and a leaderboard.
func (h *house) competition(t *testing.T, id, answersName string, test, sample, answers []string, board []float64) {
	t.Helper()
	prepared := filepath.Join(h.data, id, "prepared")
	write(t, filepath.Join(prepared, "public", "test.csv"), lines(test))
	write(t, filepath.Join(prepared, "public", "sample_submission.csv"), lines(sample))
	write(t, filepath.Join(prepared, "private", answersName), lines(answers))
	rows := []string{"scoreNullable,teamId,hasTeamName,submissionDate,score,hasScore"}
	for i, score := range board {
		rows = append(rows, fmt.Sprintf("%[1]v,%[2]d,True,2026-01-19 07:40:44,%[1]v,True", score, 8398674+i))
	}
	write(t, h.file(id, "leaderboard.csv"), lines(rows))
}

func (h *house) file(id, name string) string {
	return filepath.Join(h.root, "mlebench", "competitions", id, name)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func lines(rows []string) string { return strings.Join(rows, "\n") + "\n" }

// table reads numbers parted by comma or space.
func table(t *testing.T, file string) [][]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "data", file))
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(strings.NewReader(strings.ReplaceAll(string(text), " ", ",")))
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, len(records))
	for i, record := range records {
		for _, field := range record {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			rows[i] = append(rows[i], x)
		}
	}
	return rows
}

// boardOf returns a leaderboard from the best score to the worst.
func boardOf(teams int, best, worst float64) []float64 {
	scores := make([]float64, teams)
	for i := range scores {
		scores[i] = math.Round(1e5*(best+(worst-best)*float64(i)/float64(max(1, teams-1)))) / 1e5
	}
	return scores
}

func (h *house) tumors(t *testing.T) {
	test, sample := []string{"id,radius,texture,perimeter,area"}, []string{"id,benign"}
	answers, guess := []string{"id,benign"}, []string{"id,benign"}
	for i, row := range table(t, "breast_cancer.csv") {
		id := fmt.Sprintf("t%03d", i)
		test = append(test, fmt.Sprintf("%s,%v,%v,%v,%v", id, row[0], row[1], row[2], row[3]))
		sample = append(sample, id+",0.5")
		answers = append(answers, fmt.Sprintf("%s,%v", id, row[4]))
		guess = append(guess, fmt.Sprintf("%s,%.4f", id, 1-min(row[0], 30)/30))
	}
	h.competition(t, "house-tumors", "answers.csv", test, sample, answers, boardOf(120, 0.99, 0.5))
	h.submissions["house-tumors"] = lines(guess)
}

// digits are guessed by the nearest other image.
func (h *house) digits(t *testing.T) {
	rows := table(t, "digits.csv")
	header := "id"
	for d := range 10 {
		header += fmt.Sprintf(",d%d", d)
	}
	test := []string{"id,pixels"}
	label, labelSample, labelGuess := []string{"id,digit"}, []string{"id,digit"}, []string{"id,digit"}
	odds, oddsSample, oddsGuess := []string{header}, []string{header}, []string{header}
	for i, row := range rows {
		digit, guess := int(row[64]), nearest(rows, i)
		test = append(test, fmt.Sprintf("%d,%s", i, strings.Trim(fmt.Sprint(row[:64]), "[]")))
		label = append(label, fmt.Sprintf("%d,%d", i, digit))
		labelSample = append(labelSample, fmt.Sprintf("%d,0", i))
		labelGuess = append(labelGuess, fmt.Sprintf("%d,%d", i, guess))
		truth, even, sure := strconv.Itoa(i), strconv.Itoa(i), strconv.Itoa(i)
		for d := range 10 {
			truth += fmt.Sprint(",", map[bool]int{true: 1}[d == digit])
			even += ",0.1"
			sure += fmt.Sprint(",", map[bool]float64{true: 0.91, false: 0.01}[d == guess])
		}
		odds, oddsSample, oddsGuess = append(odds, truth), append(oddsSample, even), append(oddsGuess, sure)
	}
	h.competition(t, "house-digits", "test.csv", test, labelSample, label, boardOf(300, 0.99, 0.1))
	h.competition(t, "house-digit-odds", "test.csv", test, oddsSample, odds, boardOf(1200, 0.05, 2.4))
	h.submissions["house-digits"], h.submissions["house-digit-odds"] = lines(labelGuess), lines(oddsGuess)
}

func nearest(rows [][]float64, i int) int {
	best, digit := math.Inf(1), 0.0
	for j, other := range rows {
		var d float64
		for k := range 64 {
			d += (rows[i][k] - other[k]) * (rows[i][k] - other[k])
		}
		if j != i && d < best {
			best, digit = d, other[64]
		}
	}
	return int(digit)
}

// diabetes is guessed by body-mass index alone.
func (h *house) diabetes(t *testing.T) {
	test := []string{"id,age,sex,bmi,pressure"}
	heads := map[string]string{"house-diabetes": "id,progression", "house-diabetes-pair": "id,progression,bmi", "house-diabetes-stage": "id,stage"}
	floors := map[string]string{"house-diabetes": "150", "house-diabetes-pair": "150,25", "house-diabetes-stage": "2"}
	boards := map[string][]float64{
		"house-diabetes": boardOf(80, 50, 90), "house-diabetes-pair": boardOf(1, 0.2, 0.2), "house-diabetes-stage": boardOf(2000, 0.8, 0),
	}
	sample, answers, guess := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for id, head := range heads {
		sample[id], answers[id], guess[id] = []string{head}, []string{head}, []string{head}
	}
	stage := func(x float64) int { return int(min(4, x/70)) }
	for i, row := range table(t, "diabetes.txt") {
		id, bmi, truth := 1000+i, row[2], row[10]
		line := max(30, 10*bmi-110)
		test = append(test, fmt.Sprintf("%d,%v,%v,%v,%v", id, row[0], row[1], bmi, row[3]))
		for competition, floor := range floors {
			sample[competition] = append(sample[competition], fmt.Sprintf("%d,%s", id, floor))
		}
		add := func(to map[string][]string, progression, mass float64) {
			to["house-diabetes"] = append(to["house-diabetes"], fmt.Sprintf("%d,%v", id, progression))
			to["house-diabetes-pair"] = append(to["house-diabetes-pair"], fmt.Sprintf("%d,%v,%v", id, progression, mass))
			to["house-diabetes-stage"] = append(to["house-diabetes-stage"], fmt.Sprintf("%d,%d", id, stage(progression)))
		}
		add(answers, truth, bmi)
		add(guess, line, 20+row[3]/20)
	}
	for id := range heads {
		h.competition(t, id, "answers.csv", test, sample[id], answers[id], boards[id])
		h.submissions[id] = lines(guess[id])
	}
}

// submission puts a text where a run leaves its submission.csv.
func submission(t *testing.T, text string) tasks.Submission {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, filepath.FromSlash(output)), text)
	return tasks.Submission{Dir: dir}
}
