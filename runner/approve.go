package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/terminal"
)

// The modes in which a person goes along with a run.
const (
	modeAuto    = "auto"    // actions happen
	modeApprove = "approve" // after the person has agreed
	modeStep    = "step"    // one, then the run pauses
)

// The answers to an action that waits for approval.
const (
	choiceApprove = "approve"
	choiceDeny    = "deny"
	choiceEdit    = "edit"
	choiceAll     = "approve all"
)

// setMode changes how the person goes along. Patterns narrow approval to the
// actions whose command or title one of them matches.
func (r *Run) setMode(mode string, patterns []string, author string) error {
	switch mode {
	case modeAuto, modeApprove, modeStep:
	default:
		return fmt.Errorf("%q is not a mode: use %s, %s or %s", mode, modeAuto, modeApprove, modeStep)
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q is not a pattern such as \"rm *\": %w", p, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mode, r.patterns = mode, patterns
	if mode != modeAuto {
		r.attended = true // somebody is there
	}
	return r.emit(event.TypeMode, event.Mode{Mode: mode, Patterns: patterns, Actor: author})
}

// approve asks the person about an action when the mode wants it. It returns
// the action as it may happen, perhaps with another command; what is denied
// comes with the observation that says why.
func (r *Run) approve(ctx context.Context, a agents.Action) (agents.Action, *agents.Observation, error) {
	r.mu.Lock()
	asked := r.mode == modeApprove && (len(r.patterns) == 0 || matches(r.patterns, a))
	r.mu.Unlock()
	if !asked {
		return a, nil, nil
	}
	options := []string{choiceApprove, choiceDeny, choiceAll}
	if a.Shell != "" {
		options = append(options, choiceEdit)
	}
	answer, err := r.ask(ctx, agents.Question{
		Kind: "approve", Text: "may the agent do this?", Detail: detail(a), Options: options, Default: choiceDeny,
	})
	if err != nil {
		return a, nil, err
	}
	switch answer.Choice {
	case choiceApprove:
		return a, nil, nil
	case choiceAll:
		return a, nil, r.setMode(modeAuto, nil, answer.Author)
	case choiceEdit:
		if strings.TrimSpace(answer.Text) == "" {
			return a, nil, errors.New("the edited command is empty")
		}
		a.Shell, a.Title, a.Input = answer.Text, answer.Text, nil
		return a, nil, nil
	default:
		why := "no reason was given"
		if answer.Text != "" {
			why = answer.Text
		}
		return a, &agents.Observation{ExitCode: 1, Text: why, Denied: true}, nil
	}
}

// detail is what the person is asked about.
func detail(a agents.Action) string {
	switch {
	case a.Shell != "":
		return terminal.Clean(a.Shell)
	case len(a.Argv) > 0:
		return terminal.Clean(strings.Join(a.Argv, " "))
	case len(a.Input) > 0 && json.Valid(a.Input):
		return terminal.Clean(a.Title + "\n" + string(a.Input))
	default:
		return terminal.Clean(a.Title)
	}
}

// matches reports whether a pattern matches an action: its command, its
// title or its kind, with * and ? as in a shell.
func matches(patterns []string, a agents.Action) bool {
	for _, p := range patterns {
		for _, text := range []string{a.Shell, strings.Join(a.Argv, " "), a.Title, string(a.Kind)} {
			if text != "" && wildcard(p, text) {
				return true
			}
		}
	}
	return false
}

// wildcard matches like a shell's pattern, except that * also crosses
// slashes: these are command lines, not paths.
func wildcard(pattern, text string) bool {
	flat := strings.NewReplacer("/", "\x00", "\n", " ")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(text))
	return err == nil && ok
}
