package gpu

import (
	"cmp"
	"fmt"
	"slices"
)

// A Note is something about the GPUs worth telling a person, and perhaps the
// agent.
type Note struct {
	Kind   string // one of the kinds below
	Level  string // info, warn or error
	Device string // its id
	Text   string // one line
	// ForAgent says that the agent could do something about it.
	ForAgent bool
}

// The kinds of notes.
const (
	NoteIdle       = "gpu_idle"        // held for ten minutes without work
	NoteMemoryFull = "gpu_memory_full" // nearly
	NoteXid        = "gpu_xid"         // a critical error
	NoteECC        = "gpu_ecc"         // uncorrected memory errors
	NoteLost       = "gpu_lost"        // the device stopped answering
	NoteBack       = "gpu_back"        // and answers again
	NoteFrozenBusy = "gpu_frozen_busy" // works although the run is frozen
)

// When a note is due, and when the condition counts as over, so that a value
// that hovers about a threshold gives one note.
const (
	idleAfter  = 600.0 // working seconds
	idleBelow  = 5     // percent
	busyAbove  = 10    // percent: no longer idle
	fullAbove  = 0.95
	fullFor    = 3 // samples
	roomBelow  = 0.90
	frozenBusy = 5.0 // wall seconds of work after a freeze
)

// A moment is what a watch looks at.
type moment struct {
	sample  Sample
	shares  []Share
	worked  float64 // working seconds since the last moment
	elapsed float64 // wall seconds since the last moment
	frozen  bool
	granted bool // the devices are the run's own, used or not
}

// A watch finds what is worth a note. The zero value has seen nothing.
type watch struct {
	devices map[string]*deviceWatch
}

type deviceWatch struct {
	idle       float64 // working seconds
	idleTold   bool
	full       int // samples
	fullTold   bool
	frozen     float64 // wall seconds busy while frozen
	frozenTold bool
	xids       int
	ecc        int64
	lost       string
	seen       bool
}

// look returns what is new at a moment. A device that vanished from the
// samples altogether is noticed as lost, too.
func (w *watch) look(m moment) []Note {
	if w.devices == nil {
		w.devices = map[string]*deviceWatch{}
	}
	var notes []Note
	here := map[string]bool{}
	for i, d := range m.sample.Devices {
		id := d.ID()
		here[id] = true
		dw := w.devices[id]
		if dw == nil {
			dw = &deviceWatch{}
			w.devices[id] = dw
		}
		for _, n := range dw.look(d, m.shares[i], m) {
			n.Device = id
			n.Text = "GPU " + id + ": " + n.Text
			notes = append(notes, n)
		}
	}
	if len(here) > 0 { // else the whole source is down, which is told elsewhere
		notes = append(notes, w.vanished(here)...)
	}
	return notes
}

func (w *watch) vanished(here map[string]bool) []Note {
	var notes []Note
	for id, dw := range w.devices {
		if here[id] || dw.lost != "" {
			continue
		}
		dw.lost = "the driver no longer lists it"
		notes = append(notes, Note{Kind: NoteLost, Level: "error", Device: id, Text: "GPU " + id + ": " + dw.lost, ForAgent: true})
	}
	slices.SortFunc(notes, func(a, b Note) int { return cmp.Compare(a.Device, b.Device) })
	return notes
}

func (w *deviceWatch) look(d Device, s Share, m moment) []Note {
	var notes []Note
	note := func(kind, level, text string, forAgent bool) {
		notes = append(notes, Note{Kind: kind, Level: level, Text: text, ForAgent: forAgent})
	}
	w.errors(d, note)
	w.seen = true
	if d.Err != "" {
		return notes
	}
	if w.idleNow(s, m) {
		note(NoteIdle, "warn", "idle for 10 min "+holding(s), true)
	}
	if w.fullNow(s) {
		note(NoteMemoryFull, "warn", "memory nearly full, "+s.MemoryText(), true)
	}
	if w.busyFrozen(s, m) {
		note(NoteFrozenBusy, "warn", fmt.Sprintf("still %d %% busy with this run's work although the run is frozen", *s.Run), false)
	}
	return notes
}

