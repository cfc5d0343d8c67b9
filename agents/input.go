package agents

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// commandInput is how a command stands in the record: enough to run it
// again. The environment is left out, since it may hold secrets.
type commandInput struct {
	Shell       string   `json:"shell,omitempty"`
	Argv        []string `json:"argv,omitempty"`
	Dir         string   `json:"dir,omitempty"`
	Timeout     float64  `json:"timeout,omitempty"` // working seconds
	Interactive bool     `json:"interactive,omitempty"`
}

// editInput is how an edit stands in the record. Content is nil when the
// record does not hold the whole new file.
type editInput struct {
	Path    string  `json:"path"`
	Content *string `json:"content,omitempty"`
}

// EncodeCommand returns the Input under which an action with a command is
// recorded, such as {"shell":"python3 train.py"} or {"argv":["ls","-l"]}.
// For an action without a command it returns the Input the action has.
func EncodeCommand(a Action) json.RawMessage {
	if a.Shell == "" && len(a.Argv) == 0 {
		return a.Input
	}
	return encode(commandInput{
		Shell:       a.Shell,
		Argv:        a.Argv,
		Dir:         a.Dir,
		Timeout:     a.Timeout.Seconds(),
		Interactive: a.Interactive,
	})
}

// DecodeCommand is the reverse of [EncodeCommand]: the action with its
// command filled in from Input. ok is false when Input holds no command.
func DecodeCommand(a Action) (command Action, ok bool) {
	var in commandInput
	if json.Unmarshal(a.Input, &in) != nil || in.Shell == "" && len(in.Argv) == 0 {
		return a, false
	}
	a.Shell, a.Argv, a.Dir, a.Interactive = in.Shell, in.Argv, in.Dir, in.Interactive
	a.Timeout = max(0, time.Duration(in.Timeout*float64(time.Second)))
	return a, true
}

// EncodeEdit returns the Input of an edit that left content in the
// workspace file path. Content that is not UTF-8 cannot stand in the record
// and is left out.
func EncodeEdit(path string, content []byte) json.RawMessage {
	in := editInput{Path: path}
	if utf8.Valid(content) {
		text := string(content)
		in.Content = &text
	}
	return encode(in)
}

// DecodeEdit is the reverse of [EncodeEdit]. ok is false when the record
// does not hold what was written, or where.
func DecodeEdit(input json.RawMessage) (path string, content []byte, ok bool) {
	var in editInput
	if json.Unmarshal(input, &in) != nil || in.Path == "" || in.Content == nil {
		return in.Path, nil, false
	}
	return in.Path, []byte(*in.Content), true
}

// encode is json.Marshal without the escaping of <, > and &, which are
// frequent in commands and are read by people.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // strings, bools and finite numbers cannot fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
