package kinds

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/local"
)

// answering returns a unix socket at which every request gets one word.
func answering(t *testing.T, word string) string {
	t.Helper()
	socket := filepath.Join(workspace(t), "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, word) })}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	return socket
}

// Ports that a spec forwards answer without a network and beside a model, and
// they open nothing else. One that is in use outside moves only where there
// is no loopback of the sandbox's own.
func TestForwards(t *testing.T) {
	needPython(t)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	port := taken.Addr().(*net.TCPAddr).Port
	each(t, func(t *testing.T, k sandbox.Kind) {
		one, two, model := answering(t, "one"), answering(t, "two"), answering(t, "model")
		for _, network := range []sandbox.Network{{Policy: local.NetworkNone}, {Policy: local.NetworkModel, Socket: model}} {
			network.Forwards = []sandbox.Forward{
				{Socket: one, Port: port, Env: "ONE=http://{address}/x"}, {Socket: two, Port: port + 1, Env: "TWO=http://{address}/"},
			}
			sp := spec(t)
			sp.Network = network
			s := open(t, k, sp)
			got := strings.Fields(python(t, s, fmt.Sprintf(`
import os, socket, urllib.request
for url in os.environ["ONE"], os.environ["TWO"], "http://%s/":
    try: print(urllib.request.urlopen(url).read().decode())
    except OSError: print("nothing")
def reach(what, *address, kind=socket.SOCK_STREAM):
    try:
        s = socket.socket(socket.AF_INET, kind); s.settimeout(2); s.connect(address)
        print("reached-" + what)
    except OSError: pass
reach("neighbour", "127.0.0.1", %d)
reach("web", "169.254.169.254", 80)
reach("names", "169.254.169.254", 53, kind=socket.SOCK_DGRAM)
`, max(s.Endpoint(), "127.0.0.1:1"), otherPort(t))))
			want := []string{"one", "two", "nothing"}
			if network.Policy == local.NetworkModel {
				want[2] = "model"
			}
			if k.Name == None {
				got = got[:min(3, len(got))]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", network.Policy, got, want)
			}
			at := fmt.Sprintf("127.0.0.1:%d", port)
			if s.Forwarded(port) == "" || (s.Forwarded(port) == at) != (k.Name == "bwrap") || s.Forwarded(1) != "" {
				t.Errorf("it is at %q, wanted at %s", s.Forwarded(port), at)
			}
		}
	})
}

// otherPort is one that something else on this machine listens at.
func otherPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
