package agents

import (
	"encoding/json"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	type own struct {
		Nodes int      `json:"nodes"`
		Time  Duration `json:"time"`
	}
	for extra, want := range map[string]string{
		``:                        "",
		`{"nodes":7,"time":"1m"}`: "",
		`{"nods":7}`:              `reading [agents.tree] of the settings: unknown field "nods"; its keys are nodes, time`,
		`{"nodes":"many"}`:        `reading [agents.tree] of the settings: nodes is a string, expected a value like 5; its keys are nodes, time`,
		`{"time":30}`:             `reading [agents.tree] of the settings: time is a number, expected a value like "30m0s"; its keys are nodes, time`,
		`{"time":"soon"}`:         `reading [agents.tree] of the settings: "soon" is not a duration such as "30m"; its keys are nodes, time`,
	} {
		o := own{5, Duration(30 * time.Minute)}
		err := Options{Extra: json.RawMessage(extra)}.Settings("tree", &o)
		switch {
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: %v\nwant %s", extra, err, want)
		case want == "" && err != nil:
			t.Errorf("%s: %v", extra, err)
		case want == "" && extra != "" && o != own{7, Duration(time.Minute)}:
			t.Errorf("%s: %+v", extra, o)
		}
	}
}
