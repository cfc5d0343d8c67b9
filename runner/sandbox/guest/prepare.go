package guest

import (
	"fmt"
	"net"
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
	if setup.Listen {
		f, port, err := listen(setup.Port)
		if err != nil {
			return nil, nil, err
		}
		files, ready.Port = []*os.File{f}, port
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

func listen(port int) (*os.File, int, error) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return nil, 0, fmt.Errorf("listen inside the sandbox: %w", err)
	}
	defer l.Close()
	f, err := l.File()
	return f, l.Addr().(*net.TCPAddr).Port, err
}
