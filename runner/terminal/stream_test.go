package terminal

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
)

// gen writes a random but well-formed stream, as programs produce them, for
// comparison with other emulators. It avoids the few things on which emulators
// differ by taste, by following along in a terminal of its own.
type gen struct {
	*rand.Rand
	out  bytes.Buffer
	term *Terminal
	// clusters allows text on whose width or joining emulators disagree.
	clusters bool
	// simple leaves out what x/vt does differently from xterm and tmux alike:
	// wide characters that wrap, insert mode, erasing above, margins.
	simple bool
}

func newGen(seed int64, cols, rows int) *gen {
	return &gen{Rand: rand.New(rand.NewSource(seed)), term: New(cols, rows)}
}

func (g *gen) put(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	g.out.WriteString(s)
	write(g.term, s)
}

// settle leaves the state between a full line and its wrapping, in which
// emulators count the cursor's column differently.
func (g *gen) settle() {
	if g.term.cursor.pending {
		g.put("\r")
	}
}

func (g *gen) text() {
	words := []string{"hello", "x", "accuracy 0.91", "┌─┐", "█▌", "é", "…", "✓", "loss=0.3"}
	if !g.simple {
		words = append(words, "漢字", "日")
	}
	if g.clusters {
		words = append(words, "e\u0301", "👍🏽", "👩‍👩‍👧", "🇩🇪", "☀\ufe0f", "각", "क्ष", "\u0301", "\u200d", "\u0600")
	}
	for range 1 + g.Intn(4) {
		g.put("%s", words[g.Intn(len(words))])
		if g.Intn(3) == 0 {
			g.put(" ")
		}
	}
}

func (g *gen) sgr() {
	seqs := []string{"", "0", "1", "3", "4", "7", "9", "22", "24", "27", "39", "49",
		"31", "42", "95", "38;5;200", "48;2;10;20;30", "38;2;1;2;3", "1;33;44"}
	g.put("\x1b[%sm", seqs[g.Intn(len(seqs))])
}

func (g *gen) move() {
	cols, rows := g.term.Size()
	switch g.Intn(10) {
	case 0, 1, 2:
		g.put("\r\n")
	case 3:
		g.put("\x1b[%d;%dH", 1+g.Intn(rows), 1+g.Intn(cols))
	case 4:
		g.put("\x1b[%d%c", 1+g.Intn(5), "ABCD"[g.Intn(4)])
	case 5:
		g.put("\x1b[%dG", 1+g.Intn(cols))
	case 6:
		g.put("\x1b[%dd", 1+g.Intn(rows))
	case 7:
		g.put("\t")
	case 8:
		if g.term.cursor.x > 0 { // tmux goes back to a line that wrapped
			g.put("\b")
		}
	case 9:
		g.put("\r")
	}
}

func (g *gen) edit() {
	n := 1 + g.Intn(4)
	what := g.Intn(8)
	if what < 3 && g.term.grid.rows[g.term.cursor.y].wide {
		g.put("\x1b[2K") // tmux leaves halves of wide characters behind
	}
	switch what {
	case 0:
		g.put("\x1b[%dK", g.Intn(3))
	case 1:
		if what := g.Intn(3); what != 1 || !g.simple {
			g.put("\x1b[%dJ", what)
		}
	case 2:
		g.put("\x1b[%d%c", n, "@PX"[g.Intn(3)])
	case 3:
		if y := g.term.cursor.y; y < g.term.top || y > g.term.bot {
			g.put("\x1b[r") // tmux ignores margins that the cursor is outside of
		}
		g.put("\x1b[%d%c\r", n, "LM"[g.Intn(2)])
	case 4:
		g.put("\x1b[%dS", n)
	case 5:
		g.put("\x1bM")
	case 6:
		g.put("\x1bD")
	case 7:
		g.put("\rab\x1b[%db", n) // tmux does not repeat past the end of a line
	}
}

func (g *gen) mode() {
	_, rows := g.term.Size()
	switch g.Intn(7) {
	case 0:
		if g.simple {
			return
		}
		top := 1 + g.Intn(rows-1)
		g.put("\x1b[%d;%dr", top, top+1+g.Intn(rows-top))
	case 1:
		g.put("\x1b[r")
	case 2:
		g.put("\x1b7")
	case 3:
		g.put("\x1b8")
	case 4:
		if cols, _ := g.term.Size(); g.simple || g.term.grid.rows[g.term.cursor.y].wide || g.term.cursor.x > cols-4 {
			return
		}
		g.put("\x1b[4h%s\x1b[4l", strings.Repeat("i", 1+g.Intn(3)))
	case 5:
		g.put("\x1b(0lqqk\x1b(B")
	case 6:
		if g.term.AltScreen() {
			g.put("\x1b[?1049l")
		} else {
			g.put("\x1b[?1049h\x1b[H")
		}
		g.put("\x1b7") // tmux saves one cursor for both screens
	}
}

// stream returns n steps.
func (g *gen) stream(n int) []byte {
	for range n {
		switch r := g.Intn(20); {
		case r < 9:
			g.text()
		case r < 12:
			g.sgr()
		case r < 16:
			g.settle()
			g.move()
		case r < 18:
			g.settle()
			g.edit()
		default:
			g.settle()
			g.mode()
		}
	}
	g.settle()
	return bytes.Clone(g.out.Bytes())
}
