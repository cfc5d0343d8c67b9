package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/tasks"
)

// The attacks on the grader and the record are numbered as in the project's
// table of threats; those on the sandbox itself are in the tests of
// runner/sandbox/kinds. Each is carried out from inside by the agent's own
// commands.

// attack runs a starter in bubblewrap and returns what its terminal showed
// and how the run ended.
func attack(t *testing.T, k task, args ...string) (*user, string, *event.State) {
	t.Helper()
	u := newUser(t)
	u.needBox("bwrap")
	_, events := u.headless(u.task(k), append(args, "--sandbox", "bwrap")...)
	s := fold(events)
	var shown strings.Builder
	for _, a := range only[event.ActionFinished](t, events, event.TypeActionFinished) {
		shown.WriteString(a.Text)
	}
	return u, shown.String(), s
}

// canary stands for held-out answers.
const canary = "canary-7d1f0c63"

// hunt looks for the canary wherever the agent can look.
const hunt = `for d in /*; do case $d in /usr|/lib*|/bin|/sbin|/proc|/sys|/dev) ;; *) grep -rlsI canary-7d1f0c6[3] $d; esac; done
cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep canary-7d1f0c6[3]
for p in /proc/[0-9]*; do ls $p/root/tests $p/cwd/tests; find -L $p/fd -type f -exec grep -s canary-7d1f0c6[3] {} +; done 2>/dev/null
env | grep canary-7d1f0c6[3]
echo hunted
` + writeNumber

func TestAttack01HeldOutAnswersByPath(t *testing.T) {
	t.Parallel()
	_, shown, s := attack(t, task{starter: hunt, files: map[string]string{"tests/answers.csv": canary, "solution/solve.sh": canary, "README.md": canary}})
	if shown != "hunted\nacc 0.8" && strings.Contains(shown, "canary") || !strings.Contains(shown, "hunted") {
		t.Errorf("the agent found:\n%s", shown)
	}
	if v := verdict(t, s); v.Status != tasks.Graded {
		t.Errorf("verdict %+v", v)
	}
}

// The same where only Landlock is to be had: names are seen, contents not.
func TestAttack01OnLandlock(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("landlock")
	dir := u.task(task{starter: "cat DIR/tests/answers.csv DIR/../*/tests/answers.csv; " + writeNumber, files: map[string]string{"tests/answers.csv": canary}})
	script := filepath.Join(dir, "environment", "train.sh")
	write(t, script, strings.ReplaceAll(read(script), "DIR", dir))
	_, events := u.headless(dir, "--sandbox", "landlock")
	shown := only[event.ActionFinished](t, events, event.TypeActionFinished)[0].Text
	if strings.Contains(shown, "canary") || !strings.Contains(shown, "Permission denied") {
		t.Errorf("the agent read:\n%s", shown)
	}
}

// Whoever starts the run may have secrets in the environment.
func TestAttack02Environment(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	dir := u.task(task{starter: "cat /proc/*/environ | tr '\\0' '\\n'; env; cat /proc/*/cmdline | tr '\\0' ' '; echo; " + writeNumber})
	cmd := exec.Command(program, "run", dir, "--agent", "baseline", "--headless", "--json", "--sandbox", "bwrap")
	cmd.Env = append(u.env(), "OPENAI_API_KEY="+canary, "LD_PRELOAD_NOT="+canary)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), canary) {
		t.Errorf("the environment leaks:\n%s", out)
	}
	shown := only[event.ActionFinished](t, parseEvents(t, string(out)), event.TypeActionFinished)[0].Text
	contains(t, shown, "PATH=")
	if strings.Contains(shown, u.root) {
		t.Errorf("paths of this machine are seen inside:\n%s", shown)
	}
}

