// Package e2e drives the built program from outside: its command line, its
// terminal, its files and its signals, with real processes throughout.
//
// Each test is a user with a home of their own (user_test.go) who writes a
// task (task_test.go) whose starter code plays the agent, runs it, and reads
// the record (record_test.go).
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// program is the binary under test, built once.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "proctor-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "proctor")
	args := []string{"build", "-o", program}
	if raceDetector {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "..")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program under test: %v\n%s", err, out)
		return 1
	}
	// A test mostly waits for processes.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.NumCPU())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
