package research

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
)

const (
	// logFile is where the research log is in the workspace.
	logFile = "research_log.md"
	// mostLog is how much of the log a prompt has before it is condensed, in
	// bytes.
	mostLog = 12_000
	// mostOfStep bounds each part of a step's entry, in bytes.
	mostOfStep = 600
)

// researchLog is what has been done and learned, in the model's own words.
type researchLog struct {
	session *agents.Session
	file    string
	before  string // what the file had when the run began
	entries []logEntry
	// digest stands for the entries before the one numbered digested.
	digest   string
	digested int
	warned   bool
}

type logEntry struct {
	step int // which it is of, or came after
	text string
}

// openLog begins a log, going on with one that is there.
func openLog(s *agents.Session) *researchLog {
	l := &researchLog{session: s, file: logFile}
	there, err := s.ReadFile(logFile, mostContent)
	switch {
	case err == nil && len(there) < mostContent:
		l.before = string(there)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		l.file = "proctor_" + logFile // what is there is not ours to replace
	}
	return l
}

// record adds a step, with what the model then made of its observation.
func (l *researchLog) record(s *step, reflection string) {
	var b strings.Builder
	fmt.Fprintf(&b, "## Step %d: %s\n", s.number, s.reply.action.name)
	part := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, strings.ReplaceAll(headTail(text, mostOfStep), "\n", "\n  "))
		}
	}
	part("Input", s.reply.inputJSON())
	part("Reason", s.reply.thought)
	part("Observation", s.observation)
	part("Reflection", reflection)
	for _, hint := range s.hints {
		part("The person said", hint)
	}
	l.add(s.number, b.String())
}

func (l *researchLog) add(step int, text string) {
	l.entries = append(l.entries, logEntry{step, strings.TrimSpace(text) + "\n"})
	if err := l.session.WriteFile(l.file, []byte(l.whole())); err != nil && !l.warned {
		l.warned = true
		l.session.Note(fmt.Sprintf("the research log is kept but cannot be written to the workspace: %v", err))
	}
}

// whole is the log as its file has it.
func (l *researchLog) whole() string {
	var b strings.Builder
	if b.WriteString(l.before); l.before == "" {
		b.WriteString("# Research log\n")
	}
	for _, e := range l.entries {
		b.WriteString("\n" + e.text)
	}
	return b.String()
}

// text is the log of the steps before the one given, as a prompt has it.
func (l *researchLog) text(before int) string {
	parts := []string{}
	if l.digest != "" {
		parts = append(parts, l.digest)
	} else if l.before != "" {
		parts = append(parts, headTail(l.before, mostLog/2))
	}
	for _, e := range l.entries[l.digested:] {
		if e.step < before {
			parts = append(parts, e.text)
		}
	}
	return strings.Join(parts, "\n")
}

// condense has the model put the older part of a log that has grown long
// into a few words. Where it cannot, the head and tail are kept.
func (r *run) condense(ctx context.Context) error {
	first := r.firstShown()
	older := r.log.text(first)
	if len(older) <= mostLog {
		return nil
	}
	plan := ""
	if n := len(r.steps); n > 0 {
		plan = r.steps[n-1].reply.plan
	}
	digest, err := r.fromLog(ctx, older, "Condense it to what matters for going on with this plan, in at most 600 words. "+
		"Keep every result with its number and where it came from, what failed and why, and what the person said.\n\nThe plan:\n"+plan)
	if errors.Is(err, errInterrupted) {
		return err
	}
	if _, err := softened(err); err != nil {
		return err
	}
	if digest == "" || len(digest) > mostLog {
		digest = headTail(older, mostLog/2)
	}
	for r.log.digested < len(r.log.entries) && r.log.entries[r.log.digested].step < first {
		r.log.digested++
	}
	r.log.digest = "(condensed) " + digest
	r.Note(fmt.Sprintf("the research log of the steps before step %d is condensed from %d characters to %d; the file has it whole",
		first, len(older), len(digest)))
	return nil
}

// fromLog asks the model something about the log.
func (r *run) fromLog(ctx context.Context, log, question string) (string, error) {
	reply, err := r.call(ctx, llm.Request{
		System:   "You keep the research log of a machine learning project. You answer from it alone, briefly, and never make anything up.",
		Messages: []llm.Message{llm.Say("The research log:\n\n" + headTail(log, r.mostRead()) + "\n\n" + question)},
	}, false)
	return strings.TrimSpace(reply.Text), err
}

// mostRead is how much text the model can be given to read at once, in
// bytes: half of its context, where that is known.
func (r *run) mostRead() int {
	const most = 100_000
	if n := r.Model.Model().Context; n > 0 {
		return int(min(most, max(2000, 2*n)))
	}
	return most
}
