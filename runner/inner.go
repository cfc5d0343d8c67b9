package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/outputs"
)

// An inner sandbox is where a grader has submitted code run: a place of its
// own, without network, without the grader and its answers, timed from here.
// The grader speaks JSON over a socket, a line a request and a line an answer.

type innerRequest struct {
	Argv    []string          `json:"argv"`
	Files   map[string]string `json:"files"` // laid into the empty working directory
	Stdin   string            `json:"stdin"`
	Timeout float64           `json:"timeout_s"` // seconds; 0 means a minute
}

type innerAnswer struct {
	ExitCode int     `json:"exit_code"`
	Seconds  float64 `json:"seconds"` // of the whole process, measured outside
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Error    string  `json:"error"` // what kept it from running to its end
}

// The most that passes in and out of an inner sandbox, in bytes.
const (
	mostInnerRequest = 64 << 20
	mostInnerStdout  = 64 << 20
	mostInnerStderr  = 64 << 10
)

type inner struct {
	bench  *bench
	theirs *os.File
	ours   net.Conn
	cancel context.CancelFunc
	done   sync.WaitGroup
	count  int
}

// offerInner opens the socket and serves it until close.
func (b *bench) offerInner(ctx context.Context) (*inner, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a socket for submitted code: %w", err)
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	mine := os.NewFile(uintptr(pair[0]), "inner")
	conn, err := net.FileConn(mine)
	mine.Close()
	i := &inner{bench: b, theirs: os.NewFile(uintptr(pair[1]), "inner"), ours: conn}
	if err != nil {
		i.theirs.Close()
		return nil, fmt.Errorf("opening a socket for submitted code: %w", err)
	}
	ctx, i.cancel = context.WithCancel(ctx)
	i.done.Go(func() { i.serve(ctx) })
	return i, nil
}

func (i *inner) close() {
	i.cancel()
	i.ours.Close()
	i.theirs.Close()
	i.done.Wait()
}

func (i *inner) serve(ctx context.Context) {
	in := bufio.NewScanner(i.ours)
	in.Buffer(make([]byte, 0, 64<<10), mostInnerRequest)
	out := json.NewEncoder(i.ours)
	for in.Scan() {
		var q innerRequest
		var a innerAnswer
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			a.Error = "reading the request: " + err.Error()
		} else {
			a = i.run(ctx, q)
		}
		if out.Encode(a) != nil {
			return
		}
	}
}

func (i *inner) run(ctx context.Context, q innerRequest) (a innerAnswer) {
	i.count++
	home := filepath.Join(i.bench.dir, fmt.Sprintf("inner%d", i.count))
	defer os.RemoveAll(home)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return innerAnswer{ExitCode: -1, Error: err.Error()}
	}
	for name, text := range q.Files {
		if err := outputs.WriteFile(home, name, []byte(text)); err != nil {
			return innerAnswer{ExitCode: -1, Error: err.Error()}
		}
	}
	spec := i.bench.run.boxSpec()
	spec.Name = fmt.Sprintf("%s-inner%d", i.bench.run.dir.ID(), i.count)
	spec.Workspace, spec.Workdir, spec.Mounts, spec.ReadOnly = home, graderHome, nil, nil
	spec.Network = sandbox.Network{Policy: "none"}
	box, err := i.bench.run.kind.Open(ctx, spec)
	if err != nil {
		return innerAnswer{ExitCode: -1, Error: err.Error()}
	}
	defer box.Close()
	return timed(ctx, box, q)
}

// timed runs one command to its end, or until its time is up.
func timed(ctx context.Context, box sandbox.Sandbox, q innerRequest) innerAnswer {
	timeout := time.Duration(q.Timeout * float64(time.Second))
	if timeout <= 0 {
		timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stdout, stderr := &capped{most: mostInnerStdout}, &capped{most: mostInnerStderr}
	started := time.Now()
	proc, err := box.Start(ctx, sandbox.Command{
		Argv: q.Argv, Stdin: bytes.NewReader([]byte(q.Stdin)), Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		return innerAnswer{ExitCode: 127, Error: err.Error()}
	}
	stop := context.AfterFunc(ctx, func() { _ = proc.Kill() })
	defer stop()
	exit, err := proc.Wait()
	a := innerAnswer{ExitCode: exit.Code, Seconds: time.Since(started).Seconds(), Stdout: stdout.String(), Stderr: stderr.String()}
	switch {
	case ctx.Err() != nil:
		a.Error = fmt.Sprintf("stopped after %s", timeout)
	case err != nil:
		a.Error = err.Error()
	case stdout.dropped:
		a.Error = fmt.Sprintf("it wrote more than %d bytes", stdout.most)
	}
	return a
}

// capped keeps the first bytes written to it.
type capped struct {
	bytes.Buffer
	most    int
	dropped bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.most - c.Len()
	if room < len(p) {
		c.dropped = true
		_, _ = c.Buffer.Write(p[:max(0, room)])
		return len(p), nil
	}
	return c.Buffer.Write(p)
}
