package pane

import (
	"time"

	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/ui/draw"
)

// An item is an entry of the actions pane: an action, a hint, or something
// that was said, in the order in which they happened.
type item struct {
	at     time.Time
	action *event.ActionState
	hint   *event.HintState
	feed   *event.FeedItem
	ask    *event.AskState
}

// items merges what a state holds; each of its lists is in order already.
func items(s *event.State, into []item) []item {
	into = into[:0]
	a, f, h := 0, 0, 0
	for a < len(s.Actions) || f < len(s.Feed) || h < len(s.Hints) {
		next := item{}
		pick := func(at time.Time) bool { return next.at.IsZero() || at.Before(next.at) }
		if a < len(s.Actions) {
			next = item{at: s.Actions[a].At, action: &s.Actions[a]}
		}
		if f < len(s.Feed) && pick(s.Feed[f].At) {
			next = item{at: s.Feed[f].At, feed: &s.Feed[f]}
		}
		if h < len(s.Hints) && pick(s.Hints[h].At) {
			next = item{at: s.Hints[h].At, hint: &s.Hints[h]}
		}
		switch {
		case next.action != nil:
			a++
		case next.feed != nil:
			f++
		default:
			h++
		}
		into = append(into, next)
	}
	if s.Ask != nil {
		into = append(into, item{at: s.Ask.At, ask: s.Ask})
	}
	return into
}

// text is what the item says, clean and on one line.
func (i item) text() string {
	var s string
	switch {
	case i.action != nil:
		s = i.action.Title
	case i.hint != nil:
		s = i.hint.Text
	case i.feed != nil:
		s = i.feed.Text
	case i.ask != nil:
		s = i.ask.Text
		if i.ask.Kind == "approve" && i.ask.Detail != "" {
			s = i.ask.Detail // what it is about says more
		}
	}
	if len(s) > 600 {
		s = s[:600]
	}
	return draw.OneLine(terminal.Clean(s))
}

// lines is how many lines the item takes at a width: what was said may take
// two, as may the action that is going on; a hint with a reply has one more
// for it.
func (i item) lines(w int) int {
	switch {
	case i.action != nil && i.action.Finished == nil && i.action.Error == "" && w > 24 && len(i.action.Title) > w-16:
		return 2
	case i.hint != nil && i.hint.Reply != "":
		return 2
	case i.feed != nil && w > 12 && len(i.feed.Text) > w-8:
		return 2
	}
	return 1
}
