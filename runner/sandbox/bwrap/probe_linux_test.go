package bwrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProbeWithoutBwrap(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if p := Kind().Probe(t.Context()); p.OK || !strings.Contains(p.Reason, "install the package") {
		t.Errorf("%+v", p)
	}
}

// A bwrap that is there and does not work says why.
func TestProbeOfABrokenBwrap(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\ntest \"$1\" = --help && exit\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	p := Kind().Probe(t.Context())
	if p.OK || !strings.HasPrefix(p.Reason, "start its guest: it ended at once (bwrap: setting up uid map: Permission denied); ") {
		t.Errorf("%+v", p)
	}
}
