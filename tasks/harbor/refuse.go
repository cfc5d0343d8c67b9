package harbor

import (
	"strings"

	"proctor/tasks/tomlfile"
)

// A feature is something a task.toml may ask for that Proctor cannot give.
// Going on without it would run a different task under the same name.
type feature struct {
	key  string
	asks func(v any) bool // whether the value asks for it
	why  string
}

func refused() []feature {
	allowlist := func(v any) bool { return v == "allowlist" }
	const hosts = "Proctor cannot hold a task's network to a list of hosts"
	return []feature{
		{"steps", tomlfile.IsSet, "Proctor runs tasks of one step"},
		{"environment.os", func(v any) bool { s, ok := v.(string); return ok && !strings.EqualFold(s, "linux") }, "sandboxes are Linux"},
		{"environment.tpu", tomlfile.IsSet, "no sandbox has TPUs"},
		{"environment.mcp_servers", tomlfile.IsSet, "Proctor starts no MCP servers for a task"},
		{"environment.healthcheck", tomlfile.IsSet, "the image's services, whose health it checks, are not started"},
		{"environment.network_mode", allowlist, hosts},
		{"environment.allowed_hosts", tomlfile.IsSet, hosts},
		{"agent.network_mode", allowlist, hosts},
		{"agent.allowed_hosts", tomlfile.IsSet, hosts},
		{"verifier.network_mode", allowlist, hosts},
		{"verifier.allowed_hosts", tomlfile.IsSet, hosts},
		{"verifier.collect", tomlfile.IsSet, "the agent's sandbox is gone before grading starts"},
		{"verifier.environment.docker_image", tomlfile.IsSet, "the grader runs with this machine's programs, not in an image of its own"},
	}
}

// refuse notes a problem for each refused feature that the document asks for,
// and for each network mode that is none.
func (c *config) refuse() {
	for _, f := range refused() {
		if v := c.doc.Lookup(f.key); f.asks(v) {
			what := f.key
			if s, ok := v.(string); ok {
				what += " = " + `"` + s + `"`
			}
			c.doc.Errorf(f.key, "%s cannot be honoured: %s", what, f.why)
		}
	}
	for _, key := range []string{"environment", "agent", "verifier"} {
		t := c.doc.Top().Table(key)
		switch t.String("network_mode") {
		case "", "public", "no-network", "allowlist":
		default:
			t.Wrong("network_mode", `"public" or "no-network"`)
		}
	}
}
