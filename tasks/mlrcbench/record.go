package mlrcbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"

	"proctor/tasks/checkout"
)

// maxRecord bounds idea_evals.json, in bytes; every entry has its code in it.
const maxRecord = 64 << 20

// A result is one entry of idea_evals.json.
type result struct {
	Method      string   `json:"method_name"`
	Phase       string   `json:"phase"`
	Performance *float64 `json:"performance"`
	Step        int      `json:"-"` // its place among the entries, from 1
}

// methodName is what may be passed to main.py as a method.
var methodName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// errNoResult means that the dev phase was never run to its end.
var errNoResult = errors.New("no result of the dev phase is on record, so there is no method to be tested")

// best returns the best dev result of a submission, the first of equals. Its
// error is errNoResult, or says what is wrong with the record.
func best(dir checkout.Dir) (*result, error) {
	text, err := dir.Text(recordFile, maxRecord)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", recordFile)
	}
	return parseRecord([]byte(text))
}

func parseRecord(data []byte) (*result, error) {
	var record struct {
		Implementations []json.RawMessage `json:"implementations"`
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("%s is not the JSON that main.py writes", recordFile)
	}
	var found *result
	for i, raw := range record.Implementations {
		r := result{}
		// An entry of another form is another's, and none of the results.
		if json.Unmarshal(raw, &r) != nil || r.Phase != "dev" || r.Performance == nil || math.IsInf(*r.Performance, 0) {
			continue
		}
		if r.Step = i + 1; found == nil || *r.Performance > *found.Performance {
			found = &r
		}
	}
	if found == nil {
		return nil, errNoResult
	}
	if !methodName.MatchString(found.Method) {
		return nil, fmt.Errorf("the best dev result is of a method named %.40q, which cannot be a name", found.Method)
	}
	return found, nil
}
