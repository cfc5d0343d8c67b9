package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A Handler carries out a command and answers it. It is called for one
// command at a time per connection, for several connections at once.
type Handler func(ctx context.Context, c Command) Reply

// MaxCommand is the longest command line that is read, in bytes.
const MaxCommand = 1 << 20

// A Server listens for commands on a unix socket.
type Server struct {
	listener net.Listener
	handle   Handler
	path     string
	notify   broadcast
	wg       sync.WaitGroup
	cancel   context.CancelFunc

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// Listen opens the socket at path, which only its owner can reach, and
// serves commands until Close.
func Listen(path string, handle Handler) (*Server, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the directory of control sockets: %w", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listening for commands: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("closing the control socket to others: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{listener: listener, handle: handle, path: path, cancel: cancel, conns: map[net.Conn]struct{}{}}
	s.notify.init()
	s.wg.Go(func() { s.accept(ctx) })
	return s, nil
}

// Notify tells every follower how far the record has grown. It never blocks;
// a follower that is slow sees only the newest notice.
func (s *Server) Notify(n Notice) { s.notify.set(n) }

// Close ends every connection and waits until all commands are answered.
func (s *Server) Close() error {
	s.cancel()
	err := s.listener.Close()
	s.notify.close()
	s.mu.Lock()
	for c := range s.conns {
		c.SetReadDeadline(time.Now())
	}
	s.mu.Unlock()
	s.wg.Wait()
	return err
}

func (s *Server) accept(ctx context.Context) {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() {
			defer func() {
				s.mu.Lock()
				delete(s.conns, conn)
				s.mu.Unlock()
				conn.Close()
			}()
			s.serve(ctx, conn)
		})
	}
}

func (s *Server) serve(ctx context.Context, conn net.Conn) {
	in := bufio.NewScanner(conn)
	in.Buffer(make([]byte, 0, 4096), MaxCommand)
	out := json.NewEncoder(conn)
	for ctx.Err() == nil && in.Scan() {
		var c Command
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			if out.Encode(Reply{Error: "reading the command: " + err.Error()}) != nil {
				return
			}
			continue
		}
		if c.Cmd == Follow {
			s.follow(ctx, conn, out)
			return
		}
		if out.Encode(s.handle(ctx, c)) != nil {
			return
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		out.Encode(Reply{Error: fmt.Sprintf("the command is longer than %d bytes: send it in pieces", MaxCommand)})
	}
}

// stalled is how long a follower may take to accept a notice before it is
// dropped; it can follow anew.
const stalled = 2 * time.Second

func (s *Server) follow(ctx context.Context, conn net.Conn, out *json.Encoder) {
	if out.Encode(Reply{OK: true}) != nil {
		return
	}
	var seen uint64
	for {
		n, version, ok := s.notify.wait(ctx, seen)
		if !ok {
			return
		}
		seen = version
		conn.SetWriteDeadline(time.Now().Add(stalled))
		if out.Encode(n) != nil {
			return
		}
	}
}

// A broadcast holds the newest notice for any number of waiters.
type broadcast struct {
	mu      sync.Mutex
	newest  Notice
	version uint64
	closed  bool
	changed chan struct{}
}

func (b *broadcast) init() { b.changed = make(chan struct{}) }

func (b *broadcast) set(n Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || (b.version > 0 && n == b.newest) {
		return
	}
	b.newest = n
	b.version++
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *broadcast) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.changed)
	}
}

// wait returns the newest notice once it is newer than seen.
func (b *broadcast) wait(ctx context.Context, seen uint64) (Notice, uint64, bool) {
	for {
		b.mu.Lock()
		n, version, closed, changed := b.newest, b.version, b.closed, b.changed
		b.mu.Unlock()
		if version > seen {
			return n, version, true
		}
		if closed {
			return Notice{}, 0, false
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Notice{}, 0, false
		}
	}
}
