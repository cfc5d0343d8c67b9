package needs

import (
	"os/exec"
	"slices"
	"strings"

	"proctor/tasks"
)

// programLacks says which program a grader lacks.
func programLacks(t *tasks.Task) []Lack {
	commands := t.Needs.Grading.Commands
	there := slices.ContainsFunc(commands, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
	if there || len(commands) == 0 {
		return nil
	}
	return []Lack{grading(Program, "the program "+strings.Join(commands, " or ")+
		", so a person would enter the result")}
}
