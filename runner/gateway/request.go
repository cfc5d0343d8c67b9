package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"proctor/agents/llm/wire"
)

// maxRequest bounds a request's body, in bytes. Providers take less.
const maxRequest = 64 << 20

var errTooLarge = fmt.Errorf("the request is larger than %d MiB", maxRequest>>20)

// A body is a request's body as far as the gateway looks into it.
type body struct {
	raw    []byte
	keys   []string
	fields map[string]json.RawMessage
}

// readBody reads a JSON object. It refuses one that names a field twice:
// which of the two counts differs between servers, and the model that is
// checked here must be the one that answers.
func readBody(r io.Reader) (body, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	if err != nil {
		return body{}, fmt.Errorf("reading the request: %w", err)
	}
	if len(raw) > maxRequest {
		return body{}, errTooLarge
	}
	b := body{raw: raw, fields: map[string]json.RawMessage{}}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return body{}, errors.New("the request is not a JSON object")
	}
	for d.More() {
		t, err := d.Token()
		key, _ := t.(string)
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return body{}, fmt.Errorf("the request is not JSON: %w", err)
		}
		if _, twice := b.fields[key]; twice {
			return body{}, fmt.Errorf("the request names %q twice", key)
		}
		b.fields[key] = value
		b.keys = append(b.keys, key)
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return body{}, fmt.Errorf("the request is not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return body{}, errors.New("the request has something after its JSON object")
	}
	return b, nil
}

// text returns a field that is a string, "" when it is not one.
func (b *body) text(key string) string {
	var s string
	_ = json.Unmarshal(b.fields[key], &s) // and then it is ""
	return s
}

// is reports whether a field is true.
func (b *body) is(key string) bool { return string(b.fields[key]) == "true" }

// askForUsage makes a stream of chat completions say its usage, which it
// does only when asked, and reports whether the client had not asked. Every
// other field stays as it was, in its place.
func (b *body) askForUsage() (bool, error) {
	if !b.is("stream") {
		return false, nil
	}
	const key = "stream_options"
	options := map[string]json.RawMessage{}
	if raw, ok := b.fields[key]; ok {
		if err := json.Unmarshal(raw, &options); err != nil {
			return false, fmt.Errorf("the request's %s is not an object", key)
		}
		if options == nil {
			options = map[string]json.RawMessage{}
		}
	} else {
		b.keys = append(b.keys, key)
	}
	if string(options["include_usage"]) == "true" {
		return false, nil
	}
	options["include_usage"] = json.RawMessage("true")
	value, err := json.Marshal(options)
	if err != nil {
		return false, err
	}
	b.fields[key] = value
	return true, b.rewrite()
}

// rewrite makes raw anew from the fields.
func (b *body) rewrite() error {
	var out bytes.Buffer
	before := byte('{')
	for _, key := range b.keys {
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		out.WriteByte(before)
		out.Write(name)
		out.WriteByte(':')
		out.Write(b.fields[key])
		before = ','
	}
	out.WriteByte('}')
	b.raw = out.Bytes()
	return nil
}

// A usageFilter takes the one event out of a stream of chat completions that
// is there only because the gateway asked for it. It waits for the end of an
// event, without which no client can use it either.
type usageFilter struct {
	events wire.Splitter
	out    []byte
}

func (f *usageFilter) next(p []byte, end bool) []byte {
	f.out = f.out[:0]
	f.events.Push(p, f.event)
	if end {
		f.events.Flush(f.event)
	}
	return f.out
}

func (f *usageFilter) event(e wire.Event) {
	if bytes.Contains(e.Data, []byte(`"usage"`)) {
		var v struct {
			Choices []json.RawMessage `json:"choices"`
			Usage   json.RawMessage   `json:"usage"`
			Error   json.RawMessage   `json:"error"`
		}
		if json.Unmarshal(e.Data, &v) == nil && v.Choices != nil && len(v.Choices) == 0 && v.Error == nil &&
			!slices.Contains([]string{"", "null"}, string(v.Usage)) {
			return
		}
	}
	f.out = append(f.out, e.Raw...)
}
