// Package tomlfile reads TOML files that people write by hand: every problem
// is told with the file, the line, and the nearest key that would have been
// right.
package tomlfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"proctor/tasks"
	"proctor/tasks/grade"
)

// A File is a TOML file with the problems found in it so far. Reading
// goes on after a problem, so that the first one in the file is reported and
// not the first one somebody looked for.
type File struct {
	name     string // as it is shown to people
	lines    map[string]int
	problems []problem
	root     map[string]any
}

type problem struct {
	line int
	text string
}

// Parse reads TOML. Its error names the file and the line.
func Parse(file string, src []byte) (*File, error) {
	if !utf8.Valid(src) {
		return nil, fmt.Errorf("%s: not UTF-8 text, expected TOML", file)
	}
	if line, deep := tooDeep(string(src)); deep {
		return nil, fmt.Errorf("%s:%d: nested more than %d deep, expected settings", file, line, MaxDepth)
	}
	d := &File{name: file}
	if _, err := toml.Decode(string(src), &d.root); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d: not valid TOML: %s", file, lineOf(src, syntax), grade.OneLine(syntax.Message, 200))
		}
		return nil, fmt.Errorf("%s: not valid TOML: %s", file, grade.OneLine(err.Error(), 200))
	}
	d.lines = keyLines(string(src))
	return d, nil
}

// lineOf returns the line of a syntax error. The decoder's own is one too
// many when the error is the end of a line.
func lineOf(src []byte, e toml.ParseError) int {
	line := e.Position.Line
	if start := e.Position.Start; start > 0 && start <= len(src) {
		line = min(line, 1+bytes.Count(src[:start], []byte("\n")))
	}
	return line
}

// Top returns the file's outermost table.
func (d *File) Top() *Table { return &Table{doc: d, values: d.root} }

// Errorf notes a problem with the key at path.
func (d *File) Errorf(path, format string, args ...any) {
	d.problems = append(d.problems, problem{d.line(path), fmt.Sprintf(format, args...)})
}

// Lookup returns the value at a dotted path of plain keys, nil when absent.
func (d *File) Lookup(path string) any {
	var v any = d.root
	for key := range strings.SplitSeq(path, ".") {
		t, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = t[key]
	}
	return v
}

// line returns where path is written, or the nearest table around it.
func (d *File) line(path string) int {
	for path != "" {
		if line, ok := d.lines[path]; ok {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return 1
}

// Err returns the first problem in the file, nil when there is none.
func (d *File) Err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b problem) int { return a.line - b.line })
	first := d.problems[0]
	return fmt.Errorf("%s:%d: %s", d.name, first.line, first.text)
}

// A Table is one table of a file. Its getters return the zero value for
// an absent key and for one of the wrong type, which they note as a problem.
type Table struct {
	doc    *File
	path   string // "" for the document itself
	values map[string]any
}

// At returns the path of a key, as [File.Errorf] takes it.
func (t *Table) At(key string) string { return join(t.path, key) }

// Has reports whether the table has the key.
func (t *Table) Has(key string) bool { _, ok := t.values[key]; return ok }

// File returns the file that the table is in.
func (t *Table) File() *File { return t.doc }

// Path is the table's own path, "" for the file's outermost.
func (t *Table) Path() string { return t.path }

// Keys returns the table's keys, sorted.
func (t *Table) Keys() []string { return slices.Sorted(maps.Keys(t.values)) }

// Get returns the value of a key as the decoder has it, nil when absent.
func (t *Table) Get(key string) any { return t.values[key] }

// Wrong notes that key does not hold what it should.
func (t *Table) Wrong(key, expected string) {
	t.doc.Errorf(t.At(key), "%s is %s, expected %s", t.At(key), describe(t.values[key]), expected)
}

// Only notes every key that is not among known.
func (t *Table) Only(known ...string) {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(known, key) {
			continue
		}
		hint := "; known here: " + strings.Join(known, ", ")
		if near := tasks.Nearest(key, known); len(near) > 0 {
			hint = fmt.Sprintf("; did you mean %q?", near[0])
		}
		t.doc.Errorf(t.At(key), "unknown key %s%s", t.At(key), hint)
	}
}

// String reads text.
func (t *Table) String(key string) string {
	s, ok := t.values[key].(string)
	if t.Has(key) && !ok {
		t.Wrong(key, "a string")
	}
	return s
}

// Bool reads true or false.
func (t *Table) Bool(key string) bool {
	b, ok := t.values[key].(bool)
	if t.Has(key) && !ok {
		t.Wrong(key, "true or false")
	}
	return b
}