func holding(s Share) string {
	switch {
	case s.RunProcesses == 0:
		return "although it was given to this run"
	case value(s.RunMemory) == 0:
		return "while this run holds it"
	}
	return "while this run holds it, with " + gib(*s.RunMemory) + " GiB of its memory"
}

// errors tells what the driver reports as broken. What was there before the
// run is not the run's news.
func (w *deviceWatch) errors(d Device, note func(kind, level, text string, forAgent bool)) {
	if d.Err != w.lost {
		if d.Err != "" {
			note(NoteLost, "error", d.Err, true)
		} else {
			note(NoteBack, "info", "answers again", true)
		}
		w.lost = d.Err
	}
	if d.Xid != nil {
		// A count that went down is that of a collector that was restarted.
		if w.xids > d.Xid.Count {
			w.xids = 0
		}
		if d.Xid.Count > w.xids {
			note(NoteXid, "error", XidText(d.Xid.Code), true)
		}
		w.xids = d.Xid.Count
	}
	if d.ECC != nil {
		if grown := d.ECC.Uncorrected - w.ecc; grown > 0 && w.seen {
			note(NoteECC, "error", fmt.Sprintf("%d uncorrected memory errors (ECC)", grown), true)
		}
		w.ecc = d.ECC.Uncorrected
	}
}

func (w *deviceWatch) idleNow(s Share, m moment) bool {
	busy := s.Run
	if busy == nil {
		busy = s.Utilization
	}
	switch {
	case busy == nil || s.RunProcesses == 0 && !m.granted:
		w.idle, w.idleTold = 0, false
		return false
	case *busy >= busyAbove:
		w.idle, w.idleTold = 0, false
	case *busy < idleBelow:
		w.idle += m.worked
	}
	if w.idle < idleAfter || w.idleTold {
		return false
	}
	w.idleTold = true
	return true
}

func (w *deviceWatch) fullNow(s Share) bool {
	if s.Memory == nil || value(s.MemoryTotal) == 0 {
		return false
	}
	used := float64(*s.Memory) / float64(*s.MemoryTotal)
	switch {
	case used >= fullAbove:
		w.full++
	case used < roomBelow:
		w.full, w.fullTold = 0, false
	}
	if w.full < fullFor || w.fullTold {
		return false
	}
	w.fullTold = true
	return true
}

func (w *deviceWatch) busyFrozen(s Share, m moment) bool {
	if !m.frozen {
		w.frozen, w.frozenTold = 0, false
		return false
	}
	if value(s.Run) > 0 {
		w.frozen += m.elapsed
	} else {
		w.frozen = 0
	}
	if w.frozen <= frozenBusy || w.frozenTold {
		return false
	}
	w.frozenTold = true
	return true
}

// XidText says what the driver's Xid code means, for the codes that training
// meets.
func XidText(code int64) string {
	what := map[int64]string{
		13:  "graphics engine exception: most often an access out of bounds in a kernel",
		31:  "memory page fault: a kernel used an address that is not mapped",
		43:  "the GPU stopped processing for a program: a fault of that program",
		45:  "work was removed, mostly after an earlier error",
		48:  "double bit memory error",
		63:  "a memory row is marked for remapping",
		64:  "a memory row could not be remapped",
		74:  "NVLink error",
		79:  "the GPU has fallen off the bus",
		92:  "many single bit memory errors",
		94:  "contained memory error: the program that used it is ended",
		95:  "uncontained memory error: the GPU must be reset",
		119: "the GPU's system processor does not answer",
		120: "error of the GPU's system processor",
	}[code]
	if what == "" {
		what = "a critical error"
	}
	return fmt.Sprintf("Xid %d, %s", code, what)
}