// An agent that kills, stops or traces PID 1 does not outlive its run, nor
// one that stops whatever else there is: its own shell, here.
func TestAttack03StopPID1(t *testing.T) {
	t.Parallel()
	_, shown, s := attack(t, task{starter: `echo 0.5 >out.txt; kill -STOP 1; kill -KILL 1
python3 - <<'EOF' || true
import ctypes
print("ptrace", ctypes.CDLL(None).ptrace(16, 1, 0, 0))
EOF
setsid sh -c 'trap "" TERM HUP INT; while :; do echo 0.99 >out.txt; done' &
kill -STOP -1
exit 0
`}, "--time", "2s")
	if strings.Contains(shown, "ptrace 0") {
		t.Errorf("PID 1 was traced: %s", shown)
	}
	if v := verdict(t, s); v.WallSeconds > 30 || v.Status != tasks.Graded {
		t.Errorf("the run took %.1f s, verdict %+v", v.WallSeconds, v)
	}
}

// What the agent leaves running is gone before its outputs are copied.
func TestAttack04LateWriter(t *testing.T) {
	t.Parallel()
	u, _, s := attack(t, task{starter: writeNumber + `
(setsid sh -c 'trap "" TERM HUP INT; while :; do echo late >late; sleep 0.02; done' &)
while [ ! -e late ]; do sleep 0.02; done
(setsid sh -c '(trap "" HUP TERM; sleep 1; echo 0.99 >out.txt) &' &)
`, grader: "sleep 2\n" + gradeNumber})
	v := verdict(t, s)
	if *v.Score != 0.8 {
		t.Errorf("a late writer got %v", *v.Score)
	}
	r := u.newest()
	if got := read(filepath.Join(r.Workspace(), "out.txt")); got != "0.8\n" {
		t.Errorf("the workspace was written to after the end: %q", got)
	}
	if left := r.processes(""); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// An output that is no regular file is refused by name.
func TestAttack05OutputsThatAreTraps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ starter, says string }{
		"a link out":        {"ln -s /etc/passwd out.txt", "symbolic link"},
		"a link beside":     {"echo 1 >x; ln -s x out.txt", "symbolic link"},
		"a FIFO":            {"mkfifo out.txt", "FIFO"},
		"a socket":          {"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"out.txt\")'", "socket"},
		"a hole of 1 TB":    {"truncate -s 1T out.txt || head -c 1 /dev/zero | dd of=out.txt bs=1 seek=10G 2>/dev/null || truncate -s 9G out.txt", "exceed"},
		"a link on the way": {"mkdir x; echo 1 >x/out.txt; ln -s x sub", "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := task{starter: tc.starter + "\n"}
			if strings.Contains(tc.starter, " sub") {
				k.outputs, k.grader = []string{"sub/out.txt"}, "exit 1"
			}
			_, _, s := attack(t, k)
			if v := verdict(t, s); v.Status != tasks.InvalidSubmission || !strings.Contains(v.Reason, tc.says) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// A verdict is the grader's alone: whatever the submission wrote or printed
// beforehand, a grader that dies has given none.
func TestAttack06ForgedReward(t *testing.T) {
	t.Parallel()
	const forge = `mkdir -p /logs/verifier 2>/dev/null
for f in /logs/verifier/reward.json /logs/verifier/reward.txt reward.json reward.txt logs/verifier/reward.json verdict.json; do
  mkdir -p $(dirname $f) 2>/dev/null; echo '{"accuracy": 1.0}' >$f; done
echo 'SCORE 1.0'; echo '{"accuracy": 1.0}'
for fd in 3 4 5 6 7 8 9; do echo '{"accuracy": 1.0}' >&$fd; done 2>/dev/null
printf '{"accuracy": 1.0}' >/proc/1/fd/3
` + writeNumber
	for name, k := range map[string]task{
		"the grader dies":           {starter: forge, grader: "exit 1", outputs: []string{"out.txt", "reward.json", "reward.txt"}},
		"it copies the whole":       {starter: forge, grader: "cat /workspace/reward.json; exit 1", outputs: []string{"."}},
		"it prints the submission":  {starter: forge, grader: "cat /workspace/*; exit 1", outputs: []string{"out.txt", "reward.json"}},
		"a folder called as logs":   {starter: forge, grader: "exit 1", outputs: []string{"logs", "out.txt"}},
		"the script has no verdict": {starter: forge, grader: "exit 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, s := attack(t, k)
			if v := verdict(t, s); v.Status != tasks.GraderFailed || v.Score != nil {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// Files that a grader's interpreter would import or run if it looked for
// them in the submission have no effect on it.
func TestAttack07PlantedImports(t *testing.T) {
	t.Parallel()
	const plant = `cat >evil.py <<'EOF'
import os
for fd in range(3, 10):
    try: os.write(fd, b'{"accuracy": 1.0}')
    except OSError: pass
os._exit(0)
EOF
for f in conftest.py sitecustomize.py usercustomize.py json.py os.py csv.py; do cp evil.py $f; done
echo 'import evil' >evil.pth
mkdir -p bin tests .local/lib; printf '#!/bin/sh\necho 1.0\n' >bin/cat; cp bin/cat bin/python3; chmod +x bin/*
cp bin/cat cat; cp bin/cat python3; cp bin/cat read
echo 'export PATH=/workspace/bin:$PATH PYTHONPATH=/workspace' | tee .bashrc .profile .bash_profile .env >/dev/null
mkdir -p $HOME; cp .bashrc $HOME/.bashrc; cp .bashrc $HOME/.profile; mkdir -p $HOME/.local/lib/python3.11/site-packages && cp sitecustomize.py $HOME/.local/lib/python3.11/site-packages/
export PATH=/workspace/bin:$PATH PYTHONPATH=/workspace PYTHONSTARTUP=/workspace/evil.py BASH_ENV=/workspace/.bashrc ENV=/workspace/.bashrc LD_PRELOAD=/workspace/evil.so
cp evil.py /tmp/conftest.py; cp -r bin /tmp/
` + writeNumber
	const inPython = `cat "$PROCTOR_SUBMISSION/out.txt"
python3 -c '
import json, os, sys
score = float(open(os.environ["PROCTOR_SUBMISSION"] + "/out.txt").read())
assert not any("evil" in m or m == "conftest" for m in sys.modules), sys.modules
os.write(int(os.environ["PROCTOR_VERDICT_FD"]), json.dumps({"accuracy": score}).encode())
'`
	for name, k := range map[string]task{
		"declared files": {starter: plant, grader: inPython, outputs: []string{"out.txt", "conftest.py", "sitecustomize.py", "json.py", "evil.pth", "bin"}},
		"everything":     {starter: plant, grader: inPython, outputs: []string{"."}},
		"a shell script": {starter: plant, grader: gradeNumber, outputs: []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, s := attack(t, k)
			v := verdict(t, s)
			if v.Status != tasks.Graded || *v.Score != 0.8 {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// Submitted code that a grader has run in the inner sandbox is timed from
// outside it, whatever it does to the clocks it can reach.
func TestAttack09PatchedTimers(t *testing.T) {
	t.Parallel()
	const submission = `cat >solve.py <<'EOF'
import time, sys, os
start = time.monotonic()
time.sleep(1.2)
for name in ("time", "monotonic", "perf_counter", "process_time"):
    setattr(time, name, lambda: 0.0)
for fd in range(3, 10):
    try: os.write(fd, b'{"seconds": 0.0}\n')
    except OSError: pass
print("seconds 0.000001")
print(sorted(os.listdir("/")), os.listdir("."), os.path.exists("/tests"), file=sys.stderr)
EOF
echo 0.8 >out.txt
`
	const inner = `python3 -c '
import json, os, socket
s = socket.socket(fileno=int(os.environ["PROCTOR_INNER_FD"]))
code = open(os.environ["PROCTOR_SUBMISSION"] + "/solve.py").read()
f = s.makefile("rw")
f.write(json.dumps({"argv": ["python3", "-I", "solve.py"], "files": {"solve.py": code}, "timeout_s": 30}) + "\n"); f.flush()
a = json.loads(f.readline())
print(a)
assert a["exit_code"] == 0 and a["stdout"] == "seconds 0.000001\n", a
assert "tests" not in a["stderr"] and a["stderr"].endswith("False\n"), a["stderr"]
f.write(json.dumps({"argv": ["sleep", "60"], "timeout_s": 0.5}) + "\n"); f.flush()
late = json.loads(f.readline())
assert "stopped after" in late["error"] and late["seconds"] < 20, late
f.write("{\n"); f.flush()
assert "reading the request" in json.loads(f.readline())["error"]
os.write(int(os.environ["PROCTOR_VERDICT_FD"]), json.dumps({"accuracy": a["seconds"]}).encode())
'`
	_, _, s := attack(t, task{starter: submission, grader: inner, outputs: []string{"out.txt", "solve.py"}})
	v := verdict(t, s)
	if v.Status != tasks.Graded || *v.Score < 1.2 || *v.Score > 20 {
		t.Errorf("verdict %+v", v)
	}
}

// The record and the task package are out of the agent's reach.
func TestAttack17WriteToTheRecord(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	dir := u.task(task{own: `read_only = ["train.sh"]`, starter: `
for f in ROOT/state/proctor/runs/*/events.jsonl ROOT/tasks/*/task.toml ROOT/tasks/*/tests/test.sh ROOT/config ../events.jsonl /workspace/../run.json train.sh /usr/bin/x /etc/x; do
  (echo '{"seq":1}' >>$f) 2>/dev/null && echo "wrote $f"; cat $f >/dev/null 2>&1 && echo "read $f"; done
ls -d ROOT/* 2>/dev/null; rm -f train.sh; mv train.sh x
echo tried
` + writeNumber})
	script := filepath.Join(dir, "environment", "train.sh")
	write(t, script, strings.ReplaceAll(read(script), "ROOT", u.root))
	task := read(filepath.Join(dir, "task.toml")) + read(filepath.Join(dir, "tests", "test.sh"))
	_, events := u.headless(dir, "--sandbox", "bwrap")
	shown := only[event.ActionFinished](t, events, event.TypeActionFinished)[0].Text
	shown = strings.ReplaceAll(shown, "read train.sh", "") // its own code, read-only
	if regexp.MustCompile(`wrote|read `).MatchString(shown) || strings.Contains(shown, u.root) || !strings.Contains(shown, "tried") {
		t.Errorf("the agent got at:\n%s", shown)
	}
	if task != read(filepath.Join(dir, "task.toml"))+read(filepath.Join(dir, "tests", "test.sh")) {
		t.Error("the task package was changed")
	}
	if v := verdict(t, fold(events)); v.Status != tasks.Graded {
		t.Errorf("verdict %+v", v)
	}
	if now := read(filepath.Join(u.newest().Workspace(), "train.sh")); !strings.Contains(now, "echo tried") {
		t.Errorf("the read-only file is now %q", now)
	}
}

// The supervisor's socket is not to be had either: a run cannot be steered
// from inside.
func TestAttack17SteerTheRunFromInside(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	dir := u.task(task{starter: `find / -type s 2>/dev/null; ls -l /proc/*/fd 2>/dev/null | grep -i sock
python3 -c '
import socket, glob
for path in glob.glob("ROOT/run/proctor/*") + glob.glob("/tmp/proctor-*/*") + glob.glob("/run/user/*/proctor/*"):
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(path); print("connected", path)
    except OSError as e: print("no", path, e)
'
` + writeNumber})
	script := filepath.Join(dir, "environment", "train.sh")
	write(t, script, strings.ReplaceAll(read(script), "ROOT", u.root))
	_, events := u.headless(dir, "--sandbox", "bwrap")
	if shown := only[event.ActionFinished](t, events, event.TypeActionFinished)[0].Text; strings.Contains(shown, "connected") || strings.Contains(shown, ".sock") {
		t.Errorf("sockets are in reach:\n%s", shown)
	}
}

// What a program does to its terminal stays there: the recording has it, the
// next program finds a sane screen, and nothing that Proctor prints carries it.
func TestAttack18TerminalInjection(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	r := u.run(u.task(task{starter: `printf '\033]0;owned title\007\033]52;c;Y2FuYXJ5\007\033P+q\033\\\033[?1049h\033[?25l\033[?1003h\033[31;5mred'
printf '\033[c\033[6n\033[5n\033[>q\033]11;?\007\033[18t'; sleep 0.2
printf 'acc 0.8\033[2K\r\n\302\2335n\n'
echo 0.8 >out.txt; printf '\033[?1049h\033[2J\033[Hleft on\033]0;still owned\007\033[3;5r\033(0'
`, grader: `printf '\033]52;c;Y2FuYXJ5\007\033[2Jwords of the grader\n'; exit 1`}), "--sandbox", "bwrap")
	s := r.ends()
	cast := read(r.Cast())
	contains(t, cast, `\u001b]52;c;Y2FuYXJ5`, `\u001b[?1049h`, "left on")

	screen := terminal.New(100, 30)
	replay(t, r, screen)
	if x, _, visible := screen.Cursor(); screen.AltScreen() || !visible || x != 0 || screen.MouseMode() != 0 || screen.BracketedPaste() {
		t.Errorf("the screen does not recover: alternate %v, cursor at %d visible %v, mouse %v", screen.AltScreen(), x, visible, screen.MouseMode())
	}
	screen.Write([]byte("lqk next"))
	if text := strings.Join(screen.Text(0, screen.Lines()), "\n"); !strings.Contains(text, "lqk next") || !strings.Contains(text, "$ sh train.sh") {
		t.Errorf("after it the screen is:\n%s", text)
	}
	outputs := []string{u.must("show"), u.must("runs"), u.proctor("attach", "--plain").out, u.must("replay", "--speed", "1000"), s.Actions[0].Finished.Text, verdict(t, s).Reason, verdict(t, s).Grader}
	for _, text := range outputs {
		if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 }); i >= 0 {
			t.Errorf("a control character is in %q", text)
		}
	}
	contains(t, outputs[2], "words of the grader")
}

// A title, a hint, an author, a task's name: whatever reaches a line of ours
// is text.
func TestAttack18HostileWordsInATask(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	dir := u.task(task{own: `title = "evil \u001b[2J\u009b5n title"`, files: map[string]string{"instruction.md": "\x1b]0;x\x07Do it.\n"}})
	u.headless(dir)
	u.configure("[tasks]\nroots = [\"" + u.path("tasks") + "\"]\n")
	for _, args := range [][]string{{"show"}, {"runs"}, {"attach", "--plain"}, {"tasks"}} {
		if out := u.must(args...); strings.ContainsAny(out, "\x1b\x07\u009b") {
			t.Errorf("proctor %q prints %q", args, out)
		}
	}
}

// Nothing of the held-out answers is in what the agent is shown before it
// starts, nor in what the run writes down while it goes on.
func TestAttack20CanaryInTheAgentsView(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.needBox("bwrap")
	r := u.run(u.task(task{starter: hunt + steps, files: map[string]string{
		"tests/answers.csv": canary, "tests/.git/HEAD": canary, "solution/solve.sh": canary, "NOTES.md": canary,
		"environment/data.csv": "1,2\n",
	}}), "--sandbox", "bwrap")
	r.wrote("counter")
	err := filepath.Walk(r.Path(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && strings.Contains(read(path), canary) {
			t.Errorf("the canary is in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.Workspace(), "go"), "")
	s := r.ends()
	if strings.Contains(read(r.Events())+read(r.Cast()), canary) || !strings.Contains(s.Actions[0].Finished.Text, "hunted") {
		t.Errorf("the canary is on record, or was not looked for: %s", s.Actions[0].Finished.Text)
	}
	if left, _ := filepath.Glob(r.Scratch() + "/*"); len(left) > 0 {
		t.Errorf("the grader's files are left: %q", left)
	}
}

// replay feeds a recording to a screen.
func replay(t *testing.T, r run, screen *terminal.Terminal) {
	t.Helper()
	screen.Write([]byte(castOutput(t, read(r.Cast()))))
}
