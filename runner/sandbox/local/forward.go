package local

import (
	"context"
	"io"
	"net"
	"sync"
)

// forward carries every connection that listener accepts to a unix socket
// of ours. The listener belongs to the sandbox's own network; only this side
// ever knows where its connections lead.
func forward(ctx context.Context, listener net.Listener, socket string, log *transcript) {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				log.printf("forward connections to %q: %v", socket, err)
			}
			return
		}
		open.Go(func() {
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
