package kinds

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/local"
)

const superviseCommand = "supervise"

// supervise is a supervisor without a run: it opens a sandbox of the kind
// args[0] over the workspace args[1], starts what does not want to end,
// prints its process ids and waits to be killed. With "unlink" it first
// removes its own program, with "freeze" it leaves the sandbox frozen.
func supervise(args []string) {
	check := func(err error) {
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	if slices.Contains(args, "unlink") {
		check(os.Remove(os.Args[0]))
	}
	k, err := Pick(ctx, args[0])
	check(err)
	s, err := k.Open(ctx, sandbox.Spec{Name: "supervised-" + strconv.Itoa(os.Getpid()), Workspace: args[1], Workdir: "/workspace", Log: os.Stderr})
	check(err)
	p, err := s.Start(ctx, sandbox.Command{TTY: true, Argv: []string{"sh", "-c",
		`trap '' HUP TERM INT; setsid sh -c 'while :; do echo >>late; sleep 0.001; done' & (setsid sleep 1001 &); echo up; sleep 1002`}})
	check(err)
	_, err = p.Read(make([]byte, 1))
	check(err)
	var pids []int
	for len(pids) < 4 {
		pids, err = s.Pids()
		check(err)
	}
	if slices.Contains(args, "freeze") {
		check(s.Freeze(ctx))
	}
	fmt.Println(pids)
	io.Copy(io.Discard, p)
}

// supervisor starts one and returns it with what runs in its sandbox.
func supervisor(t *testing.T, program string, args ...string) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.Command(program, append([]string{superviseCommand}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pids []int
	for _, f := range strings.Fields(strings.Trim(line, "[]\n")) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatalf("the supervisor says %q", line)
		}
		pids = append(pids, pid)
	}
	if len(pids) < 4 {
		t.Fatalf("the supervisor says %q", line)
	}
	return cmd, pids
}

// When the supervisor is killed, nothing of its sandbox goes on, frozen or
// not.
func TestSupervisorKilled(t *testing.T) {
	for _, frozen := range []string{"running", "freeze"} {
		t.Run(frozen, func(t *testing.T) {
			each(t, func(t *testing.T, k sandbox.Kind) {
				cmd, pids := supervisor(t, os.Args[0], k.Name, workspace(t), frozen)
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				cmd.Wait()
				eventually(t, "all are gone", func() bool {
					return !slices.ContainsFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) })
				})
			})
		})
	}
}

// zombie says whether a process has ended: who has to wait for it may be a
// container's process 1 that never does.
func zombie(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

// "go run" removes the program that it built while it still runs.
func TestProgramRemoved(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		self, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			self, err = os.ReadFile(os.Args[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(workspace(t), "program")
		if err := os.WriteFile(program, self, 0o755); err != nil {
			t.Fatal(err)
		}
		supervisor(t, program, k.Name, workspace(t), "unlink")
		if _, err := os.Stat(program); err == nil {
			t.Error("the program is still there")
		}
	})
}

// Under policy "model" one address answers, by way of a socket that nobody
// inside ever sees.
func TestModelEndpoint(t *testing.T) {
	needPython(t)
	each(t, func(t *testing.T, k sandbox.Kind) {
		socket := filepath.Join(workspace(t), "gateway")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		gateway := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %d", r.Method, r.URL.Path, len(b))
		})}
		go gateway.Serve(l)
		defer gateway.Close()
		other, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		sp := spec(t)
		sp.Network = sandbox.Network{Policy: local.NetworkModel, Socket: socket}
		s := open(t, k, sp)
		got := python(t, s, fmt.Sprintf(`
import urllib.request, socket
print(urllib.request.urlopen("http://%s/v1/messages", data=b"x" * 1000000).read().decode())
def reach(what, address, kind=socket.SOCK_STREAM):
    try:
        s = socket.socket(socket.AF_INET, kind); s.settimeout(2); s.connect(address)
        print("reached", what)
    except OSError: pass
reach("another service", ("127.0.0.1", %d))
reach("the metadata service", ("169.254.169.254", 80))
reach("a name server", ("169.254.169.254", 53), socket.SOCK_DGRAM)
`, s.Endpoint(), other.Addr().(*net.TCPAddr).Port))
		want := "POST /v1/messages 1000000"
		if k.Name == None {
			got, _, _ = strings.Cut(got, "\n")
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestModelEndpointAtAPort(t *testing.T) {
	sp := spec(t)
	sp.Network = sandbox.Network{Policy: local.NetworkModel, Socket: "/nowhere", Port: 11434}
	s := open(t, kindNamed(t, "bwrap"), sp)
	if got := s.Endpoint(); got != "127.0.0.1:11434" {
		t.Errorf("endpoint %q", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		for want, change := range map[string]func(*sandbox.Spec){
			"its name":                      func(s *sandbox.Spec) { s.Name = "a/b" },
			`workspace "/nowhere"`:          func(s *sandbox.Spec) { s.Workspace = "/nowhere" },
			`workdir "work"`:                func(s *sandbox.Spec) { s.Workdir = "work" },
			`"allow" cannot be enforced`:    func(s *sandbox.Spec) { s.Network = sandbox.Network{Policy: "allow", Allow: []string{"x"}} },
			`no network policy "sometimes"`: func(s *sandbox.Spec) { s.Network.Policy = "sometimes" },
			"needs a socket":                func(s *sandbox.Spec) { s.Network.Policy = "model" },
			`mount of "/nowhere"`:           func(s *sandbox.Spec) { s.Mounts = []sandbox.Mount{{Source: "/nowhere", Target: "/x"}} },
			`read-only path "../x"`:         func(s *sandbox.Spec) { s.ReadOnly = []string{"../x"} },
		} {
			sp := spec(t)
			change(&sp)
			s, err := k.Open(t.Context(), sp)
			if err == nil {
				s.Close()
				t.Errorf("opened, want an error with %q", want)
			} else {
				contains(t, err.Error(), want)
			}
		}
	})
}

// The same things hold for somebody who is not root and may not make
// control groups.
func TestAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	const nobody = 65534
	dir := workspace(t)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.v", "-test.short", "-test.timeout=120s",
		"-test.run", "Probe|Attack|Freez|Frozen|Thaw|CommandOn|Kill|Close|Leftover|Usage|FilesGo|Environment|Endpoint|Several")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + dir, "HOME=" + dir,
		"PROCTOR_TEST_REQUIRE=" + os.Getenv("PROCTOR_TEST_REQUIRE")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
		return
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "SKIP") || strings.Contains(line, "freezer:") || strings.Contains(line, "OK:") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
