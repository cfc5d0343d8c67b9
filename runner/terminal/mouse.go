package terminal

import "fmt"

// MouseButton is a mouse button or wheel direction.
type MouseButton uint8

// The buttons, numbered as programs see them.
const (
	MouseLeft MouseButton = iota
	MouseMiddle
	MouseRight
	MouseNone // movement without a button
	MouseWheelUp
	MouseWheelDown
	MouseWheelLeft
	MouseWheelRight
)

// MouseEvent is something that the mouse did at a cell of the screen, counted
// from 0.
type MouseEvent struct {
	X, Y             int
	Button           MouseButton
	Release, Motion  bool
	Ctrl, Alt, Shift bool
}

// EncodeMouse returns the bytes that tell the program of e in SGR encoding, or
// nil if it did not ask for such events or not in that encoding.
func (t *Terminal) EncodeMouse(e MouseEvent) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.modes.mouseSGR || e.X < 0 || e.Y < 0 || e.X >= t.cols || e.Y >= t.rows || !t.modes.mouse.wants(e) {
		return nil
	}
	code := int(e.Button)
	if e.Button >= MouseWheelUp {
		code = 64 + int(e.Button-MouseWheelUp)
	}
	if e.Motion {
		code += 32
	}
	code += 4 * (Key{Ctrl: e.Ctrl, Alt: e.Alt, Shift: e.Shift}.modifiers() - 1)
	final := 'M'
	if e.Release {
		final = 'm'
	}
	return fmt.Appendf(nil, "\x1b[<%d;%d;%d%c", code, e.X+1, e.Y+1, final)
}

func (m MouseMode) wants(e MouseEvent) bool {
	switch {
	case m == MouseOff:
		return false
	case e.Motion && e.Button == MouseNone:
		return m == MouseMotion
	case e.Motion:
		return m >= MouseDrag
	case e.Release:
		return m >= MouseClick && e.Button < MouseNone
	}
	return e.Button != MouseNone
}
