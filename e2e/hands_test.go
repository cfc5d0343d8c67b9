package e2e

import (
	"strings"
	"testing"

	"proctor/agents/llm/scripted"
)

// A script can do at a run's terminal what a person can.
func TestTakeOverByCommands(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	server := u.withModel(scripted.Turns(bashCall("echo one"), bashCall("echo two"),
		scripted.Turn{Calls: []scripted.Call{{Name: "submit", Args: `{}`}}}))
	r := u.run(u.task(task{}), "--agent", "bash", "--model", "scripted", "--step")
	paused := func(steps int) {
		t.Helper()
		poll(u, "the run is paused", func() bool { return r.state().Steps == steps && r.state().Phase == "paused" })
	}
	paused(1)
	if res := u.proctor("input", r.ID(), "true"); res.code != 5 || !strings.Contains(res.err, "take the terminal over first") {
		t.Errorf("without a takeover: exit status %d, %s", res.code, res.err)
	}
	if res := u.proctor("input", r.ID(), "--keys", `\q`); res.code != 2 || !strings.Contains(res.err, "read as keys") {
		t.Errorf("keys that are none: exit status %d, %s", res.code, res.err)
	}
	contains(t, u.must("takeover", r.ID()), "takeover: done")
	u.must("resize", r.ID(), "100", "30")
	u.must("input", r.ID(), `stty size >size.txt; echo 0.9 >"out.txt"; cat >typed.txt`)
	u.must("input", r.ID(), "--keys", `a "line"\r\x04`)
	poll(u, "the line is there", func() bool { return r.wrote("typed.txt") == "a \"line\"\n" })
	if size := strings.TrimSpace(r.wrote("size.txt")); size != "30 100" {
		t.Errorf("the terminal has %q", size)
	}
	u.must("handback", r.ID(), "--json") // and the agent goes on
	paused(2)
	hears(u, server, 2, `cat >typed.txt`)
	u.must("resume", r.ID())
	if v := verdict(t, r.ends()); v.Takeovers != 1 || *v.Score != 0.9 {
		t.Errorf("verdict %+v", v)
	}
}
