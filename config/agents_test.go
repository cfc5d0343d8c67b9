package config

import (
	"encoding/json"
	"reflect"
	"testing"

	"proctor/agents"
	"proctor/agents/roster"
)

// TestAgentsDefaults holds config.toml to what the agents do without it.
func TestAgentsDefaults(t *testing.T) {
	c, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range roster.Kinds() {
		name := roster.Short(kind)
		if kind.Defaults == nil {
			if c.Agents[name] != nil {
				t.Errorf("config.toml has [agents.%s], but the agent has no settings", name)
			}
			continue
		}
		read := reflect.New(reflect.TypeOf(kind.Defaults))
		if err := json.Unmarshal(c.Agents[name], read.Interface()); err != nil {
			t.Errorf("[agents.%s]: %v", name, err)
		} else if got := read.Elem().Interface(); !reflect.DeepEqual(got, kind.Defaults) {
			t.Errorf("[agents.%s] is %+v, the agent's defaults are %+v", name, got, kind.Defaults)
		}
		for _, missing := range kind.Check(t.Context(), nil, agents.Options{Extra: c.Agents[name]}) {
			t.Errorf("[agents.%s]: %s", name, missing)
		}
	}
}

func TestAgentsOwnSettings(t *testing.T) {
	c, err := load(t, "[agents.bash]\nidle = 3\ntimeout = \"90s\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(c.Agents["bash"]), `{"idle":3,"malformed":5,"share":0.25,"timeout":"90s"}`; got != want {
		t.Errorf("[agents.bash] is %s, want %s", got, want)
	}
}
