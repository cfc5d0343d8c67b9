package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, own string) (Config, error) {
	t.Helper()
	defaults, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(defaults, path, false)
	if err != nil {
		return c, errorWithout(err, filepath.Dir(path)+"/")
	}
	return c, nil
}

type textError string

func (e textError) Error() string { return string(e) }

func errorWithout(err error, dir string) error {
	return textError(strings.ReplaceAll(err.Error(), dir, ""))
}

func TestDefaultsAreWhole(t *testing.T) {
	c, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Run.Agent != "search" || c.Run.SoftLimit != 0.8 || c.Run.Sample != 2*time.Second || c.Terminal.Cols != 80 ||
		c.Terminal.RecordingLimit != 512<<20 || c.Sandbox.Pids != 1024 || c.Sandbox.Memory != 0 || c.Grader.Time != time.Hour {
		t.Errorf("defaults %+v", c)
	}
}

func TestOwnKeysOverrideOneByOne(t *testing.T) {
	c, err := load(t, "[run]\nagent = \"baseline\"\n[sandbox]\nmemory = \"2G\"\ncpus = 1.5\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.Run.Agent != "baseline" || c.Run.Sandbox != "auto" || c.Sandbox.Memory != 2<<30 || c.Sandbox.CPUs != 1.5 || c.Sandbox.Pids != 1024 {
		t.Errorf("settings %+v", c)
	}
}

func TestSuitesHaveSettings(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	c, err := load(t, "[suites.mle-bench]\ndata = \"~/prepared\"\n[suites.mlrb]\nevaluate = \"score $RESULT\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Suites["mle-bench"]; m["data"] != "/home/ada/prepared" || m["python"] != "" || c.Suites["mlrb"]["evaluate"] != "score $RESULT" {
		t.Errorf("suites %v", c.Suites)
	}
}

func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for own, want := range map[string]string{
		"[run]\nagnet = \"x\"\n":             `config.toml:2: unknown key run.agnet; did you mean "agent"?`,
		"[rum]\n":                            `config.toml:1: unknown key rum; did you mean "run"?`,
		"\n[terminal]\ncols = \"wide\"\n":    `config.toml:3: terminal.cols is the string "wide", expected a whole number above 0`,
		"[terminal]\ncols = 5\n":             `config.toml:2: terminal.cols is 5, expected a whole number from 20 to 1000`,
		"[run]\nsample = \"soon\"\n":         `config.toml:2: run.sample is the string "soon", expected a duration above 0`,
		"[run]\nsoft_limit = 1.5\n":          `config.toml:2: run.soft_limit is 1.5, expected a fraction of at most 1`,
		"[run]\non_soft_limit = \"panic\"\n": `config.toml:2: run.on_soft_limit is the string "panic", expected one of ["ask" "continue"]`,
		"[sandbox]\nmemory = \"lots\"\n":     `config.toml:2: sandbox.memory is the string "lots", expected a size such as "512M" or "2G"`,
		"[ui\n":                              `config.toml:1: not valid TOML`,
		"[agents.bsh]\nidle = 1\n":           `config.toml:1: unknown key agents.bsh; did you mean "bash"?`,
		"[agents.bash]\nidel = 1\n":          `config.toml:2: unknown key agents.bash.idel; did you mean "idle"?`,
		"[suites.mlrb]\neval = \"x\"\n":      `config.toml:2: unknown key suites.mlrb.eval; known here: evaluate`,
		"[suites.mlrb]\nevaluate = 1\n":      `config.toml:2: suites.mlrb.evaluate is 1, expected a string`,
		"[tasks]\nroots = [1]\n":             `config.toml:2: tasks.roots is a list, expected a list of strings`,
	} {
		if _, err := load(t, own); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", own, err, want)
		}
	}
}

func TestARequiredFileMustBeThere(t *testing.T) {
	if _, err := Load(nil, filepath.Join(t.TempDir(), "none.toml"), true); err == nil {
		t.Error("a missing --config file is no error")
	}
}
