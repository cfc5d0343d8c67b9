package kinds

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"proctor/runner/sandbox"
	"proctor/runner/sandbox/guest"
	"proctor/runner/sandbox/proc"
)

// An opening that is given up, at whatever moment, leaves no process.
func TestOpeningGivenUp(t *testing.T) {
	each(t, func(t *testing.T, k sandbox.Kind) {
		for i := range 8 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Duration(3*i)*time.Millisecond, cancel)
			if s, err := k.Open(ctx, spec(t)); err == nil {
				s.Close()
			}
			cancel()
		}
		eventually(t, "nothing is left", func() bool {
			all, err := proc.List()
			if err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, p := range all {
				if cmdline := read(fmt.Sprintf("/proc/%d/cmdline", p.PID)); p.PPID == 1 && strings.Contains(cmdline, guest.Command) && ours(p.PID) {
					left = append(left, cmdline)
				}
			}
			return len(left) == 0
		})
	})
}

// ours says whether a process was started from this program: others may
// test at the same time.
func ours(pid int) bool {
	mine, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	for _, file := range []string{"exe", "fd/4"} {
		if fi, err := os.Stat(fmt.Sprintf("/proc/%d/%s", pid, file)); err == nil && os.SameFile(mine, fi) {
			return true
		}
	}
	return false
}
