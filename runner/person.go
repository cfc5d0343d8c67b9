package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/sandbox"
	"proctor/runner/terminal"
)

// hints are what a person has told the agent and the agent has not taken.
type hints struct {
	count   int
	waiting []agents.Hint
	arrived chan struct{}
}

// asks are questions to the person: one is open at a time.
type asks struct {
	count int
	turn  chan struct{} // holds a token while nobody asks
	open  *event.Ask
	reply chan agents.Answer
}

// Hints implements agents.Host.
func (h *host) Hints() []agents.Hint {
	h.run.mu.Lock()
	defer h.run.mu.Unlock()
	waiting := h.run.hints.waiting
	h.run.hints.waiting = nil
	return waiting
}

// HintArrived implements agents.Host.
func (h *host) HintArrived() <-chan struct{} { return h.run.hints.arrived }

// Delivered implements agents.Host.
func (h *host) Delivered(id string, how agents.Delivery, reply string) {
	_ = h.run.emit(event.TypeHintDelivered, event.HintDelivered{ID: id, How: how, Reply: reply})
}

// hint queues what a person says to the agent and returns its id.
func (r *Run) hint(text, author string, interrupt bool) (string, error) {
	if text == "" {
		return "", errors.New("the hint is empty")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hints.count++
	hint := agents.Hint{ID: fmt.Sprintf("h%d", r.hints.count), Text: text, Author: author, Interrupt: interrupt}
	if err := r.emit(event.TypeHint, event.Hint{ID: hint.ID, Text: text, Author: author}); err != nil {
		return "", err
	}
	r.sync()
	r.queueHint(hint)
	return hint.ID, nil
}

// Ask implements agents.Host.
func (h *host) Ask(ctx context.Context, q agents.Question) (agents.Answer, error) {
	if err := h.run.enter(ctx); err != nil {
		return agents.Answer{}, err
	}
	return h.run.ask(ctx, q)
}

// ask puts a question to the person and waits with the clock stopped. A run
// that nobody watches answers itself with the default, and says so.
func (r *Run) ask(ctx context.Context, q agents.Question) (agents.Answer, error) {
	select {
	case <-r.asks.turn:
		defer func() { r.asks.turn <- struct{}{} }()
	case <-ctx.Done():
		return agents.Answer{}, context.Cause(ctx)
	}
	r.mu.Lock()
	r.asks.count++
	open := event.Ask{
		ID: fmt.Sprintf("q%d", r.asks.count), Kind: q.Kind, Text: q.Text, Detail: q.Detail, Options: q.Options, Default: q.Default,
	}
	if !r.attended {
		r.mu.Unlock()
		auto := event.Answer{ID: open.ID, Choice: q.Default, Author: "policy", Auto: true}
		err := errors.Join(r.emit(event.TypeAsk, open), r.emit(event.TypeAnswer, auto))
		return agents.Answer{Choice: q.Default, Author: auto.Author, Auto: true}, err
	}
	err := r.openAsk(open)
	reply := r.asks.reply
	r.mu.Unlock()
	if err != nil {
		return agents.Answer{}, err
	}
	select {
	case answer := <-reply:
		return answer, nil
	case <-ctx.Done():
		return agents.Answer{}, context.Cause(ctx)
	}
}

// openAsk stops everything and shows the question. r.mu is held.
func (r *Run) openAsk(open event.Ask) error {
	if !r.hold.stopped {
		change := event.StateChange{To: event.Waiting, Reason: open.Text, Actor: "proctor", Frozen: r.hold.active > 0}
		if err := r.halt(change); err != nil {
			return err
		}
	}
	r.asks.open, r.asks.reply = &open, make(chan agents.Answer, 1)
	return r.emit(event.TypeAsk, open)
}

// answer gives a person's answer to the question that waits.
func (r *Run) answer(id, choice, text, author string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := r.asks.open
	switch {
	case open == nil:
		return errors.New("the run asks nothing")
	case id != "" && id != open.ID:
		return fmt.Errorf("the run does not ask %q: it asks %s, %s", id, open.ID, open.Text)
	case choice == "" && text == "":
		return errors.New("the answer is empty")
	}
	choice, err := pickOption(open.Options, choice)
	if err != nil {
		return err
	}
	if err := r.emit(event.TypeAnswer, event.Answer{ID: open.ID, Choice: choice, Text: text, Author: author}); err != nil {
		return err
	}
	r.asks.reply <- agents.Answer{Choice: choice, Text: text, Author: author}
	return r.resumeLocked(author)
}

// pickOption returns the option that a person meant: all of it or a unique
// beginning.
func pickOption(options []string, choice string) (string, error) {
	if len(options) == 0 {
		return choice, nil
	}
	var found []string
	for _, o := range options {
		if o == choice {
			return o, nil
		}
		if choice != "" && len(choice) < len(o) && o[:len(choice)] == choice {
			found = append(found, o)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return "", fmt.Errorf("%q is not an answer: choose one of %q", choice, options)
}

// A foreground is the process that a person's keys go to.
type foreground struct {
	proc        sandbox.Process
	interactive bool // the person's by right: the human agent's shell
}

// bring makes a process the one in the foreground until the returned
// function is called.
func (r *Run) bring(proc sandbox.Process, interactive bool) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.front
	now := &foreground{proc, interactive}
	r.front = now
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.front == now {
			r.front = before
		}
	}
}

// takeover gives the terminal to the person: the command that runs, or a
// shell when none does. The agent waits, the clock runs on.
func (r *Run) takeover(ctx context.Context, author string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hold.taken {
		return nil // by the same person, who has attached anew, or by another: they share it
	}
	if r.asks.open != nil {
		return fmt.Errorf("the run waits for an answer to %s: answer it first", r.asks.open.ID)
	}
	if r.hold.stopped {
		if err := r.resumeLocked(author); err != nil {
			return err
		}
	}
	r.hold.taken, r.hold.pending = true, false
	if r.front == nil {
		if err := r.openShell(ctx); err != nil {
			r.hold.taken = false
			return err
		}
	}
	cols, _ := r.screen.dimensions()
	r.handover = terminal.NewObserver(cols, r.set.ObservationHead, r.set.ObservationTail)
	r.screen.listen(r.handover)
	own := r.front != nil && r.front.interactive
	return r.emit(event.TypeTakeover, event.Takeover{On: true, Author: author, Own: own})
}

// handback ends it.
func (r *Run) handback(author string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hold.taken {
		return errors.New("the terminal is not taken over")
	}
	r.hold.taken = false
	if shell := r.shell; shell != nil {
		r.shells.Go(func() { // of a frozen run it ends when that goes on, which needs r.mu
			if err := shell.Kill(); err != nil {
				r.trouble.Error("ending the person's shell", "err", err)
			}
		})
	}
	r.hold.release()
	r.tellTakeover(author)
	return r.emit(event.TypeTakeover, event.Takeover{On: false, Author: author})
}

// tellTakeover lets a model-driven agent know what was done at its terminal:
// it would find the files changed and not know why. r.mu is held.
func (r *Run) tellTakeover(author string) {
	r.screen.listen(nil)
	text, _ := r.handover.Result()
	if !r.tells || text == "" {
		return
	}
	r.hints.count++
	told := event.Hint{
		ID: fmt.Sprintf("h%d", r.hints.count), Author: author, Takeover: true,
		Text: "I took the terminal over for a while. This is what it showed:\n" + text,
	}
	if r.emit(event.TypeHint, told) == nil {
		r.queueHint(agents.Hint{ID: told.ID, Text: told.Text, Author: author})
	}
}

// queueHint hands a hint on to the agent. r.mu is held.
func (r *Run) queueHint(h agents.Hint) {
	r.hints.waiting = append(r.hints.waiting, h)
	select {
	case r.hints.arrived <- struct{}{}:
	default:
	}
}

// openShell starts a shell for the person. When it ends, so does the
// takeover. r.mu is held.
func (r *Run) openShell(ctx context.Context) error {
	cols, rows := r.screen.dimensions()
	proc, err := r.box.Start(ctx, sandbox.Command{
		Argv: []string{"/bin/sh", "-c", "command -v bash >/dev/null && exec bash -i || exec sh -i"},
		Dir:  r.inWorkspace(""), TTY: true, Cols: cols, Rows: rows,
	})
	if err != nil {
		return fmt.Errorf("starting a shell for you: %w", err)
	}
	shell := &foreground{proc: proc}
	r.front, r.shell = shell, proc
	r.shells.Go(func() {
		_, _ = io.Copy(writerFunc(r.screen.output), proc)
		_, _ = proc.Wait()
		r.screen.finished()
		r.mu.Lock()
		if r.front == shell {
			r.front = nil
		}
		r.shell = nil
		r.mu.Unlock()
		_ = r.handback("proctor") // fails when the person did it
	})
	return nil
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// input types a person's keys.
func (r *Run) input(data []byte) error {
	r.mu.Lock()
	front, taken := r.front, r.hold.taken
	r.mu.Unlock()
	switch {
	case front == nil:
		return errors.New("no program is running to type into: take the terminal over first")
	case !taken && !front.interactive:
		return errors.New("the terminal is the agent's: take it over first")
	}
	if _, err := front.proc.Write(data); err != nil && !errors.Is(err, syscall.EIO) {
		return fmt.Errorf("typing into the terminal: %w", err)
	}
	return nil
}

// resize fits the terminal to the person's window while it is theirs; an
// agent's commands always see the configured size, so that what it observes
// does not depend on who watches.
func (r *Run) resize(cols, rows int) error {
	const most = 1000
	if cols < 1 || rows < 1 || cols > most || rows > most {
		return fmt.Errorf("a terminal of %d×%d cannot be: 1 to %d each", cols, rows, most)
	}
	r.mu.Lock()
	front, taken := r.front, r.hold.taken
	r.mu.Unlock()
	if front == nil || !taken && !front.interactive {
		return nil
	}
	r.screen.resize(cols, rows)
	return front.proc.Resize(cols, rows)
}
