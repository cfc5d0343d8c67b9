package mlrb

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep literals may be nested.
const maxDepth = 50

// A literal reads values that are written out in Python source: strings,
// numbers, True, False, None, lists, tuples and dictionaries. What would have
// to be computed is an error. Errors begin with the line.
//
// Values are string, float64, integer, bool, nil, []any and map[string]any.
type literal struct {
	text string
	pos  int
}

// An integer keeps Python's int apart from its float.
type integer int64

func (l *literal) errorf(format string, args ...any) error {
	line := 1 + strings.Count(l.text[:min(l.pos, len(l.text))], "\n")
	return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
}

// space passes over blanks, line ends, comments and joined lines.
func (l *literal) space() {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			l.pos++
		case c == '#':
			end := strings.IndexByte(l.text[l.pos:], '\n')
			if end < 0 {
				l.pos = len(l.text)
				return
			}
			l.pos += end
		case strings.HasPrefix(l.text[l.pos:], "\\\n"):
			l.pos += 2
		default:
			return
		}
	}
}

// take passes over c if it is next.
func (l *literal) take(c byte) bool {
	l.space()
	if l.pos < len(l.text) && l.text[l.pos] == c {
		l.pos++
		return true
	}
	return false
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

// value reads one value.
func (l *literal) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, l.errorf("nested more than %d deep", maxDepth)
	}
	l.space()
	if l.pos >= len(l.text) {
		return nil, l.errorf("the file ends within a value")
	}
	switch c := l.text[l.pos]; {
	case c == '[':
		return l.list(']', depth)
	case c == '(':
		return l.parentheses(depth)
	case c == '{':
		return l.dict(depth)
	case c == '"' || c == '\'':
		return l.strings()
	case c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+':
		return l.number()
	}
	name := word.FindString(l.text[l.pos:])
	switch name {
	case "None", "True", "False":
		l.pos += len(name)
		return map[string]any{"None": nil, "True": true, "False": false}[name], nil
	}
	if rest := l.text[l.pos+len(name):]; name != "" && rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		return l.strings()
	}
	return nil, l.errorf("%.20q is not written out as a value", l.text[l.pos:])
}

// list reads the rest of "[…]".
func (l *literal) list(end byte, depth int) ([]any, error) {
	list := []any{}
	err := l.elements(end, func() error {
		v, err := l.value(depth + 1)
		if err == nil {
			list = append(list, v)
		}
		return err
	})
	return list, err
}

// elements calls each for every element of a bracket, which is next.
func (l *literal) elements(end byte, each func() error) error {
	l.pos++
	for {
		if l.take(end) {
			return nil
		}
		if err := each(); err != nil {
			return err
		}
		if l.take(',') {
			continue
		}
		if !l.take(end) {
			if l.pos >= len(l.text) {
				return l.errorf("the file ends before a closing %q", end)
			}
			return l.errorf("expected %q or %q", ',', end)
		}
		return nil
	}
}

// pass goes to the end of an expression in a list: to the comma or bracket
// behind it, or to the end of the text. Brackets are counted, not matched.
func (l *literal) pass() {
	for depth := 0; l.pos < len(l.text); {
		l.space()
		if l.pos >= len(l.text) {
			return
		}
		switch c := l.text[l.pos]; {
		case c == '"' || c == '\'':
			if _, err := l.strings(); err != nil {
				l.pos++ // it does not end, or is not to be read: its quote is passed over
			}
			continue
		case strings.IndexByte("[({", c) >= 0:
			depth++
		case strings.IndexByte("])}", c) >= 0:
			if depth == 0 {
				return
			}
			depth--
		case c == ',' && depth == 0:
			return
		}
		l.pos++
	}
}

// parentheses reads a tuple, or a value in parentheses.
func (l *literal) parentheses(depth int) (any, error) {
	start := l.pos
	list, err := l.list(')', depth)
	if err != nil {
		return nil, err
	}
	inside := strings.TrimSpace(l.text[start+1 : l.pos-1])
	if len(list) == 1 && !strings.HasSuffix(inside, ",") {
		return list[0], nil
	}
	return list, nil
}

