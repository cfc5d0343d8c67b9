package control

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
)

// Do sends one command to the supervisor listening at socket and returns its
// answer. A Reply that is not OK is returned as an error.
func Do(ctx context.Context, socket string, c Command) (Reply, error) {
	conn, err := dial(ctx, socket)
	if err != nil {
		return Reply{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := json.NewEncoder(conn).Encode(c); err != nil {
		return Reply{}, fmt.Errorf("sending %s to the run: %w", c.Cmd, err)
	}
	var r Reply
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		return r, fmt.Errorf("waiting for the run to answer %s: %w", c.Cmd, err)
	}
	if !r.OK {
		return r, fmt.Errorf("%s: %s", c.Cmd, r.Error)
	}
	return r, nil
}

// Notices follows a supervisor: the channel gets a value when the record has
// grown and is closed when the supervisor has ended or ctx is done. A reader
// that is slow misses notices, never the newest.
func Notices(ctx context.Context, socket string) (<-chan Notice, error) {
	conn, err := dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	if err := json.NewEncoder(conn).Encode(Command{Cmd: Follow}); err != nil {
		conn.Close()
		return nil, fmt.Errorf("following the run: %w", err)
	}
	notices := make(chan Notice, 1)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	go func() {
		defer close(notices)
		defer conn.Close()
		defer stop()
		relay(conn, notices)
	}()
	return notices, nil
}

func relay(conn net.Conn, notices chan Notice) {
	in := bufio.NewScanner(conn)
	if !in.Scan() { // the answer to the command itself
		return
	}
	for in.Scan() {
		var n Notice
		if json.Unmarshal(in.Bytes(), &n) != nil {
			return
		}
		select {
		case <-notices:
		default:
		}
		notices <- n
	}
}

func dial(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("reaching the run's supervisor: %w", err)
	}
	return conn, nil
}
