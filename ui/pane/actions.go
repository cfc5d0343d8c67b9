package pane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"proctor/agents"
	"proctor/runner/event"
	"proctor/runner/terminal"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// Actions lists what the agent did and said and what it was told. One of its
// entries is selected; the newest as long as nobody moves.
type Actions struct {
	list   []item
	starts []int // first line of each item
	total  int   // lines
	stamp  uint64
	width  int

	selected int
	held     bool
	top      int
	height   int
	gen      uint64
	query    string
}

// Name names the pane.
func (p *Actions) Name() string { return "Actions" }

// Pad is one column.
func (p *Actions) Pad() int { return 1 }

// Stamp tells when it changed.
func (p *Actions) Stamp(f Frame) Stamp {
	s := Stamp{State: f.Version, Own: p.gen}
	if f.State.Phase == event.Running && f.State.Current() != nil {
		s.Clock = f.Spin
	}
	return s
}

// Note counts the actions.
func (p *Actions) Note(f Frame) []draw.Span {
	if p.held {
		return []draw.Span{draw.S(f.Theme.Tone(theme.Warn), "G follows")}
	}
	return nil
}

// Foot says which entry is selected.
func (p *Actions) Foot(f Frame) []draw.Span {
	switch {
	case len(p.list) == 0:
		return nil
	case p.held:
		return []draw.Span{draw.S(f.Theme.Faint, fmt.Sprintf("%d of %d", p.selected+1, len(p.list)))}
	}
	return []draw.Span{draw.S(f.Theme.Faint, Plural(f.State.Steps, "step"))}
}

// arrange brings the list up to date.
func (p *Actions) arrange(f Frame, w int) {
	if p.stamp == f.Version && p.width == w && p.starts != nil {
		return
	}
	dropped := 0
	if n := len(p.list); n > 0 && p.held { // stay on the same entry when old ones go
		at := p.list[min(p.selected, n-1)].at
		defer func() {
			if i := sort.Search(len(p.list), func(i int) bool { return !p.list[i].at.Before(at) }); i < len(p.list) {
				p.selected = i
			}
		}()
	}
	p.list = items(f.State, p.list)
	p.starts = p.starts[:0]
	for _, it := range p.list {
		p.starts = append(p.starts, dropped)
		dropped += it.lines(w)
	}
	p.total, p.stamp, p.width = dropped, f.Version, w
}

// Body draws the visible entries.
func (p *Actions) Body(f Frame, w, h int, focused bool) []string {
	if len(f.State.Actions)+len(f.State.Feed)+len(f.State.Hints) == 0 && f.State.Ask == nil {
		p.list, p.starts = p.list[:0], nil
		return empty(f.Theme, w, h, "nothing done yet", "what the agent does and says appears here")
	}
	p.arrange(f, w)
	p.height = h
	if !p.held {
		p.selected = len(p.list) - 1
		p.top = max(p.total-h, 0)
	}
	p.selected = min(max(p.selected, 0), len(p.list)-1)
	p.reveal()
	first := sort.SearchInts(p.starts, p.top+1) - 1
	var lines []string
	for i := first; i < len(p.list) && len(lines) < h+2; i++ {
		it := p.list[i]
		lines = append(lines, p.draw(f, it, p.before(i), w, focused && i == p.selected)...)
	}
	lines = lines[min(p.top-p.starts[first], len(lines)):]
	return lines[:min(h, len(lines))]
}

// reveal scrolls so that the selected entry is in sight.
func (p *Actions) reveal() {
	from := p.starts[p.selected]
	to := p.total
	if p.selected+1 < len(p.starts) {
		to = p.starts[p.selected+1]
	}
	p.top = min(p.top, from)
	p.top = max(p.top, to-p.height, 0)
}

// before returns the action before an entry, nil if there is none.
func (p *Actions) before(i int) *event.ActionState {
	for i--; i >= 0; i-- {
		if a := p.list[i].action; a != nil {
			return a
		}
	}
	return nil
}

