package research

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"proctor/agents"
)

const (
	// mostContent is the largest file that is read or written, in bytes.
	mostContent = 1 << 20
	// mostBackups is how many edits of one file can be undone.
	mostBackups = 20
	// mostInspected is how many lines can be inspected at once.
	mostInspected = 100
	// argumentBytes is how much of a file one argument of a command holds;
	// Linux takes 128 KiB.
	argumentBytes = 96 << 10
)

// A backup is a file before an edit.
type backup struct {
	content []byte
	existed bool
}

func (r *run) listFiles(ctx context.Context, in map[string]string) (outcome, error) {
	dir := r.local(in["dir_path"])
	return r.command(ctx, agents.Read, "List Files "+dir, "ls -F -- "+quote(dir), "")
}

func (r *run) readFile(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["file_name"])
	title := "Read File " + name
	if !filepath.IsLocal(name) { // beside the workspace: the sandbox says what can be read
		out, err := r.command(ctx, agents.Read, title, "cat -- "+quote(name), "")
		out.verbatim = true
		return out, err
	}
	out := outcome{verbatim: true}
	content, err := r.content(name)
	if err != nil {
		out = envError(err)
	} else if out.text = string(content); out.text == "" {
		out.text = "(the file is empty)"
	}
	return r.act(ctx, agents.Read, title, in, out)
}

func (r *run) inspectLines(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["script_name"])
	title := fmt.Sprintf("Inspect Script Lines %s %s–%s", name, clip(in["start_line_number"], 12), clip(in["end_line_number"], 12))
	return r.act(ctx, agents.Read, title, in, r.inspected(name, in))
}

func (r *run) inspected(name string, in map[string]string) outcome {
	first, last, err := lineRange(in)
	if err != nil {
		return envError(err)
	}
	if last-first >= mostInspected {
		return envError(fmt.Errorf("%d lines are too many: inspect at most %d at once", last-first+1, mostInspected))
	}
	content, err := r.content(name)
	if err != nil {
		return envError(err)
	}
	lines := splitLines(string(content))
	if first > len(lines) {
		return envError(fmt.Errorf("%s has only %d lines", name, len(lines)))
	}
	last = min(last, len(lines))
	return outcome{verbatim: true, text: fmt.Sprintf("Lines %d to %d of %s, which has %d:\n\n%s",
		first, last, name, len(lines), strings.Join(lines[first-1:last], ""))}
}

func (r *run) writeFile(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["file_name"])
	return r.write(ctx, "Write File "+name, name, []byte(in["content"]), fmt.Sprintf("The file %s is written.", name))
}

func (r *run) appendFile(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["file_name"])
	old, err := r.content(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r.act(ctx, agents.Edit, "Append File "+name, in, envError(err))
	}
	content := append(old, in["content"]...)
	return r.write(ctx, "Append File "+name, name, content, fmt.Sprintf("The text is appended to %s.", name))
}

func (r *run) copyFile(ctx context.Context, in map[string]string) (outcome, error) {
	from, to := r.local(in["source"]), r.local(in["destination"])
	r.backUp(to)
	return r.command(ctx, agents.Edit, fmt.Sprintf("Copy File %s %s", from, to),
		fmt.Sprintf("cp -R -- %s %s", quote(from), quote(to)), fmt.Sprintf("%s is copied to %s.", from, to))
}

func (r *run) undoEdit(ctx context.Context, in map[string]string) (outcome, error) {
	name := r.local(in["script_name"])
	title := "Undo Edit Script " + name
	stack := r.backups[name]
	if len(stack) == 0 {
		return r.act(ctx, agents.Edit, title, in, envError(fmt.Errorf("there is no edit of %s to undo", name)))
	}
	last := stack[len(stack)-1]
	var out outcome
	var err error
	if last.existed {
		out, err = r.put(ctx, title, name, last.content, fmt.Sprintf("%s is as it was before the last edit.", name))
	} else {
		out, err = r.command(ctx, agents.Delete, title, "rm -- "+quote(name), fmt.Sprintf("%s is removed: it did not exist before the last edit.", name))
	}
	if err == nil && !out.failed {
		r.backups[name] = stack[:len(stack)-1]
	}
	return out, err
}

