package terminal

// A cell is one column of one line in 16 bytes without pointers, so that a
// screen costs the garbage collector nothing and a line is copied in one move.
// Its zero value is a column that was never written.
type cell struct {
	// glyph is a character: a code point, or with glyphCluster an index into
	// the cluster table. 0 is a blank.
	glyph uint32
	pen   pen
}

const (
	glyphCluster uint32 = 1 << 31
	glyphWide    uint32 = 1 << 30 // the left half of a character two columns wide
	glyphTail    uint32 = 1 << 29 // its right half
	glyphValue   uint32 = glyphTail - 1
)

// pen is how a character is drawn.
type pen struct {
	fg, bg color
	attr   attr
}

// color is 0 for the default, or a kind in the top byte and a value below.
type color uint32

const (
	colorIndexed color = 1 << 24 // palette index 0–255
	colorRGB     color = 2 << 24 // 0xRRGGBB
	colorKind    color = 0xff << 24
)

type attr uint32

const (
	attrBold attr = 1 << iota
	attrFaint
	attrItalic
	attrBlink
	attrReverse
	attrConceal
	attrStrike
	attrOverline
	attrUnderline // lowest of three bits that hold the style 1–5
)

const (
	underlineShift      = 8
	underlineMask  attr = 7 << underlineShift
)

// visible attributes show on a blank.
const attrVisible = attrReverse | attrStrike | attrOverline | underlineMask

// blank reports that nothing can be seen in the cell.
func (c cell) blank() bool {
	return (c.glyph == 0 || c.glyph == ' ') && c.pen.bg == 0 && c.pen.attr&attrVisible == 0
}

// fill is the cell that erasing with p leaves: only the background shows
// (BCE, what xterm's and tmux's terminfo entries promise).
func (p pen) fill() cell { return cell{pen: pen{bg: p.bg}} }
