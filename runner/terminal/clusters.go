package terminal

import "unicode/utf8"

const (
	// maxCluster bounds one character in bytes. The longest emoji in use, a
	// family with skin tones, takes 41.
	maxCluster  = 64
	minClusters = 4096
)

// clusters holds the characters of more than one code point that cells refer
// to. The scrollback does not: its lines carry their text. So the table can be
// rebuilt from the screens alone when it is full.
type clusters struct {
	text  []string
	index map[string]uint32
}

// glyphOf returns the glyph of one character, without its width.
func (t *Terminal) glyphOf(text []byte) uint32 {
	r, size := utf8.DecodeRune(text)
	if size == len(text) {
		return uint32(r)
	}
	c := &t.clusters
	if i, ok := c.index[string(text)]; ok {
		return i | glyphCluster
	}
	if c.index == nil {
		c.index = make(map[string]uint32)
	}
	s, i := string(text), uint32(len(c.text))
	c.text = append(c.text, s)
	c.index[s] = i
	return i | glyphCluster
}

// trimClusters drops what no cell refers to when the table holds twice what the
// two screens can refer to, so that the work stays in proportion to the input.
// It may only be called while every glyph in use is in a screen or in t.glyph.
func (t *Terminal) trimClusters() {
	if len(t.clusters.text) < max(minClusters, 4*t.cols*t.rows) {
		return
	}
	old := t.clusters.text
	t.clusters = clusters{index: make(map[string]uint32)}
	t.glyph = t.moveGlyph(old, t.glyph)
	for _, g := range []*grid{t.primary, t.alternate} {
		if g == nil {
			continue
		}
		for y := range g.rows {
			r := &g.rows[y]
			for x := range r.cells[:r.used] {
				r.cells[x].glyph = t.moveGlyph(old, r.cells[x].glyph)
			}
		}
	}
}

// moveGlyph translates g from the table old to the new one.
func (t *Terminal) moveGlyph(old []string, g uint32) uint32 {
	if g&glyphCluster == 0 {
		return g
	}
	c, s := &t.clusters, old[g&glyphValue]
	i, ok := c.index[s]
	if !ok {
		i = uint32(len(c.text))
		c.text = append(c.text, s)
		c.index[s] = i
	}
	return i | glyphCluster | g&glyphWide
}
