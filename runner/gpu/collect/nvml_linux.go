//go:build linux && cgo

package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"proctor/runner/gpu"
)

// openNVML loads the driver's library.
func openNVML() (source, error) {
	n, err := newNVML(nvml.New())
	if err != nil {
		return nil, err
	}
	return n, nil
}

// nvmlSource reads the GPUs through NVML. Nothing is called before Init has
// succeeded, and no function that the library was not seen to have.
type nvmlSource struct {
	lib     nvml.Interface
	symbols map[string]bool // looked up so far
	driver  string
	devices []*nvmlDevice
	listed  time.Time
	events  nvml.EventSet // of Xids; nil when there are none to be had
	now     func() time.Time
}

// relist is how often devices and instances are enumerated anew: instances
// come and go, and a device that was lost may be back.
const relist = 30 * time.Second

func newNVML(lib nvml.Interface) (*nvmlSource, error) {
	if ret := lib.Init(); ret != nvml.SUCCESS {
		switch ret {
		case nvml.ERROR_LIBRARY_NOT_FOUND:
			return nil, noGPU("the NVIDIA driver's libnvidia-ml.so.1 is not installed")
		case nvml.ERROR_DRIVER_NOT_LOADED:
			return nil, noGPU("the NVIDIA driver is not loaded")
		}
		return nil, fmt.Errorf("starting NVML: %s", describe(ret))
	}
	n := &nvmlSource{lib: lib, symbols: map[string]bool{}, now: time.Now}
	if n.has("nvmlSystemGetDriverVersion") {
		if v, ret := lib.SystemGetDriverVersion(); ret == nvml.SUCCESS {
			n.driver = v
		}
	}
	if err := n.list(); err != nil {
		n.close()
		return nil, err
	}
	n.watchXids()
	return n, nil
}

// has reports whether the library has one of the versions of a function.
func (n *nvmlSource) has(versions ...string) bool {
	return slices.ContainsFunc(versions, func(name string) bool {
		found, looked := n.symbols[name]
		if !looked {
			found = n.lib.Extensions().LookupSymbol(name) == nil
			n.symbols[name] = found
		}
		return found
	})
}

func (n *nvmlSource) close() {
	if n.events != nil && n.has("nvmlEventSetFree") {
		n.events.Free()
	}
	if n.has("nvmlShutdown") {
		n.lib.Shutdown()
	}
}

// list enumerates the GPUs and their instances.
func (n *nvmlSource) list() error {
	if !n.has("nvmlDeviceGetCount_v2", "nvmlDeviceGetCount") || !n.has("nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex") {
		return fmt.Errorf("listing the GPUs: this driver (%s) is too old for NVML", n.driver)
	}
	count, ret := n.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return fmt.Errorf("counting the GPUs: %s", describe(ret))
	}
	if count == 0 {
		return noGPU("the NVIDIA driver is loaded and lists none")
	}
	earlier := n.devices
	n.devices = nil
	for i := range count {
		handle, ret := n.lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			n.devices = append(n.devices, n.lost(earlier, i, ret))
			continue
		}
		d := n.describe(handle, gpu.Device{Index: i})
		n.devices = append(n.devices, d)
		n.devices = append(n.devices, n.instances(d)...)
	}
	for _, d := range n.devices {
		d.inherit(earlier)
	}
	n.listed = n.now()
	return nil
}

// lost keeps what is known of a GPU that the driver counts but cannot open.
func (n *nvmlSource) lost(earlier []*nvmlDevice, index int, ret nvml.Return) *nvmlDevice {
	for _, d := range earlier {
		if d.known.Index == index && d.known.MIG == nil {
			return &nvmlDevice{known: d.known, broken: describe(ret)}
		}
	}
	return &nvmlDevice{known: gpu.Device{Index: index}, broken: describe(ret)}
}

// describe reads what does not change about a device.
func (n *nvmlSource) describe(h nvml.Device, known gpu.Device) *nvmlDevice {
	if n.has("nvmlDeviceGetUUID") {
		known.UUID, _ = h.GetUUID()
	}
	if n.has("nvmlDeviceGetName") {
		known.Name, _ = h.GetName()
	}
	if known.MIG == nil {
		if n.has("nvmlDeviceGetMinorNumber") {
			if minor, ret := h.GetMinorNumber(); ret == nvml.SUCCESS {
				known.Minor = &minor
			}
		}
		if n.has("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo") {
			if pci, ret := h.GetPciInfo(); ret == nvml.SUCCESS {
				known.PCI = text(pci.BusId[:])
			}
		}
	}
	return &nvmlDevice{handle: h, known: known, unsupported: map[string]bool{}}
}

