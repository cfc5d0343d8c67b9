package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"proctor/runner/control"
	"proctor/runner/rundir"
	"proctor/runner/terminal"
)

// commands says what each command of the control socket does. r.box is there
// by the time the socket is.
var commands = map[control.Name]func(r *Run, ctx context.Context, c control.Command) (id string, err error){
	control.Pause:  func(r *Run, _ context.Context, c control.Command) (string, error) { return "", r.pause(c.Author) },
	control.Freeze: func(r *Run, _ context.Context, c control.Command) (string, error) { return "", r.freeze(c.Author) },
	control.Resume: func(r *Run, _ context.Context, c control.Command) (string, error) { return "", r.resume(c.Author) },
	control.Hint: func(r *Run, _ context.Context, c control.Command) (string, error) {
		return r.hint(c.Text, c.Author, c.Interrupt)
	},
	control.Answer: func(r *Run, _ context.Context, c control.Command) (string, error) {
		return "", r.answer(c.Ask, c.Choice, c.Text, c.Author)
	},
	control.Takeover: func(r *Run, _ context.Context, c control.Command) (string, error) {
		return "", r.takeover(r.ctx, c.Author)
	},
	control.Handback: func(r *Run, _ context.Context, c control.Command) (string, error) { return "", r.handback(c.Author) },
	control.Input:    func(r *Run, _ context.Context, c control.Command) (string, error) { return "", r.input(c.Data) },
	control.Resize: func(r *Run, _ context.Context, c control.Command) (string, error) {
		return "", r.resize(c.Cols, c.Rows)
	},
	control.Mode: func(r *Run, _ context.Context, c control.Command) (string, error) {
		return "", r.setMode(c.Choice, c.Patterns, c.Author)
	},
	control.Extend: func(r *Run, _ context.Context, c control.Command) (string, error) {
		return "", r.extend(c.Budget, c.Author)
	},
	control.Grade: func(r *Run, _ context.Context, _ control.Command) (string, error) {
		r.finished(errGradeNow)
		return "", nil
	},
	control.Stop: func(r *Run, _ context.Context, _ control.Command) (string, error) {
		r.finished(errStopped)
		return "", nil
	},
}

var errNotWorking = errors.New("the agent is not at work: the run is being prepared, graded, or over")

func (r *Run) handle(ctx context.Context, c control.Command) control.Reply {
	do, known := commands[c.Cmd]
	if !known {
		return control.Reply{Error: fmt.Sprintf("%q is not a command", c.Cmd)}
	}
	if c.Author == "" {
		c.Author = "someone"
	}
	c.Author, c.Text = terminal.Clean(c.Author), terminal.Clean(c.Text)
	if !r.working.Load() {
		return control.Reply{Error: errNotWorking.Error()}
	}
	id, err := do(r, ctx, c)
	if err != nil {
		return control.Reply{Error: err.Error()}
	}
	return control.Reply{OK: true, ID: id}
}

// serve opens the control socket and says in the lock where it is.
func (r *Run) serve(lock *rundir.Lock) error {
	path := socketPath(r.dir)
	_ = os.Remove(path) // left by a supervisor that was killed: we hold the lock
	server, err := control.Listen(path, r.handle)
	if err != nil {
		return err
	}
	r.server = server
	return lock.SetSocket(path)
}

// socketPath is short whatever the run directory's path is: a unix socket's
// path has room for about a hundred bytes.
func socketPath(dir rundir.Dir) string {
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" || len(base) > 60 {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("proctor-%d", os.Getuid()))
	} else {
		base = filepath.Join(base, "proctor")
	}
	sum := sha256.Sum256([]byte(dir.Path()))
	return filepath.Join(base, hex.EncodeToString(sum[:8])+".sock")
}
