package kinds

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/outputs"
)

// Each TestAttackNN tries something against sandboxes that isolate, from
// their inside, and reports what worked. Against bwrap nothing may. What the
// Landlock fallback cannot stop is listed here, and has to keep working for
// as long as it is listed: the list is what people are told.
var landlockCannotStop = map[string][]gap{
	"01": {{what: "see the name of a hidden file"}},
	"02": {{what: "see command lines outside"}},
	"11": {{what: "connect to an abstract unix socket", until: 6}},
	"12": {{what: "connect to a unix socket", until: 9}, {what: "see a unix socket", until: 0}},
	"17": {{what: "chmod outside"}},
	"18": nil,
}

// A gap is closed by kernels whose Landlock has version until; 0 means by
// none yet.
type gap struct {
	what  string
	until int
}

// attack runs one against each kind that isolates. It returns a line for
// each thing that worked.
func attack(t *testing.T, number string, try func(t *testing.T, k sandbox.Kind) []string) {
	needPython(t)
	for _, name := range []string{"bwrap", "landlock"} {
		t.Run(name, func(t *testing.T) {
			got := slices.Compact(slices.Sorted(slices.Values(try(t, kindNamed(t, name)))))
			var want []string
			if name == "landlock" {
				abi, _ := ll.LandlockGetABIVersion()
				for _, g := range landlockCannotStop[number] {
					if g.until == 0 || abi < g.until {
						want = append(want, g.what)
					}
				}
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("worked: %q\nwanted: %q", got, want)
			}
		})
	}
}

