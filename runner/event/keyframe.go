package event

// A Keyframe is what the log and the terminal recording say up to a point,
// so that whoever attaches to a long run need not read them from the start.
// It is derived from them and can be deleted at any time.
type Keyframe struct {
	Events int64  `json:"events"` // bytes of events.jsonl that State covers
	Cast   int64  `json:"cast"`   // bytes of terminal.cast that Screen covers
	Cols   int    `json:"cols"`
	Rows   int    `json:"rows"`
	Screen []byte `json:"screen"` // bytes that redraw the terminal
	State  *State `json:"state"`
}
