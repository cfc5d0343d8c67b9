package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// excerpt keeps the head and the tail of a text of any length.
type excerpt struct {
	headCap, tailCap int
	head, tail       []byte
	full             bool // the head takes no more

	droppedLines int
	droppedBytes int64
	midLine      bool // the tail starts within a line
}

func (e *excerpt) write(p []byte) {
	if !e.full {
		room := e.headCap - len(e.head)
		if len(p) <= room {
			e.head = append(e.head, p...)
			return
		}
		e.closeHead(p[:room])
		p = p[room:]
	}
	e.tail = append(e.tail, p...)
	if len(e.tail) > 2*e.tailCap+4096 {
		e.drop(len(e.tail) - e.tailCap)
	}
}

// closeHead fills the head up with p and ends it after a whole line, or at
// least a whole character.
func (e *excerpt) closeHead(p []byte) {
	e.full = true
	e.head = append(e.head, p...)
	end := bytes.LastIndexByte(e.head, '\n') + 1
	if end == 0 {
		end = len(e.head)
		for end > 0 && !endsRune(e.head[:end]) {
			end--
		}
	}
	e.tail = append(e.tail, e.head[end:]...)
	e.head = e.head[:end]
}

// endsRune reports whether p ends with a whole character.
func endsRune(p []byte) bool {
	r, size := utf8.DecodeLastRune(p)
	return r != utf8.RuneError || size > 1
}

// drop forgets the first n bytes of the tail.
func (e *excerpt) drop(n int) {
	if n == 0 {
		return
	}
	e.droppedLines += bytes.Count(e.tail[:n], []byte{'\n'})
	e.droppedBytes += int64(n)
	e.midLine = e.tail[n-1] != '\n'
	e.tail = append(e.tail[:0], e.tail[n:]...)
}

// clone returns an independent copy.
func (e *excerpt) clone() excerpt {
	c := *e
	c.head, c.tail = slices.Clone(e.head), slices.Clone(e.tail)
	return c
}

// result returns the text and whether something is missing. It uses e up.
func (e *excerpt) result() (text string, truncated bool) {
	if len(e.tail) > e.tailCap {
		e.drop(len(e.tail) - e.tailCap)
	}
	if e.droppedBytes == 0 {
		return string(e.head) + string(e.tail), false
	}
	// Go on at the start of a line if one is near, else of a character.
	start := bytes.IndexByte(e.tail, '\n') + 1
	if !e.midLine || start > len(e.tail)/2 {
		start = 0
	}
	for start == 0 && len(e.tail) > 0 && !utf8.RuneStart(e.tail[0]) {
		e.drop(1)
	}
	e.drop(start)
	out := e.head
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	out = append(out, e.gap()...)
	return string(append(out, e.tail...)), true
}

func (e *excerpt) gap() string {
	size := formatBytes(e.droppedBytes)
	switch e.droppedLines {
	case 0:
		return fmt.Sprintf("[… %s left out …]\n", size)
	case 1:
		return fmt.Sprintf("[… 1 line, %s left out …]\n", size)
	}
	return fmt.Sprintf("[… %d lines, %s left out …]\n", e.droppedLines, size)
}

func formatBytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
