package config

import (
	"proctor/agents/llm"
	"proctor/tasks/tomlfile"
)

// models reads the tables [models.NAME]. The defaults have none: which models
// a person uses, and what they pay for them, only they know.
func models(top *tomlfile.Table) map[string]llm.Model {
	table := top.Table("models")
	all := map[string]llm.Model{}
	for _, name := range table.Keys() {
		t := table.Table(name)
		t.Only("provider", "base_url", "name", "key_env", "context", "max_output", "effort", "text_mode", "price")
		price := t.Table("price")
		price.Only("input", "cached", "cache_write", "output")
		m := llm.Model{
			Provider: llm.Provider(t.String("provider")), BaseURL: t.String("base_url"), Name: t.String("name"),
			KeyEnv: t.String("key_env"), Context: t.PositiveInt("context"), MaxOutput: t.PositiveInt("max_output"),
			Effort: t.String("effort"), TextMode: t.Bool("text_mode"),
			Price: llm.Price{
				Input: price.Number("input"), Cached: price.Number("cached"),
				CacheWrite: price.Number("cache_write"), Output: price.Number("output"),
			},
		}
		if err := m.Check(); err != nil {
			t.File().Errorf(table.At(name), "%s: %v", table.At(name), err)
		}
		all[name] = m
	}
	return all
}
