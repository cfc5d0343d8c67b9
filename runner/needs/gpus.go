package needs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"proctor/runner/gpu"
)

// gpuTime is how long the driver may take to say which GPUs there are; one
// that sleeps needs seconds to wake up.
const gpuTime = 15 * time.Second

// ReadGPUs returns a reader of the GPUs that runs argv, which prints one
// sample as a line and exits as "proctor gpu --json" does: the driver is
// called by a process of its own.
func ReadGPUs(argv ...string) func(context.Context) ([]gpu.Device, error) {
	return func(ctx context.Context) ([]gpu.Device, error) {
		ctx, cancel := context.WithTimeout(ctx, gpuTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == gpu.ExitNoGPU:
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("reading the GPUs: %w", err)
		}
		line, _, _ := bytes.Cut(out, []byte("\n"))
		s, err := gpu.ParseSample(line)
		if err != nil {
			return nil, fmt.Errorf("reading the GPUs: %w", err)
		}
		return s.Devices, nil
	}
}