// text is a C string.
func text(b []uint8) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// instances lists a GPU's MIG instances, when it is divided.
func (n *nvmlSource) instances(parent *nvmlDevice) []*nvmlDevice {
	if !n.has("nvmlDeviceGetMigMode") || !n.has("nvmlDeviceGetMaxMigDeviceCount") || !n.has("nvmlDeviceGetMigDeviceHandleByIndex") {
		return nil
	}
	h := parent.handle
	if mode, _, ret := h.GetMigMode(); ret != nvml.SUCCESS || mode != nvml.DEVICE_MIG_ENABLE {
		return nil
	}
	parent.known.MIGEnabled = true
	most, ret := h.GetMaxMigDeviceCount()
	if ret != nvml.SUCCESS {
		return nil
	}
	var found []*nvmlDevice
	for i := range most {
		instance, ret := h.GetMigDeviceHandleByIndex(i)
		if ret != nvml.SUCCESS {
			continue // a place where there is none
		}
		mig := &gpu.MIG{Number: i, Parent: parent.known.UUID}
		if n.has("nvmlDeviceGetGpuInstanceId") {
			mig.GPUInstance, _ = instance.GetGpuInstanceId()
		}
		if n.has("nvmlDeviceGetComputeInstanceId") {
			mig.ComputeInstance, _ = instance.GetComputeInstanceId()
		}
		found = append(found, n.describe(instance, gpu.Device{
			Index: parent.known.Index, Minor: parent.known.Minor, PCI: parent.known.PCI, MIG: mig,
		}))
	}
	return found
}

// poll reads every device.
func (n *nvmlSource) poll(context.Context) (gpu.Sample, error) {
	if n.now().Sub(n.listed) >= relist {
		if err := n.list(); err != nil {
			return gpu.Sample{}, err
		}
	}
	n.collectXids()
	s := gpu.Sample{At: n.now(), Source: "nvml", Driver: n.driver, Devices: make([]gpu.Device, 0, len(n.devices))}
	for _, d := range n.devices {
		read, ret := n.read(d)
		if down(ret) {
			return gpu.Sample{}, fmt.Errorf("reading GPU %s: %s", d.known.ID(), describe(ret))
		}
		s.Devices = append(s.Devices, read)
	}
	s.ForeignPIDs = foreign(s.Devices)
	return s, nil
}

// watchXids asks the driver to report critical errors.
func (n *nvmlSource) watchXids() {
	if !n.has("nvmlEventSetCreate") || !n.has("nvmlDeviceRegisterEvents") || !n.has("nvmlEventSetWait_v2", "nvmlEventSetWait") {
		return
	}
	set, ret := n.lib.EventSetCreate()
	if ret != nvml.SUCCESS {
		return
	}
	n.events = set
	for _, d := range n.devices {
		if d.handle != nil && d.known.MIG == nil {
			d.handle.RegisterEvents(nvml.EventTypeXidCriticalError, set) // not every device can; then it reports none
		}
	}
}

// collectXids takes in what was reported since the last poll, without waiting.
func (n *nvmlSource) collectXids() {
	if n.events == nil || !n.has("nvmlDeviceGetUUID") {
		return
	}
	for range 64 { // a storm goes on at the next poll
		e, ret := n.events.Wait(0)
		if ret != nvml.SUCCESS {
			return
		}
		if e.EventType != nvml.EventTypeXidCriticalError || e.Device == nil {
			continue
		}
		uuid, _ := e.Device.GetUUID()
		for _, d := range n.devices {
			if d.known.UUID == uuid {
				d.xid = gpu.Xid{Code: int64(e.EventData), Count: d.xid.Count + 1, At: n.now()}
			}
		}
	}
}

// down reports that the driver as a whole is gone, not one device.
func down(ret nvml.Return) bool {
	return ret == nvml.ERROR_UNINITIALIZED || ret == nvml.ERROR_DRIVER_NOT_LOADED || ret == nvml.ERROR_LIB_RM_VERSION_MISMATCH
}

// describe says what a return means, without asking the library, which may
// not be loaded.
func describe(ret nvml.Return) string {
	switch ret {
	case nvml.ERROR_UNINITIALIZED:
		return "the driver was unloaded meanwhile"
	case nvml.ERROR_NO_PERMISSION:
		return "no permission; is this user allowed to open /dev/nvidiactl?"
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return "the NVIDIA driver is not loaded"
	case nvml.ERROR_TIMEOUT:
		return "the driver does not answer"
	case nvml.ERROR_IRQ_ISSUE:
		return "the kernel has a problem with the GPU's interrupts"
	case nvml.ERROR_GPU_IS_LOST, nvml.ERROR_GPU_NOT_FOUND:
		return "the GPU is lost: it fell off the bus or has become inaccessible"
	case nvml.ERROR_RESET_REQUIRED:
		return "the GPU must be reset before it can be used again"
	case nvml.ERROR_LIB_RM_VERSION_MISMATCH:
		return "the driver's library and its kernel module are of different versions; load the new module, or reboot"
	case nvml.ERROR_UNKNOWN:
		return "the driver reports an unknown error"
	}
	return fmt.Sprintf("the driver reports error %d", int(ret))
}
