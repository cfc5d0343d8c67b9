package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"proctor/agents"
	"proctor/agents/roster"
	"proctor/runner"
	"proctor/runner/control"
	"proctor/runner/needs"
	"proctor/runner/rundir"
	"proctor/runner/sandbox/kinds"
	"proctor/runner/watch"
	"proctor/tasks"
	"proctor/ui"
	"proctor/ui/pane"
)

// backend is what the user interface does things through.
type backend struct{ *app }

var _ ui.Backend = backend{}

// launch opens the launch screen.
func (a *app) launch(ctx context.Context) error { return a.open(ctx, ui.First{}) }

// console opens the console of a run.
func (a *app) console(ctx context.Context, dir rundir.Dir) error {
	return a.open(ctx, ui.First{Run: dir.ID()})
}

func (a *app) open(ctx context.Context, first ui.First) error {
	if !onTerminal() {
		return exitError{exitUsage, fmt.Errorf("there is no terminal to draw on: use --plain, --headless or --json")}
	}
	farewell, err := ui.Run(ctx, backend{a}, first)
	if farewell != "" {
		fmt.Fprintln(a.out, farewell)
	}
	return err
}

// Tasks implements ui.Backend.
func (b backend) Tasks(ctx context.Context) ([]*tasks.Task, []tasks.Problem) {
	list, problems := b.catalog.List(ctx)
	ctx, cancel := context.WithTimeout(ctx, launchCheck)
	defer cancel()
	for i, lacks := range b.machine(ctx, b.config.Run.Sandbox, "").Check(ctx, list) {
		if len(lacks) > 0 {
			task := *list[i]
			task.Missing = needs.Stopping(lacks)
			task.Warnings = append(needs.Remarks(lacks), task.Warnings...)
			list[i] = &task
		}
	}
	return list, problems
}

// launchCheck is how long the launch screen's list waits for Python and the
// GPUs' driver to say what there is. A run looks again before it starts.
const launchCheck = 4 * time.Second

// Agents implements ui.Backend.
func (b backend) Agents(ctx context.Context, task *tasks.Task) []ui.AgentChoice {
	var all []ui.AgentChoice
	for _, k := range roster.Kinds() {
		all = append(all, ui.AgentChoice{
			Name: k.Name, Summary: k.Summary, NoModel: k.NoModel, Missing: k.Check(ctx, task, agents.Options{}),
		})
	}
	return all
}

// Sandboxes implements ui.Backend.
func (b backend) Sandboxes(ctx context.Context) []ui.SandboxChoice {
	var all []ui.SandboxChoice
	for _, k := range kinds.All() {
		p := k.Probe(ctx)
		all = append(all, ui.SandboxChoice{Name: k.Name, Summary: k.Summary, OK: p.OK, Reason: p.Reason, Gaps: p.Isolation.Gaps})
	}
	return all
}

// Models implements ui.Backend.
func (b backend) Models(ctx context.Context) []ui.ModelChoice { return b.modelChoices(ctx) }

// CommandLine implements ui.Backend.
func (b backend) CommandLine(s ui.Start) string {
	words := []string{"proctor", "run", quote(s.Task), "--agent", quote(s.Agent)}
	if s.Sandbox != "" && s.Sandbox != b.config.Run.Sandbox {
		words = append(words, "--sandbox", quote(s.Sandbox))
	}
	if s.Model != "" {
		words = append(words, "--model", quote(s.Model))
	}
	words = append(words, "--time", pane.Short(s.Budget.Time), "--steps", fmt.Sprint(s.Budget.Steps))
	if s.Budget.Tokens > 0 {
		words = append(words, "--tokens", fmt.Sprint(s.Budget.Tokens))
	}
	if s.Budget.Cost > 0 {
		words = append(words, "--cost", fmt.Sprint(s.Budget.Cost))
	}
	if s.Seed != defaultSeed {
		words = append(words, "--seed", fmt.Sprint(s.Seed))
	}
	return strings.Join(words, " ")
}

// quote makes a word safe for a shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Start implements ui.Backend.
func (b backend) Start(ctx context.Context, s ui.Start) (string, error) {
	dir, err := b.start(ctx, plan{
		task: s.Task, agent: s.Agent, model: s.Model, sandbox: or(s.Sandbox, b.config.Run.Sandbox),
		budget: func(tasks.Budget) tasks.Budget { return s.Budget }, seed: s.Seed, attended: true,
	})
	return dir.ID(), err
}

// Runs implements ui.Backend.
func (b backend) Runs(context.Context) ([]rundir.Summary, error) { return runner.List(b.store) }

// Watch implements ui.Backend.
func (b backend) Watch(_ context.Context, id string) (watch.Source, error) {
	dir, err := b.store.Find(id)
	if err != nil {
		return nil, err
	}
	return watch.Attach(dir)
}

// Replay implements ui.Backend.
func (b backend) Replay(_ context.Context, id string, speed float64) (watch.Player, error) {
	dir, err := b.store.Find(id)
	if err != nil {
		return nil, err
	}
	return watch.NewReplay(dir, speed)
}

// Do implements ui.Backend.
func (b backend) Do(ctx context.Context, id string, c control.Command) (control.Reply, error) {
	dir, err := b.store.Find(id)
	if err != nil {
		return control.Reply{}, err
	}
	reply, err := b.do(ctx, dir, c)
	if reply.Error != "" {
		return reply, nil
	}
	return reply, err
}
