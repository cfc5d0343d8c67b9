// Package human is the agent that is a person: one shell in the workspace,
// on the same clock and with the same grader as any other agent.
package human

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"proctor/agents"
	"proctor/tasks"
)

// Files of the workspace that are written for the person.
const (
	instructionFile = "INSTRUCTION.md"
	hintsFile       = "HINTS.md"
)

// Kind returns the agent's entry of the roster. It has no configuration.
func Kind() agents.Kind {
	return agents.Kind{
		Name:    "human",
		Summary: "you are the agent: a shell in the workspace, on the clock; exit submits",
		NoModel: true,
		Person:  true,
		Check:   func(context.Context, *tasks.Task, agents.Options) []string { return nil },
		New:     func(agents.Options) (agents.Agent, error) { return Agent{}, nil },
	}
}

// Agent is the human agent.
type Agent struct{}

// Run writes the instruction to the workspace and gives the person a shell.
// It returns when the shell ends, whatever its exit status: that of an
// interactive shell is the status of its last command.
func (Agent) Run(ctx context.Context, s *agents.Session) error {
	file, err := layInstruction(s)
	if err != nil {
		return fmt.Errorf("human: write the instruction to the workspace: %w", err)
	}
	plan := func(status agents.PlanStatus) {
		s.Plan([]agents.PlanEntry{{
			Content: "work in the terminal; exit submits", Priority: "high", Status: status,
		}})
	}
	plan(agents.InProgress)

	watch, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		passHints(watch, s)
	}()
	obs, err := s.Run(ctx, agents.Action{
		Kind:        agents.Execute,
		Title:       "a shell in the workspace",
		Shell:       shell(banner(s.Task, s.Remaining(), file)),
		Interactive: true,
	})
	cancel()
	<-done
	if err != nil {
		return fmt.Errorf("human: the shell: %w", err)
	}
	plan(agents.Completed)
	s.Message(fmt.Sprintf("Worked for %s and submitted.", time.Duration(obs.Seconds*float64(time.Second)).Round(time.Second)))
	return nil
}

// layInstruction writes the task's instruction beside the task's own files,
// never over one of them, and returns where it is.
func layInstruction(s *agents.Session) (string, error) {
	text := []byte(s.Task.Instruction)
	file := instructionFile
	if there, err := s.ReadFile(file, int64(len(text))+1); err == nil {
		if string(there) == string(text) {
			return file, nil
		}
		file = "PROCTOR-" + instructionFile
	}
	return file, s.WriteFile(file, text)
}

// passHints appends each hint to a file, the one place where it can be shown
// without disturbing what is on the terminal, until ctx ends.
func passHints(ctx context.Context, s *agents.Session) {
	var all strings.Builder
	if there, err := s.ReadFile(hintsFile, 1<<20); err == nil {
		all.Write(there) // the task may have such a file of its own
	}
	for {
		for _, hint := range s.Hints() {
			fmt.Fprintf(&all, "- %s (%s)\n", hint.Text, hint.Author)
			reply := "written to " + hintsFile + " in the workspace"
			if err := s.WriteFile(hintsFile, []byte(all.String())); err != nil {
				reply = fmt.Sprintf("could not be written to %s: %v", hintsFile, err)
			}
			s.Delivered(hint.ID, agents.Queued, reply)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.HintArrived():
		}
	}
}

// banner says in a few lines what the person has to know.
func banner(task *tasks.Task, left agents.Remaining, file string) []string {
	title := task.Title
	if title == "" {
		title = task.Ref
	}
	lines := []string{title, "You are the agent. The instruction is in " + file + "."}
	if len(task.Outputs) > 0 {
		lines = append(lines, "What is graded: "+strings.Join(task.Outputs, ", "))
	}
	if task.Starter != "" {
		lines = append(lines, "Starter code: "+task.Starter)
	}
	clock := "The clock is running."
	if left.Time != nil {
		clock = fmt.Sprintf("The clock is running: %s left.", left.Time.Round(time.Second))
	}
	return append(lines, clock, "exit or ctrl+d ends your work and submits it.")
}

// shell is the command that shows the banner and becomes the shell.
func shell(banner []string) string {
	var b strings.Builder
	b.WriteString(`printf '  %s\n'`)
	for _, line := range banner {
		b.WriteString(" " + quote(line))
	}
	b.WriteString("; if command -v bash >/dev/null 2>&1; then exec bash -i; fi; exec sh -i")
	return b.String()
}

// quote makes a word of the shell from a line of text, without the control
// characters that a task's title has no business with.
func quote(line string) string {
	printable := slices.DeleteFunc([]rune(line), unicode.IsControl)
	return "'" + strings.ReplaceAll(string(printable), "'", `'\''`) + "'"
}