// draw draws one entry as as many lines as item.lines says.
func (p *Actions) draw(f Frame, it item, before *event.ActionState, w int, selected bool) []string {
	t := f.Theme
	base := theme.Plain
	if selected {
		base = t.Select
	}
	clock := draw.S(t.Faint, fmt.Sprintf("%5s ", since(it.at.Sub(f.State.Started))))
	row := draw.Row{Base: base, Left: []draw.Span{clock}}
	var rest string
	style := t.Text
	switch {
	case it.action != nil:
		mark, title, right := p.action(f, it.action, w)
		if room := w - 9 - spansWidth(right); before != nil && draw.Width(title.Text) > room {
			title.Text = elide(title.Text, Clean(before.Title), room)
		}
		if it.lines(w) > 1 {
			parts := draw.Wrap(Clean(it.action.Title), w-16)
			title.Text, rest = parts[0], strings.Join(parts[1:], " ")
		}
		row.Left, row.Right = append(row.Left, mark, title), right
		style = t.Muted
	case it.hint != nil:
		style = t.Tone(theme.Hint)
		row.Left = append(row.Left, draw.S(style.Bold(), theme.Flag+" "), draw.S(style, it.text()))
		row.Right = []draw.Span{delivery(t, it.hint.How)}
		rest = draw.OneLine(terminal.Clean(it.hint.Reply))
		style = t.Muted
	case it.ask != nil:
		style = t.Tone(theme.Hint).Bold()
		row.Left = append(row.Left, draw.S(style, theme.Question+" "), draw.S(style, it.text()))
	case it.feed != nil:
		var symbol string
		symbol, style = voice(t, it.feed)
		text := it.text()
		if it.lines(w) > 1 {
			parts := draw.Wrap(text, w-8)
			text = parts[0]
			rest = strings.Join(parts[1:], " ")
		}
		row.Left = append(row.Left, draw.S(style, symbol+" "), draw.S(style, text))
	}
	if p.query != "" && contains(it.text(), p.query) {
		row.Left[len(row.Left)-1].Style = t.Found
	}
	lines := []string{row.Render(w)}
	if it.lines(w) > 1 {
		lead := "        "
		if it.hint != nil {
			lead = "      " + theme.Say + " "
		}
		lines = append(lines, draw.Row{Base: base, Left: []draw.Span{draw.S(style, lead), draw.S(style, rest)}}.Render(w))
	}
	return lines
}

// action returns the mark, the title and what is at the right of an action:
// how long it took where there is room, and what came of it.
func (p *Actions) action(f Frame, a *event.ActionState, w int) (mark, title draw.Span, right []draw.Span) {
	t := f.Theme
	mark, title = draw.S(t.Muted, theme.ActionKind(a.Kind)+" "), draw.S(t.Text, Clean(a.Title))
	result := draw.S(t.Text, "")
	failed := func(how string) {
		mark, result = draw.S(t.Tone(theme.Bad), theme.Cross+" "), draw.S(t.Tone(theme.Bad), how)
	}
	switch o := a.Finished; {
	case a.Error != "":
		failed("error")
	case o == nil && f.State.Phase.Over():
		result = draw.S(t.Tone(theme.Warn), "unfinished")
	case o == nil && f.State.Phase != event.Running:
		mark, result = draw.S(t.Tone(theme.Warn), theme.PauseBars+" "), draw.S(t.Muted, Took(max(f.Work.Seconds()-a.Work, 0)))
	case o == nil:
		mark = draw.S(t.Tone(theme.Accent).Bold(), theme.Spinner(f.Spin)+" ")
		title.Style = t.Strong
		result = draw.S(t.Tone(theme.Accent), Took(max(f.Work.Seconds()-a.Work, 0)))
	case o.Denied:
		failed("denied")
	case o.TimedOut:
		failed("timed out")
	case o.ExitCode != 0:
		failed(fmt.Sprintf("exit %d", o.ExitCode))
	case a.Metric != nil && f.State.Best != nil && *a.Metric == *f.State.Best:
		result = draw.S(t.Tone(theme.Accent).Bold(), theme.Star+Value(*a.Metric))
	case a.Metric != nil:
		result = draw.S(t.Muted, Value(*a.Metric))
	}
	if o := a.Finished; o != nil && o.Instead != "" {
		mark = draw.S(t.Tone(theme.Hint), theme.Flag+" ") // a person's, not the agent's
	}
	if w < 46 {
		return mark, title, []draw.Span{draw.S(t.Text, " "), result}
	}
	took := ""
	if a.Finished != nil {
		took = Took(a.Finished.Seconds)
	}
	right = []draw.Span{draw.S(t.Faint, fmt.Sprintf(" %6s", took)), draw.S(t.Text, draw.Spaces(10-draw.Width(result.Text))), result}
	return mark, title, right
}

// elide leaves out the words that a title begins with like the one before it,
// so that what differs is in sight; the name of an option stays with its value
// where there is room.
func elide(title, before string, room int) string {
	cut, word := 0, 0
	for i := 0; i < len(title) && i < len(before) && title[i] == before[i]; i++ {
		if title[i] == ' ' {
			cut, word = i+1, cut
		}
	}
	if cut < 8 {
		return title
	}
	if title[word] == '-' && draw.Width(title[word:])+2 <= room {
		cut = word
	}
	return theme.More + " " + title[cut:]
}

// since writes wall time since the run's start in five cells: 0:47, 3h12.
func since(d time.Duration) string {
	if d < time.Hour {
		return Clock(d)
	}
	return fmt.Sprintf("%dh%02d", d/time.Hour, d/time.Minute%60)
}

func spansWidth(spans []draw.Span) int {
	n := 0
	for _, s := range spans {
		n += draw.Width(s.Text)
	}
	return n
}

func delivery(t *theme.Theme, how agents.Delivery) draw.Span {
	if how == "" {
		return draw.S(t.Tone(theme.Warn), "on its way")
	}
	return draw.S(t.Tone(theme.Good), Clean(string(how)))
}

