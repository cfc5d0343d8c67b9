package grade

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"proctor/tasks"
)

// maxReason is how many characters of a grader's own words a verdict keeps.
const maxReason = 300

// NoReward returns the verdict on a grader's job that ended without a
// result: it ran out of time, was killed, crashed, or just wrote nothing. The
// reason ends with the last lines of the job's output.
func NoReward(j tasks.JobResult, limit time.Duration) *tasks.Verdict {
	var what string
	switch {
	case j.TimedOut:
		what = fmt.Sprintf("the grader did not end within its limit of %s and was stopped", limit)
	case j.Signal != "":
		what = fmt.Sprintf("the grader was killed by %s and wrote no reward", j.Signal)
	case j.ExitCode != 0:
		what = fmt.Sprintf("the grader ended with status %d and wrote no reward", j.ExitCode)
	default:
		what = "the grader ended without writing a reward"
	}
	return Failed(what, j.Output)
}

// Failed returns the GraderFailed verdict for a reason, completed by the
// last lines of what the grader printed, if anything.
func Failed(reason, output string) *tasks.Verdict {
	if tail := Tail(output); tail != "" {
		reason += ": " + tail
	}
	return &tasks.Verdict{Status: tasks.GraderFailed, Reason: reason}
}

// Tail returns the last three lines of a program's output that say
// something, as one line.
func Tail(output string) string {
	const enough = 64 << 10
	if len(output) > enough {
		output = output[len(output)-enough:]
	}
	var last []string
	lines := strings.Split(output, "\n")
	for i := len(lines) - 1; i >= 0 && len(last) < 3; i-- {
		if line := OneLine(lines[i], maxReason); line != "" {
			last = append([]string{line}, last...)
		}
	}
	text := []rune(strings.Join(last, " | "))
	if len(text) > maxReason {
		// The end of a traceback says more than its beginning.
		text = append([]rune("…"), text[len(text)-maxReason+1:]...)
	}
	return string(text)
}

// OneLine makes text of a program fit for a message: one line of at most
// limit characters, without escape sequences, control characters or invalid
// bytes, spaces collapsed.
func OneLine(text string, limit int) string {
	// Far more than limit characters could not show, so the rest need not be
	// looked at.
	if most := 16 * limit; len(text) > most {
		text = text[:most]
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, ansi.Strip(strings.ToValidUTF8(text, "\uFFFD")))
	runes := []rune(strings.Join(strings.Fields(clean), " "))
	if len(runes) > limit {
		runes = append(runes[:limit-1], '…')
	}
	return string(runes)
}
