package runner

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"proctor/tasks"
)

// A scanner finds the task's metric in a command's output as it comes.
type scanner struct {
	pattern *regexp.Regexp
	word    []byte // stands in every line that has a match
	line    []byte
}

// longestLine is how much of a line is searched.
const longestLine = 4 << 10

func newScanner(m tasks.Metric) *scanner {
	s := &scanner{pattern: m.Pattern}
	if m.Pattern != nil {
		prefix, _ := m.Pattern.LiteralPrefix()
		s.word = longestWord(prefix)
	}
	return s
}

// longestWord returns the longest part of a text into which nobody puts a
// change of colour.
func longestWord(text string) []byte {
	var longest string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return []byte(longest)
}

// scan returns the values in the lines that p completes. A carriage return
// ends a line too: progress bars print their metric many times over.
func (s *scanner) scan(p []byte) []float64 {
	if s.pattern == nil {
		return nil
	}
	var values []float64
	for {
		end := bytes.IndexAny(p, "\r\n")
		part := p
		if end >= 0 {
			part = p[:end]
		}
		if room := longestLine - len(s.line); room > 0 {
			s.line = append(s.line, part[:min(room, len(part))]...)
		}
		if end < 0 {
			return values
		}
		values = append(values, s.rest()...)
		p = p[end+1:]
	}
}

// rest returns the values in the last line, which has no end.
func (s *scanner) rest() []float64 {
	line := s.line
	s.line = s.line[:0]
	if s.pattern == nil || len(line) == 0 {
		return nil
	}
	if !bytes.Contains(line, s.word) {
		return nil
	}
	if bytes.IndexByte(line, '\x1b') >= 0 {
		line = []byte(ansi.Strip(string(line)))
	}
	var values []float64
	for _, match := range s.pattern.FindAllSubmatch(line, -1) {
		if len(match) < 2 {
			continue
		}
		v, err := strconv.ParseFloat(string(match[1]), 64)
		if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	return values
}
