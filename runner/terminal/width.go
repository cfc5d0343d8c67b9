package terminal

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Characters are grapheme clusters: a base and what joins it. Asking x/ansi
// where a cluster ends costs some hundred nanoseconds, so what a code point can
// do is looked up once and remembered, and only the few that can join anything
// but a mark are ever asked about again.
type runeInfo uint8

const (
	infoWidth  runeInfo = 3      // mask: columns
	infoExtend runeInfo = 1 << 2 // belongs to whatever is before it
	infoJoiner runeInfo = 1 << 3 // may form a cluster with a neighbour that is no mark
	infoKnown  runeInfo = 1 << 7
)

// runeTable remembers runeInfo in a fixed number of slots.
type runeTable [1024]struct {
	r    rune
	info runeInfo
}

func (t *runeTable) lookup(r rune) runeInfo {
	slot := &t[uint32(r)%uint32(len(t))]
	if slot.r != r || slot.info == 0 {
		slot.r, slot.info = r, classify(r)
	}
	return slot.info
}

// classify describes a code point from U+00A0 on.
func classify(r rune) runeInfo {
	s := string(r)
	info := infoKnown
	if w := ansi.StringWidth(s); w <= 2 {
		info |= runeInfo(w)
	}
	if joins("a", s) {
		info |= infoExtend
	} else if joins(s, "a") || mayJoin(r) {
		info |= infoJoiner
	}
	return info
}

// mayJoin covers regional indicators, Hangul, and the scripts with conjuncts,
// generously: a wrong yes costs time only.
func mayJoin(r rune) bool {
	switch {
	case r >= 0x1F1E6 && r <= 0x1F1FF,
		r >= 0x1100 && r <= 0x11FF, r >= 0xA960 && r <= 0xA97F, r >= 0xAC00 && r <= 0xD7FF,
		r >= 0x0600 && r <= 0x10FF, r >= 0x1700 && r <= 0x1CFF, r >= 0xA800 && r <= 0xABFF,
		r >= 0x10A00 && r <= 0x11FFF:
		return true
	}
	return false
}

// joins reports whether next goes on the last cluster of prev, where prev is a
// single cluster.
func joins(prev, next string) bool {
	cluster, _ := ansi.FirstGraphemeCluster(prev+next, ansi.GraphemeWidth)
	return len(cluster) > len(prev)
}

// needsBreak reports whether two characters of neighbouring cells, printed one
// after the other, would be taken for one.
func (t *runeTable) needsBreak(prev, next []byte) bool {
	if len(prev) == 0 {
		return false
	}
	a, size := utf8.DecodeRune(prev)
	b, _ := utf8.DecodeRune(next)
	if size == len(prev) && (a < utf8.RuneSelf || t.lookup(a)&infoJoiner == 0) &&
		(b < utf8.RuneSelf || t.lookup(b)&infoExtend == 0) {
		return false
	}
	return joins(string(prev), string(next))
}
