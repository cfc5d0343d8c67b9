package console

import (
	"fmt"
	"strings"

	"proctor/runner/event"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/screen"
	"proctor/ui/theme"
)

// header is the top line: what runs, and how it is.
func (c *Console) header(f pane.Frame, w int) string {
	t, run := c.theme, c.state.Run
	left := screen.Brand(t)
	sep := draw.S(t.Faint, "  ")
	if run.Task.Ref != "" {
		left = append(left, sep, draw.S(t.Text, pane.Clean(run.Task.Ref)), sep, draw.S(t.Muted, pane.Clean(run.Agent)))
		if run.Model != "" {
			left = append(left, draw.S(t.Faint, " "+theme.Bullet+" "), draw.S(t.Muted, pane.Clean(run.Model)))
		}
		left = append(left, sep)
		left = append(left, c.place()...)
	} else {
		left = append(left, sep, draw.S(t.Muted, c.run))
	}
	if c.state.Assisted() {
		badge := theme.Flag + " assisted"
		if w < 100 {
			badge = theme.Flag
		}
		left = append(left, sep, draw.S(t.Tone(theme.Hint), badge))
	}
	if mode := c.state.Mode; mode == "approve" || mode == "step" {
		left = append(left, sep, draw.S(t.Tone(theme.Warn), mode+" mode"))
	}
	sign := c.sign()
	right := []draw.Span{draw.S(t.Muted, c.remaining(f)+"  "), draw.S(t.Pill(sign.Tone), " "+sign.Symbol+" "+strings.ToUpper(sign.Word)+" ")}
	return draw.Row{Base: t.Bar, Left: left, Right: right}.Render(w)
}

// place names the sandbox and says plainly what it does not isolate.
func (c *Console) place() []draw.Span {
	t, run := c.theme, c.state.Run
	if run.Sandbox == "none" {
		return []draw.Span{draw.S(t.Pill(theme.Bad), " "+theme.Warning+" no isolation ")}
	}
	spans := []draw.Span{draw.S(t.Muted, pane.Clean(run.Sandbox))}
	if n := len(run.Isolation); n > 0 {
		spans = append(spans, draw.S(t.Tone(theme.Warn), fmt.Sprintf(" %s %s", theme.Warning, pane.Plural(n, "gap"))))
	}
	return spans
}

// remaining is the time left, or the time spent when there is no limit.
func (c *Console) remaining(f pane.Frame) string {
	switch limit := c.state.Limits.Time; {
	case !c.joined:
		return ""
	case c.state.Phase.Over():
		return pane.Clock(f.Work) + " worked"
	case c.state.Phase == event.Grading:
		return pane.Clock(f.Now.Sub(c.state.Since))
	case limit > 0:
		return pane.Left(limit-f.Work) + " left"
	}
	return pane.Clock(f.Work) + " worked"
}

// notices are the lines below the header that say what a person must know or
// can do now; mostly there are none.
func (c *Console) notices(f pane.Frame, w int) []string {
	var lines []string
	add := func(tone theme.Tone, text, keys string) {
		t := c.theme
		row := draw.Row{Left: []draw.Span{draw.S(t.Tone(tone), " ▎"), draw.S(t.Tone(tone).Bold(), text)}}
		if keys != "" {
			row.Right = []draw.Span{draw.S(t.Muted, keys+" ")}
		}
		lines = append(lines, row.Render(w))
	}
	if c.replay != nil {
		lines = append(lines, c.progress(w))
	}
	s := &c.state
	switch {
	case c.ended != nil:
		add(theme.Bad, "connection lost: "+pane.Clean(c.ended.Error()), "proctor attach "+c.run)
	case c.interrupted():
		add(theme.Bad, "interrupted: the run's supervisor is gone; what it recorded is whole", "proctor grade "+c.run)
	case c.term.Taken:
		add(theme.Hint, "you have the terminal; every key goes there", theme.HandBack+" hands back")
	case !c.isLive:
	case s.TakenOver:
		add(theme.Hint, "somebody has taken over the terminal", "t takes it")
	case s.Phase == event.Waiting && s.Ask != nil:
		add(theme.Hint, theme.Question+" "+pane.Clean(s.Ask.Text), "a answers")
	case s.Phase == event.Paused && s.Frozen:
		add(theme.Info, "frozen"+by(s)+c.holding(), "P goes on")
	case s.Phase == event.Paused:
		add(theme.Warn, "paused"+by(s), "p goes on")
	case s.PausePending && s.Phase == event.Running:
		add(theme.Warn, "pausing after this action", "")
	case s.Run.Agent == "human" && s.Phase == event.Running:
		add(theme.Hint, "you are the agent", "t types into the terminal")
	case s.Phase == event.Failed:
		add(theme.Bad, "failed: "+pane.Clean(s.Reason), "")
	}
	if s.Verdict != nil {
		add(theme.Good, "the verdict is there", "v shows it")
	}
	return lines
}

