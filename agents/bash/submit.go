package bash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"proctor/agents"
	"proctor/agents/llm"
)

// submit ends the run if the task's outputs are there, having copied what
// the model names into place first.
func (l *loop) submit(ctx context.Context, call llm.ToolCall) (outcome, error) {
	var args struct {
		Path string `json:"path"`
	}
	if err := call.Decode(&args); err != nil {
		return wrong("%v", err), nil
	}
	if o, err := l.place(ctx, args.Path); err != nil || o.text != "" {
		return o, err
	}
	if missing := l.missing(); missing != "" && missing != l.insisted {
		l.insisted = missing
		return outcome{did: talked, text: fmt.Sprintf("Not submitted: the workspace has no %s. "+
			"Put it in place and submit again; what is still missing then counts as left out.", missing)}, nil
	}
	if len(l.Task.Outputs) > 0 {
		// What is submitted is on record even if the run should be cut short
		// before it is graded.
		if _, err := l.Checkpoint("submitted", true); err != nil {
			if ctx.Err() != nil {
				return outcome{}, context.Cause(ctx)
			}
			return outcome{did: talked, text: fmt.Sprintf("Not submitted: %v", err)}, nil
		}
	}
	return outcome{did: submitted}, nil
}

// place copies a file to the task's only output. An outcome with a text says
// why it was not done.
func (l *loop) place(ctx context.Context, name string) (outcome, error) {
	if name == "" {
		return outcome{}, nil
	}
	from := path.Clean(name)
	if inside, ok := strings.CutPrefix(from, path.Clean(or(l.Task.Workdir, "/workspace"))+"/"); ok {
		from = inside
	}
	for _, out := range l.Task.Outputs {
		out = path.Clean(out)
		if match, err := path.Match(out, from); from == out || match && err == nil || beneath(from, out) || beneath(out, from) {
			return outcome{}, nil // it is where it belongs
		}
	}
	if len(l.Task.Outputs) == 0 {
		return outcome{}, nil
	}
	to := path.Clean(l.Task.Outputs[0])
	if len(l.Task.Outputs) > 1 || strings.ContainsAny(to, "*?[") {
		return outcome{did: talked, text: fmt.Sprintf("Not submitted: %q is none of the task's outputs, which are %s. Put them in place and submit again.",
			name, strings.Join(l.Task.Outputs, ", "))}, nil
	}
	obs, o, err := l.execute(ctx, agents.Action{
		Kind: agents.Move, Title: fmt.Sprintf("copy %s to %s", from, to), Timeout: 10 * time.Minute,
		Shell: fmt.Sprintf("mkdir -p -- %s && cp -- %s %s", quote(path.Dir(to)), quote(from), quote(to)),
	})
	if err != nil || o.text != "" {
		return o, err
	}
	if obs.ExitCode != 0 || obs.TimedOut {
		return outcome{did: talked, text: fmt.Sprintf("Not submitted: %q could not be copied to %q: %s", from, to, obs.Text)}, nil
	}
	return outcome{}, nil
}

// beneath reports whether name is in the directory dir or one below it.
func beneath(name, dir string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// missing names the outputs that are not there, "" when all are. Of a
// pattern it cannot say; making the checkpoint can.
func (l *loop) missing() string {
	var names []string
	for _, out := range l.Task.Outputs {
		if strings.ContainsAny(out, "*?[") {
			continue
		}
		if _, err := l.ReadFile(out, 1); errors.Is(err, fs.ErrNotExist) {
			names = append(names, out)
		}
	}
	return strings.Join(names, ", ")
}
