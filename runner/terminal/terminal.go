// Package terminal is a terminal emulator without a window: it keeps what the
// bytes of a pty would look like on a screen, and hands out lines.
//
// It exists because a person who watches an agent must see what the agent's
// programs drew, at the speed at which they draw it, and because those programs
// are not to be trusted. So the emulator never blocks, never fails, and keeps
// bounded memory whatever is written to it: a screen of packed 16-byte cells, a
// scrollback bounded in lines and in bytes, a bounded title and bounded answers.
// Nothing that it hands out carries an escape sequence of the program's own:
// [Terminal.Render] returns text styled with nothing but SGR, [Terminal.Text]
// plain text.
//
// It behaves as xterm does for what programs use in practice: cursor movement,
// erasing, inserting and deleting, scroll regions, the alternate screen, SGR
// with 256 and direct colours, line drawing, bracketed paste, mouse modes, and
// the usual queries. It ignores graphics, clipboard access and hyperlinks.
// Characters are grapheme clusters and as wide as x/ansi,
// which the rest of the interface measures with, says.
//
// [Observer] is the same emulator for a machine reader: the whole of a stream
// as a person would have seen it, within a limit. [Clean] is for text that is
// not a terminal's at all but still comes from an agent.
package terminal

import (
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

const (
	maxCols = 2000
	maxRows = 1000

	defaultHistory = 10_000
	// maxHistoryBytes bounds the scrollback of very wide or very colourful
	// lines; a plain line costs about one byte a character.
	maxHistoryBytes = 32 << 20

	// writeSlice bounds how long a large Write keeps readers waiting.
	writeSlice = 32 << 10

	// syncHold is how long a program may hold the repaint with mode 2026.
	syncHold = 150 * time.Millisecond
)

// Terminal is the emulator. All methods may be called from several goroutines.
type Terminal struct {
	mu sync.Mutex

	cols, rows int
	primary    *grid
	alternate  *grid // nil until a program asks for it
	grid       *grid // one of the two
	top, bot   int   // scroll region, inclusive rows
	cursor     cursor
	modes      modes
	tabs       []bool

	history  history
	evicted  uint64
	clusters clusters
	widths   runeTable

	parser  *ansi.Parser
	pending [4]byte // an incomplete UTF-8 character
	npend   int
	str     controlString

	// glyph is the last character printed, for REP; joinable says that the
	// cursor has not moved since, so that the next one may be part of it.
	glyph    uint32
	joinable bool

	title   string
	replies []byte

	changed   bool
	version   uint64
	shown     uint64 // version as of the start of a synchronized update
	syncSince time.Time
	now       func() time.Time

	// newline is the initial state of LNM, see WithLineFeedNewLine.
	newline bool
	scratch packed

	// onScroll, when set, receives lines instead of the scrollback.
	onScroll func(packed)
	// onLeaveAlt is called before the alternate screen goes away.
	onLeaveAlt func()
}

// Option configures a Terminal.
type Option func(*Terminal)

// WithHistory keeps at most lines of scrollback (10,000 by default; 0 keeps
// none). The scrollback is bounded to 32 MiB besides.
func WithHistory(lines int) Option {
	return func(t *Terminal) { t.history.maxLines = max(lines, 0) }
}

// WithLineFeedNewLine makes a line feed also return to the first column, for
// streams that did not pass a tty's output processing (ONLCR), such as a pipe.
func WithLineFeedNewLine() Option {
	return func(t *Terminal) { t.newline = true }
}

// New returns a terminal of cols×rows cells. Sizes out of range are brought to
// the nearest possible one (1×1 to 2000×1000).
func New(cols, rows int, opts ...Option) *Terminal {
	t := &Terminal{
		cols:    clampSize(cols, maxCols),
		rows:    clampSize(rows, maxRows),
		parser:  ansi.NewParser(),
		now:     time.Now,
		history: history{maxLines: defaultHistory, maxBytes: maxHistoryBytes},
	}
	for _, opt := range opts {
		opt(t)
	}
	// Control strings never reach the parser, see feedEscape.
	t.parser.SetDataSize(1)
	t.parser.SetHandler(ansi.Handler{HandleCsi: t.csi, HandleEsc: t.esc})
	t.primary = newGrid(t.cols, t.rows)
	t.grid = t.primary
	t.reset()
	return t
}

func clampSize(n, most int) int { return min(max(n, 1), most) }

// Write feeds output of a program to the terminal. It takes all of p and never
// fails or blocks; sequences may be split between calls at any byte.
func (t *Terminal) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), writeSlice)]
		p = p[len(part):]
		t.mu.Lock()
		t.feed(part)
		if t.changed {
			t.version++
			t.changed = false
		}
		t.mu.Unlock()
	}
	return n, nil
}

