package gpu

import "fmt"

// ActionUse is what one action did to the GPUs.
type ActionUse struct {
	ID      string `json:"id"` // the action's
	Devices []Use  `json:"devices,omitempty"`
}

// A Use is one device over the time of an action. Figures are means over the
// time in which the run held the device.
type Use struct {
	Device      string  `json:"device"`
	Held        float64 `json:"held"`                  // working seconds
	Utilization *int    `json:"util,omitempty"`        // percent
	Run         *int    `json:"run,omitempty"`         // percent of the run's processes
	PeakMemory  int64   `json:"peak_memory,omitempty"` // MiB, of the run where that is known; negative unknown
}

// Below dataBound percent the device waited more than it worked, which in
// training means for data; below idle it did nothing worth the name. Shorter
// than judgeable seconds, nothing can be said.
const (
	dataBound  = 50
	idle       = 5
	judgeable  = 10
	manyDetail = 2 // devices that are listed one by one
)

// percent is the run's own figure where there is one.
func (u Use) percent() (int, bool) {
	switch {
	case u.Run != nil:
		return *u.Run, true
	case u.Utilization != nil:
		return *u.Utilization, true
	}
	return 0, false
}

func verdict(percent int, held float64) string {
	switch {
	case held < judgeable || percent >= dataBound:
		return ""
	case percent < idle:
		return ": held but idle"
	}
	return ": data-bound"
}

// Percent is the mean over the devices that the action held; ok is false when
// nothing is known.
func (a ActionUse) Percent() (percent int, ok bool) {
	sum, n := 0, 0
	for _, u := range a.Devices {
		if p, known := u.percent(); known {
			sum, n = sum+p, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	return (sum + n/2) / n, true
}

// String says "GPU 0 ran at 23 %: data-bound", or "" when the action held no
// GPU or nothing is known of its use.
func (a ActionUse) String() string {
	var text string
	sum, lowest, highest, n, held := 0, 100, 0, 0, 0.0
	for _, u := range a.Devices {
		p, ok := u.percent()
		if !ok {
			continue
		}
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("GPU %s ran at %d %%%s", u.Device, p, verdict(p, u.Held))
		sum, lowest, highest, n = sum+p, min(lowest, p), max(highest, p), n+1
		held = max(held, u.Held)
	}
	if n <= manyDetail {
		return text
	}
	average := (sum + n/2) / n
	text = fmt.Sprintf("%d GPUs ran at %d %%", n, average)
	if lowest != highest {
		text += fmt.Sprintf(" (%d to %d)", lowest, highest)
	}
	return text + verdict(average, held)
}
