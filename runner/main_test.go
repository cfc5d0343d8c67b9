package runner

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"proctor/runner/sandbox/guest"
)

// TestMain lets the test binary be what a run starts: a sandbox's guest.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == guest.Command {
		os.Exit(guest.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		// A run starts this program for something else: tests that ran then
		// would start it again, and so on.
		fmt.Fprintf(os.Stderr, "the tests are not the program: no command %q\n", os.Args[1])
		os.Exit(2)
	}
	os.Exit(runTests(m))
}

// runTests gives sockets a directory with a short path.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pr")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_RUNTIME_DIR", dir)
	return m.Run()
}
