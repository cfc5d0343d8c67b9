package research

import (
	"context"
	"fmt"
	"path"
	"strings"

	"proctor/agents"
)

// mostCode is the longest code that is passed to an interpreter, in bytes: a
// command is one argument of a shell.
const mostCode = 100 << 10

func (r *run) executeScript(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["script_name"])
	with := r.options.Python + " -u"
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash":
		with = "sh"
		if path.Ext(name) == ".bash" {
			with = "bash"
		}
	case ".r":
		with = "Rscript"
	}
	// A name of its own that begins with a dash would be an option.
	file := name
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	return r.execute(ctx, "Execute Script "+name, with+" "+quote(file), "The script")
}

func (r *run) pythonREPL(ctx context.Context, in map[string]string) (outcome, error) {
	code := in["command"]
	if _, fenced, ok := strings.Cut(code, "```"); ok && strings.HasPrefix(strings.TrimSpace(code), "```") {
		code = unfence("```" + fenced)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
	title := "Python REPL " + clip(first, 80)
	if len(code) > mostCode {
		return r.act(ctx, agents.Execute, title, nil, envError(fmt.Errorf(
			"the code has %d bytes, more than the %d that can be executed at once: write it to a file", len(code), mostCode)))
	}
	return r.execute(ctx, title, r.options.Python+" -u -c "+quote(code), "The code")
}

// execute runs a command and tells how it ended and what it said.
func (r *run) execute(ctx context.Context, title, shell, what string) (outcome, error) {
	o, err := r.Run(ctx, agents.Action{Kind: agents.Execute, Title: title, Shell: shell, Timeout: r.timeout()})
	if err != nil {
		return outcome{}, err
	}
	if o.Denied {
		return denied(o), nil
	}
	text := strings.TrimRight(o.Text, "\n")
	if text == "" {
		text = "(no output)"
	}
	var ended string
	switch {
	case o.TimedOut:
		ended = fmt.Sprintf("%s was stopped after %.0f s, the time limit of one action. Its output until then:", what, o.Seconds)
	case o.ExitCode != 0:
		ended = fmt.Sprintf("%s failed with exit code %d after %.1f s. Its output:", what, o.ExitCode, o.Seconds)
	default:
		ended = fmt.Sprintf("%s has been executed in %.1f s. Its output:", what, o.Seconds)
	}
	return outcome{text: instead(o) + ended + "\n" + text}, nil
}
