// Package collect reads GPUs and prints what it read: the command `proctor
// gpu`. It is the only package that loads NVIDIA's driver library, and it
// does so in a process of its own, because a call that the installed driver
// lacks ends the process that makes it and a call into a broken driver may
// never return. Everybody else reads its lines through gpu.Sampler.
//
// The library is found when the program runs, so a binary built with it also
// starts without a driver. Its functions are resolved when they are first
// called: the binary must not be linked with -z now, as hardened builds do.
package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"proctor/runner/gpu"
)

// A source is a way of reading the GPUs.
type source interface {
	// poll reads every device. It fails when the source as a whole does; a
	// device that fails alone says so in its Err.
	poll(ctx context.Context) (gpu.Sample, error)
	close()
}

// errNoGPU says that this machine has none, as far as a source can tell.
var errNoGPU = errors.New("no GPU found")

// noGPU wraps errNoGPU with what was looked for.
func noGPU(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNoGPU, fmt.Sprintf(format, args...))
}

// open finds a source that works. name is auto, nvml or nvidia-smi; watch
// says that it will be polled every interval rather than once.
func open(ctx context.Context, name string, watch bool, interval time.Duration) (source, error) {
	var nvmlErr error
	if name != "nvidia-smi" {
		s, err := openNVML()
		if err == nil || name == "nvml" {
			return s, err
		}
		nvmlErr = err
	}
	s, err := openSMI(ctx, watch, interval)
	if err == nil {
		return s, nil
	}
	switch {
	case nvmlErr == nil:
		return nil, err
	case !errors.Is(nvmlErr, errNoGPU):
		return nil, nvmlErr // there is a GPU, and NVML says best what is wrong
	case !errors.Is(err, errNoGPU):
		return nil, err
	}
	_, reason, _ := strings.Cut(err.Error(), ": ")
	return nil, fmt.Errorf("%w; %s", nvmlErr, reason)
}