// dict reads "{…}". As in Python, the last of equal keys counts.
func (l *literal) dict(depth int) (map[string]any, error) {
	d := map[string]any{}
	err := l.elements('}', func() error {
		key, err := l.value(depth + 1)
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return l.errorf("a key is no string")
		}
		if !l.take(':') {
			return l.errorf("expected %q after the key %.40q", ':', name)
		}
		d[name], err = l.value(depth + 1)
		return err
	})
	return d, err
}

// strings reads one string or several in a row, which are one.
func (l *literal) strings() (string, error) {
	var all strings.Builder
	for {
		part, err := l.string()
		if err != nil {
			return "", err
		}
		all.WriteString(part)
		l.space()
		rest := l.text[l.pos:]
		rest = rest[len(word.FindString(rest)):]
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			return all.String(), nil
		}
	}
}

// string reads one string with its prefix.
func (l *literal) string() (string, error) {
	prefix := strings.ToLower(word.FindString(l.text[l.pos:]))
	switch prefix {
	case "", "r", "u":
	case "b", "rb", "br":
		return "", l.errorf("bytes where text is expected")
	default:
		return "", l.errorf("a string that is to be computed (%s\"…\")", prefix)
	}
	start := l.pos
	l.pos += len(prefix)
	quote := l.text[l.pos : l.pos+1]
	if strings.HasPrefix(l.text[l.pos:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	l.pos += len(quote)
	var b strings.Builder
	for l.pos < len(l.text) {
		rest := l.text[l.pos:]
		switch {
		case strings.HasPrefix(rest, quote):
			l.pos += len(quote)
			return b.String(), nil
		case rest[0] == '\\' && len(rest) > 1:
			if prefix == "r" {
				b.WriteString(rest[:2])
				l.pos += 2
				continue
			}
			if err := l.escape(&b); err != nil {
				return "", err
			}
		case rest[0] == '\n' && len(quote) == 1:
			l.pos = start
			return "", l.errorf("a string without its end")
		default:
			b.WriteByte(rest[0])
			l.pos++
		}
	}
	l.pos = start
	return "", l.errorf("a string without its end")
}

// plain are the escapes of one character.
var plain = map[byte]string{'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b",
	'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// escape reads a backslash, which is next, and what it stands for. One that
// stands for nothing stays, as in Python.
func (l *literal) escape(b *strings.Builder) error {
	c := l.text[l.pos+1]
	if text, ok := plain[c]; ok {
		b.WriteString(text)
		l.pos += 2
		return nil
	}
	digits, base, from := 0, 16, l.pos+2
	switch {
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	case c >= '0' && c <= '7':
		base, from = 8, l.pos+1
		for digits < 3 && from+digits < len(l.text) && l.text[from+digits] >= '0' && l.text[from+digits] <= '7' {
			digits++
		}
	default:
		b.WriteByte('\\')
		l.pos++
		return nil
	}
	if from+digits > len(l.text) {
		return l.errorf("an escape that is cut off")
	}
	code, err := strconv.ParseUint(l.text[from:from+digits], base, 32)
	if err != nil || code > utf8.MaxRune {
		return l.errorf("%.10q is no escape", l.text[l.pos:])
	}
	b.WriteRune(rune(code))
	l.pos = from + digits
	return nil
}

var decimal = regexp.MustCompile(`^[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?`)

func (l *literal) number() (any, error) {
	text := decimal.FindString(l.text[l.pos:])
	clean := strings.ReplaceAll(text, "_", "")
	next := strings.TrimPrefix(l.text[l.pos:], text)
	if text == "" || word.MatchString(next) {
		return nil, l.errorf("%.20q is no number that can be read", l.text[l.pos:])
	}
	l.pos += len(text)
	if n, err := strconv.ParseInt(clean, 10, 64); err == nil {
		return integer(n), nil
	}
	x, err := strconv.ParseFloat(clean, 64)
	if err != nil || math.IsInf(x, 0) {
		return nil, l.errorf("%.20q is no number that can be read", text)
	}
	return x, nil
}

// pythonStr prints a value as Python's str does. Lists, which no
// prompt of the suite has, are printed without brackets.
func pythonStr(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case integer:
		return strconv.FormatInt(int64(v), 10)
	case float64:
		if size := math.Abs(v); v != 0 && (size < 1e-4 || size >= 1e16) {
			return strconv.FormatFloat(v, 'e', -1, 64)
		}
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, pythonStr(e))
		}
		return strings.Join(parts, ", ")
	}
	return "…"
}