// OrLacks notes that key is absent or wrong.
func (t *Table) OrLacks(key, expected string) {
	if t.Has(key) {
		t.Wrong(key, expected)
		return
	}
	t.doc.Errorf(t.Path(), "%s lacks %s, %s", t.Path(), key, expected)
}

// Number returns nil when the key is absent or not a finite number.
func (t *Table) Number(key string) *float64 {
	if !t.Has(key) {
		return nil
	}
	x, ok := finite(t.values[key])
	if !ok {
		t.Wrong(key, "a number")
		return nil
	}
	return &x
}

// Positive is number for a quantity above zero; expected completes the
// message, such as "a number of seconds".
func (t *Table) Positive(key, expected string) float64 {
	if !t.Has(key) {
		return 0
	}
	x, ok := finite(t.values[key])
	if !ok || x <= 0 {
		t.Wrong(key, expected+" above 0")
		return 0
	}
	return x
}

// PositiveInt reads a whole number above zero.
func (t *Table) PositiveInt(key string) int64 {
	if !t.Has(key) {
		return 0
	}
	n, ok := t.values[key].(int64)
	if !ok || n <= 0 {
		t.Wrong(key, "a whole number above 0")
		return 0
	}
	return n
}

// maxSeconds keeps durations far from overflow; nobody waits three years.
const maxSeconds = 1e8

// Seconds reads a number of seconds above zero.
func (t *Table) Seconds(key string) time.Duration {
	x := t.Positive(key, "a number of seconds")
	if x > maxSeconds {
		t.Wrong(key, "at most 1e8 seconds")
		return 0
	}
	return time.Duration(x * float64(time.Second))
}

// Duration reads a duration above zero as people write it.
func (t *Table) Duration(key string) time.Duration {
	if !t.Has(key) {
		return 0
	}
	s, ok := t.values[key].(string)
	d, err := time.ParseDuration(s)
	if !ok || err != nil || d <= 0 {
		t.Wrong(key, `a duration above 0 such as "30m" or "1h30m"`)
		return 0
	}
	return d
}

// Strings reads a list of strings.
func (t *Table) Strings(key string) []string {
	if !t.Has(key) {
		return nil
	}
	list, ok := t.values[key].([]any)
	var out []string
	for _, v := range list {
		s, isString := v.(string)
		ok = ok && isString
		out = append(out, s)
	}
	if !ok {
		t.Wrong(key, "a list of strings")
		return nil
	}
	return out
}

// StringMap reads a table whose values are all strings.
func (t *Table) StringMap(key string) map[string]string {
	sub := t.Table(key)
	out := map[string]string{}
	for name := range sub.values {
		out[name] = sub.String(name)
	}
	return out
}

// Table returns the table at key, an empty one when it is absent.
func (t *Table) Table(key string) *Table {
	sub := &Table{doc: t.doc, path: t.At(key)}
	v, ok := t.values[key].(map[string]any)
	if t.Has(key) && !ok {
		t.Wrong(key, "a table")
	}
	sub.values = v
	return sub
}

// Tables returns the tables of an array of tables, written as [[key]] or as
// a list of inline tables.
func (t *Table) Tables(key string) []*Table {
	if !t.Has(key) {
		return nil
	}
	var out []*Table
	add := func(v map[string]any) {
		out = append(out, &Table{doc: t.doc, path: fmt.Sprintf("%s[%d]", t.At(key), len(out)), values: v})
	}
	switch list := t.values[key].(type) {
	case []map[string]any:
		for _, v := range list {
			add(v)
		}
		return out
	case []any:
		for _, v := range list {
			m, ok := v.(map[string]any)
			if !ok {
				t.Wrong(key, "a list of tables")
				return nil
			}
			add(m)
		}
		return out
	}
	t.Wrong(key, "a list of tables")
	return nil
}

// finite converts a TOML number; TOML's nan and inf are none.
func finite(v any) (float64, bool) {
	switch x := v.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return 0, false
}

// describe says what a TOML value is, for a message.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the string %q", grade.OneLine(v, 40))
	case bool, int64:
		return fmt.Sprint(v)
	case float64:
		return fmt.Sprint(v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	case time.Time:
		return "a date"
	}
	return fmt.Sprintf("a %T", v)
}

// IsSet reports whether a TOML value asks for anything: neither absent nor
// empty, false or zero.
func IsSet(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case []map[string]any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}