// script runs Python inside and returns the lines that it printed, one for
// each thing that worked.
func script(t *testing.T, s sandbox.Sandbox, body string, args ...any) []string {
	t.Helper()
	out := python(t, s, prelude()+fmt.Sprintf(body, args...))
	if strings.Contains(out, "Traceback") || !strings.HasSuffix(out, "END") {
		t.Fatalf("the attack itself failed:\n%s", out)
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSuffix(out, "END")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// prelude gives attacks raw system calls by name, and "attempt", which
// prints what worked.
func prelude() string {
	var numbers strings.Builder
	for name, nr := range map[string]int{
		"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "kcmp": unix.SYS_KCMP,
		"pidfd_open": unix.SYS_PIDFD_OPEN, "pidfd_getfd": unix.SYS_PIDFD_GETFD, "unshare": unix.SYS_UNSHARE,
		"setns": unix.SYS_SETNS, "clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "mount": unix.SYS_MOUNT,
		"open_tree": unix.SYS_OPEN_TREE, "fsopen": unix.SYS_FSOPEN, "chroot": unix.SYS_CHROOT,
		"pivot_root": unix.SYS_PIVOT_ROOT, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "bpf": unix.SYS_BPF,
		"keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "perf_event_open": unix.SYS_PERF_EVENT_OPEN,
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "userfaultfd": unix.SYS_USERFAULTFD,
		"init_module": unix.SYS_INIT_MODULE, "kexec_load": unix.SYS_KEXEC_LOAD, "reboot": unix.SYS_REBOOT,
		"swapon": unix.SYS_SWAPON, "acct": unix.SYS_ACCT, "syslog": unix.SYS_SYSLOG,
		"settimeofday": unix.SYS_SETTIMEOFDAY, "clock_settime": unix.SYS_CLOCK_SETTIME,
		"adjtimex": unix.SYS_ADJTIMEX, "ioctl": unix.SYS_IOCTL, "mknodat": unix.SYS_MKNODAT, "sethostname": unix.SYS_SETHOSTNAME,
	} {
		fmt.Fprintf(&numbers, "%q: %d, ", name, nr)
	}
	return `
true, false = True, False
import atexit, ctypes, errno, glob, os, signal, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
NR = {` + numbers.String() + `}
def call(name, *args):
    "makes a system call; raises OSError when it fails"
    nr = NR[name] if isinstance(name, str) else name
    args = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    r = libc.syscall(ctypes.c_long(nr), *args)
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return r
def attempt(what, do):
    "prints what worked: do ran without an error and did not return False"
    try:
        if do() is not False:
            print(what, flush=True)
    except (OSError, ValueError):
        pass
def pids():
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
def guest():
    "the process that started us"
    return os.getppid()
def text(path):
    with open(path, "rb") as f:
        return f.read()
atexit.register(lambda: print("END", flush=True))
`
}

func canary() string { return "PROCTOR-CANARY-" + rand.Text() }

// Held-out answers: by path, through other processes' roots and
// directories, by searching everything, by whoever's descriptors.
func TestAttack01HeldOutAnswers(t *testing.T) {
	attack(t, "01", func(t *testing.T, k sandbox.Kind) []string {
		secret := canary()
		base := workspace(t)
		answers := write(t, filepath.Join(base, "tests/answers.csv"), secret)
		f, err := os.Open(answers) // we hold it open ourselves
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sp := spec(t)
		sp.Workspace = filepath.Join(base, "workspace")
		if err := os.Mkdir(sp.Workspace, 0o755); err != nil {
			t.Fatal(err)
		}
		return script(t, open(t, k, sp), `
path, mark = %q, b"PROCTOR-CANARY" + b"-"
attempt("read it by its path", lambda: text(path))
attempt("read it beside the workspace", lambda: text("../tests/answers.csv"))
attempt("see the name of a hidden file", lambda: os.stat(path))
attempt("link to it", lambda: os.link(path, "mine"))
os.symlink(path, "soft")
attempt("follow a link to it", lambda: text("soft"))
for p in pids() + ["self"]:
    attempt("read it through /proc/PID/root", lambda: text(f"/proc/{p}/root{path}"))
    attempt("read it through /proc/PID/cwd", lambda: text(f"/proc/{p}/cwd/../tests/answers.csv"))
    for fd in range(64):
        attempt("read it through /proc/PID/fd", lambda: mark in text(f"/proc/{p}/fd/{fd}") if str(p) != "self" and stat.S_ISREG(os.stat(f"/proc/{p}/fd/{fd}").st_mode) else False)
def found(top):
    for dir, dirs, files in os.walk(top):
        if dir == sys.prefix: dirs.clear()
        for name in files:
            p = os.path.join(dir, name)
            try:
                if stat.S_ISREG(os.lstat(p).st_mode) and os.lstat(p).st_size < 1 << 20 and mark in text(p): return True
            except OSError: pass
    return False
for top in ["/home", "/tmp", "/run", "/var", "/root", "/etc", "/dev/shm", "/srv", "/mnt", "/media", "/opt", "."]:
    attempt("find it below " + top, lambda: found(top))
`, answers)
	})
}

// Secrets in the environment and command line of whoever started the run.
func TestAttack02SecretsOfOthers(t *testing.T) {
	secret := canary()
	t.Setenv("SECRET_KEY", secret)
	attack(t, "02", func(t *testing.T, k sandbox.Kind) []string {
		sp := spec(t)
		s := open(t, k, sp)
		if got := sh(t, s, "env; set"); strings.Contains(got, secret) {
			t.Error("it is in the command's own environment")
		}
		return script(t, s, `
secret, workspace, test = %q.encode(), %q.encode(), %q.encode()
for p in pids():
    attempt("read a secret in /proc/PID/environ", lambda: secret in text(f"/proc/{p}/environ"))
    if p in (1, guest()):
        attempt("read the guest's environment", lambda: len(text(f"/proc/{p}/environ")) > 0)
        attempt("read the guest's memory", lambda: open(f"/proc/{p}/mem", "rb").close())
        for fd in range(32):
            attempt("see the guest's files", lambda: os.readlink(f"/proc/{p}/fd/{fd}"))
            attempt("open the guest's files", lambda: os.close(os.open(f"/proc/{p}/fd/{fd}", os.O_RDWR)))
        attempt("see where the guest's program lies", lambda: os.readlink(f"/proc/{p}/exe"))
    else:
        attempt("see command lines outside", lambda: test in text(f"/proc/{p}/cmdline"))
    attempt("see host paths in a command line", lambda: workspace in text(f"/proc/{p}/cmdline"))
`, secret, sp.Workspace, os.Args[0])
	})
}

// Stopping or taking over process 1, so that the run's end never comes.
func TestAttack03HangTheEnd(t *testing.T) {
	attack(t, "03", func(t *testing.T, k sandbox.Kind) []string {
		s := open(t, k, spec(t))
		worked := script(t, s, `
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
for p in {1, guest()}:
    attempt("attach to the guest", lambda: call("ptrace", PTRACE_ATTACH, p, 0, 0))
    attempt("seize the guest", lambda: call("ptrace", PTRACE_SEIZE, p, 0, 0))
    attempt("take the guest's files", lambda: call("pidfd_getfd", call("pidfd_open", p, 0), 3, 0))
    attempt("compare the guest's files", lambda: call("kcmp", p, os.getpid(), 0, 3, 0))
    attempt("read the guest's memory", lambda: call("process_vm_readv", p, b"x"*16, 1, b"x"*16, 1, 0))
if %v: # process 1 drops them all
    for sig in range(1, 65):
        attempt("", lambda: os.kill(1, sig) is not None)
attempt("trace oneself", lambda: call("ptrace", 0, 0, 0, 0))
`, k.Name == "bwrap")
		sh(t, s, "setsid sh -c 'trap \"\" HUP TERM; while :; do sleep 0.01; done' >/dev/null 2>&1 </dev/null &")
		if got := sh(t, s, "echo alive"); got != "alive" {
			worked = append(worked, "end the guest")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		go s.Close()
		select {
		case <-s.Done():
		case <-ctx.Done():
			worked = append(worked, "hang the end")
		}
		return worked
	})
}

// A process that outlives its command in a session of its own, to change
// the outputs later.
func TestAttack04LateWriter(t *testing.T) {
	attack(t, "04", func(t *testing.T, k sandbox.Kind) []string {
		sp := spec(t)
		s := open(t, k, sp)
		sh(t, s, `echo fine >out; setsid sh -c 'trap "" HUP TERM INT
			(while :; do echo late >>out; echo >started; done) & (while :; do echo late >>out; done)' >/dev/null 2>&1 </dev/null &
			while ! test -e started; do :; done`)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(sp.Workspace, "out")
		if err := os.WriteFile(out, []byte("graded"), 0o644); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // an age to them
		if got := read(out); got != "graded" {
			return []string{"change the output after the end"}
		}
		return nil
	})
}

// Outputs that are not what they seem.
func TestAttack05OutputsThatLeadElsewhere(t *testing.T) {
	attack(t, "05", func(t *testing.T, k sandbox.Kind) []string {
		secret := canary()
		answers := write(t, filepath.Join(workspace(t), "answers.csv"), secret)
		sp := spec(t)
		s := open(t, k, sp)
		worked := script(t, s, `
path = %q
os.mkdir("out")
os.symlink(path, "out/link")
os.symlink(os.path.dirname(path), "out/dir")
os.symlink("/etc/passwd", "out/passwd")
os.mkfifo("out/fifo")
with open("out/sparse", "wb") as f: f.truncate(1 << 40)
with open("out/good", "w") as f: f.write("good")
os.link("out/good", "out/twin")
socket.socket(socket.AF_UNIX).bind("out/sock")
attempt("make a device", lambda: call("mknodat", os.open("out", os.O_RDONLY), b"device", stat.S_IFCHR | 0o666, os.makedev(1, 5)))
attempt("link to a file outside", lambda: os.link("/etc/passwd", "out/hard"))
`, answers)
		s.Close()
		dest := filepath.Join(workspace(t), "submission")
		taken, err := outputs.Collect(sp.Workspace, []string{"out"}, dest, outputs.Caps{FileBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range taken.Files {
			if f.Path != "out/good" && f.Path != "out/twin" {
				worked = append(worked, "have "+f.Path+" taken")
			}
		}
		if len(taken.Refused) != 6 {
			t.Errorf("refused: %v", taken.Refused)
		}
		return worked
	})
}

// Every way out by the network under policy "none".
func TestAttack11Network(t *testing.T) {
	attack(t, "11", func(t *testing.T, k sandbox.Kind) []string {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer udp.Close()
		abstract := "@proctor-test-" + rand.Text()
		unixSocket, err := net.Listen("unix", abstract)
		if err != nil {
			t.Fatal(err)
		}
		defer unixSocket.Close()
		got := make(chan string, 1)
		go func() {
			b := make([]byte, 100)
			if n, _, err := udp.ReadFrom(b); err == nil {
				got <- string(b[:n])
			}
		}()
		worked := script(t, open(t, k, spec(t)), `
def connect(family, kind, address, proto=0):
    s = socket.socket(family, kind, proto)
    s.settimeout(2)
    s.connect(address)
INET, STREAM, DGRAM = socket.AF_INET, socket.SOCK_STREAM, socket.SOCK_DGRAM
attempt("connect to a service on the host's loopback", lambda: connect(INET, STREAM, ("127.0.0.1", %d)))
attempt("connect by MPTCP", lambda: connect(INET, STREAM, ("127.0.0.1", %[1]d), 262))
attempt("connect to the metadata service", lambda: connect(INET, STREAM, ("169.254.169.254", 80)))
attempt("ask a name server", lambda: connect(INET, DGRAM, ("169.254.169.254", 53)))
def send():
    s = socket.socket(INET, DGRAM)
    s.sendto(b"leak", ("127.0.0.1", %d))
    return False # whether it arrives is seen outside
attempt("", send)
attempt("connect to an abstract unix socket", lambda: connect(socket.AF_UNIX, STREAM, "\0" + %q))
attempt("see packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt("send raw packets", lambda: socket.socket(INET, socket.SOCK_RAW, 1))
attempt("talk to the hypervisor", lambda: connect(socket.AF_VSOCK, STREAM, (2, 22)))
attempt("find a way out", lambda: any(i[1] != "lo" for i in socket.if_nameindex()) if %v else False)
`, tcp.Addr().(*net.TCPAddr).Port, udp.LocalAddr().(*net.UDPAddr).Port, abstract[1:], k.Name == "bwrap")
		select {
		case <-got:
			worked = append(worked, "send a datagram to the host")
		default:
		}
		return worked
	})
}

// Services that listen on unix sockets: docker, D-Bus, ssh-agent, X11.
func TestAttack12UnixSockets(t *testing.T) {
	attack(t, "12", func(t *testing.T, k sandbox.Kind) []string {
		path := filepath.Join(workspace(t), "docker.sock")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		return script(t, open(t, k, spec(t)), `
path = %q
attempt("connect to a unix socket", lambda: socket.socket(socket.AF_UNIX).connect(path))
attempt("see a unix socket", lambda: stat.S_ISSOCK(os.stat(path).st_mode))
if %v:
    for top in ["/run", "/var", "/tmp", "/home", "/root", "/dev", "/workspace"]:
        for dir, dirs, files in os.walk(top):
            if dir == sys.prefix: dirs.clear()
            for name in files:
                attempt("find a socket", lambda: stat.S_ISSOCK(os.lstat(os.path.join(dir, name)).st_mode))
`, path, k.Name == "bwrap")
	})
}

// New namespaces, mounts, kernel interfaces; also under the numbering of
// 32-bit programs, and with arguments that only look different.
func TestAttack13KernelInterfaces(t *testing.T) {
	attack(t, "13", func(t *testing.T, k sandbox.Kind) []string {
		s := open(t, k, spec(t))
		worked := script(t, s, `
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET, SIGCHLD = 0x20000, 0x10000000, 0x40000000, 17
for flag in (CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, 0x20000000, 0x08000000, 0x04000000, 0x02000000):
    attempt("unshare %%x" %% flag, lambda: call("unshare", flag))
def clone(flags):
    pid = call("clone", flags | SIGCHLD, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
attempt("clone into a user namespace", lambda: clone(CLONE_NEWUSER))
attempt("clone into a user namespace, bits above", lambda: clone(CLONE_NEWUSER | 1 << 40))
attempt("clone3", lambda: call("clone3", struct.pack("11Q", CLONE_NEWUSER, *[0]*10), 88))
for ns in ("user", "mnt", "net", "pid"):
    attempt("setns", lambda: call("setns", os.open("/proc/self/ns/" + ns, os.O_RDONLY), 0))
attempt("mount", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, 0))
attempt("bind mount", lambda: call("mount", b"/", b"/tmp", b"", 4096, 0))
attempt("remount", lambda: call("mount", b"", b"/usr", b"", 32 | 4096, 0))
attempt("open_tree", lambda: call("open_tree", -100, b"/", 1))
attempt("fsopen", lambda: call("fsopen", b"tmpfs", 0))
attempt("chroot", lambda: call("chroot", b"/"))
attempt("pivot_root", lambda: call("pivot_root", b"/", b"/"))
attempt("open_by_handle_at", lambda: call("open_by_handle_at", -100, struct.pack("Ii8x", 8, 1), 0))
attempt("bpf", lambda: call("bpf", 0, struct.pack("4I112x", 1, 4, 4, 1), 128))
attempt("keyctl", lambda: call("keyctl", 0, -3, 1))
attempt("add_key", lambda: call("add_key", b"user", b"x", b"x", 1, -3))
attempt("perf_event_open", lambda: call("perf_event_open", struct.pack("II112x", 1, 112), 0, -1, -1, 0))
attempt("io_uring_setup", lambda: call("io_uring_setup", 1, b"\0" * 120))
attempt("userfaultfd", lambda: call("userfaultfd", 1))
attempt("init_module", lambda: call("init_module", b"", 0, b""))
attempt("kexec_load", lambda: call("kexec_load", 0, 0, 0, 0))
attempt("reboot", lambda: call("reboot", 0xfee1dead, 672274793, 0, 0))
attempt("swapon", lambda: call("swapon", b"/dev/null", 0))
attempt("acct", lambda: call("acct", 0))
attempt("read the kernel's log", lambda: call("syslog", 3, b"\0" * 100, 100))
attempt("sethostname", lambda: call("sethostname", b"x", 1))
attempt("open a raw disk", lambda: [os.open(d, os.O_RDONLY) for d in glob.glob("/dev/[svn][dv]*")] != [])
attempt("open physical memory", lambda: os.open("/dev/mem", os.O_RDONLY))
attempt("open kvm", lambda: os.open("/dev/kvm", os.O_RDWR))
attempt("open fuse", lambda: os.open("/dev/fuse", os.O_RDWR))
if os.uname().machine == "x86_64":
    import mmap
    # mov eax, 26 (ptrace of 32-bit programs: TRACEME); xor ebx, ebx; int 0x80; ret, with rbx kept
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes.fromhex("53b81a00000031dbcd805bc3"))
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    attempt("ptrace by int 0x80", lambda: run() >= 0)
    attempt("ptrace by x32", lambda: call(0x40000000 | 521, 0, 0, 0, 0))
status = dict(l.split(":\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\t" in l)
for cap in ("CapInh", "CapPrm", "CapEff", "CapAmb") + (("CapBnd",) if %v else ()):
    attempt("hold a capability in " + cap, lambda: int(status[cap], 16) != 0)
attempt("gain privileges", lambda: status["NoNewPrivs"].strip() != "1")
attempt("run without a filter", lambda: status["Seccomp"].strip() != "2")
attempt("be root", lambda: os.getuid() == 0 if %v else False)
`, k.Name == "bwrap" || os.Geteuid() == 0, k.Name == "bwrap")
		return worked
	})
}

// Bombs: of processes, memory, files. The sandbox answers afterwards.
func TestAttack14Bombs(t *testing.T) {
	attack(t, "14", func(t *testing.T, k sandbox.Kind) []string {
		sp := spec(t)
		sp.Limits = sandbox.Limits{MemoryBytes: 256 << 20, Pids: 60, FileBytes: 16 << 20, DiskBytes: 64 << 20}
		s := open(t, k, sp)
		has := func(limit string) bool { return slices.Contains(s.Isolation().Limits, limit) }
		var worked []string
		if has("pids") {
			worked = append(worked, script(t, s, `
import threading
n = 0
try:
    while n < 500:
        if os.fork() == 0:
            time.sleep(1000)
        n += 1
except OSError: pass
attempt("fork 500 processes", lambda: n == 500)
`)...)
			killAll(t, s)
		}
		if has("memory") {
			_, exit := run(t, s, sandbox.Command{Argv: []string{"python3", "-c", "x = b'x' * (1 << 30); print(len(x))"}})
			if exit.Code == 0 {
				worked = append(worked, "take 1 GiB of memory")
			}
		}
		if has("file size") {
			_, exit := shExit(t, s, "head -c 100000000 /dev/zero >big; s=$?; rm -f big; exit $s")
			if exit.Code == 0 {
				worked = append(worked, "write a file over the limit")
			}
		}
		if k.Name == "bwrap" {
			worked = append(worked, script(t, s, `
def fill(dir, most):
    n = 0
    while n < most:
        with open(f"{dir}/{n}", "wb") as f: f.write(b"x" * (1 << 20))
        n += 1 << 20
for dir in ("/tmp", os.environ["HOME"], "/dev/shm"):
    attempt("fill " + dir, lambda: fill(dir, 200 << 20))
    for f in glob.glob(dir + "/*"): os.unlink(f)
for dir in ("/", "/dev", "/run", "/etc", "/home", "/var"):
    attempt("write to " + dir, lambda: open(dir + "/x", "w"))
`)...)
		}
		// The workspace: whoever fills it is ended.
		p := startSh(t, s, `i=0; while :; do i=$((i+1)); head -c 4000000 /dev/zero >fill.$i || exit 1; sleep 0.02; done`)
		if exit, _ := p.Wait(); exit.Signal != syscall.SIGKILL {
			worked = append(worked, fmt.Sprintf("fill the disk (%+v)", exit))
		}
		sh(t, s, "rm -f fill.*")
		if got := sh(t, s, "echo alive"); got != "alive" {
			worked = append(worked, "end the sandbox")
		}
		return worked
	})
}

// killAll ends every process inside but the guest.
func killAll(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	eventually(t, "the bomb is gone", func() bool {
		pids, err := s.Pids()
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		return err == nil && len(pids) == 0
	})
}

// Going on while frozen, in as many shapes as processes have.
func TestAttack15EvadeTheFreeze(t *testing.T) {
	attack(t, "15", func(t *testing.T, k sandbox.Kind) []string {
		sp := spec(t)
		s := open(t, k, sp)
		t.Logf("freezer: %s", s.Isolation().Freezer)
		shapes := startShapes(t, s, sp)
		for range 3 {
			if err := s.Freeze(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := counts(sp, shapes)
			time.Sleep(150 * time.Millisecond) // long for a process that runs
			if after := counts(sp, shapes); !slices.Equal(before, after) {
				return []string{fmt.Sprintf("run while frozen: %v became %v", before, after)}
			}
			if err := s.Thaw(t.Context()); err != nil {
				t.Fatal(err)
			}
			eventually(t, "all go on", func() bool {
				now := counts(sp, shapes)
				for i := range now {
					if now[i] <= before[i] {
						return false
					}
				}
				return true
			})
		}
		return nil
	})
}

// Changing the clock by which time-outs are kept.
func TestAttack16Clock(t *testing.T) {
	attack(t, "16", func(t *testing.T, k sandbox.Kind) []string {
		return script(t, open(t, k, spec(t)), `
now = struct.pack("qq", int(time.time()), 0) # harmless where it works
attempt("clock_settime", lambda: call("clock_settime", 0, now))
attempt("settimeofday", lambda: call("settimeofday", now, 0))
attempt("adjtimex", lambda: call("adjtimex", struct.pack("I204x", 0x4000)))
attempt("time.clock_settime", lambda: time.clock_settime(0, time.time()))
`)
	})
}

// Writing to the system, the record, the task, and others' settings.
func TestAttack17WriteElsewhere(t *testing.T) {
	attack(t, "17", func(t *testing.T, k sandbox.Kind) []string {
		base := workspace(t)
		record := write(t, filepath.Join(base, "events.jsonl"), "{}\n")
		task := write(t, filepath.Join(base, "task/tests/grade.py"), "print(0)")
		data := write(t, filepath.Join(base, "data/train.csv"), "1,2")
		sp := spec(t)
		sp.Mounts = []sandbox.Mount{{Source: filepath.Join(base, "data"), Target: "/data"}}
		s := open(t, k, sp)
		t.Cleanup(func() { os.Chmod(record, 0o644) })
		worked := script(t, s, `
record, task, data = %q, %q, %q
for path in [record, task, data, "/etc/passwd", "/etc/shadow", "/usr/bin/env", os.path.realpath(sys.executable),
        "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches",
        "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/devices/system/cpu/cpu0/online"]:
    attempt("open for writing: " + path, lambda: os.close(os.open(path, os.O_WRONLY)))
    attempt("truncate: " + path, lambda: os.truncate(path, os.stat(path).st_size))
    attempt("rename: " + path, lambda: os.rename(path, path + ".x"))
for dir in [os.path.dirname(record), os.path.dirname(data), "/usr/lib", "/usr/local/bin", "/etc", "/etc/cron.d", "/root", "/home", "/sys/fs/cgroup",
        os.path.dirname(os.path.realpath(sys.executable))]:
    attempt("make a file in " + dir, lambda: os.close(os.open(dir + "/proctor-attack", os.O_CREAT | os.O_WRONLY)))
    attempt("make a directory in " + dir, lambda: os.mkdir(dir + "/proctor-attack"))
    attempt("make a link in " + dir, lambda: os.symlink("x", dir + "/proctor-attack"))
attempt("chmod outside", lambda: os.chmod(record, 0o640))
attempt("chown outside", lambda: os.chown(record, 1234, -1))
for path in ["/usr/bin/env", "/usr", "/etc"]:
    attempt("chown " + path, lambda: os.chown(path, 1234, -1))
attempt("signal a process outside", lambda: os.kill(%d, 0) if %v else False)
`, record, task, s.Path("/data/train.csv"), os.Getpid(), k.Name != "bwrap") // inside a namespace it is another's number
		for path, want := range map[string]string{record: "{}\n", task: "print(0)", data: "1,2"} {
			if read(path) != want {
				worked = append(worked, "change "+filepath.Base(path))
			}
		}
		return worked
	})
}

// Typing into a terminal from its inside, to run things outside.
func TestAttack18TypeIntoTheTerminal(t *testing.T) {
	attack(t, "18", func(t *testing.T, k sandbox.Kind) []string {
		sp := spec(t)
		write(t, filepath.Join(sp.Workspace, "attack.py"), prelude()+`
TIOCSTI, TIOCLINUX = 0x5412, 0x541c
for fd in (0, 1, os.open("/dev/tty", os.O_RDWR)):
    attempt("type into the terminal", lambda: call("ioctl", fd, TIOCSTI, b"x"))
    attempt("type into the terminal, bits above", lambda: call("ioctl", fd, TIOCSTI | 1 << 32, b"x"))
    attempt("paste into the console", lambda: call("ioctl", fd, TIOCLINUX, b"\x03"))
for pts in glob.glob("/dev/pts/[0-9]*"):
    attempt("open another's terminal", lambda: os.ttyname(0) != pts and os.open(pts, os.O_RDWR))
for con in ("/dev/console", "/dev/tty0", "/dev/tty1"):
    attempt("open the console", lambda: os.open(con, os.O_RDWR))
`)
		out, _ := run(t, open(t, k, sp), sandbox.Command{Argv: []string{"python3", "attack.py"}})
		if !strings.HasSuffix(out, "END") || strings.Contains(out, "Traceback") {
			t.Fatalf("the attack itself failed:\n%s", out)
		}
		return strings.FieldsFunc(strings.TrimSuffix(out, "END"), func(r rune) bool { return r == '\n' })
	})
}

// A debugger works where a task asks for it, and only then.
func TestDebuggerIsAllowedWhereAskedFor(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("no table of system calls")
	}
	needPython(t)
	for _, allowed := range []bool{false, true} {
		sp := spec(t)
		sp.Debugger = allowed
		s := open(t, kindNamed(t, "bwrap"), sp)
		got := script(t, s, `attempt("trace", lambda: call("ptrace", 0, 0, 0, 0))`)
		if (len(got) == 1) != allowed || s.Isolation().Syscalls == allowed {
			t.Errorf("allowed=%v: %q, %+v", allowed, got, s.Isolation())
		}
	}
}
