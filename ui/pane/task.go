package pane

import (
	"fmt"
	"strings"

	"proctor/tasks"
)

// BudgetText says what a run may cost, in words.
func BudgetText(b tasks.Budget) string {
	var parts []string
	if b.Time > 0 {
		parts = append(parts, Clock(b.Time)+" of working time")
	}
	if b.Steps > 0 {
		parts = append(parts, Plural(b.Steps, "step"))
	}
	if b.Tokens > 0 {
		parts = append(parts, Count(b.Tokens)+" tokens")
	}
	if b.Cost > 0 {
		parts = append(parts, Dollars(b.Cost))
	}
	if b.GPUHours > 0 {
		parts = append(parts, fmt.Sprintf("%g GPU-hours", b.GPUHours))
	}
	if len(parts) == 0 {
		return "no limit"
	}
	return strings.Join(parts, ", ")
}

// NeedsText says what a task asks of the machine, "" if nothing.
func NeedsText(n tasks.Needs) string {
	var parts []string
	switch {
	case n.CPUs == 1:
		parts = append(parts, "1 core")
	case n.CPUs > 0:
		parts = append(parts, fmt.Sprintf("%g cores", n.CPUs))
	}
	if n.MemoryBytes > 0 {
		parts = append(parts, Bytes(n.MemoryBytes)+" of memory")
	}
	if n.GPUs > 0 {
		gpus := Plural(n.GPUs, "GPU")
		if n.GPUMemory > 0 {
			gpus += " of " + Bytes(n.GPUMemory)
		}
		parts = append(parts, gpus)
	}
	if n.Network {
		parts = append(parts, "network")
	}
	if len(n.Modules) > 0 {
		parts = append(parts, "python: "+strings.Join(n.Modules, ", "))
	}
	return strings.Join(parts, ", ")
}

// Published groups published results by their scale, in order: those on the
// task's own metric under "".
func Published(list []tasks.Reference) (scales []string, results map[string][]tasks.Reference) {
	results = map[string][]tasks.Reference{}
	for _, r := range list {
		if _, seen := results[r.Scale]; !seen {
			scales = append(scales, r.Scale)
		}
		results[r.Scale] = append(results[r.Scale], r)
	}
	return scales, results
}
