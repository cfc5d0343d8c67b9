package guest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"proctor/runner/sandbox/wire"
)

// prepare applies the setup to this process, and so to all that it starts.
// The file it returns is the listener inside, if one was asked for.
func (s *server) prepare(setup wire.Setup) (*wire.Ready, []*os.File, error) {
	hide()
	ready := &wire.Ready{}
	var files []*os.File
	for _, want := range setup.Listen {
		f, env, err := listen(want)
		if err != nil {
			closeAll(files)
			return nil, nil, err
		}
		files, setup.Env = append(files, f), append(setup.Env, env...)
	}
	for _, l := range setup.Rlimits {
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}); err != nil {
			ready.Trouble = append(ready.Trouble, fmt.Sprintf("limit %d cannot be set to %d: %v", l.Resource, l.Value, err))
		}
	}
	if err := s.restrict(setup, ready); err != nil {
		closeAll(files)
		return nil, nil, err
	}
	s.setup = setup
	return ready, files, nil
}

// listen opens a port as asked for. env tells commands where it is.
func listen(want wire.Listen) (f *os.File, env []string, err error) {
	l, err := want.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("listen inside the sandbox: %w", err)
	}
	defer l.Close()
	f, err = l.File()
	return f, want.Environment(l.Addr()), err
}
