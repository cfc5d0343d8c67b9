package config

import (
	"regexp"
	"slices"
	"strings"
)

var (
	anyHeader   = regexp.MustCompile(`^[ \t]*\[`)
	tasksHeader = regexp.MustCompile(`^[ \t]*\[[ \t]*tasks[ \t]*\][ \t]*(?:#.*)?\r?$`)
	rootsKey    = regexp.MustCompile(`^[ \t]*roots[ \t]*=[ \t]*\[`)
)

// findHeader returns where the line [tasks] begins, -1 if there is none. It
// looks at lines, not at TOML: what it finds within a text of several lines is
// told from the real thing by reading the edited file again.
func findHeader(src string) int {
	at := 0
	for line := range strings.Lines(src) {
		if tasksHeader.MatchString(strings.TrimSuffix(line, "\n")) {
			return at
		}
		at += len(line)
	}
	return -1
}

// findRoots returns where the list of roots opens in the table [tasks].
func findRoots(src string) (open int, ok bool) {
	start := findHeader(src)
	if start < 0 {
		return 0, false
	}
	at := start
	for line := range strings.Lines(src[start:]) {
		if m := rootsKey.FindStringIndex(line); m != nil {
			return at + m[1] - 1, true
		}
		if at > start && anyHeader.MatchString(line) {
			return 0, false
		}
		at += len(line)
	}
	return 0, false
}

// An array is a list of strings as it stands in a file.
type array struct {
	open, end int    // of the brackets; end is behind the closing one
	items     []span // its strings, with the comma that follows
	last      int    // behind the last string or comma, or the opening bracket
}

type span struct{ from, to int }

// scanArray reads the list that opens at a position of valid TOML.
func scanArray(src string, open int) array {
	a := array{open: open, end: len(src), last: open + 1}
	for i := open + 1; i < len(src); {
		switch c := src[i]; c {
		case ']':
			a.end = i + 1
			return a
		case '#':
			i += lineLength(src[i:])
		case '"', '\'':
			end := i + stringLength(src[i:])
			a.items = append(a.items, span{i, end})
			a.last, i = end, end
		case ',':
			i++
			if n := len(a.items); n > 0 {
				a.items[n-1].to = i
			}
			a.last = i
		default:
			i++
		}
	}
	return a
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// stringLength is that of the string that s begins with, quotes included.
func stringLength(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

// rewritten returns the list, brackets included, without the strings that are
// not wanted any more and with the new ones behind the last. A list of several
// lines keeps its comments.
func (a array) rewritten(src string, before, after []string) string {
	if !strings.Contains(src[a.open:a.end], "\n") || len(a.items) != len(before) {
		return inline(after) // nothing to keep, or not read here: the caller looks at what came out
	}
	left := slices.Clone(after)
	take := func(root string) bool {
		i := slices.Index(left, root)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	}
	var b strings.Builder
	at := a.open
	for i, item := range a.items {
		if !take(before[i]) {
			gone := a.whole(src, item)
			b.WriteString(src[at:gone.from])
			at = gone.to
		}
	}
	if len(left) > 0 {
		if n := len(a.items); n > 0 && src[a.last-1] != ',' {
			b.WriteString(src[at:a.last] + ",")
			at = a.last
		}
		end := max(at, a.lineEnd(src))
		b.WriteString(src[at:end])
		for _, root := range left {
			b.WriteString("\n" + a.indent(src) + quote(root) + ",")
		}
		at = end
	}
	return b.String() + src[at:a.end]
}

// whole widens a string to its line if it has that to itself.
func (a array) whole(src string, item span) span {
	start := strings.LastIndexByte(src[:item.from], '\n') + 1
	end := item.to + lineLength(src[item.to:])
	if start > a.open && end < a.end && strings.TrimSpace(src[start:item.from]) == "" && strings.TrimSpace(src[item.to:end]) == "" {
		return span{start, end + 1}
	}
	return item
}

// lineEnd is where new lines are put in: behind the line of the last string
// with its comment, or before what follows it on that line.
func (a array) lineEnd(src string) int {
	if end := a.last + lineLength(src[a.last:]); end < a.end {
		return end
	}
	return a.last
}

// indent is that of the first string, if that begins a line.
func (a array) indent(src string) string {
	if len(a.items) > 0 {
		first := a.items[0].from
		if start := strings.LastIndexByte(src[:first], '\n') + 1; strings.TrimSpace(src[start:first]) == "" {
			return src[start:first]
		}
	}
	return "    "
}