// voice is the symbol and the style of something said.
func voice(t *theme.Theme, i *event.FeedItem) (string, theme.Style) {
	switch {
	case i.Level == "error":
		return theme.Cross, t.Tone(theme.Bad)
	case i.Level == "warn":
		return theme.Warning, t.Tone(theme.Warn)
	case i.Type == event.TypeMessage:
		return theme.Say, t.Tone(theme.Info)
	case i.Type == event.TypeThought:
		return "∴", t.Muted.Italic()
	}
	return theme.Bullet, t.Muted
}

// Move moves the selection.
func (p *Actions) Move(n int) {
	if len(p.list) == 0 {
		return
	}
	p.gen++
	p.selected = min(max(p.selected+n, 0), len(p.list)-1)
	p.held = p.selected < len(p.list)-1
}

// Page moves it by a screen.
func (p *Actions) Page(screens int) { p.Move(screens * max(p.height-1, 1)) }

// Ends moves it to the first or to the last entry.
func (p *Actions) Ends(end int) { p.Move(end * len(p.list)) }

// Pick selects the entry drawn at a line of the pane and reports whether
// there is one.
func (p *Actions) Pick(line int) bool {
	if i := sort.SearchInts(p.starts, p.top+line+1) - 1; i >= 0 && p.top+line < p.total {
		p.Move(i - p.selected)
		return true
	}
	return false
}

// Find selects the next entry that matches.
func (p *Actions) Find(f Frame, query string, direction int) bool {
	p.gen++
	p.query = query
	if query == "" || len(p.list) == 0 {
		return false
	}
	n := len(p.list)
	for step := range n {
		i := ((p.selected+direction*(step+1))%n + n) % n
		if it := p.list[i]; contains(it.text(), query) || it.action != nil && it.action.Finished != nil && contains(it.action.Finished.Text, query) {
			p.Move(i - p.selected)
			return true
		}
	}
	return false
}

// A Detail is one entry in full, cleaned for the screen.
type Detail struct {
	Title string
	Facts []string // short, such as "exit 0" and "0.4s"
	Parts []Part
}

// A Part is a section of a Detail.
type Part struct{ Heading, Text string }

// Selected returns the selected entry in full.
func (p *Actions) Selected(f Frame) (Detail, bool) {
	if p.selected < 0 || p.selected >= len(p.list) {
		return Detail{}, false
	}
	it := p.list[p.selected]
	d := Detail{Title: it.text(), Facts: []string{it.at.In(f.Now.Location()).Format("15:04:05")}}
	switch {
	case it.action != nil:
		d.action(it.action)
	case it.hint != nil:
		d.Facts = append(d.Facts, "hint by "+Clean(it.hint.Author))
		d.Parts = []Part{{"Hint", terminal.Clean(it.hint.Text)}, {"Reply", terminal.Clean(it.hint.Reply)}}
		if it.hint.How != "" {
			d.Facts = append(d.Facts, Clean(string(it.hint.How)))
		}
	case it.feed != nil:
		d.Facts = append(d.Facts, string(it.feed.Type))
		d.Parts = []Part{{"", terminal.Clean(it.feed.Text)}}
	case it.ask != nil:
		d.Parts = []Part{{"", terminal.Clean(it.ask.Detail)}}
	}
	return d, true
}

func (d *Detail) action(a *event.ActionState) {
	d.Facts = append(d.Facts, fmt.Sprintf("step %d", a.Step), Clean(string(a.Kind)), "at "+Clock(time.Duration(a.Work*1e9)))
	input := prettyInput(a.Input)
	if len(a.Input) == 0 {
		input = terminal.Clean(a.Title)
	}
	d.Parts = append(d.Parts, Part{"Input", input})
	switch o := a.Finished; {
	case a.Error != "":
		d.Facts = append(d.Facts, "error")
		d.Parts = append(d.Parts, Part{"Error", terminal.Clean(a.Error)})
	case o == nil:
		d.Facts = append(d.Facts, "not finished")
	default:
		d.Facts = append(d.Facts, fmt.Sprintf("exit %d", o.ExitCode), Took(o.Seconds))
		switch {
		case o.Denied:
			d.Facts = append(d.Facts, "denied by a person")
		case o.Instead != "":
			d.Facts = append(d.Facts, "changed by a person")
		}
		text := terminal.Clean(o.Text)
		if strings.TrimSpace(text) == "" {
			text = "(no output)"
		}
		d.Parts = append(d.Parts, Part{"Observation", text})
	}
	if a.GPU != nil {
		if use := a.GPU.String(); use != "" {
			d.Facts = append(d.Facts, Clean(use))
		}
	}
}

// prettyInput shows an action's input: a lone command as itself, anything
// else as indented JSON.
func prettyInput(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 1 {
		for _, v := range fields {
			if s, ok := v.(string); ok {
				return terminal.Clean(s)
			}
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return terminal.Clean(string(raw))
	}
	return terminal.Clean(b.String())
}
