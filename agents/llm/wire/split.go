package wire

import "bytes"

// maxEvent bounds what a Splitter holds of one event, in bytes.
const maxEvent = 32 << 20

// An Event is one event of a stream. Its slices are valid only until the
// function they were handed to returns.
type Event struct {
	Raw  []byte // as it came, terminator included
	Name string // the event field, "" when there is none
	Data []byte // the data fields, joined by line feeds; nil when there are none
}

// A Splitter cuts a text/event-stream into its events, whatever the chunks
// it comes in. The zero value is ready for use.
type Splitter struct {
	buf  []byte
	line int // where the line that has not ended yet begins in buf
}

// Push adds a chunk and hands every event that it completes to emit.
func (s *Splitter) Push(p []byte, emit func(Event)) {
	s.buf = append(s.buf, p...)
	start := 0
	for {
		n := bytes.IndexByte(s.buf[s.line:], '\n')
		if n < 0 {
			break
		}
		end := s.line + n + 1
		blank := len(bytes.TrimRight(s.buf[s.line:end], "\r\n")) == 0
		s.line = end
		if blank {
			emit(parseEvent(s.buf[start:end]))
			start = end
		}
	}
	if start > 0 {
		rest := copy(s.buf, s.buf[start:])
		s.buf, s.line = s.buf[:rest], s.line-start
	}
	if len(s.buf) > maxEvent {
		emit(Event{Raw: s.buf})
		s.buf, s.line = nil, 0
	}
}

// Flush hands what is left to emit: an event without its blank line, as some
// servers end their streams.
func (s *Splitter) Flush(emit func(Event)) {
	if len(s.buf) > 0 {
		emit(parseEvent(s.buf))
	}
	s.buf, s.line = nil, 0
}

// parseEvent reads the fields of one event.
func parseEvent(raw []byte) Event {
	e := Event{Raw: raw}
	joined := false
	for rest := raw; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "data":
			switch {
			case e.Data == nil:
				e.Data = value
			case !joined: // appending to a slice of raw would write over it
				e.Data = bytes.Join([][]byte{e.Data, value}, []byte("\n"))
				joined = true
			default:
				e.Data = append(append(e.Data, '\n'), value...)
			}
		}
	}
	return e
}

// An objects cuts a JSON text into its objects: the whole when it is one
// object, the elements when it is an array of them, which is how Gemini
// streams to a client that did not ask for events.
type objects struct {
	buf      []byte
	depth    int
	inString bool
	escaped  bool
	overflow bool // an object was too long to keep
}

// push adds a chunk and hands every object that it completes to emit.
func (o *objects) push(p []byte, emit func([]byte)) {
	from := 0 // where the current object begins in p
	for i := 0; i < len(p); i++ {
		if o.inString && !o.escaped { // most of a long reply is one string
			n := bytes.IndexAny(p[i:], `"\\`)
			if n < 0 {
				break
			}
			i += n
		}
		c := p[i]
		if o.depth == 0 {
			if c != '{' {
				continue
			}
			from = i
		}
		switch {
		case o.inString:
			switch {
			case o.escaped:
				o.escaped = false
			case c == '\\':
				o.escaped = true
			case c == '"':
				o.inString = false
			}
		case c == '"':
			o.inString = true
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			o.depth--
			if o.depth == 0 {
				o.keep(p[from : i+1])
				if o.buf != nil {
					emit(o.buf)
				}
				o.buf, from = o.buf[:0], i+1
			}
		}
	}
	if o.depth > 0 {
		o.keep(p[from:])
	}
}

// keep adds to the object being read unless it has grown too long.
func (o *objects) keep(p []byte) {
	if len(o.buf)+len(p) > maxEvent {
		o.buf, o.overflow = nil, true
	}
	if !o.overflow {
		o.buf = append(o.buf, p...)
	}
}
