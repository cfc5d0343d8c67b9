// Package plain says what happens in a run in one readable line per event:
// no cursor movement, no colour, no spinner; for logs, pipes and screen
// readers.
package plain

import (
	"fmt"
	"strings"
	"time"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/tasks/grade"
	"proctor/ui/pane"
)

// Line returns an event's line without its end, or "" for one that a person
// need not see. s is the state after the event.
func Line(e event.Event, s *event.State) string {
	say, known := lines[e.Type]
	if !known {
		return ""
	}
	text := say(e, s)
	if text == "" {
		return ""
	}
	work := time.Duration(e.Work * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s %8s  %s", e.At.Local().Format("15:04:05"), work, oneLine(text))
}

// lines says each type of event.
var lines = map[event.Type]func(event.Event, *event.State) string{
	event.TypeRunStarted: say(func(r event.RunStarted, s *event.State) string {
		return fmt.Sprintf("run %s: %s by %s in %s, %s", r.ID, r.Task.Ref, r.Agent, orNone(r.Sandbox), pane.BudgetText(r.Budget))
	}),
	event.TypeState: say(func(c event.StateChange, _ *event.State) string {
		text := string(c.To)
		if c.Frozen {
			text += " (frozen)"
		}
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		if c.Actor != "" && c.Actor != "proctor" {
			text += " (by " + c.Actor + ")"
		}
		return text
	}),
	event.TypePlan:    say(planLine),
	event.TypeThought: say(func(t event.Text, _ *event.State) string { return "thought: " + t.Text }),
	event.TypeMessage: say(func(t event.Text, _ *event.State) string { return "message: " + t.Text }),
	event.TypeActionStarted: say(func(a event.ActionStarted, _ *event.State) string {
		return fmt.Sprintf("action %d: %s", a.Step, a.Title)
	}),
	event.TypeActionFinished: say(finishedLine),
	event.TypeMetric: say(func(m agents.Metric, s *event.State) string {
		return fmt.Sprintf("%s %s (%s)", m.Name, grade.Format(m.Value, ""), m.Source)
	}),
	event.TypeBudget: say(func(b event.Budget, _ *event.State) string {
		return fmt.Sprintf("budget: %s %s, %.4g of %.4g", b.Dimension, map[string]string{
			"soft": "soft limit reached", "hard": "limit reached", "extended": "extended", "warn": "nearly used",
		}[b.What], b.Used, b.Limit)
	}),
	event.TypeHint: say(func(h event.Hint, _ *event.State) string { return fmt.Sprintf("hint from %s: %s", h.Author, h.Text) }),
	event.TypeHintDelivered: say(func(d event.HintDelivered, _ *event.State) string {
		return fmt.Sprintf("hint %s %s: %s", d.ID, d.How, d.Reply)
	}),
	event.TypeAsk: say(func(a event.Ask, _ *event.State) string {
		return fmt.Sprintf("question %s: %s %q", a.ID, a.Text, a.Options)
	}),
	event.TypeAnswer: say(func(a event.Answer, _ *event.State) string {
		return fmt.Sprintf("answer to %s by %s: %s %s", a.ID, a.Author, a.Choice, a.Text)
	}),
	event.TypeTakeover: say(func(t event.Takeover, _ *event.State) string {
		if t.On {
			return t.Author + " took the terminal over"
		}
		return t.Author + " handed the terminal back"
	}),
	event.TypeMode: say(func(m event.Mode, _ *event.State) string {
		return strings.TrimSpace(fmt.Sprintf("mode: %s %s (by %s)", m.Mode, strings.Join(m.Patterns, ", "), m.Actor))
	}),
	event.TypeUsage: say(func(u event.Usage, s *event.State) string {
		text := fmt.Sprintf("model %s: %d tokens in (%d cached), %d out", u.Model, u.Input, u.Cached, u.Output)
		if s.Usage.UnknownCost {
			return text + ", cost unknown"
		}
		return fmt.Sprintf("%s, $%.4f so far", text, s.Usage.Cost)
	}),
	event.TypeSubmission: say(func(s event.Submission, _ *event.State) string {
		return fmt.Sprintf("submission: %d files, %d bytes, sha256 %.12s", s.Files, s.Bytes, s.SHA256)
	}),
	event.TypeVerdict: say(func(v tasks.Verdict, _ *event.State) string { return VerdictLine(&v) }),
	event.TypeNote:    say(func(n event.Note, _ *event.State) string { return n.Level + ": " + n.Text }),
	event.TypeRunEnded: say(func(r event.RunEnded, _ *event.State) string {
		return "run ended: " + r.Status
	}),
}

func say[T any](text func(T, *event.State) string) func(event.Event, *event.State) string {
	return func(e event.Event, s *event.State) string {
		v, err := event.Decode[T](e)
		if err != nil {
			return err.Error()
		}
		return text(v, s)
	}
}

func planLine(p event.Plan, _ *event.State) string {
	done, now := 0, ""
	for _, e := range p.Entries {
		switch e.Status {
		case agents.Completed:
			done++
		case agents.InProgress:
			now = ", now: " + e.Content
		}
	}
	return fmt.Sprintf("plan: %d of %d done%s", done, len(p.Entries), now)
}

func finishedLine(f event.ActionFinished, s *event.State) string {
	text := fmt.Sprintf("action %s: exit %d after %.1fs", strings.TrimPrefix(f.ID, "a"), f.ExitCode, f.Seconds)
	if f.TimedOut {
		text += ", out of time"
	}
	if f.Error != "" {
		text += ": " + f.Error
	}
	return text
}

// VerdictLine says a verdict in one line.
func VerdictLine(v *tasks.Verdict) string {
	text := "verdict: " + strings.ReplaceAll(string(v.Status), "_", " ")
	if v.Score != nil {
		text += fmt.Sprintf(", %s %s", v.Metric, grade.Format(*v.Score, v.Unit))
	}
	if v.Medal != "" {
		text += ", " + v.Medal + " medal"
	}
	if v.Baseline != nil {
		text += ", baseline " + grade.Format(*v.Baseline, v.Unit)
	}
	if v.Of > 0 {
		text += fmt.Sprintf(", rank %d of %d", v.Rank, v.Of)
	}
	if v.Assisted {
		text += ", assisted"
	}
	if v.Entered != nil {
		text += ", " + Entered(v.Entered)
	}
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	if v.Remedy != "" {
		text += "; " + v.Remedy
	}
	return text
}

// Entered says that a person gave the score, who and when, and their note.
func Entered(e *tasks.Entry) string {
	text := fmt.Sprintf("entered by %s on %s", e.By, e.At.UTC().Format("2006-01-02 15:04 UTC"))
	if e.Note != "" {
		text += fmt.Sprintf(" (%s)", e.Note)
	}
	return text
}

func orNone(s string) string {
	if s == "" {
		return "no sandbox"
	}
	return s
}

// oneLine keeps what an agent wrote from breaking out of its line.
func oneLine(s string) string { return strings.Join(strings.Fields(terminal.Clean(s)), " ") }
