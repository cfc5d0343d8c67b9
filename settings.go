package main

import (
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"proctor/runner"
	"proctor/runner/gpu/collect"
	"proctor/runner/sandbox"
)

// settings is the configuration as a supervisor takes it.
func (a *app) settings() runner.Settings {
	c := a.config
	set := runner.Settings{
		Version: version(),
		Cols:    c.Terminal.Cols, Rows: c.Terminal.Rows, RecordingLimit: c.Terminal.RecordingLimit,
		ObservationHead: c.Terminal.ObservationHead, ObservationTail: c.Terminal.ObservationTail,
		Sample: c.Run.Sample, StopGrace: c.Run.StopGrace,
		GPUSample: c.GPU.Sample, TellGPUNotes: c.GPU.TellAgent,
		Limits: sandbox.Limits{
			MemoryBytes: c.Sandbox.Memory, CPUs: c.Sandbox.CPUs, Pids: c.Sandbox.Pids,
			FileBytes: c.Sandbox.File, DiskBytes: c.Sandbox.Disk,
		},
		OutputBytes: c.Grader.OutputSize, OutputFiles: c.Grader.OutputFiles, GraderTime: c.Grader.Time,
	}
	for _, name := range c.Sandbox.Env {
		if value, there := os.LookupEnv(name); there {
			set.Env = append(set.Env, name+"="+value)
		}
	}
	return set
}

// gpuCommand reads the GPUs. It is also how a run's supervisor does: a driver
// that ends or hangs the process which calls it takes nothing else with it.
func gpuCommand() *cobra.Command {
	return &cobra.Command{
		Use: "gpu [--json] [--watch] [--interval 1s]", Short: "Read the GPUs: use, memory, power, processes",
		DisableFlagParsing: true, // its flags are its own
		PersistentPreRunE:  func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			if code := collect.Main(cmd.Context(), args, os.Stdout, os.Stderr); code != 0 {
				return exitError{code: code}
			}
			return nil
		},
	}
}

// A check is something that the machine has or lacks.
type check struct {
	what string
	ok   bool
	say  string
}

// machineChecks looks for what the built-in tasks need.
func machineChecks() []check {
	path, err := exec.LookPath("python3")
	if err != nil {
		return []check{{"python3", false, "not found: the built-in tasks need it (Debian: apt install python3)"}}
	}
	return []check{{"python3", true, path}}
}
