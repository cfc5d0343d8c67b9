package control

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func listen(t *testing.T, h Handler) (*Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sock", "run.sock")
	s, err := Listen(path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, path
}

func TestCommandsAreAnsweredOneByOne(t *testing.T) {
	_, path := listen(t, func(_ context.Context, c Command) Reply {
		if c.Cmd == Stop {
			return Reply{Error: "not now"}
		}
		return Reply{OK: true, ID: c.Text}
	})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode is %v, %v", info.Mode(), err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if r, err := Do(t.Context(), path, Command{Cmd: Hint, Text: "x"}); err != nil || r.ID != "x" {
				t.Errorf("answered %+v, %v", r, err)
			}
		})
	}
	wg.Wait()
	if _, err := Do(t.Context(), path, Command{Cmd: Stop}); err == nil || err.Error() != "stop: not now" {
		t.Errorf("a refusal came back as %v", err)
	}
}

func TestGarbageGetsAnAnswer(t *testing.T) {
	_, path := listen(t, func(context.Context, Command) Reply { return Reply{OK: true} })
	for _, c := range []struct{ send, want string }{
		{"not json\n", "reading the command"},
		{`{"cmd":3}` + "\n", "reading the command"},
		{strings.Repeat("x", MaxCommand+10) + "\n", "longer than"},
		{`{"cmd":"pause"}` + "\n", `"ok":true`},
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		go conn.Write([]byte(c.send))
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, c.want) {
			t.Errorf("%.20q answered %q, %v", c.send, line, err)
		}
		conn.Close()
	}
}

func TestFollowersSeeTheNewestNotice(t *testing.T) {
	s, path := listen(t, func(context.Context, Command) Reply { return Reply{} })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	notices, err := Notices(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(1000) {
		s.Notify(Notice{Events: i})
	}
	for n := range notices {
		if n.Events == 999 {
			break
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range notices { // closed with the server
	}
}

func TestCloseWaitsForTheCommandThatRuns(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var left atomic.Bool
	s, path := listen(t, func(context.Context, Command) Reply {
		close(entered)
		<-leave
		left.Store(true)
		return Reply{OK: true}
	})
	answered := make(chan error, 1)
	go func() {
		_, err := Do(context.Background(), path, Command{Cmd: Pause})
		answered <- err
	}()
	<-entered
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
		t.Fatal("closed while a command was running")
	case <-time.After(20 * time.Millisecond):
	}
	close(leave)
	<-closed
	if err := <-answered; err != nil || !left.Load() {
		t.Errorf("answered %v, handler left %v", err, left.Load())
	}
}
