package launch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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
	broken   []tasks.Problem       // problems that are shown, behind the tasks
	matched  map[*tasks.Task][]int // matched bytes of the ref; nil when nothing was typed
	selected int                   // among shown and then broken
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

// problem returns the selected problem, nil when a task is selected.
func (l *taskList) problem() *tasks.Problem {
	if i := l.selected - len(l.shown); i >= 0 && i < len(l.broken) {
		return &l.broken[i]
	}
	return nil
}

// filter shows the tasks that match, and keeps the selected task selected
// where it can.
func (l *taskList) filter(query string) {
	was := l.current()
	l.query, l.shown, l.broken, l.matched = query, nil, nil, nil
	if strings.TrimSpace(query) == "" {
		l.shown, l.broken = grouped(l.all), l.problems
	} else {
		l.match(query)
	}
	l.selected = 0
	for i, t := range l.shown {
		if was != nil && t.Ref == was.Ref && query == "" {
			l.selected = i
		}
	}
}

// grouped puts the tasks of a suite together, and within it those of a split,
// keeping the order otherwise.
func grouped(all []*tasks.Task) []*tasks.Task {
	first := map[string]int{} // of a split
	for i, t := range all {
		if _, seen := first[heading(t)]; !seen {
			first[heading(t)] = i
		}
	}
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *tasks.Task) int {
		return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(first[heading(a)], first[heading(b)]))
	})
	return list
}

// heading is what a task's group is called.
func heading(t *tasks.Task) string {
	if t.Split == "" {
		return t.Suite
	}
	return t.Suite + " " + t.Split
}

// match shows what has every typed word in its ref, title or keywords. Only
// when there is nothing like that, it shows what has the typed letters in
// their order, the best match first.
func (l *taskList) match(query string) {
	l.matched = map[*tasks.Task][]int{}
	typed := strings.Fields(strings.ToLower(query))
	texts := make([]string, len(l.all))
	for i, t := range l.all {
		texts[i] = t.Ref + " " + t.Title + " " + strings.Join(t.Keywords, " ")
		if hasAll(texts[i], typed) {
			l.shown = append(l.shown, t)
			l.matched[t] = hits(t.Ref, typed)
		}
	}
	for _, p := range l.problems {
		if hasAll(p.Ref, typed) {
			l.broken = append(l.broken, p)
		}
	}
	if len(l.shown)+len(l.broken) > 0 {
		// Those that are called so come before those that are about it.
		l.shown = grouped(l.shown)
		slices.SortStableFunc(l.shown, func(a, b *tasks.Task) int {
			return cmp.Compare(min(len(l.matched[b]), 1), min(len(l.matched[a]), 1))
		})
		return
	}
	for _, m := range fuzzy.Find(query, texts) {
		t := l.all[m.Index]
		l.shown = append(l.shown, t)
		l.matched[t] = m.MatchedIndexes
	}
}

