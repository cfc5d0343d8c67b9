package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"proctor/runner/event"
)

// When the disk on which the record lies is full, the run ends; what is on
// record can be read, and it is said what happened.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("a small disk is mounted, which takes root")
	}
	u := newUser(t)
	state := u.path("state")
	if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=12m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		u.endAll()
		syscall.Unmount(state, syscall.MNT_DETACH)
	})
	r := u.run(u.task(task{starter: `echo 0.8 >out.txt
head -c 20M /dev/zero >filler; echo filled >/dev/tty
while :; do seq 1 2000; sleep 0.02; done
`}))
	s := r.ends()
	if s.Phase == event.Done {
		t.Fatalf("the disk was not full: %+v", s.Verdict)
	}
	if len(r.events()) < 4 {
		t.Errorf("the record has %d events", len(r.events()))
	}
	said := u.must("show") + u.must("runs") + read(r.SupervisorLog())
	if !strings.Contains(said, "no space left on device") {
		t.Errorf("nothing says that the disk is full:\n%s", said)
	}
	if res := u.proctor("attach", "--plain"); res.code != 5 || !strings.Contains(res.out, "action 1: sh train.sh") {
		t.Errorf("attach: exit status %d %s", res.code, res.out)
	}
	// With room again, it is graded.
	if err := os.Remove(filepath.Join(r.Workspace(), "filler")); err != nil {
		t.Fatal(err)
	}
	contains(t, u.must("grade"), "graded, accuracy 0.8")
	if s := r.state(); s.Phase != event.Done {
		t.Errorf("graded, the run is %s", s.Phase)
	}
}
