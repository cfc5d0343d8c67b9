package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// collect runs one collector to its end and says why it ended. hopeless says
// that starting another one soon is of no use.
func (s *Sampler) collect(ctx context.Context) (why string, hopeless bool) {
	o := s.options
	if len(o.Argv) == 0 {
		return "no GPU collector was configured", true
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var heard atomic.Bool
	watchdog := time.AfterFunc(o.Start, func() {
		if heard.Load() {
			stop(fmt.Errorf("the GPU collector fell silent for %s and was killed: a call of the driver hangs", o.Hang))
			return
		}
		stop(fmt.Errorf("the GPU collector said nothing for %s after its start and was killed: a call of the driver hangs", o.Start))
	})
	defer watchdog.Stop()

	lines := &lineReader{line: func(line []byte) (failure string) {
		sample, err := ParseSample(line)
		if err != nil {
			return err.Error()
		}
		if sample.Err != "" {
			return sample.Err
		}
		heard.Store(true)
		watchdog.Reset(o.Hang)
		s.publish(sample)
		return ""
	}}
	var complaint tail
	argv := append(o.Argv[1:len(o.Argv):len(o.Argv)], "--interval="+o.Interval.String())
	cmd := exec.CommandContext(ctx, o.Argv[0], argv...)
	cmd.Env, cmd.Stdout, cmd.Stderr = o.Env, lines, &complaint
	// A group of its own, so that what it started is killed with it and a
	// terminal's ^C does not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Sprintf("starting the GPU collector: %v", err), true
	}
	s.setPID(cmd.Process.Pid)
	err := cmd.Wait()
	s.setPID(0)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause.Error(), false
	}
	hopeless = cmd.ProcessState.ExitCode() == ExitNoGPU
	if lines.failure != "" {
		return lines.failure, hopeless
	}
	return ended(err, complaint.last()), hopeless
}

func (s *Sampler) setPID(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid = pid
}

func ended(err error, complaint string) string {
	why := "the GPU collector ended"
	if err != nil {
		why += ": " + err.Error()
	}
	if complaint != "" {
		why += ": " + complaint
	}
	return why
}

// A lineReader cuts what a collector writes into lines.
type lineReader struct {
	line    func([]byte) (failure string)
	failure string // what the last line said was wrong, if it did
	partial []byte
	lost    bool // the rest of a line that is too long
}

func (r *lineReader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		head, rest, whole := bytes.Cut(p, []byte{'\n'})
		if p = rest; !r.lost {
			r.partial = append(r.partial, head...)
		}
		r.lost = r.lost || len(r.partial) > MaxLine
		if whole {
			if !r.lost && len(bytes.TrimSpace(r.partial)) > 0 {
				r.failure = r.line(r.partial)
			}
			r.partial, r.lost = r.partial[:0], false
		}
	}
	return n, nil
}

// A tail keeps the end of what a collector complains about.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailSize):]
	return len(p), nil
}

// last is the last line that says something.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return plain(lines[len(lines)-1])
}
