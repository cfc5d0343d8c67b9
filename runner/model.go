package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"proctor/agents"
	"proctor/agents/llm"
	"proctor/agents/llm/redact"
	"proctor/runner/event"
	"proctor/runner/gateway"
)

// A thinker is the model of a model-driven run: the gateway that all its
// calls pass, and the agent's client of it.
type thinker struct {
	gateway *gateway.Gateway
	socket  string
	model   llm.Model
	serving chan error
}

// openModel starts the gateway when the run has a model. It listens outside
// the sandbox; the key stays here.
func (r *Run) openModel() error {
	if r.req.Model == "" {
		return nil
	}
	model, key, err := r.parts.FindModel(r.req.Model)
	if err != nil {
		return err
	}
	r.secrets = redact.New(key)
	r.log.Redact(r.secrets.Bytes)
	r.screen.hide(r.secrets)
	socket := strings.TrimSuffix(socketPath(r.dir), ".sock") + ".model"
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return fmt.Errorf("making the directory of the model's socket: %w", err)
	}
	_ = os.Remove(socket) // left by a supervisor that was killed: we hold the lock
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listening for model calls: %w", err)
	}
	g, err := gateway.New(gateway.Config{
		Routes: []gateway.Route{{Model: model, Key: key, Any: true}},
		Record: r.dir.Exchanges(), Redact: r.secrets,
		Budget: r.mayCall, OnUsage: r.called,
		OnError: func(err error) { r.trouble.Error("in the gateway", "err", err) },
	})
	if err != nil {
		listener.Close()
		return fmt.Errorf("starting the gateway to %q: %w", r.req.Model, err)
	}
	t := &thinker{gateway: g, socket: socket, model: model, serving: make(chan error, 1)}
	go func() { t.serving <- g.Serve(listener) }()
	r.thinker = t
	return nil
}

// close ends the gateway and waits for it.
func (t *thinker) close() error {
	if t == nil {
		return nil
	}
	err := t.gateway.Close()
	return errors.Join(err, <-t.serving, ignoreMissing(os.Remove(t.socket)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// hold and release stop replies on their way while the run stands still.
func (t *thinker) hold() {
	if t != nil {
		t.gateway.Freeze()
	}
}

func (t *thinker) release() {
	if t != nil {
		t.gateway.Resume()
	}
}

// env is what a command in the sandbox needs in order to reach the gateway.
func (t *thinker) env(endpoint string) []string {
	if t == nil || endpoint == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil
	}
	return t.gateway.Env(n)
}

// client returns what the agent thinks with; nil without a model.
func (t *thinker) client(secrets *redact.Redactor) (agents.Model, func(), error) {
	if t == nil {
		return nil, func() {}, nil
	}
	model, transport := gateway.Through(t.model, t.socket)
	client, err := llm.New(model, llm.Options{Transport: transport, Redact: secrets})
	if err != nil {
		return nil, nil, fmt.Errorf("making a client for the model: %w", err)
	}
	return client, client.Close, nil
}

// mayCall holds a model call while the run stands still and refuses it when the
// budget is spent.
func (r *Run) mayCall() error {
	if err := r.moving(r.ctx); err != nil {
		return err
	}
	return r.checkLimits(r.ctx)
}

// called counts what a model call consumed.
func (r *Run) called(u gateway.Usage) {
	r.mu.Lock()
	r.spent.tokens += u.Tokens.Input + u.Tokens.Output
	if u.Cost != nil {
		r.spent.cost += *u.Cost
	}
	r.mu.Unlock()
	_ = r.emit(event.TypeUsage, event.Usage{
		Model: u.Model, Input: u.Tokens.Input, Cached: u.Tokens.Cached, Output: u.Tokens.Output,
		Cost: u.Cost, Estimated: u.Tokens.Estimated,
	})
}

// thinks reports what keeps a model-driven agent from thinking.
func (r *Run) thinks(ctx context.Context, kind agents.Kind) error {
	if kind.NoModel || r.thinker != nil {
		return ctx.Err()
	}
	return missingError{"agent " + r.req.Agent, []string{"it needs a model: --model NAME, from a [models.NAME] table of the settings"}}
}
