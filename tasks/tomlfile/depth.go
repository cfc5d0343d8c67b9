package tomlfile

import "strings"

// MaxDepth is how deep a document may be nested: the parts of a dotted key,
// the inline tables and lists in its value, and theirs. Settings need five.
const MaxDepth = 16

// tooDeep reports whether TOML is nested deeper than MaxDepth, and on which
// line. The decoder's time and memory grow with the cube of the depth: a
// file of 64 KiB can cost it half a minute and 28 GiB of allocations.
func tooDeep(src string) (line int, deep bool) {
	s := &lineScanner{src: src, line: 1}
	var open []int // the depth that each open bracket added
	depth, dots := 0, 0
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch rest[0] {
		case '"', '\'':
			mark := rest[:1]
			if strings.HasPrefix(rest, strings.Repeat(mark, 3)) {
				mark = rest[:3]
			}
			s.quoted(mark)
			continue
		case '#':
			s.skipLine()
			continue
		case '[', '{':
			open = append(open, dots+1)
			depth += dots + 1
			dots = 0
		case ']', '}':
			if n := len(open) - 1; n >= 0 {
				depth -= open[n]
				open = open[:n]
			}
			dots = 0
		case '.':
			dots++
		case ',', '\n':
			dots = 0
		}
		if depth+dots > MaxDepth {
			return s.line, true
		}
		s.next()
	}
	return 0, false
}
