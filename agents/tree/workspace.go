package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"proctor/agents"
)

// A workspace is where scripts are written and run, and what they leave
// behind. No node can pass off as its own what another wrote: what the task
// did not give is removed before every run, and what it did give is put back.
type workspace struct {
	*agents.Session
	script   string   // where the script that runs is
	made     []string // outputs that only a solution can make
	given    []string // outputs that were there from the start
	pristine string   // checkpoint of those; empty when there are none
}

// openWorkspace finds out what there is before anything has run.
func openWorkspace(s *agents.Session) *workspace {
	w := &workspace{Session: s, script: "solution.py"}
	for w.exists(w.script) || w.isOutput(w.script) {
		w.script = "tree_" + w.script
	}
	whole := false
	for _, name := range s.Task.Outputs {
		switch name = path.Clean(name); {
		case name == "." || name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name):
			whole = true
		case w.exists(name):
			w.given = append(w.given, name)
		default:
			w.made = append(w.made, name)
		}
	}
	if len(w.given) > 0 && !whole {
		id, err := s.Checkpoint("as the task gives them", false)
		if err == nil {
			w.pristine = id
		}
	}
	return w
}

// exists reports whether something has the name in the workspace.
func (w *workspace) exists(name string) bool {
	_, err := w.ReadFile(name, 1)
	return !errors.Is(err, fs.ErrNotExist)
}

func (w *workspace) isOutput(name string) bool {
	for _, out := range w.Task.Outputs {
		if path.Clean(out) == name {
			return true
		}
	}
	return false
}

// write puts a node's script where it is run, on record, and where it stays.
func (w *workspace) write(ctx context.Context, n *node) (agents.Observation, error) {
	edit := agents.Action{
		Kind: agents.Edit, Title: fmt.Sprintf("write %s: %s", w.script, n.name()),
		Input: agents.EncodeEdit(w.script, []byte(n.code)),
	}
	return w.Act(ctx, edit, func(context.Context) (agents.Observation, error) {
		if err := w.WriteFile(fmt.Sprintf("nodes/%03d.py", n.id), []byte(n.code)); err != nil {
			w.Note(fmt.Sprintf("the script of %s is not kept: %v", n.name(), err)) // a script may have spoilt the directory
		}
		return agents.Observation{Text: fmt.Sprintf("%d lines", strings.Count(n.code, "\n"))}, w.WriteFile(w.script, []byte(n.code))
	})
}

// prepare puts back what the task gave; the rest is up to [workspace.command].
func (w *workspace) prepare() error {
	if w.pristine == "" {
		return nil
	}
	return w.Restore(w.pristine)
}

// command runs the script on a clean slate, and leaves nothing of one that
// fails.
func (w *workspace) command(python string) string {
	run := python + " -u " + quote(w.script)
	clear := w.clear()
	if clear == "" {
		return run
	}
	var dirs []string
	for _, name := range w.made {
		if dir := path.Dir(name); dir != "." {
			dirs = append(dirs, quote(dir))
		}
	}
	before := clear
	if len(dirs) > 0 {
		before += "; mkdir -p -- " + strings.Join(dirs, " ")
	}
	return before + "; " + run + " || { e=$?; " + clear + "; exit $e; }"
}

// clear is the shell command that removes what only a solution can have made.
func (w *workspace) clear() string {
	if len(w.made) == 0 {
		return ""
	}
	words := []string{"rm", "-rf", "--"}
	for _, name := range w.made {
		words = append(words, quote(name))
	}
	return strings.Join(words, " ")
}

// keep sets the outputs of the script that has just run aside. why says what
// is missing.
func (w *workspace) keep(n *node) (id, why string) {
	for _, name := range w.made {
		if !w.exists(name) {
			return "", "no " + name
		}
	}
	id, err := w.Checkpoint(n.name(), false)
	if err != nil {
		w.Note(fmt.Sprintf("the outputs of %s could not be kept: %v", n.name(), err))
		return "", "no outputs"
	}
	return id, ""
}

// stand makes a node's outputs the ones that are graded.
func (w *workspace) stand(n *node, label string) error {
	if err := w.Restore(n.checkpoint); err != nil {
		return fmt.Errorf("tree: put the outputs of %s back: %w", n.name(), err)
	}
	id, err := w.Checkpoint(label, true)
	if err != nil {
		return fmt.Errorf("tree: keep the outputs of %s: %w", n.name(), err)
	}
	n.checkpoint = id
	return nil
}

// empty leaves nothing that a solution has made, since none worked.
func (w *workspace) empty(ctx context.Context) error {
	left := false
	for _, name := range w.made {
		left = left || w.exists(name)
	}
	if left {
		_, err := w.Session.Run(ctx, agents.Action{
			Kind: agents.Delete, Title: "remove what broken solutions left", Shell: w.clear(),
		})
		if err != nil {
			return err
		}
	}
	return w.prepare()
}

var plainWord = regexp.MustCompile(`^[\w./+=:,@-]+$`)

// quote makes a word of the shell.
func quote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
