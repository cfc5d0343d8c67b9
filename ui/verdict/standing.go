package verdict

import (
	"math"
	"sort"

	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// A post is something that stands at a score on the bar.
type post struct {
	score  float64
	name   string
	symbol string
	style  theme.Style
	rank   int // more important ones keep their label when room is short
}

// posts lists what a verdict's score is compared with.
func posts(t *theme.Theme, v *tasks.Verdict) []post {
	var list []post
	add := func(s *float64, name, symbol string, style theme.Style, rank int) {
		if s != nil && !math.IsNaN(*s) && !math.IsInf(*s, 0) {
			list = append(list, post{*s, name, symbol, style, rank})
		}
	}
	add(v.Baseline, "baseline", "┃", t.Muted.Bold(), 3)
	add(v.Thresholds.Median, "median", "┃", t.Muted, 1)
	add(v.Thresholds.Bronze, "bronze", "┃", t.Bronze.Bold(), 2)
	add(v.Thresholds.Silver, "silver", "┃", t.Silver.Bold(), 2)
	add(v.Thresholds.Gold, "gold", "┃", t.Gold.Bold(), 4)
	for _, r := range v.Reference {
		add(&r.Score, pane.Clean(r.Name), theme.Diamond, t.Tone(theme.Info), 0)
	}
	return list
}

// A ruler maps scores to cells, the better to the right. What is far off the
// scale sticks to its end.
type ruler struct {
	worst, best float64
	width       int
}

func (r ruler) at(score float64) int {
	f := (score - r.worst) / (r.best - r.worst)
	return int(min(max(math.Round(f*float64(r.width-1)), 0), float64(r.width-1)))
}

// off reports whether a score lies beyond the ruler.
func (r ruler) off(score float64) bool {
	return score < min(r.worst, r.best) || score > max(r.worst, r.best)
}

// newRuler chooses the scale: baseline and thresholds always, the run's own
// score and the references as far as they do not squash all others.
func newRuler(v *tasks.Verdict, list []post, width int) ruler {
	low, high := math.Inf(1), math.Inf(-1)
	take := func(s float64) { low, high = min(low, s), max(high, s) }
	for _, p := range list {
		if p.rank > 0 {
			take(p.score)
		}
	}
	span := high - low
	known := span > 0 && !math.IsInf(span, 0)
	if v.Score != nil {
		s := *v.Score
		if known {
			s = min(max(s, low-span), high+span)
		}
		take(s)
	}
	for _, p := range list {
		if !known || p.score > low-span/2 && p.score < high+span/2 {
			take(p.score)
		}
	}
	if math.IsInf(low, 0) {
		low, high = 0, 1
	}
	if high == low {
		high, low = high+max(math.Abs(high)*0.1, 1e-6), low-max(math.Abs(low)*0.1, 1e-6)
	}
	pad := (high - low) * 0.03
	if v.HigherIsBetter {
		return ruler{low - pad, high + pad, width}
	}
	return ruler{high + pad, low - pad, width}
}

// bar draws the score against baseline, thresholds and references on one bar
// of w cells: the run's own score above it, names below it in as many rows as
// there are.
func bar(t *theme.Theme, v *tasks.Verdict, w, rows int) []string {
	list := posts(t, v)
	r := newRuler(v, list, w)
	var lines []string
	if v.Score != nil {
		lines = append(lines, above(t, v, r)...)
	}
	lines = append(lines, axis(t, v, list, r))
	return append(lines, below(t, list, r, rows)...)
}

func above(t *theme.Theme, v *tasks.Verdict, r ruler) []string {
	style, medal := t.Medal(v.Medal)
	if !medal {
		style = t.Tone(theme.Accent)
	}
	x := r.at(*v.Score)
	label := "this run " + pane.Unit(*v.Score, v.Unit)
	from := min(max(x-draw.Width(label)/2, 0), max(r.width-draw.Width(label), 0))
	return []string{
		draw.Line(r.width, draw.S(t.Text, draw.Spaces(from)), draw.S(style.Bold(), label)),
		draw.Line(r.width, draw.S(t.Text, draw.Spaces(x)), draw.S(style.Bold(), "▼")),
	}
}

// axis is the bar: heavy up to the run's score, light beyond, in the colour
// of the medal that a score there gets, with a post for each comparison.
func axis(t *theme.Theme, v *tasks.Verdict, list []post, r ruler) string {
	score := -1
	if v.Score != nil {
		score = r.at(*v.Score)
	}
	at := map[int]post{}
	for _, p := range list {
		x := r.at(p.score)
		if old, taken := at[x]; !taken || p.rank > old.rank {
			at[x] = p
		}
	}
	spans := make([]draw.Span, 0, r.width)
	for x := range r.width {
		style, stroke := t.Faint, "─"
		here := r.worst + (r.best-r.worst)*float64(x)/float64(r.width-1)
		if s, ok := t.Medal(pane.Reached(v.Thresholds, here, v.HigherIsBetter)); ok {
			style = s
		} else if x <= score {
			style = t.Tone(theme.Accent)
		}
		if x <= score {
			stroke = "━"
		}
		if p, ok := at[x]; ok {
			style, stroke = p.style, p.symbol
			if r.off(p.score) {
				stroke = map[bool]string{true: "◂", false: "▸"}[x == 0]
			}
		}
		spans = append(spans, draw.S(style, stroke))
	}
	return draw.Line(r.width, spans...)
}

// below writes names and scores under their posts, in as many rows as given;
// the least important go first when there is no room.
func below(t *theme.Theme, list []post, r ruler, rows int) []string {
	order := append([]post(nil), list...)
	sort.SliceStable(order, func(i, j int) bool { return order[i].rank > order[j].rank })
	type placed struct {
		from int
		post post
		text string
	}
	taken := make([][]placed, rows)
	for _, p := range order {
		text := p.name + " " + pane.Value(p.score)
		n := draw.Width(text)
		from := min(max(r.at(p.score)-n/2, 0), max(r.width-n, 0))
	place:
		for row := range taken {
			for _, o := range taken[row] {
				if from < o.from+draw.Width(o.text)+2 && o.from < from+n+2 {
					continue place
				}
			}
			taken[row] = append(taken[row], placed{from, p, text})
			break
		}
	}
	lines := make([]string, 0, rows)
	for _, row := range taken {
		sort.Slice(row, func(i, j int) bool { return row[i].from < row[j].from })
		var spans []draw.Span
		at := 0
		for _, p := range row {
			spans = append(spans, draw.S(t.Text, draw.Spaces(p.from-at)), draw.S(p.post.style, p.text))
			at = p.from + draw.Width(p.text)
		}
		lines = append(lines, draw.Line(r.width, spans...))
	}
	return lines
}
