package tomlfile

import (
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// keyLines maps the path of each key and table of a valid TOML document to
// the line, from 1, on which it is written. Paths are those of a table's
// path method: "metadata.proctor.knobs[1].type". Keys inside inline tables
// are not listed; they stand on their table's line or just below it.
//
// The decoder knows lines too, but not those of keys it has no type for, and
// it keeps one line for all tables of an array.
func keyLines(src string) map[string]int {
	s := &lineScanner{src: src, line: 1, lines: map[string]int{}, count: map[string]int{}}
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\n' || c == ' ' || c == '\t' || c == '\r':
			s.next()
		case c == '#':
			s.skipLine()
		case c == '[':
			s.header()
		default:
			s.assignment()
		}
	}
	return s.lines
}

type lineScanner struct {
	src   string
	pos   int
	line  int
	lines map[string]int
	count map[string]int // arrays of tables: how many tables so far
	table string         // path of the table that keys now belong to
}

func (s *lineScanner) next() {
	if s.src[s.pos] == '\n' {
		s.line++
	}
	s.pos++
}

func (s *lineScanner) skipLine() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.pos++
	}
}

// header reads "[a.b]" or "[[a.b]]". A name on the way that is an array of
// tables stands for its newest table.
func (s *lineScanner) header() {
	line := s.line
	array := strings.HasPrefix(s.src[s.pos:], "[[")
	s.pos++
	if array {
		s.pos++
	}
	keys := s.keys("]")
	s.skipLine()
	path := ""
	for i, key := range keys {
		path = join(path, key)
		last := i == len(keys)-1
		if last && array {
			s.count[path]++
		}
		s.note(path, line)
		if n := s.count[path]; n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
			s.note(path, line)
		}
	}
	s.table = path
}

// assignment reads "a.b = value".
func (s *lineScanner) assignment() {
	line, path := s.line, s.table
	for _, key := range s.keys("=") {
		path = join(path, key)
		s.note(path, line)
	}
	s.value()
}

func (s *lineScanner) note(path string, line int) {
	if _, ok := s.lines[path]; !ok {
		s.lines[path] = line
	}
}

// keys reads a dotted key up to and including the end mark, or to the end of
// the line.
func (s *lineScanner) keys(end string) []string {
	var keys []string
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\n':
			return keys
		case c == end[0]:
			s.pos++
			return keys
		case c == ' ' || c == '\t' || c == '.' || c == '\r':
			s.pos++
		case c == '"' || c == '\'':
			start := s.pos
			s.quoted(s.src[s.pos : s.pos+1])
			keys = append(keys, unquote(s.src[start:s.pos]))
		default:
			start := s.pos
			s.pos++ // whatever it is, so that no document stops the scanner
			for s.pos < len(s.src) && !strings.ContainsRune(" \t\r\n.=]\"'", rune(s.src[s.pos])) {
				s.pos++
			}
			keys = append(keys, s.src[start:s.pos])
		}
	}
	return keys
}

// value skips a value, over as many lines as it takes.
func (s *lineScanner) value() {
	depth := 0
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch {
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, `'''`):
			s.quoted(rest[:3])
		case rest[0] == '"' || rest[0] == '\'':
			s.quoted(rest[:1])
		case rest[0] == '#':
			s.skipLine()
		case rest[0] == '\n' && depth <= 0:
			return
		default:
			switch rest[0] {
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			}
			s.next()
		}
	}
}

// quoted skips a string that begins and ends with mark.
func (s *lineScanner) quoted(mark string) {
	s.pos += len(mark)
	for s.pos < len(s.src) {
		switch {
		case mark[0] == '"' && s.src[s.pos] == '\\' && s.pos+1 < len(s.src):
			s.pos++
			s.next()
		case strings.HasPrefix(s.src[s.pos:], mark):
			s.pos += len(mark)
			// A multi-line string may end in up to two quotes of its own.
			for len(mark) == 3 && s.pos < len(s.src) && s.src[s.pos] == mark[0] {
				s.pos++
			}
			return
		case len(mark) == 1 && s.src[s.pos] == '\n':
			return
		default:
			s.next()
		}
	}
}

// unquote returns what a quoted key means.
func unquote(key string) string {
	var v struct{ K string }
	if _, err := toml.Decode("K = "+key, &v); err != nil {
		return key
	}
	return v.K
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
