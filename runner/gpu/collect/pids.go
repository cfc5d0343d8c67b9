package collect

import (
	"errors"
	"os"
	"syscall"

	"proctor/runner/gpu"
)

// initialPIDs is the initial pid namespace, as /proc/self/ns/pid names it
// (PROC_PID_INIT_INO of the kernel).
const initialPIDs = "pid:[4026531836]"

// foreign reports whether the processes on the devices are none of our pid
// namespace: the driver gives host process ids, also to a collector inside a
// container.
func foreign(devices []gpu.Device) bool {
	if ns, err := os.Readlink("/proc/self/ns/pid"); err != nil || ns == initialPIDs {
		return false
	}
	return noneHere(devices)
}

// noneHere reports whether there are processes, and none that exists here.
func noneHere(devices []gpu.Device) bool {
	any := false
	for _, d := range devices {
		for _, p := range d.Processes {
			if p.PID <= 0 {
				continue // to kill, that would be a group
			}
			if !errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
				return false
			}
			any = true
		}
	}
	return any
}