// holding says what a frozen run still holds.
func (c *Console) holding() string {
	text := ""
	if m := c.state.GPU.Holding(); m > 0 {
		text = ", holding " + pane.Bytes(m) + " of GPU memory"
	}
	if m := c.state.Resources.Memory; m > 0 {
		and := ", holding "
		if text != "" {
			and = " and "
		}
		text += and + pane.Bytes(m) + " of memory"
	}
	return text
}

func by(s *event.State) string {
	text := ""
	if s.Actor != "" {
		text = " by " + pane.Clean(s.Actor)
	}
	if s.Reason != "" {
		text += ": " + pane.Clean(s.Reason)
	}
	return text
}

// progress is the line of a replay.
func (c *Console) progress(w int) string {
	t, p := c.theme, c.replay
	word := "replay"
	if p.Paused {
		word = theme.PauseBars + " replay halted"
	}
	fraction := 0.0
	if p.Total > 0 {
		fraction = p.At / p.Total
	}
	left := []draw.Span{draw.S(t.Tone(theme.Info), " ▎"), draw.S(t.Tone(theme.Info).Bold(), word), draw.S(t.Muted, fmt.Sprintf("  %s×  ", trimmed(p.Speed)))}
	right := []draw.Span{draw.S(t.Muted, fmt.Sprintf(" %s of %s ", pane.Took(p.At), pane.Took(p.Total)))}
	room := w
	for _, s := range append(left[:len(left):len(left)], right...) {
		room -= draw.Width(s.Text)
	}
	left = append(left, pane.Bar(t, room-1, fraction, theme.Info)...)
	return draw.Row{Left: left, Right: right}.Render(w)
}

func trimmed(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// vitals is the line of figures that a small screen always shows.
func (c *Console) vitals(f pane.Frame, w int) string {
	t, s := c.theme, &c.state
	list := pane.Spending(s, f.Work)
	left := []draw.Span{draw.S(t.Muted, " time ")}
	if list[0].Limit != "" {
		left = append(left, list[0].Bar(t, 20, s.Run.Soft)...)
		left = append(left, draw.S(t.Muted, " "+list[0].Used+" of "+list[0].Limit))
	} else {
		left = append(left, draw.S(t.Text, list[0].Used))
	}
	steps := fmt.Sprintf("   %s", pane.Plural(s.Steps, "step"))
	if l := s.Limits.Steps; l > 0 {
		steps = fmt.Sprintf("   step %d of %d", s.Steps, l)
	}
	left = append(left, draw.S(t.Muted, steps))
	var right []draw.Span
	if s.Best != nil {
		right = append(right, draw.S(t.Muted, "best "), draw.S(t.Tone(theme.Accent).Bold(), pane.Unit(*s.Best, s.Run.Task.Unit)))
		if medal := pane.Reached(s.Run.Task.Thresholds, *s.Best, s.Run.Task.HigherIsBetter); medal != "" {
			style, _ := t.Medal(medal)
			right = append(right, draw.S(style.Bold(), " "+theme.Pick+" "+medal))
		}
		right = append(right, draw.S(t.Text, " "))
	}
	return draw.Row{Left: left, Right: right}.Render(w)
}

// footer shows what was said last, what is being looked for, or the keys.
func (c *Console) footer(w int) string {
	t := c.theme
	switch {
	case c.find != nil:
		left := []draw.Span{draw.S(t.Key, " find "), draw.S(t.Muted, "/ "), draw.S(t.Text, c.find.Text)}
		return draw.Row{Base: t.Bar, Left: left, Right: []draw.Span{draw.S(t.Muted, "enter finds · esc leaves ")}}.Render(w)
	case c.message != "":
		tone := theme.Info
		symbol := theme.Bullet
		if c.bad {
			tone, symbol = theme.Bad, theme.Cross
		}
		return draw.Row{Base: t.Bar, Left: []draw.Span{draw.S(t.Tone(tone).Bold(), " "+symbol+" "+c.message)}}.Render(w)
	case c.term.Taken:
		left := []draw.Span{draw.S(t.Key, " "+theme.HandBack), draw.S(t.Muted, " hands the terminal back to the agent")}
		return draw.Row{Base: t.Bar, Left: left}.Render(w)
	}
	return screen.Footer(t, c.where(), w, c.disabled)
}
