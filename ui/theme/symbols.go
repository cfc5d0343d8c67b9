package theme

import (
	"proctor/agents"
	"proctor/runner/event"
	"proctor/tasks"
)

// Symbols. Each is one cell wide.
const (
	Logo      = "◆"
	Done      = "✓"
	Cross     = "✗"
	Flag      = "⚑"
	Warning   = "⚠"
	Question  = "?"
	Bullet    = "·"
	Arrow     = "▸"
	Pick      = "●"
	NoPick    = "○"
	More      = "…"
	PauseBars = "‖"
	Up        = "↑"
	Down      = "↓"
	Diamond   = "◇"
	Say       = "»"
	Star      = "★"

	Folded     = "+"
	Unfolded   = "−"
	Branch     = "├"
	LastBranch = "└"
)

// A Sign is a state's symbol, word and tone, always shown together.
type Sign struct {
	Symbol, Word string
	Tone         Tone
}

// Phase returns the sign of a run's phase.
func Phase(p event.Phase, frozen bool) Sign {
	switch p {
	case event.Preparing:
		return Sign{"◌", "preparing", Info}
	case event.Running:
		return Sign{"●", "running", Good}
	case event.Paused:
		if frozen {
			return Sign{"❄", "frozen", Info}
		}
		return Sign{PauseBars, "paused", Warn}
	case event.Waiting:
		return Sign{Question, "waiting for you", Hint}
	case event.Finishing:
		return Sign{"◍", "finishing", Info}
	case event.Grading:
		return Sign{"◐", "grading", Info}
	case event.Done:
		return Sign{Done, "done", Good}
	case event.Failed:
		return Sign{Cross, "failed", Bad}
	case event.Interrupted:
		return Sign{Cross, "interrupted", Bad}
	}
	return Sign{"◌", "connecting", Quiet}
}

// Plan returns the sign of a plan entry.
func Plan(s agents.PlanStatus) Sign {
	switch s {
	case agents.Completed:
		return Sign{Done, "done", Good}
	case agents.InProgress:
		return Sign{Arrow, "now", Accent}
	}
	return Sign{NoPick, "to do", Quiet}
}

// ActionKind returns a symbol for what an action does.
func ActionKind(k agents.ActionKind) string {
	switch k {
	case agents.Execute:
		return "$"
	case agents.Edit:
		return "±"
	case agents.Read:
		return "≡"
	case agents.Delete:
		return "−"
	case agents.Move:
		return "→"
	case agents.Search:
		return "⌕"
	case agents.Think:
		return "∴"
	case agents.Fetch:
		return "↓"
	}
	return Bullet
}

// Status returns the sign of how grading ended.
func Status(s tasks.Status) Sign {
	switch s {
	case tasks.Graded:
		return Sign{Done, "graded", Good}
	case tasks.NoSubmission:
		return Sign{Cross, "no submission", Warn}
	case tasks.InvalidSubmission:
		return Sign{Cross, "invalid submission", Bad}
	case tasks.GraderFailed:
		return Sign{Warning, "grader failed", Bad}
	case tasks.GraderUnavailable:
		return Sign{Warning, "grader unavailable", Warn}
	case tasks.DataMissing:
		return Sign{Warning, "data missing", Warn}
	}
	return Sign{Question, "unknown outcome", Quiet}
}

// Judged returns the sign of a verdict: how grading ended, or that a person
// gave the score.
func Judged(v *tasks.Verdict) Sign {
	if v.Entered != nil {
		return Sign{Flag, "entered by hand", Hint}
	}
	return Status(v.Status)
}

// Spinner returns the frame of the running action's symbol at a moment given
// in quarter seconds.
func Spinner(quarter int64) string {
	frames := [...]string{"◐", "◓", "◑", "◒"}
	return frames[((quarter%4)+4)%4]
}
