package harbor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// files of a task by path; a task is well made until a test spoils it.
type files map[string]string

func goodTask() files {
	return files{
		"task.toml":            "schema_version = \"1.4\"\n",
		"instruction.md":       "Do it.\n",
		"environment/train.py": "pass\n",
		"tests/test.sh":        "echo 1 > /logs/verifier/reward.txt\n",
	}
}

// write lays the files into a new directory called "task".
func (f files) write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "task")
	for name, data := range f {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// openError opens a task that cannot be, and returns why, with the task's
// directory called DIR.
func openError(t *testing.T, dir string) string {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		return strings.ReplaceAll(err.Error(), dir, "DIR")
	}
	list, problems := s.List(context.Background())
	if len(list) != 0 || len(problems) != 1 {
		t.Fatalf("%d tasks, problems %v", len(list), problems)
	}
	message := strings.ReplaceAll(problems[0].Err.Error(), dir, "DIR")
	if strings.Contains(message, "\n") {
		t.Errorf("more than one line: %q", message)
	}
	const prefix = `opening task "task": `
	if !strings.HasPrefix(message, prefix) {
		t.Errorf("message does not say what was being done: %s", message)
	}
	return strings.TrimPrefix(message, prefix)
}

func TestMissingAndBadFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(files)
		want  string
	}{
		"no instruction":        {func(f files) { delete(f, "instruction.md") }, "DIR/instruction.md: missing, expected what the agent is to do"},
		"empty instruction":     {func(f files) { f["instruction.md"] = " \n" }, "DIR/instruction.md: empty, expected what the agent is to do"},
		"only a canary":         {func(f files) { f["instruction.md"] = "<!-- canary -->\n" }, "DIR/instruction.md: empty, expected what the agent is to do"},
		"binary instruction":    {func(f files) { f["instruction.md"] = "\xff\xfe" }, "DIR/instruction.md: not UTF-8 text, expected what the agent is to do"},
		"huge instruction":      {func(f files) { f["instruction.md"] = strings.Repeat("x", maxText+1) }, "DIR/instruction.md: longer than 1024 KiB, expected what the agent is to do"},
		"no environment":        {func(f files) { delete(f, "environment/train.py") }, "DIR/environment: missing, expected a folder with the files that the agent gets"},
		"environment is a file": {func(f files) { delete(f, "environment/train.py"); f["environment"] = "" }, "DIR/environment: missing, expected a folder with the files that the agent gets"},
		"no test script":        {func(f files) { delete(f, "tests/test.sh") }, "DIR/tests/test.sh: missing, expected the grader's script"},
		"empty test script":     {func(f files) { f["tests/test.sh"] = "\n" }, "DIR/tests/test.sh: empty, expected the grader's script"},
		"binary settings":       {func(f files) { f["task.toml"] = "\x00\xff" }, "DIR/task.toml: not UTF-8 text, expected the task's settings"},
		"huge settings":         {func(f files) { f["task.toml"] = strings.Repeat("#", maxConfig+1) }, "DIR/task.toml: longer than 128 KiB, expected the task's settings"},
		"windows tests":         {func(f files) { delete(f, "tests/test.sh"); f["tests/test.ps1"] = "x" }, "DIR/tests/test.ps1: Windows test scripts cannot be honoured, expected tests/test.sh"},
		"compose":               {func(f files) { f["environment/docker-compose.yaml"] = "x" }, "DIR/environment/docker-compose.yaml: compose services cannot be honoured: a run has one sandbox"},
		"verifier image":        {func(f files) { f["tests/Dockerfile"] = "x"; f["task.toml"] = "verifier.environment_mode = 'separate'" }, "DIR/tests/Dockerfile: a verifier image of its own cannot be honoured: the grader runs with this machine's programs"},
		"copy of nothing":       {func(f files) { f["environment/Dockerfile"] = "WORKDIR /app\nCOPY missing.txt ." }, `DIR: environment/Dockerfile copies "missing.txt", which environment/ does not have`},
		"copy from above":       {func(f files) { f["environment/Dockerfile"] = "WORKDIR /app\nCOPY ../tests/test.sh ." }, `DIR: environment/Dockerfile copies "tests/test.sh", which environment/ does not have`},
		"work in the system":    {func(f files) { f["environment/Dockerfile"] = "WORKDIR /usr/src/app" }, `DIR/environment/Dockerfile: WORKDIR is "/usr/src/app", expected a path outside the system's /usr; [environment].workdir overrides it`},
	} {
		t.Run(name, func(t *testing.T) {
			f := goodTask()
			tc.spoil(f)
			if got := openError(t, f.write(t)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestBadSettings(t *testing.T) {
	for _, tc := range []struct{ toml, want string }{
		// Syntax.
		{"a = ", "1: not valid TOML: unexpected EOF; expected value"},
		{"[x]\na = 1\na = 2\n", "3: not valid TOML: Key 'x.a' has already been defined."},
		{"\n\n[x\n", "3: not valid TOML: expected '.' or ']' to end table name, but got '\\n' instead"},
		// Types.
		{"schema_version = '2.0'", `1: schema_version is the string "2.0", expected a Harbor schema from "1.0" to "1.4"`},
		{"version = true", `1: version is true, expected a Harbor schema from "1.0" to "1.4"`},
		{"agent = 3", "1: agent is 3, expected a table"},
		{"[[agent]]", "1: agent is a list, expected a table"},
		{"[agent]\n# how long\ntimeout_sec = '900'", `3: agent.timeout_sec is the string "900", expected a number of seconds above 0`},
		{"[agent]\ntimeout_sec = 0", "2: agent.timeout_sec is 0, expected a number of seconds above 0"},
		{"[agent]\ntimeout_sec = -1.5", "2: agent.timeout_sec is -1.5, expected a number of seconds above 0"},
		{"[agent]\ntimeout_sec = inf", "2: agent.timeout_sec is +Inf, expected a number of seconds above 0"},
		{"[agent]\ntimeout_sec = nan", "2: agent.timeout_sec is NaN, expected a number of seconds above 0"},
		{"[agent]\ntimeout_sec = 1e300", "2: agent.timeout_sec is 1e+300, expected at most 1e8 seconds"},
		{"[agent]\ntimeout_sec = 2026-11-21T10:00:00Z", "2: agent.timeout_sec is a date, expected a number of seconds above 0"},
		{"verifier.timeout_sec = [1]", "1: verifier.timeout_sec is a list, expected a number of seconds above 0"},
		{"verifier.env = {A = 1}", "1: verifier.env.A is 1, expected a string"},
		{"environment.env = {\"A=B\" = 'x'}", `1: environment.env: "A=B" is not a variable name with a value, expected NAME = "value"`},
		{"[task]\nkeywords = 'one'", `2: task.keywords is the string "one", expected a list of strings`},
		{"[task]\nkeywords = ['a', 1]", "2: task.keywords is a list, expected a list of strings"},
		{"[task]\ndescription = 1", "2: task.description is 1, expected a string"},
		{"artifacts = 'x'", `1: artifacts is the string "x", expected a list of paths`},
		{"environment.cpus = 'two'", `1: environment.cpus is the string "two", expected a number of cores above 0`},
		{"environment.gpus = -1", "1: environment.gpus is -1, expected a whole number from 0"},
		{"environment.gpus = 1.5", "1: environment.gpus is 1.5, expected a whole number from 0"},
		{"environment.memory = '2X'", `1: environment.memory is the string "2X", expected a size such as "2G" or "512M"`},
		{"environment.memory_mb = '2G'", `1: environment.memory_mb is the string "2G", expected a number of MiB above 0`},
		{"environment.allow_internet = 'yes'", `1: environment.allow_internet is the string "yes", expected true or false`},
		{"environment.workdir = 'app'", `1: environment.workdir is the string "app", expected an absolute path below / such as "/workspace"`},
		{"environment.workdir = '/'", `1: environment.workdir is the string "/", expected an absolute path below / such as "/workspace"`},
		{"environment.workdir = '/a/../etc'", `1: environment.workdir is the string "/a/../etc", expected an absolute path below / such as "/workspace"`},
		{"environment.workdir = '/tests/x'", `1: environment.workdir is the string "/tests/x", expected a path outside the system's /tests`},
		{"environment.network_mode = 'none'", `1: environment.network_mode is the string "none", expected "public" or "no-network"`},
		// What cannot be honoured.
		{"\n[[steps]]\nname = 'one'", "2: steps cannot be honoured: Proctor runs tasks of one step"},
		{"[environment]\nos = 'windows'", `2: environment.os = "windows" cannot be honoured: sandboxes are Linux`},
		{"[environment]\ntpu = {type = 'v5e'}", "2: environment.tpu cannot be honoured: no sandbox has TPUs"},
		{"[[environment.mcp_servers]]\nname = 'x'", "1: environment.mcp_servers cannot be honoured: Proctor starts no MCP servers for a task"},
		{"[environment.healthcheck]\ncommand = 'true'", "1: environment.healthcheck cannot be honoured: the image's services, whose health it checks, are not started"},
		{"[environment]\nnetwork_mode = 'allowlist'", `2: environment.network_mode = "allowlist" cannot be honoured: Proctor cannot hold a task's network to a list of hosts`},
		{"[environment]\nallowed_hosts = ['x']", "2: environment.allowed_hosts cannot be honoured: Proctor cannot hold a task's network to a list of hosts"},
		{"[agent]\nallowed_hosts = ['x']", "2: agent.allowed_hosts cannot be honoured: Proctor cannot hold a task's network to a list of hosts"},
		{"[agent]\nnetwork_mode = 'allowlist'", `2: agent.network_mode = "allowlist" cannot be honoured: Proctor cannot hold a task's network to a list of hosts`},
		{"[verifier]\nnetwork_mode = 'allowlist'", `2: verifier.network_mode = "allowlist" cannot be honoured: Proctor cannot hold a task's network to a list of hosts`},
		{"[[verifier.collect]]\ncommand = 'x'", "1: verifier.collect cannot be honoured: the agent's sandbox is gone before grading starts"},
		{"[verifier.environment]\ndocker_image = 'x'", `2: verifier.environment.docker_image = "x" cannot be honoured: the grader runs with this machine's programs, not in an image of its own`},
		{"artifacts = [{source = '/x', service = 'web'}]", "1: artifacts from a compose service (web) cannot be honoured: a run has one sandbox"},
		// The first of several problems in the file, not in the reading.
		{"[environment]\ncpus = 'x'\n[agent]\ntimeout_sec = 'y'", `2: environment.cpus is the string "x", expected a number of cores above 0`},
	} {
		f := goodTask()
		f["task.toml"] = tc.toml
		if got, want := openError(t, f.write(t)), "DIR/task.toml:"+tc.want; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.toml, got, want)
		}
	}
}

func TestBadProctorTable(t *testing.T) {
	const head = "[metadata.proctor]\nschema = 1\nstarter = 'x'\n"
	const knob = head + "[[metadata.proctor.knobs]]\nname = 'a'\ntype = 'choice'\nvalues = ['x', 'y']\ndefault = 'x'\n[[metadata.proctor.knobs]]\nname = 'b'\n"
	const number = knob + "type = 'float'\nmin = 1\nmax = 2\ndefault = 1.5\n"
	for _, tc := range []struct{ toml, want string }{
		{"[metadata.proctor]\n", "1: metadata.proctor lacks schema = 1"},
		{"[metadata.proctor]\nschema = 2\n", "2: metadata.proctor.schema is 2, expected 1; a newer Proctor may read it"},
		{"metadata.proctor = 1\n", "1: metadata.proctor is 1, expected a table"},
		{head + "output = ['x']", `4: unknown key metadata.proctor.output; did you mean "outputs"?`},
		{head + "color = 1", `4: unknown key metadata.proctor.color; known here: schema, title, outputs, starter, read_only, modules, debugger, budget, metric, knobs, grade`},
		{head + "budget = {tim = '1m'}", `4: unknown key metadata.proctor.budget.tim; did you mean "time"?`},
		{head + "outputs = []", "4: metadata.proctor.outputs is a list, expected at least one path"},
		{head + "outputs = ['/etc/passwd']", `4: metadata.proctor.outputs: "/etc/passwd" is not inside the workspace, expected a relative path such as "submission.csv"`},
		{head + "outputs = ['a/../../b']", `4: metadata.proctor.outputs: "a/../../b" is not inside the workspace, expected a relative path such as "submission.csv"`},
		{head + "outputs = ['..']", `4: metadata.proctor.outputs: ".." is not inside the workspace, expected a relative path such as "submission.csv"`},
		{head + "outputs = ['']", `4: metadata.proctor.outputs: "" is not inside the workspace, expected a relative path such as "submission.csv"`},
		{head + "outputs = ['a', './a']", `4: metadata.proctor.outputs: "./a" is there twice`},
		{head + "read_only = ['../x']", `4: metadata.proctor.read_only: "../x" is not inside the workspace, expected a relative path such as "submission.csv"`},
		{head + "read_only = ['data']", `4: metadata.proctor.read_only: "data" is not among the files that the task puts into the workspace`},
		{head + "modules = 'numpy'", `4: metadata.proctor.modules is the string "numpy", expected a list of strings`},
		{head + "debugger = 1", "4: metadata.proctor.debugger is 1, expected true or false"},
		// Budget.
		{head + "budget.time = '30'", `4: metadata.proctor.budget.time is the string "30", expected a duration above 0 such as "30m" or "1h30m"`},
		{head + "budget.time = 30", `4: metadata.proctor.budget.time is 30, expected a duration above 0 such as "30m" or "1h30m"`},
		{head + "budget.time = '-1m'", `4: metadata.proctor.budget.time is the string "-1m", expected a duration above 0 such as "30m" or "1h30m"`},
		{head + "budget.steps = 0", "4: metadata.proctor.budget.steps is 0, expected a whole number above 0"},
		{head + "budget.tokens = 1.5", "4: metadata.proctor.budget.tokens is 1.5, expected a whole number above 0"},
		{head + "budget.cost = -1", "4: metadata.proctor.budget.cost is -1, expected US dollars above 0"},
		{head + "budget.gpu_hours = nan", "4: metadata.proctor.budget.gpu_hours is NaN, expected a number of hours above 0"},
		// Metric.
		{head + "metric.name = ''", `4: metadata.proctor.metric.name is the string "", expected the name of a number that the grader writes`},
		{head + "metric.higher_is_better = 'up'", `4: metadata.proctor.metric.higher_is_better is the string "up", expected true or false`},
		{head + "metric.pattern = '('", "4: metadata.proctor.metric.pattern is not a regular expression: error parsing regexp: missing closing ): `(`"},
		{head + "metric.pattern = 'acc'", "4: metadata.proctor.metric.pattern has 0 groups, expected one, around the number (write others as (?:…))"},
		{head + "metric.pattern = '(a)(b)'", "4: metadata.proctor.metric.pattern has 2 groups, expected one, around the number (write others as (?:…))"},
		// Grade.
		{head + "grade.show = 'live'", `4: metadata.proctor.grade.show is the string "live", expected "end"`},
		{head + "grade.baseline = inf", "4: metadata.proctor.grade.baseline is +Inf, expected a number"},
		{head + "grade.thresholds = {gold = 0.9, silver = 0.95}", "4: metadata.proctor.grade.thresholds.silver = 0.95 is harder to reach than gold = 0.9, although higher is better"},
		{head + "metric.higher_is_better = false\n[metadata.proctor.grade.thresholds]\ngold = 2\nmedian = 1", "7: metadata.proctor.grade.thresholds.median = 1 is harder to reach than gold = 2, although lower is better"},
		{head + "grade.thresholds = {platinum = 1}", "4: unknown key metadata.proctor.grade.thresholds.platinum; known here: gold, silver, bronze, median"},
		{head + "[[metadata.proctor.grade.references]]\nname = 'a'\nscore = 1\n[[metadata.proctor.grade.references]]\nscore = 2", "7: metadata.proctor.grade.references[1] lacks a name or a score"},
		// Knobs.
		{"[metadata.proctor]\nschema = 1\n[[metadata.proctor.knobs]]\nname = 'a'\ntype = 'int'\nmin = 1\nmax = 2\ndefault = 1\n", "3: metadata.proctor.knobs are given but no metadata.proctor.starter, the command that they are for"},
		{head + "knobs = 3", "4: metadata.proctor.knobs is 3, expected a list of tables"},
		{head + "knobs = [3]", "4: metadata.proctor.knobs is a list, expected a list of tables"},
		{knob + "", `9: metadata.proctor.knobs[1] lacks type, "float", "int" or "choice"`},
		{knob + "type = 'bool'", `11: metadata.proctor.knobs[1].type is the string "bool", expected "float", "int" or "choice"`},
		{knob + "type = 'float'", "9: metadata.proctor.knobs[1] lacks min, a number"},
		{knob + "type = 'float'\nmin = 'x'\nmax = 1\ndefault = 1", `12: metadata.proctor.knobs[1].min is the string "x", expected a number`},
		{knob + "type = 'float'\nmin = 2\nmax = 1\ndefault = 1", "13: metadata.proctor.knobs[1].max is 1, expected more than min, which is 2"},
		{knob + "type = 'float'\nmin = 0\nmax = 1\nlog = true\ndefault = 1", "12: metadata.proctor.knobs[1].min is 0, expected more than 0, since log = true"},
		{knob + "type = 'float'\nmin = 0\nmax = 1\ndefault = 2", "14: metadata.proctor.knobs[1].default is 2, expected a number from 0 to 1"},
		{knob + "type = 'float'\nmin = 0\nmax = 1\ndefault = nan", "14: metadata.proctor.knobs[1].default is NaN, expected a number from 0 to 1"},
		{knob + "type = 'float'\nmin = 0\nmax = 1", "9: metadata.proctor.knobs[1] lacks default, a number from 0 to 1"},
		{knob + "type = 'int'\nmin = 0.5\nmax = 3\ndefault = 1", "12: metadata.proctor.knobs[1].min is 0.5, expected a whole number"},
		{knob + "type = 'int'\nmin = 0\nmax = 3\ndefault = 1.5", "14: metadata.proctor.knobs[1].default is 1.5, expected a whole number from 0 to 3"},
		{knob + "type = 'choice'\ndefault = 1", "9: metadata.proctor.knobs[1] lacks values, a list of different strings or numbers"},
		{knob + "type = 'choice'\nvalues = ['p', 'p']\ndefault = 'p'", "12: metadata.proctor.knobs[1].values is a list, expected a list of different strings or numbers"},
		{knob + "type = 'choice'\nvalues = ['p', 'q']\ndefault = 'r'", `13: metadata.proctor.knobs[1].default is the string "r", expected one of ["p" "q"]`},
		{knob + "type = 'choice'\nvalues = ['p', 'q']\ndefault = 'p'\nlog = true", `14: metadata.proctor.knobs[1].log is for knobs of type "float" or "int"`},
		{number + "values = [1]", `15: metadata.proctor.knobs[1].values is for knobs of type "choice"; a number has min and max`},
		{number + "name2 = 1", `15: unknown key metadata.proctor.knobs[1].name2; did you mean "name"?`},
		{strings.Replace(number, "'b'", "'a'", 1), `10: metadata.proctor.knobs[1].name is the string "a", expected a name that no other knob has`},
		{strings.Replace(number, "'b'", "'b c'", 1), `10: metadata.proctor.knobs[1].name is the string "b c", expected a name of letters, digits, _ and -`},
		{number + "when = {ab = ['x']}", `15: metadata.proctor.knobs[1].when names "ab", which is not another knob`},
		{strings.ReplaceAll(number, "'a'", "'model'") + "when = {modle = ['x']}", `15: metadata.proctor.knobs[1].when names "modle", which is not another knob; did you mean "model"?`},
		{number + "when = {b = [1]}", `15: metadata.proctor.knobs[1].when names "b", which is not another knob`},
		{number + "when = {a = ['z']}", `15: metadata.proctor.knobs[1].when: a is never z, expected one of ["x" "y"]`},
		{number + "when = {a = [['x']]}", `15: metadata.proctor.knobs[1].when: a is never [x], expected one of ["x" "y"]`},
		{number + "when = 'a'", `15: metadata.proctor.knobs[1].when is the string "a", expected a table`},
	} {
		f := goodTask()
		f["task.toml"] = tc.toml
		if got, want := openError(t, f.write(t)), "DIR/task.toml:"+tc.want; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.toml, got, want)
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root reads everything; a directory in the file's place cannot be
		// read by anybody.
		f := goodTask()
		delete(f, "instruction.md")
		f["instruction.md/x"] = ""
		if got, want := openError(t, f.write(t)), "DIR/instruction.md: cannot be read: is a directory"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		return
	}
	dir := goodTask().write(t)
	if err := os.Chmod(filepath.Join(dir, "instruction.md"), 0); err != nil {
		t.Fatal(err)
	}
	if got, want := openError(t, dir), "DIR/instruction.md: cannot be read: permission denied"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A task's files may be made to hurt whoever opens them.
func TestHostileFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		make func(path string) error
		want string
	}{
		"a link out of the task": {func(p string) error { return os.Symlink(secret, p) }, "DIR/instruction.md: cannot be read: path escapes from parent"},
		"a link to itself":       {func(p string) error { return os.Symlink("instruction.md", p) }, "DIR/instruction.md: cannot be read: too many levels of symbolic links"},
		"a fifo":                 {func(p string) error { return unix.Mkfifo(p, 0o600) }, "DIR/instruction.md: cannot be read: not a regular file but p---------"},
	} {
		t.Run(name, func(t *testing.T) {
			f := goodTask()
			delete(f, "instruction.md")
			dir := f.write(t)
			if err := tc.make(filepath.Join(dir, "instruction.md")); err != nil {
				t.Fatal(err)
			}
			if got := openError(t, dir); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
