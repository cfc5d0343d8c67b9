package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Options is what an agent can be told when it is made.
type Options struct {
	Arg   string          // what follows the colon of a family's name, or a run for rerun
	Model string          // name of a model in the configuration
	Extra json.RawMessage // the agent's own table of config.toml, as JSON
	// Log is the event log of the run named by Arg, for agents that redo one.
	Log []RecordedAction
}

// Settings reads the agent's own table of config.toml over defaults, a
// pointer to what [Kind.Defaults] holds. A key of another name, or a value
// of another type, is an error that lists the keys there are.
func (o Options) Settings(agent string, defaults any) error {
	if len(o.Extra) == 0 {
		return nil
	}
	known := table(defaults)
	d := json.NewDecoder(bytes.NewReader(o.Extra))
	d.DisallowUnknownFields()
	err := d.Decode(defaults)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && len(known[wrong.Field]) > 0:
		err = fmt.Errorf("%s is a %s, expected a value like %s", wrong.Field, wrong.Value, known[wrong.Field])
	}
	return fmt.Errorf("reading [agents.%s] of the settings: %s; its keys are %s",
		agent, strings.TrimPrefix(err.Error(), "json: "), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// Wrong is what a [Kind]'s Check says of settings that were read: the error,
// or nothing.
func Wrong[S any](_ S, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Made returns a [Kind]'s New for an agent that is made of its settings alone.
func Made[S any](read func(Options) (S, error), agent func(S) Agent) func(Options) (Agent, error) {
	return func(o Options) (Agent, error) {
		settings, err := read(o)
		if err != nil {
			return nil, err
		}
		return agent(settings), nil
	}
}

// table takes settings apart by their keys.
func table(settings any) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	text, err := json.Marshal(settings)
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// A Duration is a time in an agent's settings, written "30m".
type Duration time.Duration

// UnmarshalText reads what [time.ParseDuration] reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"30m\"", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
