// Package gpu says what a run does to the GPUs. It holds what everything
// else needs of them: samples and the line format they travel in, the Sampler
// that obtains them from a process of its own, the attribution of use to the
// run's processes, the thinning of samples for the log, GPU-hours, notes, and
// which devices a run is given.
//
// Nothing here loads a driver: that is package collect, which only the
// command `proctor gpu` runs. A driver that hangs or ends the process that
// called it therefore never takes a supervisor or a console with it.
package gpu

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Sample is what the driver said about every device at one moment. It
// marshals to one line of JSON, the output of `proctor gpu --json`; a field
// that the driver did not give is absent, never zero.
type Sample struct {
	At     time.Time `json:"at"`
	Source string    `json:"source"`           // nvml, nvidia-smi or none
	Driver string    `json:"driver,omitempty"` // version
	// ForeignPIDs says that the process ids below are not of the collector's
	// pid namespace, so that they cannot be matched with anybody's.
	ForeignPIDs bool     `json:"foreign_pids,omitempty"`
	Devices     []Device `json:"devices"`         // MIG instances follow their GPU
	Err         string   `json:"error,omitempty"` // why there are no devices
}

// A Device is a GPU or an instance of one.
type Device struct {
	Index int    `json:"index"` // the driver's number of the GPU, also for its instances
	UUID  string `json:"uuid"`
	Name  string `json:"name"`
	PCI   string `json:"pci,omitempty"`   // bus id, 00000000:17:00.0
	Minor *int   `json:"minor,omitempty"` // n of /dev/nvidiaN
	MIG   *MIG   `json:"mig,omitempty"`   // of an instance
	// MIGEnabled marks a GPU that is divided into instances.
	MIGEnabled bool `json:"mig_enabled,omitempty"`

	// Utilization is the percentage of the driver's last sample period (a
	// sixth of a second to a second) in which at least one kernel ran: busy,
	// not full. Absent on GPUs divided into instances and on the instances.
	Utilization  *int     `json:"utilization,omitempty"`
	MemoryUsed   *int64   `json:"memory_used,omitempty"`  // bytes, without what the driver reserves
	MemoryTotal  *int64   `json:"memory_total,omitempty"` // bytes
	PowerW       *float64 `json:"power_w,omitempty"`
	PowerLimitW  *float64 `json:"power_limit_w,omitempty"`
	TemperatureC *int     `json:"temperature_c,omitempty"`
	SMClockMHz   *int     `json:"sm_clock_mhz,omitempty"`
	MemClockMHz  *int     `json:"mem_clock_mhz,omitempty"`
	// Throttle is why the clocks are lowered: sw_power_cap, hw_slowdown,
	// sw_thermal_slowdown, hw_thermal_slowdown, hw_power_brake,
	// applications_clocks, sync_boost or display_clocks. Empty: they are not;
	// nil: unknown. An idle GPU's low clocks are not throttling.
	Throttle []string `json:"throttle,omitzero"`
	ECC      *ECC     `json:"ecc,omitempty"`
	Xid      *Xid     `json:"xid,omitempty"`
	// Processes on the device; empty: none, nil: the driver does not say.
	Processes []Process `json:"processes,omitzero"`
	Err       string    `json:"error,omitempty"` // why this device gives nothing
}

// MIG places an instance on its GPU.
type MIG struct {
	Number          int    `json:"number"` // of the instance on its GPU, from 0
	Parent          string `json:"parent"` // the GPU's UUID
	GPUInstance     int    `json:"gpu_instance"`
	ComputeInstance int    `json:"compute_instance"`
}

// ECC counts memory errors since the driver was loaded.
type ECC struct {
	Corrected   int64 `json:"corrected"`
	Uncorrected int64 `json:"uncorrected"`
}

// Xid is the newest critical error that the driver reported about a device
// since the collector started.
type Xid struct {
	Code  int64     `json:"code"`
	Count int       `json:"count"` // of Xids since the collector started
	At    time.Time `json:"at"`
}

// A Process uses a device.
type Process struct {
	PID         int    `json:"pid"`                   // as the driver says it: of the host
	Memory      *int64 `json:"memory,omitempty"`      // bytes on the device
	Utilization *int   `json:"utilization,omitempty"` // percent of the SMs' time
}

// ID names a device shortly: "0" for a GPU, "0:1" for the second instance on
// it. It is what --gpus takes.
func (d Device) ID() string {
	if d.MIG != nil {
		return strconv.Itoa(d.Index) + ":" + strconv.Itoa(d.MIG.Number)
	}
	return strconv.Itoa(d.Index)
}

// MaxLine bounds a line of samples: 64 devices with hundreds of processes
// each stay well below it.
const MaxLine = 4 << 20

// maxText bounds names, so that a broken driver cannot fill a screen.
const maxText = 300

// ParseSample reads one line of `proctor gpu --json`. What it returns is fit
// to be shown: percentages lie in 0..100, amounts are not negative, texts are
// short and without control characters.
func ParseSample(line []byte) (Sample, error) {
	if len(line) > MaxLine {
		return Sample{}, fmt.Errorf("reading a GPU sample: a line of %d bytes is longer than %d", len(line), MaxLine)
	}
	var s Sample
	if err := json.Unmarshal(line, &s); err != nil {
		return Sample{}, fmt.Errorf("reading a GPU sample from %q: %w", clip(string(line), 80), err)
	}
	if s.At.IsZero() {
		return Sample{}, errors.New(`reading a GPU sample: it has no time ("at")`)
	}
	s.Source, s.Driver, s.Err = plain(s.Source), plain(s.Driver), plain(s.Err)
	for i := range s.Devices {
		s.Devices[i].clean()
	}
	return s, nil
}

func (d *Device) clean() {
	d.UUID, d.Name, d.PCI, d.Err = plain(d.UUID), plain(d.Name), plain(d.PCI), plain(d.Err)
	d.Index = max(0, d.Index)
	d.Utilization = percent(d.Utilization)
	d.MemoryUsed, d.MemoryTotal = natural(d.MemoryUsed), natural(d.MemoryTotal)
	d.PowerW, d.PowerLimitW = natural(d.PowerW), natural(d.PowerLimitW)
	d.SMClockMHz, d.MemClockMHz = natural(d.SMClockMHz), natural(d.MemClockMHz)
	d.Minor = natural(d.Minor)
	if d.MIG != nil {
		d.MIG.Number, d.MIG.Parent = max(0, d.MIG.Number), plain(d.MIG.Parent)
	}
	for i, t := range d.Throttle {
		d.Throttle[i] = plain(t)
	}
	for i := range d.Processes {
		p := &d.Processes[i]
		p.Memory, p.Utilization = natural(p.Memory), percent(p.Utilization)
	}
}

// percent drops what cannot be a percentage: drivers hand out stale buffers.
func percent(v *int) *int {
	if v == nil || *v < 0 || *v > 100 {
		return nil
	}
	return v
}

// natural drops a negative amount.
func natural[T int | int64 | float64](v *T) *T {
	if v == nil || *v < 0 {
		return nil
	}
	return v
}

// plain makes text from outside fit to be shown.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return clip(s, maxText)
}

// clip cuts s to at most n bytes, at a rune's boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
