package local

import (
	"context"
	"io"
	"net"
	"sync"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/wire"
)

// ports lists the loopback ports that a network has, the model endpoint's
// first.
func ports(n sandbox.Network) []wire.Listen {
	var all []wire.Listen
	if n.Policy == NetworkModel {
		all = append(all, wire.Listen{Port: n.Port})
	}
	for _, f := range n.Forwards {
		all = append(all, wire.Listen{Port: f.Port, Elsewhere: true, Env: f.Env})
	}
	return all
}

// forwardAll serves the ports, as listed by [ports], until ctx ends, and
// notes where they are.
func (s *Sandbox) forwardAll(ctx context.Context, listeners []net.Listener) {
	n := s.plan.Spec.Network
	at := func(i int, socket string) string {
		s.beside.Go(func() { forward(ctx, listeners[i], socket, s.log) })
		return listeners[i].Addr().String()
	}
	first := 0
	if n.Policy == NetworkModel {
		s.endpoint = at(0, n.Socket)
		first = 1
	}
	for i, f := range n.Forwards {
		s.forwarded[f.Port] = at(first+i, f.Socket)
	}
}

func closeListeners(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// mostConnections is how many connections of one port are carried at once.
// More wait to be accepted, so that a sandboxed program cannot use up the
// descriptors of whoever watches over it.
const mostConnections = 128

// forward carries every connection that listener accepts to a unix socket
// of ours. The listener belongs to the sandbox's own network; only this side
// ever knows where its connections lead.
func forward(ctx context.Context, listener net.Listener, socket string, log *transcript) {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	room := make(chan struct{}, mostConnections)
	for {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				log.printf("forward connections to %q: %v", socket, err)
			}
			return
		}
		open.Go(func() {
			defer func() { <-room }()
			if err := join(ctx, conn, socket); err != nil && ctx.Err() == nil {
				log.printf("forward a connection to %q: %v", socket, err)
			}
		})
	}
}

// join copies both ways until both sides have ended.
func join(ctx context.Context, inside net.Conn, socket string) error {
	defer inside.Close()
	outside, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer outside.Close()
	stop := context.AfterFunc(ctx, func() { inside.Close(); outside.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() { copyHalf(inside, outside) })
	copyHalf(outside, inside)
	back.Wait()
	return nil
}

// copyHalf copies one way and passes its end on, as HTTP clients that
// half-close expect. A reset by either peer is their business.
func copyHalf(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		from.Close()
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
