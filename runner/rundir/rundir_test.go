package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "runs"))
	at := time.Date(2026, 11, 21, 10, 33, 12, 0, time.UTC)
	var ids []string
	for i, task := range []string{"builtin/digits", "builtin/digits", "../../etc/Passwd é"} {
		id := NewID(at.Add(time.Duration(i)*time.Hour), task, "command:rm -rf", uint16(0x7f30+i))
		if _, err := s.Create(Request{ID: id, Task: task}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if ids[0] != "20261121-103312-digits-command_rm__rf-7f30" {
		t.Errorf("id %q", ids[0])
	}
	for key, want := range map[string]string{
		ids[0]: ids[0], "20261121-11": ids[1], "7f32": ids[2],
		filepath.Join(s.Root(), ids[0]): "not a run directory", // it has no log yet
		"20261121":                      "could be any of", "nothing": "no run is called",
	} {
		dir, err := s.Find(key)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && dir.ID() != want {
			t.Errorf("Find(%q) = %q, %v; want %q", key, dir.ID(), err, want)
		}
	}
	got, err := s.IDs()
	if err != nil || len(got) != 3 || got[0] != ids[2] {
		t.Errorf("IDs %q, %v", got, err)
	}
	r, err := At(filepath.Join(s.Root(), ids[1])).Request()
	if err != nil || r.Task != "builtin/digits" {
		t.Errorf("request %+v, %v", r, err)
	}
}

func TestLockSaysWhoIsAlive(t *testing.T) {
	s := NewStore(t.TempDir())
	d, err := s.Create(Request{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Alive() {
		t.Error("alive before anybody took it")
	}
	lock, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.SetSocket("/tmp/x.sock"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock(); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if socket, err := d.Socket(); err != nil || socket != "/tmp/x.sock" {
		t.Errorf("socket %q, %v", socket, err)
	}
	if alive, err := s.Alive(); err != nil || len(alive) != 1 || alive[0] != d {
		t.Errorf("alive %v, %v", alive, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if d.Alive() {
		t.Error("alive after it was let go")
	}
	if _, err := d.Socket(); err == nil || !strings.Contains(err.Error(), "not alive") {
		t.Errorf("socket of a dead run: %v", err)
	}
}

func TestOnlyItsOwnerSeesARun(t *testing.T) {
	s := NewStore(filepath.Join(t.TempDir(), "runs"))
	d, err := s.Create(Request{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.Root(), d.Path()} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
}

func TestAttemptIsOnRecord(t *testing.T) {
	s := NewStore(t.TempDir())
	group := NewGroupID(time.Date(2026, 11, 21, 10, 33, 12, 0, time.UTC), "builtin/digits", "search", 6, 0x7f3a)
	if group != "20261121-103312-digits-search-x6-7f3a" {
		t.Errorf("group %q", group)
	}
	want := Attempt{Group: group, Number: 2, Of: 6}
	d, err := s.Create(Request{ID: "a", Attempt: &want})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := s.Create(Request{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Attempt(); got == nil || *got != want || alone.Attempt() != nil || At("nowhere").Attempt() != nil {
		t.Errorf("attempt %+v", got)
	}
}
