package collect

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"proctor/runner/gpu"
)

const usage = `usage: proctor gpu [--json] [--watch] [--interval 1s]

Shows every NVIDIA GPU of this machine: utilisation, memory, power,
temperature, throttling, errors, MIG instances, and who uses it.

  --json            one sample a line, for programs
  --watch           go on until interrupted
  --interval 1s     between samples, at least 200ms
  --source auto     nvml, nvidia-smi, or auto: the first that works
  --timeout 10s     how long the driver may take to answer; four times that at first

For example: ssh node7 proctor gpu --json --watch
`

// The exit statuses of Main, besides gpu.ExitNoGPU.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// options is the command line.
type options struct {
	json, watch       bool
	interval, timeout time.Duration
	source            string
}

// minInterval is the drivers' own: they average over a sixth of a second.
const minInterval = 200 * time.Millisecond

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("proctor gpu", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage) }
	f.BoolVar(&o.json, "json", false, "")
	f.BoolVar(&o.watch, "watch", false, "")
	f.DurationVar(&o.interval, "interval", time.Second, "")
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	f.StringVar(&o.source, "source", "auto", "")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("proctor gpu takes no argument, but was given %q", f.Arg(0))
	case o.interval < minInterval:
		return o, fmt.Errorf("--interval %s is too short; give at least %s", o.interval, minInterval)
	case o.timeout <= 0:
		return o, fmt.Errorf("--timeout %s: give a positive time", o.timeout)
	case o.source != "auto" && o.source != "nvml" && o.source != "nvidia-smi":
		return o, fmt.Errorf("--source %q: give auto, nvml or nvidia-smi", o.source)
	}
	return o, nil
}

// Main is the command `proctor gpu`. It returns the exit status: 0 when
// everything was read, 1 when the driver failed or did not answer, 2 when
// args make no sense, gpu.ExitNoGPU when this machine has no GPU. With
// --json, also a failure is a line on stdout. It returns when ctx ends, also
// while the driver hangs.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\nhint: proctor gpu --help\n", err)
		return exitUsage
	}
	r := startReader(o)
	defer r.end()
	return watch(ctx, r, o, stdout, stderr)
}

// startFactor times --timeout is waited for the first sample: without
// persistence mode the driver sets up each GPU when it is opened.
const startFactor = 4

// watch prints samples until ctx ends or, without --watch, once.
func watch(ctx context.Context, r *asyncReader, o options, stdout, stderr io.Writer) int {
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	limit := startFactor * o.timeout
	for {
		a, ok := r.read(ctx, limit)
		if ctx.Err() != nil {
			return exitOK
		}
		if !ok {
			a.err = fmt.Errorf("the NVIDIA driver has not answered for %s; it hangs or wakes up a GPU (nvidia-smi would, too)", limit)
		}
		limit = o.timeout + o.interval
		if a.err != nil {
			return fail(a.err, o, stdout, stderr)
		}
		if err := write(stdout, a.sample, o); err != nil {
			fmt.Fprintf(stderr, "error: writing the sample: %v\n", err)
			return exitFailed
		}
		if !o.watch {
			return exitOK
		}
		select {
		case <-ctx.Done():
			return exitOK
		case <-tick.C:
		}
	}
}

func fail(err error, o options, stdout, stderr io.Writer) int {
	if o.json {
		s := gpu.Sample{At: time.Now(), Source: "none", Devices: []gpu.Device{}, Err: err.Error()}
		if werr := write(stdout, s, o); werr != nil {
			fmt.Fprintf(stderr, "error: writing the sample: %v\n", werr)
		}
	} else {
		fmt.Fprintf(stderr, "error: %v\n", err)
	}
	if errors.Is(err, errNoGPU) {
		return gpu.ExitNoGPU
	}
	return exitFailed
}

func write(w io.Writer, s gpu.Sample, o options) error {
	if !o.json {
		return writeTable(w, s)
	}
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
