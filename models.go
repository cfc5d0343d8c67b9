package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"proctor/agents/llm"
	"proctor/tasks"
	"proctor/ui"
)

// findModel returns a model and its key: one of the settings by its name, or
// one of a server on this machine as server/model.
func (a *app) findModel(name string) (llm.Model, string, error) {
	if m, there := a.config.Models[name]; there {
		key, err := m.Key(os.Getenv)
		return m, key, err
	}
	known := slices.Sorted(maps.Keys(a.config.Models))
	if strings.Contains(name, "/") {
		for id, m := range localModels(llm.Discover(context.Background())) {
			if id == name {
				return m, "", nil
			}
			known = append(known, id)
		}
	}
	hint := "the settings have none: add a [models.NAME] table"
	if len(known) > 0 {
		hint = "there are " + strings.Join(known, ", ")
	}
	if near := tasks.Nearest(name, known); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return llm.Model{}, "", fmt.Errorf("no model is called %q: %s", name, hint)
}

// localModels names the models of servers on this machine.
func localModels(servers []llm.Server) map[string]llm.Model {
	all := map[string]llm.Model{}
	for _, s := range servers {
		for _, m := range s.Models {
			all[strings.ToLower(s.Name)+"/"+m.Name] = m
		}
	}
	return all
}

// modelChoices lists what can be chosen, with what keeps it from working.
func (a *app) modelChoices(ctx context.Context) []ui.ModelChoice {
	var all []ui.ModelChoice
	for _, name := range slices.Sorted(maps.Keys(a.config.Models)) {
		m := a.config.Models[name]
		c := ui.ModelChoice{Name: name, Summary: string(m.Provider) + " " + m.Name + ", " + priceWords(m.Price)}
		if _, err := m.Key(os.Getenv); err != nil {
			c.Missing = err.Error()
		}
		all = append(all, c)
	}
	local := localModels(llm.Discover(ctx))
	for _, id := range slices.Sorted(maps.Keys(local)) {
		all = append(all, ui.ModelChoice{Name: id, Summary: "on this machine, " + local[id].BaseURL})
	}
	return all
}

// priceWords says what a model costs.
func priceWords(p llm.Price) string {
	if p.Input == nil || p.Output == nil {
		return "no price given"
	}
	return fmt.Sprintf("$%g in, $%g out per million tokens", *p.Input, *p.Output)
}

// serverChecks says which model servers answer on this machine.
func serverChecks(ctx context.Context) []check {
	var all []check
	for _, s := range llm.Discover(ctx) {
		all = append(all, check{"model server " + s.Name, true, fmt.Sprintf("%s, %d models: --model %s/NAME", s.BaseURL, len(s.Models), strings.ToLower(s.Name))})
	}
	if len(all) == 0 {
		all = append(all, check{"model server", true, "none on this machine's usual ports (Ollama, vLLM, llama.cpp, LM Studio)"})
	}
	return all
}
