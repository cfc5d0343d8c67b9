package verdict

import (
	"fmt"
	"sort"

	"proctor/tasks"
	"proctor/ui/draw"
	"proctor/ui/pane"
	"proctor/ui/theme"
)

// An entry is a line of the ranking.
type entry struct {
	tasks.Reference
	mine, baseline bool
}

// ranked lists the run among the references, the best first; a tie goes to
// the run, as medals do. The baseline stands among them without a rank.
func ranked(v *tasks.Verdict) []entry {
	list := []entry{{Reference: tasks.Reference{Name: "this run", Score: *v.Score}, mine: true}}
	if v.Baseline != nil {
		list = append(list, entry{Reference: tasks.Reference{Name: "baseline", Score: *v.Baseline, How: "the starter code"}, baseline: true})
	}
	for _, r := range v.Reference {
		list = append(list, entry{Reference: r})
	}
	better := tasks.Metric{HigherIsBetter: v.HigherIsBetter}.Better
	sort.SliceStable(list, func(i, j int) bool { return better(list[i].Score, list[j].Score) })
	return list
}

// ranking draws the ranking in at most so many lines, around the run when
// there are more.
func ranking(t *theme.Theme, v *tasks.Verdict, w, most int) []string {
	if v.Score == nil || len(v.Reference) == 0 || most < 3 {
		return nil
	}
	list := ranked(v)
	mine := 0
	for i, e := range list {
		if e.mine {
			mine = i
		}
	}
	first := min(max(mine-most/2, 0), max(len(list)-most, 0))
	var lines []string
	rank := 0
	for i, e := range list {
		place := "  "
		if !e.baseline {
			rank++
			place = fmt.Sprintf("%2d", rank)
		}
		if i >= first && i < first+most {
			lines = append(lines, e.line(t, v, place, w))
		}
	}
	return lines
}

func (e entry) line(t *theme.Theme, v *tasks.Verdict, place string, w int) string {
	style, mark := t.Text, "  "
	switch medal, ok := t.Medal(v.Medal); {
	case e.mine && ok:
		style, mark = medal.Bold(), theme.Arrow+" "
	case e.mine:
		style, mark = t.Tone(theme.Accent).Bold(), theme.Arrow+" "
	case e.baseline:
		style = t.Muted
	}
	return draw.Row{
		Left: []draw.Span{
			draw.S(style, mark), draw.S(t.Faint, place+"  "), draw.S(style, pane.Clean(e.Name)), draw.S(t.Faint, "  "+pane.Clean(e.How)),
		},
		Right: []draw.Span{draw.S(style, pane.Unit(e.Score, v.Unit))},
	}.Render(w)
}
