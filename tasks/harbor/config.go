package harbor

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"proctor/tasks"
	"proctor/tasks/tomlfile"
)

// Harbor's own default for [verifier].timeout_sec.
const defaultGraderTime = 10 * time.Minute

// A config is what a task.toml says, in Proctor's terms.
type config struct {
	doc         *tomlfile.File
	description string
	keywords    []string
	agentTime   time.Duration // 0 when the task sets no limit
	graderTime  time.Duration
	graderEnv   []string
	separate    bool // the verifier asks for an environment of its own
	env         []string
	image       string
	workdir     string // "" when only the Dockerfile could tell
	needs       tasks.Needs
	artifacts   []string  // what the verifier expects besides the workspace
	own         *ownTable // [metadata.proctor], nil when absent
	warnings    []string
}

// readConfig reads a task.toml; file is its name for messages.
func readConfig(file string, src []byte) (*config, error) {
	doc, err := tomlfile.Parse(file, src)
	if err != nil {
		return nil, err
	}
	c := &config{doc: doc}
	top := doc.Top()
	c.readVersion(top)
	c.refuse()
	c.readTask(top)
	c.readAgent(top.Table("agent"))
	c.readVerifier(top.Table("verifier"))
	c.readEnvironment(top.Table("environment"))
	c.readArtifacts(top)
	if metadata := top.Table("metadata"); metadata.Has("proctor") {
		c.own = readOwn(metadata.Table("proctor"))
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *config) warnf(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

var schemaVersion = regexp.MustCompile(`^1(\.[0-9]+)*$`)

// readVersion accepts every schema 1.x, under the key's old name too, and as
// a bare number, which early tasks used.
func (c *config) readVersion(top *tomlfile.Table) {
	key := "schema_version"
	if !top.Has(key) {
		key = "version"
	}
	if !top.Has(key) {
		return
	}
	version := fmt.Sprint(top.Get(key))
	if !schemaVersion.MatchString(version) {
		top.Wrong(key, `a Harbor schema from "1.0" to "1.4"`)
	} else if !slices.Contains([]string{"1", "1.0", "1.1", "1.2", "1.3", "1.4"}, version) {
		c.warnf("task.toml has schema %s; Proctor knows it up to 1.4 and reads it as that", version)
	}
}

func (c *config) readTask(top *tomlfile.Table) {
	task, metadata := top.Table("task"), top.Table("metadata")
	c.description = strings.TrimSpace(task.String("description"))
	words := task.Strings("keywords")
	// [metadata] is free-form: whatever is there by these names and of the
	// right type helps a person to find the task.
	for _, key := range []string{"category", "difficulty"} {
		if s, ok := metadata.Get(key).(string); ok {
			words = append(words, s)
		}
	}
	if tags, ok := metadata.Get("tags").([]any); ok {
		for _, tag := range tags {
			if s, ok := tag.(string); ok {
				words = append(words, s)
			}
		}
	}
	for _, w := range words {
		if w != "" && !slices.Contains(c.keywords, w) {
			c.keywords = append(c.keywords, w)
		}
	}
}

func (c *config) readAgent(agent *tomlfile.Table) {
	c.agentTime = agent.Seconds("timeout_sec")
	if agent.Has("user") {
		c.warnf("agent.user is ignored: a sandbox has one user")
	}
}

func (c *config) readVerifier(verifier *tomlfile.Table) {
	c.graderTime = defaultGraderTime
	if d := verifier.Seconds("timeout_sec"); d > 0 {
		c.graderTime = d
	}
	c.graderEnv = c.readEnv(verifier, "env")
	c.separate = verifier.String("environment_mode") == "separate" || verifier.Has("environment")
	if verifier.Has("user") {
		c.warnf("verifier.user is ignored: a sandbox has one user")
	}
	if mode, _ := verifier.Get("network_mode").(string); mode == "public" {
		c.warnf(`verifier.network_mode = "public" is ignored: graders run without network`)
	}
}

func (c *config) readEnvironment(env *tomlfile.Table) {
	c.image = env.String("docker_image")
	c.env = c.readEnv(env, "env")
	c.needs.CPUs = env.Positive("cpus", "a number of cores")
	c.readMemory(env)
	c.readGPUs(env)
	c.needs.Network = env.Bool("allow_internet")
	if mode := env.String("network_mode"); mode != "" {
		c.needs.Network = mode == "public"
	}
	if env.Has("skills_dir") {
		c.warnf("environment.skills_dir is ignored: agents are not given skills")
	}
	if env.Has("workdir") {
		c.workdir = env.String("workdir")
		if why := badWorkdir(c.workdir); why != "" {
			env.Wrong("workdir", why)
		}
	}
}

func (c *config) readMemory(env *tomlfile.Table) {
	const mega = 1 << 20
	if env.Has("memory_mb") {
		c.needs.MemoryBytes = int64(env.Positive("memory_mb", "a number of MiB") * mega)
		return
	}
	if !env.Has("memory") {
		return
	}
	bytes, ok := tomlfile.ParseSize(env.Get("memory"))
	if !ok {
		env.Wrong("memory", `a size such as "2G" or "512M"`)
	}
	c.needs.MemoryBytes = bytes
}

func (c *config) readGPUs(env *tomlfile.Table) {
	if n, ok := env.Get("gpus").(int64); env.Has("gpus") && (!ok || n < 0) {
		env.Wrong("gpus", "a whole number from 0")
	} else {
		c.needs.GPUs = int(n)
	}
	if types := env.Strings("gpu_types"); len(types) > 0 && c.needs.GPUs > 0 {
		c.warnf("the task was made for GPUs of type %s; Proctor takes what is there", strings.Join(types, " or "))
	}
}

// readArtifacts takes paths, written as strings or as tables with a source.
func (c *config) readArtifacts(top *tomlfile.Table) {
	list, ok := top.Get("artifacts").([]any)
	if tables, isTables := top.Get("artifacts").([]map[string]any); isTables {
		for _, t := range tables {
			list = append(list, t)
		}
		ok = true
	}
	if top.Has("artifacts") && !ok {
		top.Wrong("artifacts", "a list of paths")
	}
	for _, item := range list {
		source, _ := item.(string)
		if t, ok := item.(map[string]any); ok {
			source, _ = t["source"].(string)
			if tomlfile.IsSet(t["service"]) {
				top.File().Errorf("artifacts", "artifacts from a compose service (%v) cannot be honoured: a run has one sandbox", t["service"])
			}
		}
		c.artifacts = append(c.artifacts, source)
	}
}

// warnOfArtifacts names those outside the workspace, which are not copied
// out. Those below /logs are of Harbor's own making.
func (c *config) warnOfArtifacts(workdir string) {
	for _, a := range c.artifacts {
		if path.IsAbs(a) && !within("/logs", path.Clean(a)) && !within(workdir, path.Clean(a)) {
			c.warnf("artifact %q lies outside the workspace %s and is not copied out", a, workdir)
		}
	}
}

var hostVariable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// readEnv reads a table of environment variables. The host's own variables
// stay where they are, whatever a task's file asks for: a reference to one
// becomes its default, and a variable without a default stays unset.
func (c *config) readEnv(t *tomlfile.Table, key string) []string {
	values := t.StringMap(key)
	var env []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			t.File().Errorf(t.At(key), "%s: %q is not a variable name with a value, expected NAME = \"value\"", t.At(key), name)
			continue
		}
		missing := false
		value = hostVariable.ReplaceAllStringFunc(value, func(ref string) string {
			m := hostVariable.FindStringSubmatch(ref)
			missing = missing || m[2] == ""
			return m[3]
		})
		if missing {
			c.warnf("%s.%s stays unset: it wants a variable of this machine, and Proctor passes none on", t.At(key), name)
			continue
		}
		env = append(env, name+"="+value)
	}
	return env
}

// systemDirs are where a sandbox keeps what is not the task's.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/logs", "/proc",
	"/run", "/sbin", "/solution", "/sys", "/tests", "/usr",
}

// badWorkdir says what a working directory should have been, "" when it is
// usable: an absolute, clean path that hides nothing of the system's.
func badWorkdir(dir string) string {
	if !path.IsAbs(dir) || path.Clean(dir) != dir || dir == "/" || strings.Contains(dir, "\x00") {
		return `an absolute path below / such as "/workspace"`
	}
	for _, system := range systemDirs {
		if within(system, dir) {
			return "a path outside the system's " + system
		}
	}
	return ""
}

// within reports whether the clean absolute path p is dir or below it.
func within(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}
