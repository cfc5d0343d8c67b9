package event

import (
	"time"

	"proctor/tasks"
)

// The dimensions of a budget, as Budget.Dimension names them.
const (
	Time     = "time"
	Steps    = "steps"
	Tokens   = "tokens"
	Cost     = "cost"
	GPUHours = "gpu_hours"
)

// SetLimit sets the limit of one dimension; time is in seconds.
func SetLimit(b *tasks.Budget, dimension string, limit float64) {
	switch dimension {
	case Time:
		b.Time = time.Duration(limit * float64(time.Second))
	case Steps:
		b.Steps = int(limit)
	case Tokens:
		b.Tokens = int64(limit)
	case Cost:
		b.Cost = limit
	case GPUHours:
		b.GPUHours = limit
	}
}
