package terminal

import (
	"strings"
	"unicode/utf8"
)

// tabSpaces is what a tab becomes in text that is laid out by others.
const tabSpaces = "    "

// Clean returns s without anything that could do more than show characters:
// escape sequences, control strings, C0 and C1 controls, bidirectional
// overrides and isolates, invisible format characters, invalid UTF-8. Newlines
// stay, a tab becomes four spaces, Unicode's line and paragraph separators
// become newlines. A control string that never ends loses only its introducer,
// so that it cannot hide the rest of a text. Clean takes linear time, and cleaning
// twice changes nothing more.
func Clean(s string) string {
	i := 0
	for i < len(s) && (s[i]-0x20 < 0x5f || s[i] == '\n') {
		i++
	}
	if i == len(s) {
		return s
	}
	c := cleaner{rest: s[i:]}
	c.out.Grow(len(s))
	c.out.WriteString(s[:i])
	for c.rest != "" {
		c.next()
	}
	return c.out.String()
}

type cleaner struct {
	rest string
	out  strings.Builder
	// unended says that rest holds no end of a control string any more, which
	// is looked for only once: BEL counts in an OSC only, hence two answers.
	unended, unendedOSC bool
}

// next takes one character or sequence off rest.
func (c *cleaner) next() {
	r, size := utf8.DecodeRuneInString(c.rest)
	c.rest = c.rest[size:]
	switch {
	case r == '\n':
		c.out.WriteByte('\n')
	case r == '\t':
		c.out.WriteString(tabSpaces)
	case r == '\u2028' || r == '\u2029':
		c.out.WriteByte('\n')
	case r == escape:
		c.escape()
	case r == 0x9b:
		c.sequence(0x30, 0x3f)
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		c.controlString(r == 0x9d)
	case r == utf8.RuneError && size == 1, r < 0x20, r >= 0x7f && r < 0xa0, invisible(r):
	default:
		c.out.WriteRune(r)
	}
}

// invisible reports the format characters that reorder or hide text. Joiners
// and variation selectors stay: they make up emoji and scripts.
func invisible(r rune) bool {
	switch {
	case r == 0x00ad, r == 0x061c, r == 0x180e, r == 0xfeff,
		r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// escape takes the rest of a sequence that starts with ESC.
func (c *cleaner) escape() {
	if c.rest == "" {
		return
	}
	b := c.rest[0]
	switch {
	case b == '[':
		c.rest = c.rest[1:]
		c.sequence(0x30, 0x3f)
	case b == ']':
		c.rest = c.rest[1:]
		c.controlString(true)
	case b == 'P' || b == '^' || b == '_' || b == 'X':
		c.rest = c.rest[1:]
		c.controlString(false)
	case b >= 0x20 && b < 0x7f:
		c.sequence(0x20, 0x2f)
	}
}

// sequence takes parameter bytes lo..hi, intermediate bytes, and a final byte.
func (c *cleaner) sequence(lo, hi byte) {
	i := 0
	for i < len(c.rest) && c.rest[i] >= lo && c.rest[i] <= hi {
		i++
	}
	for i < len(c.rest) && c.rest[i] >= 0x20 && c.rest[i] <= 0x2f {
		i++
	}
	if i < len(c.rest) && c.rest[i] >= 0x30 && c.rest[i] < 0x7f {
		i++
	}
	c.rest = c.rest[i:]
}

// controlString takes everything up to ST, or BEL in an OSC.
func (c *cleaner) controlString(osc bool) {
	unended, ends := &c.unended, "\x1b\u009c\x18\x1a"
	if osc {
		unended, ends = &c.unendedOSC, "\x1b\a\u009c\x18\x1a"
	}
	if *unended {
		return
	}
	i := strings.IndexAny(c.rest, ends)
	if i < 0 {
		*unended = true
		return
	}
	if c.rest[i] == escape && !strings.HasPrefix(c.rest[i:], "\x1b\\") {
		c.rest = c.rest[i:] // a new sequence ends the string
		return
	}
	_, size := utf8.DecodeRuneInString(c.rest[i:])
	if c.rest[i] == escape {
		size = 2
	}
	c.rest = c.rest[i+size:]
}
