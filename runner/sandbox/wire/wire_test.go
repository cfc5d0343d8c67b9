package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func pair(t *testing.T) (a, b *Conn) {
	t.Helper()
	a, f, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	b, err = Open(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestMessagesKeepTheirFiles(t *testing.T) {
	a, b := pair(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		b.Send(Request{Seq: 1, Op: OpStop})
		b.Send(Request{Seq: 2, Start: &Start{Argv: []string{strings.Repeat("x", 1<<20)}}}, w)
		w.Close()
		b.Send(Request{Seq: 3})
	}()
	for seq := uint64(1); seq <= 3; seq++ {
		var got Request
		m, err := a.Receive(&got)
		if err != nil {
			t.Fatal(err)
		}
		if got.Seq != seq {
			t.Errorf("seq %d, want %d", got.Seq, seq)
		}
		if want := map[uint64]int{2: 1}[seq]; len(m.Files) != want {
			t.Errorf("message %d came with %d files, want %d", seq, len(m.Files), want)
		}
		if runtime.GOOS == "linux" && m.PID != os.Getpid() {
			t.Errorf("sender %d, want %d", m.PID, os.Getpid())
		}
		for _, f := range m.Files {
			if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("a received file would leak into commands: flags %x, %v", flags, err)
			}
			io.WriteString(f, "hi")
			f.Close()
		}
	}
	if got, err := io.ReadAll(r); string(got) != "hi" {
		t.Errorf("pipe: %q, %v", got, err)
	}
	b.Close()
	if _, err := a.Receive(new(Request)); !errors.Is(err, io.EOF) {
		t.Errorf("after close: %v, want EOF", err)
	}
}

func TestMalformed(t *testing.T) {
	head := func(length, files uint32) []byte {
		b := binary.BigEndian.AppendUint32(nil, length)
		return binary.BigEndian.AppendUint32(b, files)
	}
	for name, raw := range map[string][]byte{
		"too long":     head(maxBody+1, 0),
		"files absent": append(head(2, 3), "{}"...),
		"not JSON":     append(head(2, 0), "]["...),
		"cut short":    head(2, 0)[:5],
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			if _, err := b.sock.Write(raw); err != nil {
				t.Fatal(err)
			}
			b.Close()
			if _, err := a.Receive(new(Request)); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, b := pair(t)
		go func() { b.sock.Write(raw); b.Close() }()
		for {
			if _, err := a.Receive(new(Request)); err != nil {
				return
			}
		}
	})
}
