package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// The files of a run directory. Only Workspace is ever visible inside a
// sandbox.
const (
	requestFile    = "run.json"
	eventsFile     = "events.jsonl"
	castFile       = "terminal.cast"
	keyframeFile   = "keyframe.json"
	verdictFile    = "verdict.json"
	lockFile       = "lock"
	logFile        = "supervisor.log"
	workspaceDir   = "workspace"
	submissionDir  = "submission"
	checkpointsDir = "checkpoints"
	exchangesDir   = "exchanges"
	scratchDir     = "scratch"
)

// A Dir is the directory of one run.
type Dir struct{ path string }

// At returns the run directory at path, which need not exist yet.
func At(path string) Dir { return Dir{path} }

// ID is the run's id: the directory's name.
func (d Dir) ID() string { return filepath.Base(d.path) }

// Path is the directory itself.
func (d Dir) Path() string { return d.path }

// Events is the log.
func (d Dir) Events() string { return filepath.Join(d.path, eventsFile) }

// Cast is the recording of the terminal.
func (d Dir) Cast() string { return filepath.Join(d.path, castFile) }

// Keyframe is the newest snapshot of what the log and the recording say.
func (d Dir) Keyframe() string { return filepath.Join(d.path, keyframeFile) }

// Verdict is the verdict as JSON.
func (d Dir) Verdict() string { return filepath.Join(d.path, verdictFile) }

// SupervisorLog holds what the supervisor had to say about itself.
func (d Dir) SupervisorLog() string { return filepath.Join(d.path, logFile) }

// Workspace is the agent's working directory.
func (d Dir) Workspace() string { return filepath.Join(d.path, workspaceDir) }

// Submission is the copy that was graded.
func (d Dir) Submission() string { return filepath.Join(d.path, submissionDir) }

// Checkpoint is a copy of the outputs made during the run.
func (d Dir) Checkpoint(id string) string { return filepath.Join(d.path, checkpointsDir, id) }

// Exchanges holds the model calls, without keys.
func (d Dir) Exchanges() string { return filepath.Join(d.path, exchangesDir) }

// Scratch is for the supervisor's temporary files; it goes with the run's end.
func (d Dir) Scratch() string { return filepath.Join(d.path, scratchDir) }

// A Store is the directory that holds all runs.
type Store struct{ root string }

// NewStore returns the store at root.
func NewStore(root string) Store { return Store{root} }

// Root is where the runs lie.
func (s Store) Root() string { return s.root }

// Create makes the directory of a new run and writes its request.
func (s Store) Create(r Request) (Dir, error) {
	d := Dir{filepath.Join(s.root, r.ID)}
	if err := os.MkdirAll(s.root, 0o700); err != nil {
		return d, fmt.Errorf("making the directory of runs: %w", err)
	}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		return d, fmt.Errorf("making the run directory: %w", err)
	}
	if err := os.Mkdir(d.Workspace(), 0o700); err != nil {
		return d, fmt.Errorf("making the workspace: %w", err)
	}
	return d, writeJSON(filepath.Join(d.path, requestFile), r)
}

// Request reads what was asked for.
func (d Dir) Request() (Request, error) {
	var r Request
	data, err := os.ReadFile(filepath.Join(d.path, requestFile))
	if err != nil {
		return r, fmt.Errorf("reading what the run was asked for: %w", err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("reading %q: %w", filepath.Join(d.path, requestFile), err)
	}
	return r, nil
}

// Attempt says which of several attempts the run is; nil if it is none or if
// that cannot be read.
func (d Dir) Attempt() *Attempt {
	r, err := d.Request()
	if err != nil {
		return nil
	}
	return r.Attempt
}

// WriteVerdict writes verdict.json.
func (d Dir) WriteVerdict(v any) error { return writeJSON(d.Verdict(), v) }

// WriteKeyframe replaces the keyframe as a whole.
func (d Dir) WriteKeyframe(k any) error { return writeJSON(d.Keyframe(), k) }

// writeJSON replaces a file in one step, so that no reader sees half of it.
func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding %q: %w", path, err)
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}

// IDs lists the runs, newest first.
func (s Store) IDs() ([]string, error) {
	entries, err := os.ReadDir(s.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the runs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(s.root, e.Name(), requestFile)); err == nil {
			ids = append(ids, e.Name())
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(ids)))
	return ids, nil
}

// Find returns the run that key names: its id, a unique part of the id's
// beginning or its last four letters, or a path to a run directory.
func (s Store) Find(key string) (Dir, error) {
	if strings.ContainsRune(key, filepath.Separator) {
		if _, err := os.Stat(filepath.Join(key, eventsFile)); err != nil {
			return Dir{}, fmt.Errorf("%q is not a run directory: %w", key, err)
		}
		abs, err := filepath.Abs(key)
		return Dir{abs}, err
	}
	ids, err := s.IDs()
	if err != nil {
		return Dir{}, err
	}
	var found []string
	for _, id := range ids {
		if id == key {
			return Dir{filepath.Join(s.root, id)}, nil
		}
		if strings.HasPrefix(id, key) || strings.HasSuffix(id, "-"+key) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return Dir{filepath.Join(s.root, found[0])}, nil
	case 0:
		return Dir{}, fmt.Errorf("no run is called %q: see proctor runs", key)
	default:
		return Dir{}, fmt.Errorf("%q could be any of %s: give more of the id", key, strings.Join(found, ", "))
	}
}

// Alive returns the runs whose supervisor lives, newest first.
func (s Store) Alive() ([]Dir, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	var alive []Dir
	for _, id := range ids {
		if d := (Dir{filepath.Join(s.root, id)}); d.Alive() {
			alive = append(alive, d)
		}
	}
	return alive, nil
}

// NewID names a run so that names sort by time and say what they are, such
// as 20261121-103312-digits-search-7f3a.
func NewID(now time.Time, task, agent string, salt uint16) string {
	return fmt.Sprintf("%s-%s-%s-%04x", now.UTC().Format("20060102-150405"), slug(task), slug(agent), salt)
}

// NewGroupID names several attempts at one thing, such as
// 20261121-103312-digits-search-x6-7f3a. No run has such a name: the part
// before a run's last four letters is its agent's.
func NewGroupID(now time.Time, task, agent string, attempts int, salt uint16) string {
	return fmt.Sprintf("%s-%s-%s-x%d-%04x", now.UTC().Format("20060102-150405"), slug(task), slug(agent), attempts, salt)
}

// slug keeps what is safe in a file name, at most 24 letters.
func slug(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '_'
		}
	}, name)
	if len(safe) > 24 {
		safe = safe[:24]
	}
	if safe == "" {
		return "x"
	}
	return safe
}