// write puts content into a file and keeps what was there, to be undone.
func (r *run) write(ctx context.Context, title, name string, content []byte, done string) (outcome, error) {
	undo := r.backUp(name)
	out, err := r.put(ctx, title, name, content, done)
	if err != nil || out.failed {
		undo() // nothing was written that could be taken back
	}
	return out, err
}

// backUp keeps a file as it is, and returns what forgets it again. A file
// that cannot be read cannot be undone.
func (r *run) backUp(name string) (forget func()) {
	content, err := r.content(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return func() {}
	}
	before := r.backups[name]
	stack := append(before[:len(before):len(before)], backup{content, err == nil})
	r.backups[name] = stack[max(0, len(stack)-mostBackups):]
	return func() { r.backups[name] = before }
}

// put writes a file by a command, so that it is the sandbox that decides
// what may be written. It is recorded as an edit that can be done again.
func (r *run) put(ctx context.Context, title, name string, content []byte, done string) (outcome, error) {
	input := agents.EncodeEdit(name, content)
	var refused error
	switch {
	case len(content) > mostContent:
		refused = fmt.Errorf("%s would have %d bytes, more than the %d that can be written at once", name, len(content), mostContent)
	case !utf8.Valid(content) || strings.ContainsRune(string(content), 0):
		refused = fmt.Errorf("%s is not text", name)
	}
	if refused != nil {
		return r.act(ctx, agents.Edit, title, map[string]string{"path": name}, envError(refused))
	}
	const script = `f=$1; shift; case $f in */*) mkdir -p -- "${f%/*}" || exit;; esac; printf %s "$@" > "$f"`
	o, err := r.Run(ctx, agents.Action{
		Kind: agents.Edit, Title: title, Input: input, Timeout: r.timeout(),
		Argv: append([]string{"sh", "-c", script, "sh", name}, pieces(string(content), argumentBytes)...),
	})
	if err != nil {
		return outcome{}, err
	}
	return r.told(o, done), nil
}

// told is what the model is told of a command that says nothing when all
// went well.
func (r *run) told(o agents.Observation, done string) outcome {
	said := strings.TrimSpace(instead(o) + o.Text)
	switch {
	case o.Denied:
		return denied(o)
	case o.TimedOut:
		return envError(fmt.Errorf("it was stopped at the limit of %s for one action\n%s", r.timeout(), said))
	case o.ExitCode != 0:
		return envError(fmt.Errorf("%s (exit code %d)", said, o.ExitCode))
	case said == "":
		return outcome{text: done}
	case done == "":
		return outcome{text: said}
	}
	return outcome{text: done + "\n" + said}
}

// command runs a shell command; done is said when it has no output.
func (r *run) command(ctx context.Context, kind agents.ActionKind, title, shell, done string) (outcome, error) {
	o, err := r.Run(ctx, agents.Action{Kind: kind, Title: title, Shell: shell, Timeout: r.timeout()})
	if err != nil {
		return outcome{}, err
	}
	if done == "" {
		return r.told(o, "(no output)"), nil
	}
	return r.told(o, done), nil
}

// content reads a file of the workspace.
func (r *run) content(name string) ([]byte, error) {
	content, err := r.ReadFile(name, mostContent+1)
	if err != nil {
		return nil, err
	}
	if len(content) > mostContent {
		return nil, fmt.Errorf("%s has more than the %d bytes that can be read at once", name, mostContent)
	}
	return content, nil
}

// local makes a path relative to the workspace, where it is in it.
func (r *run) local(name string) string {
	name = path.Clean(strings.TrimSpace(name))
	if r.Task == nil || r.Task.Workdir == "" {
		return name
	}
	if name == path.Clean(r.Task.Workdir) {
		return "."
	}
	return strings.TrimPrefix(name, path.Clean(r.Task.Workdir)+"/")
}

// pieces cuts a text into pieces of at most n bytes, between characters. An
// empty text is one empty piece.
func pieces(text string, n int) []string {
	var out []string
	for len(text) > n {
		cut := n
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		out = append(out, text[:cut])
		text = text[cut:]
	}
	return append(out, text)
}

// quote makes a word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// encodeInput is an input as it stands in the record.
func encodeInput(in map[string]string) json.RawMessage {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil // a map of strings always encodes
	}
	return raw
}

// splitLines cuts a text into its lines, each with its end.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}
