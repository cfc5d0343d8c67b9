package research

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// readObject reads the first JSON object of a text and returns what follows
// it. Where it is not JSON it is read as models mean it: with line breaks
// and quotes inside strings, Python's quotes and words, commas too many.
// Numbers come as json.Number.
func readObject(text string) (object map[string]any, rest string, err error) {
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return nil, text, errors.New("there is no {")
	}
	text = text[i:]
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&object); err == nil {
		return object, text[d.InputOffset():], nil
	}
	l := loose{text: text}
	object, err = l.object(0)
	return object, l.text[l.at:], err
}

// loose reads what is nearly JSON.
type loose struct {
	text string
	at   int
}

// deepest is how deep objects and arrays may nest.
const deepest = 32

func (l *loose) peek() byte {
	if l.at < len(l.text) {
		return l.text[l.at]
	}
	return 0
}

// next skips blanks and returns the byte that follows, 0 at the end.
func (l *loose) next() byte {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	return l.peek()
}

func (l *loose) object(depth int) (map[string]any, error) {
	l.at++ // the brace
	object := map[string]any{}
	for {
		switch c := l.next(); {
		case c == '}':
			l.at++
			return object, nil
		case c == ',':
			l.at++
			continue
		case c == 0:
			return nil, errors.New("the object has no end")
		}
		key, err := l.key()
		if err != nil {
			return nil, err
		}
		if l.next() != ':' {
			return nil, fmt.Errorf("after %q there is no colon", clip(key, 40))
		}
		l.at++
		if object[key], err = l.value(depth); err != nil {
			return nil, err
		}
		if c := l.next(); c != ',' && c != '}' {
			return nil, fmt.Errorf("after the value of %q there is neither comma nor }", clip(key, 40))
		}
	}
}

func (l *loose) key() (string, error) {
	if c := l.peek(); c == '"' || c == '\'' {
		return l.quoted(":")
	}
	from := l.at
	for c := l.peek(); c != 0 && strings.IndexByte(":,{}[]\"'\n", c) < 0; c = l.peek() {
		l.at++
	}
	key := strings.TrimSpace(l.text[from:l.at])
	if key == "" {
		return "", errors.New("a name is missing")
	}
	return key, nil
}

func (l *loose) value(depth int) (any, error) {
	if depth == deepest {
		return nil, errors.New("it nests too deep")
	}
	switch c := l.next(); c {
	case '{':
		return l.object(depth + 1)
	case '[':
		return l.array(depth + 1)
	case '"', '\'':
		return l.quoted(",}]")
	}
	from := l.at
	for c := l.peek(); c != 0 && strings.IndexByte(",}]\n", c) < 0; c = l.peek() {
		l.at++
	}
	switch word := strings.TrimSpace(l.text[from:l.at]); word {
	case "":
		return nil, errors.New("a value is missing")
	case "null", "None":
		return nil, nil
	case "true", "True":
		return true, nil
	case "false", "False":
		return false, nil
	default:
		return word, nil
	}
}

func (l *loose) array(depth int) ([]any, error) {
	l.at++ // the bracket
	list := []any{}
	for {
		switch c := l.next(); c {
		case ']':
			l.at++
			return list, nil
		case ',':
			l.at++
			continue
		case 0:
			return nil, errors.New("the array has no end")
		}
		v, err := l.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if c := l.next(); c != ',' && c != ']' {
			return nil, errors.New("after a value of an array there is neither comma nor ]")
		}
	}
}

// quoted reads a string in double, single or Python's tripled quotes. A
// quote ends it only when one of the bytes in before, or nothing, follows:
// others were left unescaped.
func (l *loose) quoted(before string) (string, error) {
	q := l.text[l.at : l.at+1]
	if triple := strings.Repeat(q, 3); strings.HasPrefix(l.text[l.at:], triple) {
		q = triple
	}
	l.at += len(q)
	var b strings.Builder
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\\':
			l.escape(&b)
		case strings.HasPrefix(l.text[l.at:], q) && l.ends(len(q), before):
			l.at += len(q)
			return b.String(), nil
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	return "", errors.New("a string has no end")
}

// ends reports whether a quote of n bytes is the end of its string.
func (l *loose) ends(n int, before string) bool {
	rest := strings.TrimLeft(l.text[l.at+n:], " \t\r\n")
	return rest == "" || strings.IndexByte(before, rest[0]) >= 0
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '"': '"', '\'': '\'', '\\': '\\', '/': '/', '\n': '\n'}

// escape reads a backslash and what it stands for; one that stands for
// nothing, as in a regular expression, stays.
func (l *loose) escape(b *strings.Builder) {
	l.at++
	if l.at == len(l.text) {
		b.WriteByte('\\')
		return
	}
	c := l.text[l.at]
	if n, ok := l.unicode(); ok {
		l.at += 5
		if utf16.IsSurrogate(n) && l.peek() == '\\' {
			l.at++
			if low, ok := l.unicode(); ok {
				n = utf16.DecodeRune(n, low)
				l.at += 5
			} else {
				l.at--
			}
		}
		b.WriteRune(n)
		return
	}
	if plain, ok := escapes[c]; ok {
		b.WriteByte(plain)
	} else {
		b.WriteByte('\\')
		b.WriteByte(c)
	}
	l.at++
}

// unicode returns the code of an escape like u00e9, which is next.
func (l *loose) unicode() (code rune, ok bool) {
	if l.peek() != 'u' || l.at+5 > len(l.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(l.text[l.at+1:l.at+5], 16, 16)
	return rune(n), err == nil
}

// argument is a value of an input as a string.
func argument(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