func hasAll(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// hits returns the bytes of a ref that the words cover.
func hits(ref string, words []string) []int {
	covered := map[int]bool{}
	for _, w := range words {
		if at := strings.Index(strings.ToLower(ref), w); at >= 0 {
			for i := range len(w) {
				covered[at+i] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(covered))
}

func (l *taskList) move(n int) {
	l.selected = min(max(l.selected+n, 0), max(len(l.shown)+len(l.broken)-1, 0))
}

// row is a line of the list: the heading of a group, a task or a problem.
type row struct {
	heading string
	ready   int // of the heading's tasks, how many can run
	size    int // how many there are; 0 for a heading without a count
	task    *tasks.Task
	problem *tasks.Problem
	index   int // of the task or problem, as selected counts
}

func (r row) picks() bool { return r.task != nil || r.problem != nil }

func (l *taskList) rows() []row {
	var rows []row
	at := -1 // of the present group's heading
	for i, t := range l.shown {
		if l.matched == nil && (at < 0 || rows[at].heading != heading(t)) {
			if at >= 0 {
				rows = append(rows, row{})
			}
			at = len(rows)
			rows = append(rows, row{heading: heading(t)})
		}
		if at >= 0 {
			rows[at].size++
			if len(t.Missing) == 0 {
				rows[at].ready++
			}
		}
		rows = append(rows, row{task: t, index: i})
	}
	for i := range l.broken {
		if i == 0 {
			rows = append(rows, row{}, row{heading: "cannot be read"})
		}
		rows = append(rows, row{problem: &l.broken[i], index: len(l.shown) + i})
	}
	return rows
}

// draw draws the visible part of the list. The heading of the first group in
// sight stays in sight.
func (l *taskList) draw(t *theme.Theme, w, h int, focused bool) []string {
	switch {
	case !l.loaded:
		return []string{draw.Line(w, draw.S(t.Muted, "looking for tasks …"))}
	case len(l.shown)+len(l.broken) == 0 && l.query != "":
		return []string{draw.Line(w, draw.S(t.Muted, "no task matches")), draw.Line(w, draw.S(t.Faint, "esc shows all"))}
	}
	rows := l.rows()
	at := 0
	for i, r := range rows {
		if r.picks() && r.index == l.selected {
			at = i
		}
	}
	lead := at
	if at > 0 && l.matched == nil {
		lead-- // the line above is, or holds, the group's heading
	}
	l.top = max(min(l.top, lead, len(rows)-h), at-h+1, 0)
	lines := make([]string, 0, h)
	for i, r := range rows[l.top:min(l.top+h, len(rows))] {
		if i == 0 {
			r = l.sticky(rows)
		}
		lines = append(lines, l.line(t, r, w, focused))
	}
	return lines
}

// sticky is the row that is shown first: the heading of the group that the
// first row in sight belongs to.
func (l *taskList) sticky(rows []row) row {
	for i := l.top; i >= 0 && l.matched == nil && i < len(rows); i-- {
		if rows[i].heading != "" {
			return rows[i]
		}
	}
	return rows[l.top]
}

func (l *taskList) line(t *theme.Theme, r row, w int, focused bool) string {
	if !r.picks() {
		return headingLine(t, r, w)
	}
	mark, style, base := "  ", t.Text, theme.Plain
	missing := r.problem != nil || len(r.task.Missing) > 0
	if missing {
		style = t.Faint
	}
	if r.index == l.selected {
		mark, style = theme.Arrow+" ", t.Tone(theme.Accent).Bold()
		if focused {
			base = t.Select
		}
	}
	line := draw.Row{Base: base, Left: []draw.Span{draw.S(t.Tone(theme.Accent), mark)}}
	if r.problem != nil {
		line.Left = append(line.Left, draw.S(style, pane.Clean(r.problem.Ref)))
		line.Right = []draw.Span{draw.S(t.Tone(theme.Bad), theme.Cross+" ")}
		return line.Render(w)
	}
	name := pane.Clean(r.task.Name)
	if ref := pane.Clean(r.task.Ref); l.matched != nil && draw.Width(ref)+5 <= w {
		name = ref // where there is room; else what tells tasks apart
	}
	line.Left = append(line.Left, l.highlight(t, r.task, name, style)...)
	switch metric := pane.Clean(r.task.Metric.Name); {
	case missing:
		line.Right = []draw.Span{draw.S(t.Tone(theme.Warn), theme.Cross+" ")}
	case metric != "" && draw.Width(name)+draw.Width(metric)+6 <= w:
		line.Right = []draw.Span{draw.S(t.Muted, metric+" "+pane.Direction(r.task.Metric.HigherIsBetter)+" ")}
	}
	return line.Render(w)
}

// headingLine is a group's name and, where some of it cannot run, how many
// can.
func headingLine(t *theme.Theme, r row, w int) string {
	name, count := pane.Clean(r.heading), ""
	switch {
	case r.size > r.ready:
		count = fmt.Sprintf("%d of %d ready ", r.ready, r.size)
		if draw.Width(name)+draw.Width(count)+2 > w {
			count = fmt.Sprintf("%d/%d ", r.ready, r.size)
		}
	case r.size > 9:
		count = fmt.Sprintf("%d ", r.size)
	}
	return draw.Row{
		Left:  []draw.Span{draw.S(t.Muted.Bold(), name)},
		Right: []draw.Span{draw.S(t.Faint, count)},
	}.Render(w)
}

// highlight marks the letters of a ref, or of the name at its end, that
// matched.
func (l *taskList) highlight(t *theme.Theme, task *tasks.Task, name string, style theme.Style) []draw.Span {
	hits := l.matched[task]
	before := len(task.Ref) - len(name) // bytes of the ref that are not shown
	if len(hits) == 0 || !strings.HasSuffix(task.Ref, name) {
		return []draw.Span{draw.S(style, name)}
	}
	var spans []draw.Span
	from := 0
	for _, at := range hits {
		at -= before
		if at < from || at >= len(name) || name[at] >= 0x80 {
			continue
		}
		spans = append(spans, draw.S(style, name[from:at]), draw.S(t.Tone(theme.Warn).Bold().Underline(), name[at:at+1]))
		from = at + 1
	}
	return append(spans, draw.S(style, name[from:]))
}

// pick selects the task or problem drawn at a line of the list.
func (l *taskList) pick(line int) bool {
	rows := l.rows()
	if i := l.top + line; i >= 0 && i < len(rows) && rows[i].picks() && (line > 0 || l.matched != nil || i == 0) {
		l.selected = rows[i].index
		return true
	}
	return false
}
