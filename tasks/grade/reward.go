package grade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proctor/tasks"
)

// MaxRewardBytes bounds what a grader may write as its result.
const MaxRewardBytes = 1 << 20

// A Reward is what a grader wrote: its numbers by name, or the reason why
// there are none.
type Reward struct {
	Values map[string]float64
	// Error is the grader's own explanation, in one line, and Status what it
	// says about the submission: NoSubmission, InvalidSubmission or
	// GraderFailed. Both are empty when there are Values.
	Error  string
	Status tasks.Status
}

// ParseReward reads one JSON object: either a flat one of names and finite
// numbers, such as {"accuracy": 0.97}, or {"error": "…", "kind": "…"} with
// kind "no_submission", "invalid_submission" or, the same as none,
// "grader_failed". The error says in what way data is neither.
func ParseReward(data []byte) (Reward, error) {
	if err := plausible(data); err != nil {
		return Reward{}, err
	}
	members, err := parseObject(data)
	if err != nil {
		return Reward{}, err
	}
	if _, failed := members["error"]; failed {
		return parseFailure(members)
	}
	if len(members) == 0 {
		return Reward{}, errors.New("it is an object without any number")
	}
	values := make(map[string]float64, len(members))
	for name, value := range members {
		x, err := finiteNumber(value)
		if err != nil {
			return Reward{}, fmt.Errorf("its value of %s is %w", quoteShort(name), err)
		}
		values[name] = x
	}
	return Reward{Values: values}, nil
}

// A decimal number as a test script echoes it. strconv alone would also take
// hexadecimal, underscores, "nan" and "inf".
var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// ParseRewardText reads the single finite number of a reward.txt.
func ParseRewardText(data []byte) (float64, error) {
	if err := plausible(data); err != nil {
		return 0, err
	}
	text := strings.TrimSpace(string(data))
	if !decimal.MatchString(text) {
		return 0, fmt.Errorf("it holds %s, expected one number", quoteShort(text))
	}
	return parseNumber(text)
}

// Pick returns the value that a metric's score is: the one of its name or,
// when there is only one value, that one. The error names what there was.
func (r Reward) Pick(metric string) (float64, error) {
	if x, ok := r.Values[metric]; ok {
		return x, nil
	}
	names := make([]string, 0, len(r.Values))
	for name, x := range r.Values {
		if len(r.Values) == 1 {
			return x, nil
		}
		names = append(names, quoteShort(name))
	}
	slices.Sort(names)
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	return 0, fmt.Errorf("there is no value named %q among %s", metric, strings.Join(names, ", "))
}

// plausible refuses what need not be parsed.
func plausible(data []byte) error {
	switch {
	case len(data) > MaxRewardBytes:
		return fmt.Errorf("it is %d bytes long, more than the %d allowed", len(data), MaxRewardBytes)
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("it is empty")
	}
	return nil
}

// parseObject splits data, one JSON object and nothing else, into its
// members. A name that appears twice is an error, since two readers could
// take it for different rewards.
func parseObject(data []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("it holds %s, expected a JSON object", quoteShort(string(data)))
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		name, _ := key.(string)
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("it has %s twice", quoteShort(name))
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("the value of %s: %w", quoteShort(name), notJSON(err))
		}
		members[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows its JSON object")
	}
	return members, nil
}

func notJSON(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is JSON that ends too early")
	}
	// Python writes NaN, Infinity and -Infinity, and so do graders.
	if text := err.Error(); strings.Contains(text, "'N'") || strings.Contains(text, "'I'") {
		return errors.New("it has NaN or Infinity, which is no finite number")
	}
	return fmt.Errorf("it is not JSON (%w)", err)
}

// parseFailure reads {"error", "kind"}.
func parseFailure(members map[string]json.RawMessage) (Reward, error) {
	var text, kind string
	if json.Unmarshal(members["error"], &text) != nil {
		return Reward{}, errors.New(`its "error" is not a string`)
	}
	if raw, ok := members["kind"]; ok && json.Unmarshal(raw, &kind) != nil {
		return Reward{}, errors.New(`its "kind" is not a string`)
	}
	r := Reward{Error: OneLine(text, maxReason), Status: tasks.GraderFailed}
	switch status := tasks.Status(kind); status {
	case tasks.NoSubmission, tasks.InvalidSubmission, tasks.GraderFailed:
		r.Status = status
	case "":
	default:
		return Reward{}, fmt.Errorf(`its "kind" is %s, expected "no_submission", "invalid_submission" or "grader_failed"`, quoteShort(kind))
	}
	if r.Error == "" {
		r.Error = "the grader gave no reason"
	}
	return r, nil
}

// finiteNumber reads one JSON value; its error completes "the value is".
func finiteNumber(raw json.RawMessage) (float64, error) {
	switch raw[0] {
	case '{':
		return 0, errors.New("an object, expected a number")
	case '[':
		return 0, errors.New("an array, expected a number")
	case '"':
		return 0, errors.New("a string, expected a number")
	case 't', 'f', 'n':
		return 0, fmt.Errorf("%s, expected a number", raw)
	}
	return parseNumber(string(raw))
}

// parseNumber reads a decimal number; its error completes "the value is".
func parseNumber(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%s, which is no finite number", quoteShort(text))
	}
	return x + 0, nil // a negative zero becomes zero
}

// quoteShort quotes text of a grader for a message.
func quoteShort(text string) string {
	return strconv.Quote(OneLine(text, 40))
}
