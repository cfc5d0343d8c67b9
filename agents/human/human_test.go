package human

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"proctor/agents"
	"proctor/agents/roster/agentstest"
	"proctor/tasks"
)

// TestShell works a real shell on a real pty.
func TestShell(t *testing.T) {
	h := agentstest.New(t, &tasks.Task{
		Ref:         "test/hands",
		Title:       "Don't \x1b[31mpanic",
		Instruction: "# Write 42\n",
		Outputs:     []string{"answer.txt"},
		Starter:     "python3 train.py",
	})
	h.Time = time.Hour
	h.Hint("h1", "it is 42")
	h.Keys = "cat INSTRUCTION.md\nwhile ! test -s HINTS.md; do :; done\necho 42 > answer.txt\nfalse\nexit\n"
	agent, err := Kind().New(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := agent.Run(ctx, h.Session(1)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(h.Dir, "answer.txt")); err != nil || string(got) != "42\n" {
		t.Errorf("answer %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(h.Dir, "HINTS.md")); err != nil || string(got) != "- it is 42 (tester)\n" {
		t.Errorf("hints %q, %v", got, err)
	}
	if len(h.Replies) != 1 || h.Replies[0].Text != "written to HINTS.md in the workspace" {
		t.Errorf("replies: %+v", h.Replies)
	}
	if len(h.Actions) != 1 || !h.Actions[0].Action.Interactive {
		t.Fatalf("actions: %+v, want one that is interactive", h.Actions)
	}
	screen := h.Actions[0].Observation.Text
	for _, want := range []string{
		"  Don't [31mpanic\n", "The instruction is in INSTRUCTION.md.", "What is graded: answer.txt",
		"Starter code: python3 train.py", "1h0m0s left", "exit or ctrl+d ends", "# Write 42\n",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("the terminal lacks %q:\n%s", want, screen)
		}
	}
	if !strings.HasPrefix(h.LastPlan(), "completed") {
		t.Errorf("plan:\n%s", h.LastPlan())
	}
}

// TestInstructionKeepsTaskFiles checks that a file of the task's own of the
// same name is left alone.
func TestInstructionKeepsTaskFiles(t *testing.T) {
	for there, want := range map[string]string{
		"":          "INSTRUCTION.md",
		"the text":  "INSTRUCTION.md",
		"something": "PROCTOR-INSTRUCTION.md",
		"the texts": "PROCTOR-INSTRUCTION.md",
	} {
		h := agentstest.New(t, &tasks.Task{Instruction: "the text"})
		if there != "" {
			if err := h.WriteFile("INSTRUCTION.md", []byte(there)); err != nil {
				t.Fatal(err)
			}
		}
		file, err := layInstruction(h.Session(1))
		if err != nil || file != want {
			t.Errorf("over %q: %s, %v, want %s", there, file, err, want)
		}
		if got, _ := h.ReadFile(file, 100); string(got) != "the text" {
			t.Errorf("over %q: %s holds %q", there, file, got)
		}
		if got, _ := h.ReadFile("INSTRUCTION.md", 100); there != "" && string(got) != there {
			t.Errorf("over %q: the task's file holds %q now", there, got)
		}
	}
}
