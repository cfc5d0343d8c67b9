package kinds

import (
	"os"
	"testing"

	"proctor/runner/sandbox/guest"
)

// TestMain lets the test binary be what it starts: a sandbox's guest, or a
// supervisor that is going to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case guest.Command:
			os.Exit(guest.Main(os.Args[2:]))
		case superviseCommand:
			supervise(os.Args[2:])
		}
	}
	os.Exit(m.Run())
}
