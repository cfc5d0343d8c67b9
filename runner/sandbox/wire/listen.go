package wire

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// Open opens the port on this process's loopback.
func (l Listen) Open() (*net.TCPListener, error) {
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: l.Port}
	listener, err := net.ListenTCP("tcp4", at)
	if l.Elsewhere && (errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES)) {
		at.Port = 0
		listener, err = net.ListenTCP("tcp4", at)
	}
	return listener, err
}

// Environment is what tells commands where the port is.
func (l Listen) Environment(at net.Addr) []string {
	if l.Env == "" {
		return nil
	}
	return []string{strings.ReplaceAll(l.Env, "{address}", at.String())}
}
