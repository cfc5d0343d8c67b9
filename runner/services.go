package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"proctor/runner/event"
	"proctor/runner/sandbox"
	"proctor/runner/terminal"
	"proctor/tasks"
)

// services are the task's own servers. They listen outside the sandbox, each
// on a unix socket that a loopback port inside leads to, and run what they
// need in sandboxes beside the agent's.
type services struct {
	bench    *bench
	servers  []*http.Server
	serving  []chan error
	sockets  []string
	forwards []sandbox.Forward
	cancel   context.CancelFunc // of every request
}

// serviceEnds is how long requests that were cancelled may take to notice.
const serviceEnds = 20 * time.Second

// openServices starts the task's services; a task without any has none.
func (r *Run) openServices() error {
	if len(r.task.Services) == 0 {
		return nil
	}
	s := &services{bench: newBench(r, "service")}
	r.services = s
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background())
	for i, service := range r.task.Services {
		socket := strings.TrimSuffix(socketPath(r.dir), ".sock") + fmt.Sprintf(".s%d", i)
		if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
			return fmt.Errorf("making the directory of the task's %s service: %w", service.Name, err)
		}
		_ = os.Remove(socket) // left by a supervisor that was killed: we hold the lock
		listener, err := net.Listen("unix", socket)
		if err != nil {
			return fmt.Errorf("listening for the task's %s service: %w", service.Name, err)
		}
		server := &http.Server{
			Handler:           service.Handler(s.bench, r.noter(service.Name)),
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ReadHeaderTimeout: time.Minute,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          slog.NewLogLogger(r.trouble.Handler(), slog.LevelWarn),
		}
		done := make(chan error, 1)
		go func() { done <- server.Serve(listener) }()
		s.servers, s.serving = append(s.servers, server), append(s.serving, done)
		s.sockets = append(s.sockets, socket)
		s.forwards = append(s.forwards, sandbox.Forward{Socket: socket, Port: service.Port, Env: service.Env})
	}
	return nil
}

// mostServiceNotes bounds what one service puts on record: an agent that asks
// without end must not fill the log.
const mostServiceNotes = 10_000

// noter puts what a service says on the run's record.
func (r *Run) noter(service string) func(text string) {
	var n atomic.Int64
	return func(text string) {
		switch said := n.Add(1); {
		case said == mostServiceNotes:
			text = "further calls are not recorded"
		case said > mostServiceNotes:
			return
		}
		_ = r.emit(event.TypeNote, event.Note{Level: "info", Kind: service, Text: service + ": " + terminal.Clean(text)})
	}
}

// close ends the services and waits for what they still do. The agent's
// sandbox has been closed by then, and with it every connection from there.
func (s *services) close() error {
	if s == nil || s.cancel == nil {
		return nil
	}
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), serviceEnds)
	defer cancel()
	var err error
	for i, server := range s.servers {
		err = errors.Join(err, server.Shutdown(ctx), server.Close())
		if end := <-s.serving[i]; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
		err = errors.Join(err, ignoreMissing(os.Remove(s.sockets[i])))
	}
	s.cancel = nil
	return errors.Join(err, s.bench.close())
}

// closeServices ends the task's services before anything is judged.
func (r *Run) closeServices() {
	if err := r.services.close(); err != nil {
		r.trouble.Error("closing the task's services", "err", err)
	}
}

// placed returns the task as the agent's sandbox has it: where that cannot
// mount, or a service is not at its usual port, the instruction says what is
// where.
func (r *Run) placed() *tasks.Task {
	t := *r.task
	var moved []string
	at := func(usual, here, variable string) {
		if here == usual {
			return
		}
		line := fmt.Sprintf("- %s is at %s", usual, here)
		if variable != "" {
			line += ", which $" + variable + " holds"
		}
		moved = append(moved, line)
	}
	usual := r.workdir()
	t.Workdir = r.box.Path(usual)
	at(usual, t.Workdir, "")
	t.Mounts = nil
	for _, m := range r.task.Mounts {
		usual := m.Target
		m.Target = r.box.Path(usual)
		at(usual, m.Target, m.Env)
		t.Mounts = append(t.Mounts, m)
	}
	for _, service := range t.Services {
		variable, _, _ := strings.Cut(service.Env, "=")
		usual := fmt.Sprintf("localhost:%d", service.Port)
		switch here := r.box.Forwarded(service.Port); here {
		case "":
			moved = append(moved, fmt.Sprintf("- %s (%s) cannot be reached", usual, service.Name))
		case fmt.Sprintf("127.0.0.1:%d", service.Port):
		default:
			at(usual, here, variable)
		}
	}
	if len(moved) > 0 {
		t.Instruction = strings.TrimRight(t.Instruction, "\n") +
			"\n\nIN THIS SANDBOX\n---------------\nSome paths and addresses above are elsewhere here:\n" + strings.Join(moved, "\n") + "\n"
	}
	return &t
}

// where returns the path at which a mount of the task is found, before there
// is a sandbox to ask.
func (r *Run) where(m tasks.Mount) string {
	if r.isolation.Targets {
		return m.Target
	}
	return m.Source
}
