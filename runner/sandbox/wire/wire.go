// Package wire is how a sandbox's outside talks with the process that runs
// inside it: JSON messages with open files attached, over a socket pair
// that only those two hold.
//
// A message is an eight-byte header (the body's length and the number of
// files, both big-endian), sent together with the files, and then the body.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	header   = 8
	maxBody  = 16 << 20 // more than the kernel allows a program's arguments and environment
	maxFiles = 64
)

// A Conn is one end of the line. Send may be called from several goroutines,
// Receive from one at a time.
type Conn struct {
	sock *net.UnixConn
	mu   sync.Mutex // one message is written whole
}

// Pair returns a Conn for this side and the file to be inherited by the
// other. The Conn learns the other's process id with the first message.
func Pair() (*Conn, *os.File, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	passCredentials(fds[0])
	c, err := Open(os.NewFile(uintptr(fds[0]), "control"))
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return c, theirs, nil
}

// Open makes a Conn of a socket and closes f.
func Open(f *os.File) (*Conn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	sock, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("open the control socket: not a unix socket")
	}
	return &Conn{sock: sock}, nil
}

// Close ends the line; the other side then receives [io.EOF].
func (c *Conn) Close() error { return c.sock.Close() }

// Send writes one message. The files stay open here.
func (c *Conn) Send(message any, files ...*os.File) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(body) > maxBody || len(files) > maxFiles {
		return fmt.Errorf("a message of %d bytes and %d files is too large", len(body), len(files))
	}
	var head [header]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(body)))
	binary.BigEndian.PutUint32(head[4:], uint32(len(files)))
	fds := make([]int, len(files))
	for i, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		// Fd would make the file blocking; Control leaves it as it is.
		if err := raw.Control(func(fd uintptr) { fds[i] = int(fd) }); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	if _, _, err := c.sock.WriteMsgUnix(head[:], rights, nil); err != nil {
		return err
	}
	_, err = c.sock.Write(body)
	return err
}

// A Message is what came with a body.
type Message struct {
	Files []*os.File // the receiver's to close
	PID   int        // the sender, as seen from here; 0 when the system does not say
}

// Receive reads one message into v. It returns [io.EOF] when the other side
// is gone.
func (c *Conn) Receive(v any) (Message, error) {
	var head [header]byte
	oob := make([]byte, unix.CmsgSpace(maxFiles*4)+unix.CmsgSpace(64))
	n, oobn, flags, _, err := c.sock.ReadMsgUnix(head[:], oob)
	if err != nil {
		return Message{}, err
	}
	if n == 0 {
		return Message{}, io.EOF
	}
	m, err := ancillary(oob[:oobn])
	if err != nil {
		return m, err
	}
	if err := c.receiveBody(head, n, len(m.Files), flags, v); err != nil {
		for _, f := range m.Files {
			f.Close()
		}
		return Message{}, err
	}
	return m, nil
}

func (c *Conn) receiveBody(head [header]byte, have, files, flags int, v any) error {
	if _, err := io.ReadFull(c.sock, head[have:]); err != nil {
		return err
	}
	length, want := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	if length > maxBody || flags&unix.MSG_CTRUNC != 0 || int(want) != files {
		return fmt.Errorf("malformed message: %d bytes, %d of %d files", length, files, want)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.sock, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// ancillary turns control messages into files and the sender's id. When it
// fails, it has closed what it opened.
func ancillary(oob []byte) (Message, error) {
	var m Message
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return m, fmt.Errorf("malformed control message: %w", err)
	}
	for _, part := range parts {
		if part.Header.Level != unix.SOL_SOCKET {
			continue
		}
		if part.Header.Type == unix.SCM_RIGHTS {
			fds, err := unix.ParseUnixRights(&part)
			if err != nil {
				return m, fmt.Errorf("malformed control message: %w", err)
			}
			for _, fd := range fds {
				m.Files = append(m.Files, os.NewFile(uintptr(fd), "received"))
			}
			continue
		}
		m.PID = max(m.PID, sender(&part))
	}
	return m, nil
}
