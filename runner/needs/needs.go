// Package needs compares what a task asks for with what this machine has,
// without running anything of the task: its data, Python and its modules, GPUs
// and their memory, a sandbox that can hold it, and what its grader needs.
package needs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"proctor/runner/gpu"
	"proctor/runner/sandbox"
	"proctor/tasks"
)

// A Kind is what sort of thing is lacking.
type Kind string

// The kinds. Data is everything that the task's suite asks for itself.
const (
	Data    Kind = "data"
	Python  Kind = "python"
	Module  Kind = "python module"
	GPU     Kind = "gpu"
	Memory  Kind = "memory"
	Sandbox Kind = "sandbox"
	Program Kind = "program"
	Terms   Kind = "terms" // to be accepted by a person; nobody can look whether they were
)

// A Lack is one thing that a task asks for and the machine does not have.
type Lack struct {
	Kind Kind   `json:"kind"`
	Say  string `json:"say"` // one line: what is lacking, and what to do
	// Stops: a run cannot start without it.
	Stops bool `json:"stops"`
	// Grading: only the grader lacks it. A run is possible, its verdict is not.
	Grading bool `json:"grading,omitempty"`
}

func stops(kind Kind, say string) Lack   { return Lack{Kind: kind, Say: say, Stops: true} }
func grading(kind Kind, say string) Lack { return Lack{Kind: kind, Say: say, Grading: true} }

// String is how a person reads it.
func (l Lack) String() string {
	switch {
	case l.Kind == Terms:
		return "terms to accept: " + l.Say
	case l.Grading:
		return "cannot be graded here: it lacks " + l.Say
	case !l.Stops:
		return "goes without " + l.Say
	}
	return l.Say
}

// A Machine is where tasks are to run. It looks at most once at each thing,
// and only at what a task asks for, so it is made anew when that may have
// changed.
type Machine struct {
	// Sandbox is the kind of sandbox that runs would get, and Refused why
	// there is none; one of them is set.
	Sandbox sandbox.Kind
	Refused error
	// GPUs reads the GPUs. Its error says that they could not be read, which
	// is not that there are none. A nil GPUs leaves them out of the check.
	GPUs func(ctx context.Context) ([]gpu.Device, error)
}

// Check returns what each of the tasks lacks, in their order; an empty list is
// a task that can run here and be graded. When ctx ends, what could not be
// looked at is taken to be there: the run itself finds out.
func (m Machine) Check(ctx context.Context, list []*tasks.Task) [][]Lack {
	p := probePythons(ctx, list)
	devices, known := m.devices(ctx, list)
	isolation := m.isolation(ctx, list)
	all := make([][]Lack, len(list))
	for i, t := range list {
		for _, say := range t.Missing {
			all[i] = append(all[i], stops(Data, say))
		}
		all[i] = append(all[i], p.lacks(t)...)
		if known {
			if err := gpu.Check(devices, t.Needs.GPUs, t.Needs.GPUMemory); err != nil {
				all[i] = append(all[i], stops(GPU, strings.TrimPrefix(err.Error(), "the task needs ")))
			}
		}
		all[i] = append(all[i], memoryLacks(t, totalMemory())...)
		all[i] = append(all[i], m.sandboxLacks(t, isolation)...)
		all[i] = append(all[i], programLacks(t)...)
		if t.Needs.Terms != "" {
			all[i] = append(all[i], Lack{Kind: Terms, Say: t.Needs.Terms})
		}
	}
	return all
}

// devices reads the GPUs if any task asks for one.
func (m Machine) devices(ctx context.Context, list []*tasks.Task) (found []gpu.Device, known bool) {
	if m.GPUs == nil {
		return nil, false
	}
	for _, t := range list {
		if t.Needs.GPUs > 0 || t.Needs.GPUMemory > 0 {
			found, err := m.GPUs(ctx)
			return found, err == nil
		}
	}
	return nil, false
}

// isolation probes the sandbox if any task asks something of it.
func (m Machine) isolation(ctx context.Context, list []*tasks.Task) sandbox.Isolation {
	asks := slices.ContainsFunc(list, func(t *tasks.Task) bool { return t.Needs.Grading.Mounts })
	if !asks || m.Refused != nil || m.Sandbox.Probe == nil {
		return sandbox.Isolation{}
	}
	return m.Sandbox.Probe(ctx).Isolation
}

func (m Machine) sandboxLacks(t *tasks.Task, can sandbox.Isolation) []Lack {
	switch {
	case m.Refused != nil:
		return []Lack{stops(Sandbox, m.Refused.Error())}
	case t.Needs.Grading.Mounts && !can.Targets:
		return []Lack{grading(Sandbox, fmt.Sprintf(
			"a sandbox that shows the grader's files at paths of their own, which %s cannot; bwrap can, and proctor doctor says what it needs", m.Sandbox.Name))}
	}
	return nil
}

// memoryLacks compares with the machine's memory, 0 when that is unknown. A
// fiftieth is left to the kernel's own: "16 GB" machines have a little less.
func memoryLacks(t *tasks.Task, total int64) []Lack {
	if need := t.Needs.MemoryBytes; total > 0 && need > total+total/50 {
		return []Lack{stops(Memory, fmt.Sprintf("%s of memory, this machine has %s", gib(need), gib(total)))}
	}
	return nil
}

func gib(n int64) string { return fmt.Sprintf("%.3g GiB", float64(n)/(1<<30)) }

// Stopping returns the words of what keeps a run from starting.
func Stopping(lacks []Lack) []string {
	var words []string
	for _, l := range lacks {
		if l.Stops {
			words = append(words, l.Say)
		}
	}
	return words
}

// Insist returns the lacks of which a person says that the task can do without
// them: Python, its modules and memory stop nothing any more.
func Insist(lacks []Lack) []Lack {
	lacks = slices.Clone(lacks)
	for i, l := range lacks {
		lacks[i].Stops = l.Stops && l.Kind != Python && l.Kind != Module && l.Kind != Memory
	}
	return lacks
}

// Remarks returns the words of what a run can start without.
func Remarks(lacks []Lack) []string {
	var words []string
	for _, l := range lacks {
		if !l.Stops {
			words = append(words, l.String())
		}
	}
	return words
}

// Ready reports whether a task can be run and graded.
func Ready(lacks []Lack) bool {
	return !slices.ContainsFunc(lacks, func(l Lack) bool { return l.Stops || l.Grading })
}

// Kinds says in a few words what kinds of things are lacking: "data, a GPU".
func Kinds(lacks []Lack) string {
	var names []string
	for _, l := range lacks {
		if name := kindWords[l.Kind]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

var kindWords = map[Kind]string{
	Data: "data", Python: "Python", Module: "Python modules", GPU: "a GPU", Memory: "memory",
	Sandbox: "a sandbox", Program: "a program", Terms: "terms",
}
