package conversation

import (
	"fmt"
	"strings"
	"time"

	"proctor/agents"
)

// Spent returns an error that says which budgets are used up, nil when none
// is.
func Spent(r agents.Remaining) error {
	var over []string
	add := func(name string, spent bool) {
		if spent {
			over = append(over, name)
		}
	}
	add("time", r.Time != nil && *r.Time <= 0)
	add("step", r.Steps != nil && *r.Steps <= 0)
	add("token", r.Tokens != nil && *r.Tokens <= 0)
	add("cost", r.Cost != nil && *r.Cost <= 0)
	add("GPU", r.GPUHours != nil && *r.GPUHours <= 0)
	if over == nil {
		return nil
	}
	return fmt.Errorf("the %s budget is spent", strings.Join(over, " and "))
}

// Left says what is left of a budget in the words that a model is told, such
// as "12m3s of working time, 90 actions". It is "" when nothing is limited.
func Left(r agents.Remaining) string {
	var left []string
	if r.Time != nil {
		left = append(left, max(0, *r.Time).Round(time.Second).String()+" of working time")
	}
	if r.Steps != nil {
		left = append(left, fmt.Sprintf("%d actions", *r.Steps))
	}
	if r.Tokens != nil {
		left = append(left, fmt.Sprintf("%d tokens", max(0, *r.Tokens)))
	}
	if r.Cost != nil {
		left = append(left, fmt.Sprintf("$%.2f", max(0, *r.Cost)))
	}
	if r.GPUHours != nil {
		left = append(left, fmt.Sprintf("%.2f GPU-hours", max(0, *r.GPUHours)))
	}
	return strings.Join(left, ", ")
}
