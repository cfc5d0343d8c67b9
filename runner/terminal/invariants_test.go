package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// checkInvariants fails if term is in a state that it must never be in,
// whatever was written to it.
func checkInvariants(t *testing.T, term *Terminal) {
	t.Helper()
	cols, rows := term.Size()
	x, y, _ := term.Cursor()
	if first := term.Lines() - rows; x < 0 || x >= cols || y < first || y >= term.Lines() {
		t.Fatalf("cursor at %d,%d of %dx%d", x, y-first, cols, rows)
	}
	if term.top < 0 || term.top > term.bot || term.bot >= rows {
		t.Fatalf("margins %d–%d of %d rows", term.top, term.bot, rows)
	}
	for _, g := range []*grid{term.primary, term.alternate} {
		if g != nil {
			checkGrid(t, term, g)
		}
	}
	checkBounds(t, term)

	first := max(0, term.Lines()-rows-50)
	n := term.Lines() - first
	for _, width := range []int{cols, cols + 3, cols / 2} {
		for i, line := range term.Render(first, n, width) {
			if w := ansi.StringWidth(line); w != width {
				t.Fatalf("line %d is %d cells wide, not %d: %q", i, w, width, line)
			}
			if rest := stripSGR(line); !strings.HasSuffix(line, sgrReset) || !printable(rest) {
				t.Fatalf("line %d is not just SGR and text: %q", i, line)
			}
		}
	}
	for i, line := range term.Text(first, n) {
		if !printable(line) {
			t.Fatalf("line %d of the text: %q", i, line)
		}
	}
	if !printable(term.Title()) || len(term.Title()) > maxTitle {
		t.Fatalf("title %q", term.Title())
	}
}

func checkGrid(t *testing.T, term *Terminal, g *grid) {
	t.Helper()
	if len(g.rows) != term.rows {
		t.Fatalf("%d rows, not %d", len(g.rows), term.rows)
	}
	for y, r := range g.rows {
		if len(r.cells) != term.cols || r.used > term.cols {
			t.Fatalf("row %d has %d cells, %d used, not %d", y, len(r.cells), r.used, term.cols)
		}
		for x, c := range r.cells {
			wide := c.glyph&glyphWide != 0
			tail := c.glyph&glyphTail != 0
			switch {
			case x >= r.used && c != cell{}:
				t.Fatalf("cell %d,%d beyond the used part is %+v", x, y, c)
			case (wide || tail) && !r.wide:
				t.Fatalf("cell %d,%d is wide in a row that is not", x, y)
			case wide && (x+1 == len(r.cells) || r.cells[x+1].glyph != glyphTail):
				t.Fatalf("cell %d,%d lost its right half", x, y)
			case tail && (x == 0 || r.cells[x-1].glyph&glyphWide == 0):
				t.Fatalf("cell %d,%d lost its left half", x, y)
			case c.glyph&glyphCluster != 0 && int(c.glyph&glyphValue) >= len(term.clusters.text):
				t.Fatalf("cell %d,%d refers to cluster %d of %d", x, y, c.glyph&glyphValue, len(term.clusters.text))
			}
		}
	}
}

// checkBounds checks everything that could grow.
func checkBounds(t *testing.T, term *Terminal) {
	t.Helper()
	h := &term.history
	total, lines := 0, 0
	for i := range h.n {
		total += len(h.at(i))
	}
	for _, c := range h.chunks {
		lines += c.lines
	}
	switch {
	case h.n > h.maxLines, total != h.bytes, lines != h.n, h.n > 1 && h.bytes > h.maxBytes:
		t.Fatalf("scrollback of %d lines (%d in chunks), %d bytes (%d counted)", h.n, lines, total, h.bytes)
	case len(h.chunks) > 2+2*h.bytes/chunkSize+h.n/100:
		t.Fatalf("%d chunks for %d bytes", len(h.chunks), h.bytes)
	case cap(term.str.data) > 2*maxString, len(term.replies) > maxReplies:
		t.Fatalf("string of %d, replies of %d bytes", cap(term.str.data), len(term.replies))
	case len(term.clusters.text) > max(minClusters, 4*term.cols*term.rows)+term.cols*term.rows:
		t.Fatalf("%d clusters", len(term.clusters.text))
	}
}

// stripSGR removes SGR sequences and nothing else.
func stripSGR(s string) string {
	var out strings.Builder
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			i := 0
			for i < len(rest) && strings.IndexByte("0123456789;:", rest[i]) >= 0 {
				i++
			}
			if i < len(rest) && rest[i] == 'm' {
				s = rest[i+1:]
				continue
			}
		}
		out.WriteByte(s[0])
		s = s[1:]
	}
	return out.String()
}

// printable reports that s is valid UTF-8 without control characters.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}
