package collect

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"proctor/runner/gpu"
)

// A column is one field of nvidia-smi --query-gpu.
type column struct {
	name string
	set  func(d *gpu.Device, text string) error
}

// columns are those that are asked for. A driver that does not know one names
// it in its error, and is asked again without it.
var columns = []column{
	{"index", func(d *gpu.Device, s string) (err error) { d.Index, err = strconv.Atoi(s); return err }},
	{"uuid", func(d *gpu.Device, s string) error { d.UUID = s; return nil }},
	{"name", func(d *gpu.Device, s string) error { d.Name = s; return nil }},
	{"pci.bus_id", func(d *gpu.Device, s string) error { d.PCI = s; return nil }},
	{"utilization.gpu", func(d *gpu.Device, s string) error { return whole(&d.Utilization, s) }},
	{"memory.used", func(d *gpu.Device, s string) error { return mebibytes(&d.MemoryUsed, s) }},
	{"memory.total", func(d *gpu.Device, s string) error { return mebibytes(&d.MemoryTotal, s) }},
	{"power.draw", func(d *gpu.Device, s string) error { return decimal(&d.PowerW, s) }},
	{"enforced.power.limit", func(d *gpu.Device, s string) error { return decimal(&d.PowerLimitW, s) }},
	{"temperature.gpu", func(d *gpu.Device, s string) error { return whole(&d.TemperatureC, s) }},
	{"clocks.sm", func(d *gpu.Device, s string) error { return whole(&d.SMClockMHz, s) }},
	{"clocks.mem", func(d *gpu.Device, s string) error { return whole(&d.MemClockMHz, s) }},
	{"clocks_throttle_reasons.active", func(d *gpu.Device, s string) error {
		mask, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
		d.Throttle = throttle(mask)
		return err
	}},
	{"ecc.errors.corrected.volatile.total", func(d *gpu.Device, s string) error {
		return errors64(d, s, func(e *gpu.ECC) *int64 { return &e.Corrected })
	}},
	{"ecc.errors.uncorrected.volatile.total", func(d *gpu.Device, s string) error {
		return errors64(d, s, func(e *gpu.ECC) *int64 { return &e.Uncorrected })
	}},
	{"mig.mode.current", func(d *gpu.Device, s string) error { d.MIGEnabled = s == "Enabled"; return nil }},
}

func whole(into **int, text string) error {
	n, err := strconv.Atoi(text)
	if err == nil && n >= 0 {
		*into = &n
	}
	return err
}

func decimal(into **float64, text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) {
		*into = &v
	}
	return err
}

func mebibytes(into **int64, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n >= 0 && n < 1<<40 {
		*into = new(n << 20)
	}
	return err
}

func errors64(d *gpu.Device, text string, field func(*gpu.ECC) *int64) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	if d.ECC == nil {
		d.ECC = &gpu.ECC{}
	}
	*field(d.ECC) = max(0, n)
	return nil
}

// unknown reports the values that stand for none: N/A, [N/A], [Not
// Supported] and their like.
func unknown(text string) bool {
	return text == "" || text == "N/A" || strings.HasPrefix(text, "[")
}

// trouble returns what a bracketed value says is wrong with the whole device.
func trouble(text string) string {
	text = strings.Trim(text, "[]")
	if strings.Contains(text, "lost") || strings.Contains(text, "Unknown Error") || strings.Contains(text, "reset") {
		return text
	}
	return ""
}

// fields cuts a line of nvidia-smi's CSV.
func fields(line string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace, r.LazyQuotes = true, true
	row, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("reading nvidia-smi's line %q: %w", line, err)
	}
	for i, f := range row {
		row[i] = strings.TrimSpace(f)
	}
	return row, nil
}

// parseGPU reads one line of --query-gpu with the format csv,noheader,nounits.
func parseGPU(line string, cols []column) (d gpu.Device, err error) {
	row, err := fields(line)
	if err != nil {
		return d, err
	}
	if len(row) != len(cols) {
		return d, fmt.Errorf("reading nvidia-smi's line %q: it has %d fields, not %d", line, len(row), len(cols))
	}
	for i, c := range cols {
		text := row[i]
		if unknown(text) {
			if d.Err == "" {
				d.Err = trouble(text)
			}
			continue
		}
		if err := c.set(&d, text); err != nil {
			return d, fmt.Errorf("reading nvidia-smi's line %q: the field %s: %w", line, c.name, err)
		}
	}
	if d.Index < 0 || d.UUID == "" && d.Err == "" {
		return d, fmt.Errorf("reading nvidia-smi's line %q: it names no GPU", line)
	}
	if d.Utilization != nil && *d.Utilization > 100 {
		d.Utilization = nil
	}
	return d, nil
}

// appColumns are those of --query-compute-apps.
const appColumns = "gpu_uuid,pid,used_memory"

// An app is one process on one GPU.
type app struct {
	uuid string
	gpu.Process
}

// parseApp reads one line of --query-compute-apps.
func parseApp(line string) (a app, err error) {
	row, err := fields(line)
	if err != nil {
		return a, err
	}
	if len(row) != 3 {
		return a, fmt.Errorf("reading nvidia-smi's line %q: it has %d fields, not 3", line, len(row))
	}
	a.uuid = row[0]
	if a.PID, err = strconv.Atoi(row[1]); err != nil || a.PID <= 0 {
		return a, fmt.Errorf("reading nvidia-smi's line %q: %q is no process id", line, row[1])
	}
	if !unknown(row[2]) {
		if err := mebibytes(&a.Memory, row[2]); err != nil {
			return a, fmt.Errorf("reading nvidia-smi's line %q: the memory: %w", line, err)
		}
	}
	return a, nil
}

// assign gives the processes to their devices. Every device gets a list,
// empty when nobody is on it.
func assign(devices []gpu.Device, apps []app) {
	for i := range devices {
		d := &devices[i]
		d.Processes = []gpu.Process{}
		for _, a := range apps {
			if a.uuid == d.UUID {
				d.Processes = append(d.Processes, a.Process)
			}
		}
	}
}
