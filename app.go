package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"proctor/agents"
	"proctor/agents/roster"
	"proctor/config"
	"proctor/runner"
	"proctor/runner/control"
	"proctor/runner/needs"
	"proctor/runner/rundir"
	"proctor/runner/sandbox"
	"proctor/runner/sandbox/kinds"
	"proctor/runner/terminal"
	"proctor/tasks"
	"proctor/tasks/catalog"
)

// app is what the commands share.
type app struct {
	out, err   io.Writer
	configPath string
	config     config.Config
	store      rundir.Store
	catalog    *catalog.Catalog
}

// load reads the settings and finds the runs.
func (a *app) load() error {
	loaded, err := config.Load(defaults, a.settingsPath(), a.configPath != "")
	if err != nil {
		return exitError{exitUsage, err}
	}
	a.config = loaded
	a.store = rundir.NewStore(filepath.Join(xdg("XDG_STATE_HOME", ".local/state"), "proctor", "runs"))
	a.catalog = catalog.New(loaded.Tasks.Roots, loaded.Suites)
	return nil
}

// settingsPath is the person's settings file, which may not be there.
func (a *app) settingsPath() string {
	if a.configPath != "" {
		return a.configPath
	}
	return filepath.Join(xdg("XDG_CONFIG_HOME", ".config"), "proctor", "config.toml")
}

// xdg returns a base directory of the XDG specification.
func xdg(variable, fallback string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = filepath.Join(os.TempDir(), fmt.Sprintf("proctor-home-%d", os.Getuid()))
	}
	return filepath.Join(home, filepath.FromSlash(fallback))
}

// parts is what a supervisor finds things with.
func (a *app) parts() runner.Parts {
	return runner.Parts{
		OpenTask:    a.catalog.Open,
		FindAgent:   roster.Find,
		PickSandbox: func(ctx context.Context, name string) (sandbox.Kind, error) { return kinds.Pick(ctx, name) },
		FindRun:     a.store.Find,
		FindModel:   a.findModel,
	}
}

// A plan is a run that is about to be started.
type plan struct {
	task, agent, model, sandbox string
	budget                      func(own tasks.Budget) tasks.Budget // what becomes of the task's own
	seed                        int64
	attended                    bool
	onSoft                      string
	gpus                        string // as gpu.ParseSelection reads it
	mode                        string // how the person goes along
	patterns                    []string
	remarks                     io.Writer       // is told what the run goes without; may be nil
	anyway                      bool            // start without what the task might do without
	attempt                     *rundir.Attempt // which of several attempts it is; nil for a run of its own
}

// start starts a run's supervisor.
func (a *app) start(ctx context.Context, p plan) (rundir.Dir, error) {
	task, err := a.catalog.Open(ctx, p.task)
	if err != nil {
		return rundir.Dir{}, err
	}
	if _, err := kinds.Pick(ctx, p.sandbox); err != nil {
		return rundir.Dir{}, err
	}
	kind, err := a.able(ctx, task, p)
	if err != nil {
		return rundir.Dir{}, err
	}
	now := time.Now()
	onSoft := p.onSoft
	if onSoft == "" {
		onSoft = a.config.Run.OnSoftLimitHeadless
		if p.attended {
			onSoft = a.config.Run.OnSoftLimit
		}
	}
	req := rundir.Request{
		ID:   rundir.NewID(now, task.Name, p.agent, uint16(rand.Uint32())),
		Task: task.Ref, Agent: p.agent, Settings: a.config.Agents[roster.Short(kind)], Model: p.model, Sandbox: p.sandbox,
		Budget: p.budget(task.Budget), Seed: p.seed, Attended: p.attended,
		GPUs: p.gpus, Mode: p.mode, Patterns: p.patterns, Attempt: p.attempt, OnSoft: onSoft, Soft: a.config.Run.SoftLimit, Version: version(), Created: now.UTC(),
	}
	args := []string{"supervise"}
	if a.configPath != "" {
		path, err := filepath.Abs(a.configPath)
		if err != nil {
			return rundir.Dir{}, err
		}
		args = append(args, "--config", path)
	}
	return runner.Start(ctx, a.store, req, args)
}

