package local

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// However many connections a sandboxed program opens, only so many are
// carried at once, and the others when these are over.
func TestForwardIsBounded(t *testing.T) {
	outside, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	inside, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { forward(ctx, inside, outside.Addr().String(), &transcript{}) })
	arrived := make(chan net.Conn)
	working.Go(func() {
		for {
			conn, err := outside.Accept()
			if err != nil {
				return
			}
			select {
			case arrived <- conn:
			case <-ctx.Done():
				conn.Close()
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		outside.Close()
		working.Wait()
	})
	next := func() net.Conn {
		t.Helper()
		select {
		case conn := <-arrived:
			return conn
		case <-time.After(20 * time.Second):
			t.Fatal("a connection does not arrive")
			return nil
		}
	}
	var open []net.Conn
	for range mostConnections + 10 {
		conn, err := net.Dial("tcp4", inside.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	var carried []net.Conn
	for range mostConnections {
		carried = append(carried, next())
	}
	select {
	case <-arrived:
		t.Error("one more than the limit is carried")
	case <-time.After(50 * time.Millisecond): // an age to it
	}
	open[0].Close()
	// The one that was closed makes room for the next once both ends are.
	for _, conn := range carried {
		working.Go(func() {
			conn.Read(make([]byte, 1))
			conn.Close()
		})
	}
	last := next()
	defer last.Close()
	if _, err := io.WriteString(last, "word"); err != nil {
		t.Error(err)
	}
}
