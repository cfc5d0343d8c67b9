package budget

import (
	"time"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/tasks"
)

// Used is what a run has spent.
type Used struct {
	Time     time.Duration // working time
	Steps    int
	Tokens   int64
	Cost     float64
	GPUHours float64
}

// A dimension reads one limit and what is used of it, both as numbers; time
// in seconds. A limit of zero is none.
type dimension struct {
	name  string
	limit func(tasks.Budget) float64
	used  func(Used) float64
}

var dimensions = []dimension{
	{event.Time, func(b tasks.Budget) float64 { return b.Time.Seconds() }, func(u Used) float64 { return u.Time.Seconds() }},
	{event.Steps, func(b tasks.Budget) float64 { return float64(b.Steps) }, func(u Used) float64 { return float64(u.Steps) }},
	{event.Tokens, func(b tasks.Budget) float64 { return float64(b.Tokens) }, func(u Used) float64 { return float64(u.Tokens) }},
	{event.Cost, func(b tasks.Budget) float64 { return b.Cost }, func(u Used) float64 { return u.Cost }},
	{event.GPUHours, func(b tasks.Budget) float64 { return b.GPUHours }, func(u Used) float64 { return u.GPUHours }},
}

// Reached returns the limit that is used to at least the given fraction, the
// one used furthest first; ok is false when none is.
func Reached(b tasks.Budget, u Used, fraction float64) (hit event.Budget, ok bool) {
	most := 0.0
	for _, d := range dimensions {
		limit, used := d.limit(b), d.used(u)
		if limit <= 0 || used < limit*fraction {
			continue
		}
		if share := used / limit; share > most {
			most, ok = share, true
			hit = event.Budget{Dimension: d.name, Used: used, Limit: limit}
		}
	}
	return hit, ok
}

// Extend adds to the limits that are set and returns each that changed. A
// dimension without a limit has nothing to extend.
func Extend(b *tasks.Budget, u Used, by tasks.Budget) []event.Budget {
	var changed []event.Budget
	for _, d := range dimensions {
		more, limit := d.limit(by), d.limit(*b)
		if more <= 0 || limit <= 0 {
			continue
		}
		event.SetLimit(b, d.name, limit+more)
		changed = append(changed, event.Budget{Dimension: d.name, Used: d.used(u), Limit: limit + more, What: "extended"})
	}
	return changed
}

// Remaining says what is left, never less than nothing.
func Remaining(b tasks.Budget, u Used) agents.Remaining {
	var r agents.Remaining
	if b.Time > 0 {
		r.Time = new(max(0, b.Time-u.Time))
	}
	if b.Steps > 0 {
		r.Steps = new(max(0, b.Steps-u.Steps))
	}
	if b.Tokens > 0 {
		r.Tokens = new(max(0, b.Tokens-u.Tokens))
	}
	if b.Cost > 0 {
		r.Cost = new(max(0, b.Cost-u.Cost))
	}
	if b.GPUHours > 0 {
		r.GPUHours = new(max(0, b.GPUHours-u.GPUHours))
	}
	return r
}
