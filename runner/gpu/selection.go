package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Selection says which GPUs a run may use. The zero value is all of them.
type Selection struct {
	none bool
	want []string // device ids and UUIDs, as they were given; empty: all
}

// noGPU selects nothing.
var noGPU = Selection{none: true}

// ParseSelection reads what --gpus takes: "all" (or ""), "none", or a list of
// devices by number, range, instance or UUID: 0,2 · 0-3 · 0:1 · GPU-5a3e… ·
// MIG-7c11….
func ParseSelection(text string) (Selection, error) {
	switch strings.TrimSpace(text) {
	case "", "all":
		return Selection{}, nil
	case "none":
		return noGPU, nil
	}
	var s Selection
	for part := range strings.SplitSeq(text, ",") {
		ids, err := parseDevices(strings.TrimSpace(part))
		if err != nil {
			return Selection{}, fmt.Errorf("reading the GPUs %q: %w; give all, none, or numbers such as 0,2", clip(text, 80), err)
		}
		for _, id := range ids {
			if slices.Contains(s.want, id) {
				return Selection{}, fmt.Errorf("reading the GPUs %q: %s is there twice", clip(text, 80), id)
			}
			s.want = append(s.want, id)
		}
	}
	return s, nil
}

// maxIndex is above every number that a driver gives.
const maxIndex = 255

func parseDevices(part string) ([]string, error) {
	if strings.HasPrefix(part, "GPU-") || strings.HasPrefix(part, "MIG-") {
		if strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("%q is not a UUID", part)
		}
		return []string{part}, nil
	}
	if gpu, instance, ok := strings.Cut(part, ":"); ok {
		g, err := index(gpu)
		if err != nil {
			return nil, err
		}
		i, err := index(instance)
		return []string{fmt.Sprintf("%d:%d", g, i)}, err
	}
	from, to, ok := strings.Cut(part, "-")
	first, err := index(from)
	if err != nil || !ok {
		return []string{strconv.Itoa(first)}, err
	}
	last, err := index(to)
	if err != nil {
		return nil, err
	}
	if last < first {
		return nil, fmt.Errorf("the range %q goes backwards", part)
	}
	var ids []string
	for i := first; i <= last; i++ {
		ids = append(ids, strconv.Itoa(i))
	}
	return ids, nil
}

func index(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n > maxIndex {
		return 0, fmt.Errorf("%q is not the number of a GPU", text)
	}
	return int(n), nil
}

// All and None report whether no choice was made, or nothing was chosen.
func (s Selection) All() bool  { return !s.none && len(s.want) == 0 }
func (s Selection) None() bool { return s.none }

// String is the selection as --gpus takes it.
func (s Selection) String() string {
	switch {
	case s.none:
		return "none"
	case len(s.want) == 0:
		return "all"
	}
	return strings.Join(s.want, ",")
}

// Has reports whether a device belongs to the selection. Selecting a GPU
// that is divided selects its instances.
func (s Selection) Has(d Device) bool {
	if s.none {
		return false
	}
	return s.All() || slices.ContainsFunc(s.want, func(w string) bool { return matches(w, d) })
}

func matches(want string, d Device) bool {
	return want == d.ID() || want == d.UUID ||
		d.MIG != nil && (want == strconv.Itoa(d.Index) || want == d.MIG.Parent)
}

// Pick returns the devices of the selection, in the driver's order, without
// the divided GPUs themselves: on those nothing runs. It fails when the
// selection names a device that is not there or does not answer.
func (s Selection) Pick(devices []Device) ([]Device, error) {
	for _, w := range s.want {
		if !slices.ContainsFunc(devices, func(d Device) bool { return matches(w, d) }) {
			return nil, fmt.Errorf("selecting the GPUs %s: there is no GPU %s; %s", s, w, available(devices))
		}
	}
	var picked []Device
	for _, d := range devices {
		if !s.Has(d) || d.MIGEnabled {
			continue
		}
		if d.Err != "" && !s.All() {
			return nil, fmt.Errorf("selecting the GPUs %s: GPU %s does not work: %s", s, d.ID(), d.Err)
		}
		if d.Err == "" {
			picked = append(picked, d)
		}
	}
	return picked, nil
}

func available(devices []Device) string {
	var ids []string
	for _, d := range devices {
		if !d.MIGEnabled {
			ids = append(ids, d.ID())
		}
	}
	if len(ids) == 0 {
		return "no GPU was found on this machine"
	}
	return "there are " + strings.Join(ids, ", ")
}

// Check compares the devices that a run would get with what its task needs:
// so many GPUs with so many bytes of memory each. Zero needs nothing. A
// device whose memory is unknown is taken to have enough.
func Check(picked []Device, count int, memory int64) error {
	if count <= 0 && memory <= 0 {
		return nil
	}
	count = max(count, 1)
	var large int
	var have []string
	for _, d := range picked {
		text := d.ID() + " " + d.Name
		if d.MemoryTotal != nil {
			text += " " + gib(*d.MemoryTotal) + " GiB"
		}
		have = append(have, text)
		if d.MemoryTotal == nil || *d.MemoryTotal >= memory {
			large++
		}
	}
	if large >= count {
		return nil
	}
	need := fmt.Sprintf("%d GPUs", count)
	if count == 1 {
		need = "a GPU"
	}
	if memory > 0 {
		need += " with " + gib(memory) + " GiB"
		if count > 1 {
			need += " each"
		}
	}
	if len(have) == 0 {
		return errors.New("the task needs " + need + ", and the run would have none; choose some with --gpus, or run it on a machine that has them")
	}
	return fmt.Errorf("the task needs %s, and the run would have: %s; choose others with --gpus", need, strings.Join(have, ", "))
}
