// Package pane is the parts of the console: plan, actions, terminal, score,
// machine and budget, and the charts they are made of. A pane is passive: it
// is handed a Frame and draws it; what it keeps is only where a person has
// scrolled to and what was found.
package pane

import (
	"time"

	"proctor/runner/event"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// A Frame is what panes draw: a run at a moment.
type Frame struct {
	State   *event.State
	Version uint64    // changes whenever State does
	Now     time.Time // the moment shown; in a replay the recorded one
	Work    time.Duration
	Theme   *theme.Theme
	Spin    int64 // counts quarter seconds while an action runs
	Ticking bool  // the clock runs
}

// second is a stamp for panes that show the clock.
func (f Frame) second() int64 {
	if !f.Ticking {
		return 0
	}
	return f.Now.UnixMilli() / 250
}

// A Pane is one part of the console.
type Pane interface {
	Name() string
	Pad() int // empty columns beside its content
	// Stamp changes whenever Body, Note or Foot would.
	Stamp(f Frame) Stamp
	// Body draws the content: at most h lines of w cells.
	Body(f Frame, w, h int, focused bool) []string
	// Note is what stands at the right of the title, Foot in the lower border.
	Note(f Frame) []draw.Span
	Foot(f Frame) []draw.Span

	// Move scrolls by lines, Page by screens, and Ends to the start (-1) or to
	// the end (+1), from where the pane follows.
	Move(lines int)
	Page(screens int)
	Ends(end int)
	// Find goes to the next match in a direction and reports whether there is
	// one; an empty query ends the search.
	Find(f Frame, query string, direction int) bool
}

// A Stamp is compared to know whether a pane must be drawn anew.
type Stamp struct {
	State, Own uint64
	Clock      int64
}

// still is for panes that always show everything.
type still struct{}

func (still) Move(int)                     {}
func (still) Page(int)                     {}
func (still) Ends(int)                     {}
func (still) Find(Frame, string, int) bool { return false }
func (still) Foot(Frame) []draw.Span       { return nil }
func (still) Pad() int                     { return 1 }
