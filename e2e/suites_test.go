package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A person adds a folder of tasks, is told what one of them lacks in the same
// words wherever they look, and takes the folder out again.
func TestAddCheckShowRemove(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const lack = "the Python module no_such_module, for python3"
	name := filepath.Base(u.task(task{own: "modules = [\"no_such_module\"]\ntitle = \"Needy \\u001b[31mtask\"\n"}))
	u.configure("# mine\n[run]\nagent = \"baseline\" # always\n")

	contains(t, u.must("tasks", "add", "../tasks"), "tasks: 1 task, which cannot run yet for want of Python modules", "added "+u.path("tasks")+" (Harbor)")
	contains(t, u.must("tasks", "add", u.path("tasks")), "already")
	contains(t, u.must("tasks", "add", u.path("tasks", name)), "offered already by "+u.path("tasks"))
	settings, err := os.ReadFile(u.path("config", "proctor", "config.toml"))
	if want := "# mine\n[run]\nagent = \"baseline\" # always\n\n[tasks]\nroots = [\n    \"" + u.path("tasks") + "\",\n]\n"; err != nil || string(settings) != want {
		t.Errorf("settings:\n%s", settings)
	}
	if r := u.proctor("tasks", "add", u.path("home")); r.code != 2 || !strings.Contains(r.err, "MLE-bench (mlebench/competitions/*/config.yaml)") {
		t.Errorf("adding nothing: exit status %d %s", r.code, r.err)
	}

	contains(t, u.must("tasks", "tasks"), "tasks/"+name)
	show := u.must("tasks", "show", name)
	contains(t, show, lack, "accuracy ↑", "INSTRUCTION")
	if strings.Contains(show, "\x1b") {
		t.Errorf("an escape sequence is shown: %q", show)
	}
	check := u.proctor("tasks", "check", name, "builtin/digits")
	contains(t, check.out, "✗ tasks/"+name+"\n    "+lack, "builtin/digits")
	if check.code != 4 {
		t.Errorf("check: exit status %d", check.code)
	}
	rows := parse[[]struct {
		Ref   string
		Runs  bool
		Lacks []struct{ Kind, Say string }
	}](t, u.proctor("tasks", "check", name, "--json").out)
	if len(rows) != 1 || rows[0].Runs || len(rows[0].Lacks) != 1 || rows[0].Lacks[0].Kind != "python module" || !strings.HasPrefix(rows[0].Lacks[0].Say, lack) {
		t.Errorf("check --json: %+v", rows)
	}
	if r := u.proctor("run", name, "--headless", "--sandbox", u.anyBox()); r.code != 2 || !strings.Contains(r.err, lack) {
		t.Errorf("run: exit status %d %s", r.code, r.err)
	}
	if r := u.proctor("run", name, "--headless", "--anyway", "--sandbox", u.anyBox()); r.code != 0 || !strings.Contains(r.err, "note: goes without "+lack) {
		t.Errorf("run --anyway: exit status %d %s", r.code, r.err)
	}

	contains(t, u.must("tasks", "remove", "../tasks"), "removed")
	if r := u.proctor("tasks", "remove", "../tasks"); r.code != 2 {
		t.Errorf("removing again: exit status %d", r.code)
	}
	if r := u.proctor("tasks", name); r.code != 2 {
		t.Errorf("still listed: exit status %d %s", r.code, r.out)
	}
}