// able says before a run is made what would keep its agent from doing it.
func (a *app) able(ctx context.Context, task *tasks.Task, p plan) (agents.Kind, error) {
	kind, options, err := roster.Find(p.agent)
	if err != nil {
		return kind, err
	}
	if kind.FromRun {
		if _, err := a.store.Find(options.Arg); err != nil {
			return kind, err
		}
		return kind, nil // its record is read when the run has begun
	}
	options.Model, options.Extra = p.model, a.config.Agents[roster.Short(kind)]
	missing := kind.Check(ctx, task, options)
	if p.model != "" {
		if _, _, err := a.findModel(p.model); err != nil {
			return kind, err
		}
	} else if !kind.NoModel {
		missing = append(missing, "it needs a model: --model NAME, from a [models.NAME] table of the settings or a server on this machine")
	}
	if kind.Person && !p.attended {
		missing = append(missing, "it is a person: start it on a terminal, without --headless or --detach")
	}
	lacks := a.machine(ctx, p.sandbox, p.gpus).Check(ctx, []*tasks.Task{task})[0]
	if p.anyway {
		lacks = needs.Insist(lacks)
	}
	missing = append(needs.Stopping(lacks), missing...)
	if len(missing) > 0 {
		return kind, fmt.Errorf("agent %s cannot run %s here: %s", p.agent, task.Ref, strings.Join(missing, "; "))
	}
	if p.remarks != nil && p.attempt == nil {
		for _, text := range needs.Remarks(lacks) {
			fmt.Fprintf(p.remarks, "proctor: note: %s\n", terminal.Clean(text))
		}
	}
	return kind, nil
}

// find returns the run that an argument names, or the one that is alive.
func (a *app) find(args []string) (rundir.Dir, error) {
	if len(args) > 0 {
		dir, err := a.store.Find(args[0])
		if err != nil {
			return dir, exitError{exitUsage, err}
		}
		return dir, nil
	}
	alive, err := a.store.Alive()
	if err != nil {
		return rundir.Dir{}, err
	}
	switch len(alive) {
	case 1:
		return alive[0], nil
	case 0:
		return rundir.Dir{}, exitError{exitUsage, errors.New("no run is alive: name one, see proctor runs")}
	default:
		return rundir.Dir{}, exitError{exitUsage, fmt.Errorf("%d runs are alive: name one, see proctor runs", len(alive))}
	}
}

// newest is find, but falls back on the newest run.
func (a *app) newest(args []string) (rundir.Dir, error) {
	if len(args) == 0 {
		alive, err := a.store.Alive()
		if err != nil {
			return rundir.Dir{}, err
		}
		ids, err := a.store.IDs()
		if err != nil {
			return rundir.Dir{}, err
		}
		if len(alive) == 0 && len(ids) > 0 {
			return a.store.Find(ids[0])
		}
	}
	return a.find(args)
}

// do sends a command to a run's supervisor.
func (a *app) do(ctx context.Context, dir rundir.Dir, c control.Command) (control.Reply, error) {
	socket, err := dir.Socket()
	if err != nil {
		return control.Reply{}, err
	}
	c.Author = author()
	return control.Do(ctx, socket, c)
}

// author is who the person at this terminal is.
func author() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "someone"
}

// print writes a value as JSON, or its words.
func (a *app) print(asJSON bool, v any, words func(io.Writer)) error {
	if !asJSON {
		var text strings.Builder
		words(&text)
		// Tasks and agents have had a say in it.
		_, err := io.WriteString(a.out, terminal.Clean(text.String()))
		return err
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}

// onTerminal reports whether a person looks at what is printed.
func onTerminal() bool { return term.IsTerminal(os.Stdout.Fd()) && term.IsTerminal(os.Stdin.Fd()) }
