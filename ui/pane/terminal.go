package pane

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// Terminal shows the run's pty through an emulator, with its scrollback.
type Terminal struct {
	Screen *terminal.Terminal
	// Taken says that a person types into it.
	Taken bool

	anchor uint64 // number of the first line shown, while held
	held   bool
	left   int // first column shown
	width  int
	height int
	gen    uint64
	query  string
}

// Name names the pane.
func (p *Terminal) Name() string { return "Terminal" }

// Pad is none: every column counts.
func (p *Terminal) Pad() int { return 0 }

// Stamp tells when it changed.
func (p *Terminal) Stamp(Frame) Stamp {
	s := Stamp{State: p.Screen.Version(), Own: p.gen}
	if p.Taken {
		s.Clock = 1
	}
	return s
}

// Note says whether the pane follows what is written.
func (p *Terminal) Note(f Frame) []draw.Span {
	t := f.Theme
	switch {
	case p.Taken:
		return []draw.Span{draw.S(t.Tone(theme.Hint).Bold(), "yours · "+theme.HandBack+" hands back")}
	case p.held:
		return []draw.Span{draw.S(t.Tone(theme.Warn), fmt.Sprintf("%d lines back · G follows", p.behind()))}
	}
	return []draw.Span{draw.S(t.Faint, "following")}
}

// Foot gives the terminal's size, and which columns are shown when it is
// wider than the pane.
func (p *Terminal) Foot(f Frame) []draw.Span {
	cols, rows := p.Screen.Size()
	text := fmt.Sprintf("%d×%d", cols, rows)
	if p.width > 0 && cols > p.width {
		text = fmt.Sprintf("columns %d–%d of %d  ←/→", p.left+1, min(p.left+p.width, cols), cols)
	}
	return []draw.Span{draw.S(f.Theme.Faint, text)}
}

// Body draws the visible lines.
func (p *Terminal) Body(f Frame, w, h int, _ bool) []string {
	p.width, p.height = w, h
	first := p.first(h)
	cols, _ := p.Screen.Size()
	p.left = min(p.left, max(cols-w, 0))
	lines := p.Screen.Render(first, h, w)
	if p.left > 0 {
		lines = p.Screen.Render(first, h, cols)
		for i, line := range lines {
			lines[i] = draw.Fit(ansi.Cut(line, p.left, p.left+w), w)
		}
	}
	if p.query != "" {
		p.highlight(f.Theme, lines, first)
	}
	return lines
}

// first returns the line at the top of the pane.
func (p *Terminal) first(h int) int {
	total := p.Screen.Lines()
	if p.held {
		if top := int64(p.anchor) - int64(p.Screen.Evicted()); top >= 0 {
			return min(int(top), max(total-h, 0))
		}
		return 0
	}
	return p.newest(total, h)
}

// newest returns the top line that shows the end. A screen higher than the
// pane is shown up to its last written line, not to its empty bottom.
func (p *Terminal) newest(total, h int) int {
	_, rows := p.Screen.Size()
	start := total - rows
	if rows <= h {
		return max(total-h, 0)
	}
	_, end, _ := p.Screen.Cursor()
	for i, line := range p.Screen.Text(start, rows) {
		if line != "" {
			end = max(end, start+i)
		}
	}
	top := max(end+1-h, 0)
	if p.Screen.AltScreen() {
		top = max(top, start)
	}
	return top
}

func (p *Terminal) behind() int {
	return max(p.newest(p.Screen.Lines(), p.height)-p.first(p.height), 0)
}

// highlight shows the matches of the query.
func (p *Terminal) highlight(t *theme.Theme, lines []string, first int) {
	for i, text := range p.Screen.Text(first, len(lines)) {
		if !contains(text, p.query) {
			continue
		}
		low, q := strings.ToLower(text), strings.ToLower(p.query)
		if len(low) != len(text) { // folding changed lengths: mark the whole line
			lines[i] = draw.Line(p.width, draw.S(t.Found, text))
			continue
		}
		var spans []draw.Span
		for {
			at := strings.Index(low, q)
			if at < 0 {
				break
			}
			spans = append(spans, draw.S(t.Text, text[:at]), draw.S(t.Found, text[at:at+len(q)]))
			text, low = text[at+len(q):], low[at+len(q):]
		}
		lines[i] = draw.Line(p.width, append(spans, draw.S(t.Text, text))...)
	}
}

// Move scrolls; at the end the pane follows again.
func (p *Terminal) Move(lines int) {
	p.gen++
	end := p.newest(p.Screen.Lines(), p.height)
	top := min(max(p.first(p.height)+lines, 0), end)
	p.held = top < end
	p.anchor = p.Screen.Evicted() + uint64(top)
}

// Page scrolls by screens.
func (p *Terminal) Page(screens int) { p.Move(screens * max(p.height-2, 1)) }

// Ends goes to the oldest line, or to the end and follows.
func (p *Terminal) Ends(end int) {
	p.gen++
	p.held = end < 0
	p.anchor = p.Screen.Evicted()
}

// Sideways shows other columns of a terminal that is wider than the pane.
func (p *Terminal) Sideways(columns int) {
	p.gen++
	cols, _ := p.Screen.Size()
	p.left = min(max(p.left+columns, 0), max(cols-p.width, 0))
}

// Find goes to the next line that matches: upwards for -1.
func (p *Terminal) Find(_ Frame, query string, direction int) bool {
	p.gen++
	fresh := query != p.query
	p.query = query
	if query == "" {
		return false
	}
	total, from := p.Screen.Lines(), p.first(p.height)
	if fresh {
		from, direction = total, -1 // what is newest first
	}
	text := p.Screen.Text(0, total)
	for i := from + direction; i >= 0 && i < total; i += direction {
		if contains(text[i], query) {
			p.held, p.anchor = true, p.Screen.Evicted()+uint64(i)
			if i >= p.newest(total, p.height) {
				p.held = false
			}
			return true
		}
	}
	return false
}

// Cursor is where the terminal's cursor is within the pane; ok is false when
// it is hidden or out of sight.
func (p *Terminal) Cursor() (x, y int, ok bool) {
	x, line, visible := p.Screen.Cursor()
	x, y = x-p.left, line-p.first(p.height)
	return x, y, visible && x >= 0 && x < p.width && y >= 0 && y < p.height
}

// Inside is the size of the pane's content at the last drawing.
func (p *Terminal) Inside() (cols, rows int) { return p.width, p.height }
