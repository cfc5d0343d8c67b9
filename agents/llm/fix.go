package llm

import (
	"bytes"
	"encoding/json"

	"proctor/agents/llm/wire"
)

// A callFixer mends the tool calls in a stream of chat completions. The
// format numbers the calls of a reply and gives each an id; servers leave
// out the one, the other or both, or give every call the number 0.
// Everything else passes as it came.
type callFixer struct {
	newID  func() string
	events wire.Splitter
	out    bytes.Buffer

	calls   []fixedCall
	numbers map[json.Number]int // the server's number to ours, of the call begun last
}

type fixedCall struct {
	id   string // the server's
	args []byte // so far, to see whether they are whole
}

// next takes a chunk and returns what is whole of the stream so far.
func (f *callFixer) next(p []byte, end bool) []byte {
	f.out.Reset()
	f.events.Push(p, f.event)
	if end {
		f.events.Flush(f.event)
	}
	return f.out.Bytes()
}

func (f *callFixer) event(e wire.Event) {
	if !bytes.Contains(e.Data, []byte(`"tool_calls"`)) {
		f.out.Write(e.Raw)
		return
	}
	mended, err := f.chunk(e.Data)
	if err != nil { // not what it looked like
		f.out.Write(e.Raw)
		return
	}
	f.out.WriteString("data: ")
	f.out.Write(mended)
	f.out.WriteString("\n\n")
}

// chunk rewrites the tool calls of one chunk.
func (f *callFixer) chunk(data []byte) ([]byte, error) {
	var chunk map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&chunk); err != nil {
		return nil, err
	}
	choices, _ := chunk["choices"].([]any)
	for _, c := range choices {
		choice, _ := c.(map[string]any)
		delta, _ := choice["delta"].(map[string]any)
		calls, _ := delta["tool_calls"].([]any)
		for _, c := range calls {
			if call, ok := c.(map[string]any); ok {
				f.call(call)
			}
		}
	}
	return json.Marshal(chunk)
}

// call gives one tool call, or one piece of it, its number and its id.
func (f *callFixer) call(call map[string]any) {
	function, _ := call["function"].(map[string]any)
	id, _ := call["id"].(string)
	name, _ := function["name"].(string)
	args := ""
	switch v := function["arguments"].(type) {
	case nil:
	case string:
		args = v
	default: // an object, where text is due
		raw, err := json.Marshal(v)
		if err != nil {
			return
		}
		args = string(raw)
		function["arguments"] = args
	}
	if id == "" && name == "" && args == "" {
		return
	}

	number := len(f.calls) - 1 // without a number it goes on with the last
	theirs, numbered := call["index"].(json.Number)
	if numbered {
		n, seen := f.numbers[theirs]
		if !seen {
			n = -1
		}
		number = n
	}
	if f.begins(number, id, name) {
		f.calls = append(f.calls, fixedCall{id: id})
		number = len(f.calls) - 1
		if numbered {
			if f.numbers == nil {
				f.numbers = map[json.Number]int{}
			}
			f.numbers[theirs] = number
		}
		if id == "" {
			call["id"] = f.newID()
		}
		call["type"] = "function"
	}
	f.calls[number].args = append(f.calls[number].args, args...)
	call["index"] = number
}

// begins reports whether a piece with this id and name begins a new call
// rather than going on with the given one.
func (f *callFixer) begins(number int, id, name string) bool {
	if number < 0 {
		return true
	}
	old := f.calls[number]
	if id != "" && old.id != "" {
		return id != old.id
	}
	return name != "" && json.Valid(old.args)
}
