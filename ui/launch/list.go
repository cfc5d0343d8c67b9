package launch

import (
	"sort"
	"strings"

	"github.com/sahilm/fuzzy"

	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// taskList is the tasks by suite, or those that match what was typed.
type taskList struct {
	loaded   bool
	all      []*tasks.Task
	problems []tasks.Problem
	query    string

	shown    []*tasks.Task
	matched  map[*tasks.Task][]int // matched bytes of the ref
	selected int
	top      int
}

func (l *taskList) set(all []*tasks.Task, problems []tasks.Problem) {
	l.loaded, l.all, l.problems = true, all, problems
	l.filter(l.query)
}

// current returns the selected task, nil when there is none.
func (l *taskList) current() *tasks.Task {
	if l.selected < 0 || l.selected >= len(l.shown) {
		return nil
	}
	return l.shown[l.selected]
}

// filter shows the tasks that match, the best match first, and keeps the
// selected task selected where it can.
func (l *taskList) filter(query string) {
	was := l.current()
	l.query, l.shown, l.matched = query, nil, nil
	if strings.TrimSpace(query) == "" {
		l.shown = append(l.shown, l.all...)
		sort.SliceStable(l.shown, func(i, j int) bool { return l.shown[i].Suite < l.shown[j].Suite })
	} else {
		l.match(query)
	}
	l.selected = 0
	for i, t := range l.shown {
		if t == was && query == "" {
			l.selected = i
		}
	}
}

func (l *taskList) match(query string) {
	words := make([]string, len(l.all))
	for i, t := range l.all {
		words[i] = t.Ref + " " + t.Title + " " + strings.Join(t.Keywords, " ")
	}
	l.matched = map[*tasks.Task][]int{}
	for _, m := range fuzzy.Find(query, words) {
		t := l.all[m.Index]
		l.shown = append(l.shown, t)
		l.matched[t] = m.MatchedIndexes
	}
}

func (l *taskList) move(n int) {
	l.selected = min(max(l.selected+n, 0), max(len(l.shown)-1, 0))
}

// row is a line of the list: the heading of a suite, or a task.
type row struct {
	heading string
	task    *tasks.Task
	index   int
}

func (l *taskList) rows() []row {
	var rows []row
	suite := ""
	for i, t := range l.shown {
		if l.matched == nil && t.Suite != suite {
			if suite != "" {
				rows = append(rows, row{})
			}
			suite = t.Suite
			rows = append(rows, row{heading: suite})
		}
		rows = append(rows, row{task: t, index: i})
	}
	for i, p := range l.problems {
		if i == 0 {
			rows = append(rows, row{}, row{heading: "cannot be offered"})
		}
		rows = append(rows, row{heading: theme.Cross + " " + p.Ref})
	}
	return rows
}

// draw draws the visible part of the list.
func (l *taskList) draw(t *theme.Theme, w, h int, focused bool) []string {
	switch {
	case !l.loaded:
		return []string{draw.Line(w, draw.S(t.Muted, "looking for tasks …"))}
	case len(l.shown) == 0 && l.query != "":
		return []string{draw.Line(w, draw.S(t.Muted, "no task matches")), draw.Line(w, draw.S(t.Faint, "esc shows all"))}
	}
	rows := l.rows()
	at := 0
	for i, r := range rows {
		if r.task != nil && r.index == l.selected {
			at = i
		}
	}
	lead := at
	if at > 0 && rows[at-1].task == nil {
		lead-- // keep the suite's name in sight
	}
	l.top = max(min(l.top, lead), at-h+1, 0)
	lines := make([]string, 0, h)
	for _, r := range rows[l.top:min(l.top+h, len(rows))] {
		lines = append(lines, l.line(t, r, w, focused))
	}
	return lines
}

func (l *taskList) line(t *theme.Theme, r row, w int, focused bool) string {
	if r.task == nil {
		return draw.Line(w, draw.S(t.Muted, pane.Clean(r.heading)))
	}
	task := r.task
	name := pane.Clean(task.Name)
	if l.matched != nil {
		name = pane.Clean(task.Ref)
	}
	mark, style, base := "  ", t.Text, theme.Plain
	if r.index == l.selected {
		mark, style = theme.Arrow+" ", t.Tone(theme.Accent).Bold()
		if focused {
			base = t.Select
		}
	}
	if len(task.Missing) > 0 {
		style = t.Faint
	}
	line := draw.Row{Base: base, Left: []draw.Span{draw.S(t.Tone(theme.Accent), mark)}}
	line.Left = append(line.Left, l.highlight(t, task, name, style)...)
	switch {
	case len(task.Missing) > 0:
		line.Right = []draw.Span{draw.S(t.Tone(theme.Warn), "needs data ")}
	case task.Metric.Name != "":
		line.Right = []draw.Span{draw.S(t.Muted, pane.Clean(task.Metric.Name)+" "+pane.Direction(task.Metric.HigherIsBetter)+" ")}
	}
	return line.Render(w)
}

// highlight marks the letters of a ref that matched.
func (l *taskList) highlight(t *theme.Theme, task *tasks.Task, name string, style theme.Style) []draw.Span {
	hits := l.matched[task]
	if len(hits) == 0 || name != task.Ref {
		return []draw.Span{draw.S(style, name)}
	}
	var spans []draw.Span
	from := 0
	for _, at := range hits {
		if at < from || at >= len(name) || name[at] >= 0x80 {
			continue
		}
		spans = append(spans, draw.S(style, name[from:at]), draw.S(t.Tone(theme.Warn).Bold().Underline(), name[at:at+1]))
		from = at + 1
	}
	return append(spans, draw.S(style, name[from:]))
}

// pick selects the task drawn at a line of the list.
func (l *taskList) pick(line int) bool {
	rows := l.rows()
	if i := l.top + line; i >= 0 && i < len(rows) && rows[i].task != nil {
		l.selected = rows[i].index
		return true
	}
	return false
}
