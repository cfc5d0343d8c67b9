package verdict

import (
	"fmt"
	"strings"

	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// hero is the part that is read from across the room: medal and score, or
// why there is none, with what it means below.
func (s *Verdict) hero(t *theme.Theme, v *tasks.Verdict, w int, roomy bool) []string {
	word, style := headline(t, v)
	indent := draw.S(t.Text, "   ")
	var lines []string
	if roomy {
		lines = append(lines, draw.Spaces(w))
	}
	score := ""
	if v.Score != nil {
		score = pane.Value(*v.Score)
	}
	left, okLeft := big(word, w/2)
	right, okRight := big(score, w/2-6)
	if okLeft && okRight && roomy {
		for i := range left {
			lines = append(lines, draw.Line(w, indent, draw.S(style, left[i]), draw.S(t.Text, "      "), draw.S(t.Strong, right[i]), draw.S(t.Muted, unitBeside(v, i))))
		}
	} else {
		lines = append(lines, draw.Line(w, indent, draw.S(style, theme.Star+" "+word), draw.S(t.Text, "  "), draw.S(t.Strong, score), draw.S(t.Muted, " "+pane.Clean(v.Unit))))
	}
	lines = append(lines, draw.Spaces(w))
	for _, l := range s.meaning(t, v, w-6) {
		lines = append(lines, draw.Fit("   "+l, w))
	}
	if roomy {
		lines = append(lines, draw.Spaces(w))
	}
	return lines
}

// unitBeside is the unit, on the last of the large lines.
func unitBeside(v *tasks.Verdict, line int) string {
	if line != 2 {
		return ""
	}
	return " " + pane.Clean(v.Unit)
}

// headline is the one word that says it all.
func headline(t *theme.Theme, v *tasks.Verdict) (string, theme.Style) {
	switch v.Status {
	case tasks.Graded:
		style, medal := t.Medal(v.Medal)
		switch {
		case medal:
			return strings.ToUpper(v.Medal), style.Bold()
		case v.Success != nil && *v.Success:
			return "PASS", t.Tone(theme.Good).Bold()
		case v.Success != nil:
			return "FAIL", t.Tone(theme.Bad).Bold()
		case v.Thresholds != (tasks.Thresholds{}):
			return "NO MEDAL", t.Muted.Bold()
		}
		if v.Entered != nil {
			return "ENTERED", t.Tone(theme.Hint).Bold()
		}
		return "GRADED", t.Tone(theme.Good).Bold()
	case tasks.NoSubmission:
		return "NOTHING", t.Tone(theme.Warn).Bold()
	case tasks.InvalidSubmission:
		return "INVALID", t.Tone(theme.Bad).Bold()
	}
	return "UNGRADED", t.Tone(theme.Warn).Bold()
}

// meaning is a line or a few that put the headline into words.
func (s *Verdict) meaning(t *theme.Theme, v *tasks.Verdict, w int) []string {
	if v.Status != tasks.Graded {
		return s.trouble(t, v, w)
	}
	facts := []draw.Span{}
	add := func(style theme.Style, text string) {
		if text == "" {
			return
		}
		if len(facts) > 0 {
			facts = append(facts, draw.S(t.Faint, "  "+theme.Bullet+"  "))
		}
		facts = append(facts, draw.S(style, text))
	}
	if v.Rank > 0 && v.Of > 0 {
		add(t.Strong, fmt.Sprintf("rank %d of %d", v.Rank, v.Of))
	}
	if v.Improvement != nil {
		tone := theme.Good
		if *v.Improvement < 0 {
			tone = theme.Bad
		}
		add(t.Tone(tone), fmt.Sprintf("%+.1f %% over the baseline", *v.Improvement*100))
	}
	if v.MarginClosed != nil {
		add(t.Text, fmt.Sprintf("%.0f %% of the margin closed", *v.MarginClosed*100))
	}
	if v.AboveMedian != nil {
		add(t.Text, map[bool]string{true: "above the median", false: "below the median"}[*v.AboveMedian])
	}
	add(t.Muted, s.next(v))
	lines := []string{draw.Line(w, facts...)}
	if a := s.assisted(v); a != "" {
		lines = append(lines, draw.Line(w, draw.S(t.Tone(theme.Hint), theme.Flag+" "+a)))
	} else {
		lines = append(lines, draw.Line(w, draw.S(t.Muted, theme.Done+" unassisted")))
	}
	if v.Entered != nil {
		lines = append(lines, s.entered(t, v.Entered, w))
	}
	for _, flag := range v.Flags {
		lines = append(lines, draw.Line(w, draw.S(t.Tone(theme.Warn), theme.Warning+" "+pane.Clean(flag))))
	}
	return lines
}

// instead says why a person had to give the score.
var instead = map[tasks.Status]string{
	tasks.GraderUnavailable: "no grader was available",
	tasks.GraderFailed:      "the grader failed",
	tasks.DataMissing:       "the answers were missing",
}

// entered tells who gave the score, since no grader did.
func (s *Verdict) entered(t *theme.Theme, e *tasks.Entry, w int) string {
	when := e.At.UTC().Format("2 Jan 2006 15:04 UTC")
	spans := []draw.Span{
		draw.S(t.Tone(theme.Hint).Bold(), theme.Flag+" entered by "+pane.Clean(e.By)),
		draw.S(t.Muted, ", "+when+"; "+instead[e.Instead]),
	}
	if e.Note != "" {
		spans = append(spans, draw.S(t.Text, "  "+theme.Say+" "+pane.Clean(e.Note)))
	}
	return draw.Line(w, spans...)
}

// next says what was missing to the next medal.
func (s *Verdict) next(v *tasks.Verdict) string {
	if v.Score == nil {
		return ""
	}
	th := v.Thresholds
	for _, m := range []struct {
		name string
		at   *float64
	}{{"bronze", th.Bronze}, {"silver", th.Silver}, {"gold", th.Gold}} {
		if m.at == nil {
			continue
		}
		gap := *m.at - *v.Score
		if !v.HigherIsBetter {
			gap = -gap
		}
		if gap > 0 {
			return pane.Value(gap) + " short of " + m.name
		}
	}
	return ""
}

// assisted tells in words what a person did.
func (s *Verdict) assisted(v *tasks.Verdict) string {
	if !v.Assisted {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		n    int
		noun string
	}{{v.Hints, "hint"}, {v.Extensions, "extension"}, {v.Takeovers, "takeover"}, {s.state.Edits, "edit"}} {
		if p.n > 0 {
			parts = append(parts, pane.Plural(p.n, p.noun))
		}
	}
	if len(parts) == 0 {
		return "assisted"
	}
	return "assisted: " + strings.Join(parts, ", ")
}

// explained says in a sentence what each outcome that is not a score means.
var explained = map[tasks.Status]string{
	tasks.NoSubmission:      "The agent ended without leaving anything to grade.",
	tasks.InvalidSubmission: "There was a submission, but it is not one that can be scored.",
	tasks.GraderFailed:      "The grader itself failed; the submission is kept, and this says nothing about it.",
	tasks.GraderUnavailable: "The grader cannot run on this machine; the submission is kept.",
	tasks.DataMissing:       "The task's data is not here, so nothing could be judged.",
}

func (s *Verdict) trouble(t *theme.Theme, v *tasks.Verdict, w int) []string {
	lines := []string{draw.Line(w, draw.S(t.Strong, explained[v.Status]))}
	part := func(name string, tone theme.Tone, text string, most int) {
		for i, l := range draw.Wrap(strings.TrimSpace(terminal.Clean(text)), w-8) {
			if i == most {
				break
			}
			label := ""
			if i == 0 {
				label = name
			}
			lines = append(lines, draw.Line(w, draw.S(t.Tone(tone), fmt.Sprintf("%-8s", label)), draw.S(t.Text, l)))
		}
	}
	if v.Reason != "" {
		part("why", theme.Bad, v.Reason, 4)
	}
	remedy := v.Remedy
	if remedy == "" && v.Status == tasks.GraderFailed {
		remedy = "enter a result: proctor grade " + s.run + " --score X --by NAME"
	}
	if remedy != "" {
		part("remedy", theme.Good, remedy, 3)
	}
	if a := s.assisted(v); a != "" {
		lines = append(lines, draw.Line(w, draw.S(t.Tone(theme.Hint), theme.Flag+" "+a)))
	}
	return lines
}
