package launch

import (
	"fmt"
	"strconv"
	"strings"

	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/theme"
)

// limits is the part in which the budget and the seed are set: by typing, or
// with the arrows.
type limits struct {
	task   tasks.Budget      // the task's own
	typed  map[string]string // by name, as typed; what is not there is the default
	thinks bool              // the agent has a model, which costs tokens
	picked int               // line
}

// seedLine is the name of the last line, which is no limit.
const seedLine = "seed"

// defaultSeed is the command line's own.
const defaultSeed = 1

// lines is the dimensions that the agent spends; the seed comes after them.
func (l *limits) lines() []*dimension {
	var all []*dimension
	for i := range dimensions {
		if d := &dimensions[i]; !d.model || l.thinks {
			all = append(all, d)
		}
	}
	return all
}

// current is the picked line: its name, and its dimension unless it is the
// seed.
func (l *limits) current() (name string, d *dimension) {
	lines := l.lines()
	if l.picked < len(lines) {
		d = lines[l.picked]
		return d.name, d
	}
	return seedLine, nil
}

func (l *limits) pick(line int) { l.picked = min(max(line, 0), len(l.lines())) }

func (l *limits) set(name, text string) {
	if l.typed == nil {
		l.typed = map[string]string{}
	}
	l.typed[name] = text
}

// accepts reports whether a character belongs into the picked line.
func (l *limits) accepts(s string) bool {
	if len(s) != 1 {
		return false
	}
	_, d := l.current()
	return s[0] >= '0' && s[0] <= '9' || d != nil && strings.Contains(d.keys, s)
}

func (l *limits) write(s string) {
	name, _ := l.current()
	text := strings.TrimPrefix(l.typed[name], noLimit)
	if len(text) < 12 {
		l.set(name, text+s)
	}
}

func (l *limits) erase() {
	name, _ := l.current()
	text := strings.TrimPrefix(l.typed[name], noLimit)
	l.set(name, text[:max(len(text)-1, 0)])
}

// turn goes to the next or the previous of the usual values.
func (l *limits) turn(n int) {
	name, d := l.current()
	if d == nil {
		seed, _ := l.seed() // what cannot be read starts at the default
		l.set(name, strconv.FormatInt(max(seed+int64(n), 0), 10))
		return
	}
	current, err := d.read(l.typed[name], l.task)
	if err != nil {
		current = d.get(l.task)
	}
	l.set(name, d.turn(n, current))
}

// budget is the budget as set, with the task's own where nothing is.
func (l *limits) budget() (tasks.Budget, error) {
	b := l.task
	for _, d := range l.lines() {
		v, err := d.read(l.typed[d.name], l.task)
		if err != nil {
			return b, err
		}
		d.set(&b, v)
	}
	return b, nil
}

// seed is the seed as set.
func (l *limits) seed() (int64, error) {
	text := l.typed[seedLine]
	if text == "" {
		return defaultSeed, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return defaultSeed, fmt.Errorf("%q is not a seed", text)
	}
	return n, nil
}

func (l *limits) draw(t *theme.Theme, w, h int, focused bool) []string {
	var rows []string
	add := func(name, value, note string) {
		picked := len(rows) == l.picked && focused
		mark, style, base := "  ", t.Text, theme.Plain
		if picked {
			mark, style, base = theme.Arrow+" ", t.Strong, t.Select
		}
		arrows := ""
		if picked {
			arrows = "←/→ "
		}
		// Where there is little room the value says most.
		if 9+draw.Width(value)+2+draw.Width(note+arrows) > w {
			note = ""
		}
		if 9+draw.Width(value)+2+draw.Width(arrows) > w {
			arrows = ""
		}
		row := draw.Row{Base: base, Left: []draw.Span{
			draw.S(t.Tone(theme.Accent), mark), draw.S(t.Muted, fmt.Sprintf("%-7s", name)), draw.S(style, value),
		}, Right: []draw.Span{draw.S(t.Faint, note+" "), draw.S(t.Tone(theme.Accent), arrows)}}
		rows = append(rows, row.Render(w))
	}
	for _, d := range l.lines() {
		value, note := d.words(l.typed[d.name], l.task)
		add(d.name, value, note)
	}
	if text := l.typed[seedLine]; text != "" {
		add(seedLine, text, "")
	} else {
		add(seedLine, strconv.Itoa(defaultSeed), "default")
	}
	if _, err := l.budget(); err != nil {
		rows = append(rows, wrapped(t, theme.Bad, theme.Cross, err.Error(), w)...)
	}
	return rows[:min(len(rows), h)]
}
