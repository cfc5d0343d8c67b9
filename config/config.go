// Package config reads Proctor's settings: the defaults that the binary
// carries, and over them, key by key, the person's own file.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"proctor/agents/llm"
	"proctor/tasks/tomlfile"
)

// Config is all settings. The comments in config.toml say what each means.
type Config struct {
	Run      Run
	Terminal Terminal
	Sandbox  Sandbox
	Grader   Grader
	GPU      GPU
	Tasks    Tasks
	// Suites holds what is set for each format of suites, by key.
	Suites map[string]map[string]string
	// Agents holds each agent's own table as JSON, whole, by the agent's name.
	Agents map[string]json.RawMessage
	Models map[string]llm.Model // by the name that --model takes
}

// Run is the table [run].
type Run struct {
	Agent, Sandbox      string
	SoftLimit           float64 // fraction of a limit, above 0 and at most 1
	OnSoftLimit         string  // "ask" or "continue"
	OnSoftLimitHeadless string  // "continue"
	Sample, StopGrace   time.Duration
}

// Terminal is the table [terminal]; sizes are in bytes.
type Terminal struct {
	Cols, Rows                       int
	RecordingLimit                   int64
	ObservationHead, ObservationTail int
}

// Sandbox is the table [sandbox]. Zero is no cap; sizes are in bytes.
type Sandbox struct {
	Env                []string
	Memory, Disk, File int64
	CPUs               float64
	Pids               int
}

// Grader is the table [grader].
type Grader struct {
	Time        time.Duration
	OutputSize  int64
	OutputFiles int
}

// GPU is the table [gpu].
type GPU struct {
	Sample    time.Duration
	TellAgent bool
}

// Tasks is the table [tasks]. A ~ at the beginning of a root is the home
// directory.
type Tasks struct{ Roots []string }

// Load reads the defaults and the file at path over them. A file that is not
// there is none, unless it is required. The error names the file, the line
// and, for an unknown key, the nearest known one.
func Load(defaults []byte, path string, required bool) (Config, error) {
	base, err := tomlfile.Parse("config.toml", defaults)
	if err != nil {
		return Config{}, err
	}
	own, err := readOwn(path, required)
	if err != nil {
		return Config{}, err
	}
	both := layers{base: base.Top(), own: own.Top()}
	both.own.Only(append(both.base.Keys(), "models")...)
	c := Config{
		Run: both.run(), Terminal: both.terminal(), Sandbox: both.sandbox(), Grader: both.grader(), GPU: both.gpu(),
		Tasks: both.tasks(),
	}
	c.Suites = both.suites()
	c.Agents = both.agents()
	c.Models = models(own.Top())
	return c, errors.Join(base.Err(), own.Err())
}

func readOwn(path string, required bool) (*tomlfile.File, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !required {
		src, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	return tomlfile.Parse(path, src)
}

// layers is a table of the defaults with the person's over it.
type layers struct{ base, own *tomlfile.Table }

// section returns a table of both, having checked the person's keys against
// those of the defaults.
func (l layers) section(name string) layers {
	s := layers{base: l.base.Table(name), own: l.own.Table(name)}
	s.own.Only(s.base.Keys()...)
	return s
}

// from returns the table that says what key is.
func (l layers) from(key string) *tomlfile.Table {
	if l.own.Has(key) {
		return l.own
	}
	return l.base
}

func (l layers) oneOf(key string, words ...string) string {
	t := l.from(key)
	got := t.String(key)
	for _, w := range words {
		if got == w {
			return got
		}
	}
	t.Wrong(key, fmt.Sprintf("one of %q", words))
	return words[0]
}

// between reads a whole number of a range.
func (l layers) between(key string, least, most int64) int {
	t := l.from(key)
	n := t.PositiveInt(key)
	if n != 0 && (n < least || n > most) {
		t.Wrong(key, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return int(n)
}

func (l layers) run() Run {
	s := l.section("run")
	r := Run{
		Agent: s.from("agent").String("agent"), Sandbox: s.from("sandbox").String("sandbox"),
		OnSoftLimit:         s.oneOf("on_soft_limit", "ask", "continue"),
		OnSoftLimitHeadless: s.oneOf("on_soft_limit_headless", "continue"),
		Sample:              s.from("sample").Duration("sample"),
		StopGrace:           s.from("stop_grace").Duration("stop_grace"),
	}
	r.SoftLimit = s.from("soft_limit").Positive("soft_limit", "a fraction")
	if r.SoftLimit > 1 {
		s.from("soft_limit").Wrong("soft_limit", "a fraction of at most 1")
	}
	return r
}

func (l layers) terminal() Terminal {
	s := l.section("terminal")
	return Terminal{
		Cols: s.between("cols", 20, 1000), Rows: s.between("rows", 5, 1000),
		RecordingLimit:  s.from("recording_limit").Size("recording_limit"),
		ObservationHead: int(s.from("observation_head").Size("observation_head")),
		ObservationTail: int(s.from("observation_tail").Size("observation_tail")),
	}
}

func (l layers) sandbox() Sandbox {
	s := l.section("sandbox")
	box := Sandbox{
		Env:    s.from("env").Strings("env"),
		Memory: s.from("memory").Size("memory"), Disk: s.from("disk").Size("disk"), File: s.from("file").Size("file"),
		Pids: s.between("pids", 8, 1<<22),
	}
	if n := s.from("cpus").Number("cpus"); n != nil {
		box.CPUs = *n
	}
	if box.CPUs < 0 {
		s.from("cpus").Wrong("cpus", "a number of cores, or 0 for no limit")
	}
	return box
}

// suites reads the tables of formats. A path among them may begin with ~.
func (l layers) suites() map[string]map[string]string {
	all := map[string]map[string]string{}
	section := l.section("suites")
	for _, name := range section.base.Keys() {
		suite := section.section(name)
		all[name] = map[string]string{}
		for _, key := range suite.base.Keys() {
			value := suite.from(key).String(key)
			if strings.HasPrefix(value, "~") {
				value = Expand(value)
			}
			all[name][key] = value
		}
	}
	return all
}

// agents merges each agent's table key by key. What a key's value may be is
// for the agent to say.
func (l layers) agents() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	section := l.section("agents")
	for _, name := range section.base.Keys() {
		agent, merged := section.section(name), map[string]any{}
		for _, key := range agent.base.Keys() {
			merged[key] = agent.from(key).Get(key)
		}
		text, err := json.Marshal(merged)
		if err != nil {
			agent.own.File().Errorf(agent.own.Path(), "%s cannot be read: %v", agent.own.Path(), err)
		}
		all[name] = text
	}
	return all
}

func (l layers) tasks() Tasks {
	var t Tasks
	for _, root := range l.section("tasks").from("roots").Strings("roots") {
		t.Roots = append(t.Roots, Expand(root))
	}
	return t
}

func (l layers) gpu() GPU {
	s := l.section("gpu")
	return GPU{Sample: s.from("sample").Duration("sample"), TellAgent: s.from("tell_agent").Bool("tell_agent")}
}

func (l layers) grader() Grader {
	s := l.section("grader")
	return Grader{
		Time:        s.from("time").Duration("time"),
		OutputSize:  s.from("output_size").Size("output_size"),
		OutputFiles: s.between("output_files", 1, 1<<22),
	}
}
