package needs

import "syscall"

// totalMemory is the machine's memory in bytes, 0 when unknown.
func totalMemory() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
