package gpu

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Grant is what a sandbox must be given so that programs inside can use
// some GPUs and no others.
type Grant struct {
	Nodes     []string // device nodes to pass through
	Libraries []string // the driver's libraries and tools, to be shown read-only where they are
	devices   []Device
}

// A Host is where a Grant is looked up. The zero value is this machine.
type Host struct {
	Root string // prefix of every path that is read, for a machine that is mounted elsewhere
}

// Grant collects what devices need: those that Selection.Pick returned. No
// devices need nothing. It fails when a node is missing, as in a container
// that was not given it.
func (h Host) Grant(devices []Device) (Grant, error) {
	if len(devices) == 0 {
		return Grant{}, nil
	}
	g := Grant{devices: devices, Libraries: h.driverFiles()}
	if wsl := "/dev/dxg"; h.exists(wsl) && !h.exists("/dev/nvidiactl") {
		g.Nodes = []string{wsl} // one node for all GPUs
		return g, nil
	}
	minors := h.minors()
	for _, d := range devices {
		nodes, err := h.nodes(d, minors)
		if err != nil {
			return Grant{}, err
		}
		for _, n := range nodes {
			if !slices.Contains(g.Nodes, n) {
				g.Nodes = append(g.Nodes, n)
			}
		}
	}
	for _, shared := range []string{"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"} {
		switch {
		case h.exists(shared):
			g.Nodes = append(g.Nodes, shared)
		case shared == "/dev/nvidia-uvm":
			return Grant{}, fmt.Errorf("giving the run its GPUs: %s is missing, so CUDA cannot start; load it with nvidia-modprobe -u -c 0", shared)
		}
	}
	return g, nil
}

// nodes returns the nodes of one device: /dev/nvidiaN, and for an instance
// also its two capabilities.
func (h Host) nodes(d Device, minors map[string]int) ([]string, error) {
	gpu := d.UUID
	if d.MIG != nil {
		gpu = d.MIG.Parent
	}
	minor, ok := d.Index, false
	if d.Minor != nil {
		minor, ok = *d.Minor, true
	}
	if !ok {
		// The driver numbers GPUs by bus and nodes by when they were found.
		if m, found := minors[gpu]; found {
			minor = m
		}
	}
	nodes := []string{"/dev/nvidia" + strconv.Itoa(minor)}
	if d.MIG != nil {
		caps, err := h.capabilities(minor, *d.MIG)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, caps...)
	}
	for _, n := range nodes {
		if !h.exists(n) {
			return nil, fmt.Errorf("giving the run GPU %s: the device node %s is missing; is the driver loaded, and is this a container that was given it?", d.ID(), n)
		}
	}
	return nodes, nil
}

// minors reads which GPU has which device node, by UUID.
func (h Host) minors() map[string]int {
	found := map[string]int{}
	files, _ := filepath.Glob(h.path("/proc/driver/nvidia/gpus/*/information"))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		var uuid string
		minor := -1
		for line := range strings.Lines(string(data)) {
			key, text, _ := strings.Cut(line, ":")
			switch text = strings.TrimSpace(text); strings.TrimSpace(key) {
			case "GPU UUID":
				uuid = text
			case "Device Minor":
				if n, err := strconv.Atoi(text); err == nil {
					minor = n
				}
			}
		}
		if uuid != "" && minor >= 0 {
			found[uuid] = minor
		}
	}
	return found
}

// capabilities returns the nodes that allow the use of a MIG instance.
func (h Host) capabilities(minor int, m MIG) ([]string, error) {
	const table = "/proc/driver/nvidia-caps/mig-minors"
	f, err := os.Open(h.path(table))
	if err != nil {
		return nil, fmt.Errorf("giving the run a MIG instance: reading its capabilities: %w", err)
	}
	defer f.Close()
	gi := fmt.Sprintf("gpu%d/gi%d/access", minor, m.GPUInstance)
	ci := fmt.Sprintf("gpu%d/gi%d/ci%d/access", minor, m.GPUInstance, m.ComputeInstance)
	var nodes []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 2 && (fields[0] == gi || fields[0] == ci) {
			nodes = append(nodes, "/dev/nvidia-caps/nvidia-cap"+fields[1])
		}
	}
	if len(nodes) != 2 {
		return nil, fmt.Errorf("giving the run a MIG instance: %s and %s are not both in %s", gi, ci, table)
	}
	return nodes, nil
}

// Env returns the variables that make programs see the granted devices and
// no others. isolated says that no other device nodes can be reached: CUDA
// then numbers the granted GPUs from 0, otherwise it goes by the host's
// numbers. Instances only go by UUID, which some libraries cannot read; so
// whole GPUs go by number.
func (g Grant) Env(isolated bool) []string {
	ids := make([]string, len(g.devices))
	for i, d := range g.devices {
		switch {
		case d.MIG != nil:
			ids[i] = d.UUID
		case isolated:
			ids[i] = strconv.Itoa(i)
		default:
			ids[i] = strconv.Itoa(d.Index)
		}
	}
	if slices.ContainsFunc(g.devices, func(d Device) bool { return d.MIG != nil }) {
		for i, d := range g.devices { // numbers and UUIDs do not mix
			ids[i] = d.UUID
		}
	}
	return []string{
		"CUDA_DEVICE_ORDER=PCI_BUS_ID", // the order in which the driver numbers them
		"CUDA_VISIBLE_DEVICES=" + strings.Join(ids, ","),
	}
}

// Devices are those that are granted.
func (g Grant) Devices() []Device { return g.devices }

func (h Host) path(name string) string { return filepath.Join("/", h.Root, name) }

func (h Host) exists(name string) bool {
	_, err := os.Stat(h.path(name))
	return err == nil
}