// reset puts everything but the scrollback into its initial state (RIS).
func (t *Terminal) reset() {
	t.leaveAlternate()
	t.primary.clearAll(cell{})
	t.primary.saved = cursor{}
	t.cursor = cursor{}
	t.top, t.bot = 0, t.rows-1
	t.modes = modes{autowrap: true, visible: true, newline: t.newline}
	t.tabs = defaultTabs(t.cols)
	t.glyph, t.joinable = 0, false
	t.title = ""
	t.changed = true
}

// SoftReset undoes what a program may have left on when it was killed: the
// alternate screen, a hidden cursor, mouse and paste modes, a scroll region,
// colours, line drawing, a half-written sequence. Text stays where it is.
func (t *Terminal) SoftReset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parser.Reset()
	t.str = controlString{data: t.str.data[:0]}
	t.npend = 0
	if t.grid == t.alternate {
		t.leaveAlternate()
		t.restoreCursor()
	}
	t.softReset()
	t.tabs = defaultTabs(t.cols)
	t.version++
}

// softReset resets modes, margins and pen.
func (t *Terminal) softReset() {
	t.modes = modes{autowrap: true, visible: true, newline: t.newline}
	t.top, t.bot = 0, t.rows-1
	x, y := t.cursor.x, t.cursor.y
	t.cursor = cursor{x: x, y: y}
	t.joinable = false
	t.changed = true
}

// Replies returns the answers to the program's queries (device attributes,
// cursor position, modes) since the last call, to be written to the pty. At
// most 4 KiB are kept; answers beyond are dropped whole.
func (t *Terminal) Replies() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.replies
	t.replies = nil
	return out
}

// Size returns the screen's size in cells.
func (t *Terminal) Size() (cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cols, t.rows
}

// Version changes whenever something visible changed. While a program holds
// the repaint (mode 2026), for at most 150 ms, it stands still.
func (t *Terminal) Version() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.modes.sync && t.now().Sub(t.syncSince) < syncHold {
		return t.shown
	}
	return t.version
}

// Lines returns the number of lines that can be rendered: scrollback and screen.
func (t *Terminal) Lines() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.history.n + t.rows
}

// Evicted returns how many lines were dropped from the start of the scrollback
// so far. Evicted()+i is a number that line i keeps for good, by which a view
// that is scrolled back stays on its text.
func (t *Terminal) Evicted() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.evicted
}

// Cursor returns the cursor's column and absolute line, and whether the
// program shows it.
func (t *Terminal) Cursor() (x, y int, visible bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cursor.x, t.history.n + t.cursor.y, t.modes.visible
}

// Title returns the title that the program set, cleaned and at most 256 bytes.
func (t *Terminal) Title() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.title
}

// AltScreen reports whether the program uses the alternate screen.
func (t *Terminal) AltScreen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.grid == t.alternate
}

// BracketedPaste reports whether the program wants pastes marked (mode 2004).
func (t *Terminal) BracketedPaste() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.modes.paste
}

// AppCursorKeys reports whether arrow keys are to be sent as SS3 (DECCKM).
func (t *Terminal) AppCursorKeys() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.modes.appCursor
}

// MouseMode returns which mouse events the program asked for.
func (t *Terminal) MouseMode() MouseMode {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.modes.mouse
}
