package collect

// throttleReasons are the bits of the driver's mask of reasons for lowered
// clocks, from the lowest on. The first, that the GPU is idle, is no
// throttling and has no name.
var throttleReasons = [...]string{
	"",
	"applications_clocks",
	"sw_power_cap",
	"hw_slowdown",
	"sync_boost",
	"sw_thermal_slowdown",
	"hw_thermal_slowdown",
	"hw_power_brake",
	"display_clocks",
}

// throttle names the reasons in a mask: empty, not nil, when there are none.
func throttle(mask uint64) []string {
	reasons := []string{}
	for bit, name := range throttleReasons {
		if name != "" && mask&(1<<bit) != 0 {
			reasons = append(reasons, name)
		}
	}
	return reasons
}
