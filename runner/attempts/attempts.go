// Package attempts sums up several runs of one agent on one task that differ
// in their seed only: how often they pass, and how good they are on average.
//
// What counts as a pass is the suite's own reading ([tasks.Verdict.Passed]).
// An attempt whose grader failed or was not there, or that never came to be
// graded, says nothing about the agent and is not counted; the Group says how
// many those are.
package attempts

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"proctor/runner/rundir"
	"proctor/tasks"
)

// A Group is the attempts of one command, as they stand.
type Group struct {
	ID      string    `json:"group"`
	Task    string    `json:"task"`
	Agent   string    `json:"agent"`
	Model   string    `json:"model,omitempty"`
	Created time.Time `json:"created"` // when its first attempt began
	Of      int       `json:"of"`      // attempts asked for
	Alive   int       `json:"alive"`   // attempts going on

	Metric         string    `json:"metric,omitempty"`
	Unit           string    `json:"unit,omitempty"`
	HigherIsBetter bool      `json:"higher_is_better"`
	Attempts       []Attempt `json:"attempts"` // in order

	Counted int      `json:"counted"` // attempts whose outcome says something about the agent
	Passed  int      `json:"passed"`
	PassBy  string   `json:"pass_by,omitempty"` // what counts as a pass; "" when nothing says so
	PassAt  []Rate   `json:"pass_at"`           // for k from 1 to Counted; empty without PassBy
	Score   *Mean    `json:"score"`             // of the attempts that were scored; nil when none was
	Best    *float64 `json:"best"`
	Medals  int      `json:"medals"`
	Entered int      `json:"entered,omitempty"` // scores that a person entered
}

// An Attempt is one run of a group. Fields are nil where nothing is known.
type Attempt struct {
	Run      string       `json:"run"`
	Number   int          `json:"attempt"` // from 1
	Seed     int64        `json:"seed"`
	Phase    string       `json:"phase"`
	Status   tasks.Status `json:"status,omitempty"` // "" until there is a verdict
	Score    *float64     `json:"score"`
	Medal    string       `json:"medal,omitempty"`
	Success  *bool        `json:"success,omitempty"`
	Passed   *bool        `json:"passed"` // nil when it is not counted
	Assisted bool         `json:"assisted"`
	Entered  *tasks.Entry `json:"entered,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

// Groups sums up the groups among runs, the newest first.
func Groups(runs []rundir.Summary) []Group {
	members := map[string][]rundir.Summary{}
	for _, r := range runs {
		if r.Attempt != nil {
			members[r.Attempt.Group] = append(members[r.Attempt.Group], r)
		}
	}
	groups := []Group{}
	for id, runs := range members {
		groups = append(groups, Sum(id, runs))
	}
	sort.Slice(groups, func(i, j int) bool {
		if a, b := groups[i].Created, groups[j].Created; !a.Equal(b) {
			return a.After(b)
		}
		return groups[i].ID > groups[j].ID
	})
	return groups
}

// Find returns the group that key names: its id, a unique part of the id's
// beginning, or its last four letters.
func Find(groups []Group, key string) (Group, error) {
	var found []Group
	for _, g := range groups {
		if g.ID == key {
			return g, nil
		}
		if strings.HasPrefix(g.ID, key) || strings.HasSuffix(g.ID, "-"+key) {
			found = append(found, g)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Group{}, fmt.Errorf("no group of attempts is called %q: see proctor runs", key)
	}
	return Group{}, fmt.Errorf("%q could be any of %d groups of attempts: give more of the id", key, len(found))
}

// Sum sums up the attempts of one group; runs are all of it.
func Sum(id string, runs []rundir.Summary) Group {
	runs = append([]rundir.Summary(nil), runs...)
	sort.SliceStable(runs, func(i, j int) bool { return number(runs[i]) < number(runs[j]) })
	g := Group{ID: id, Attempts: []Attempt{}, PassAt: []Rate{}}
	var scores []float64
	for _, r := range runs {
		g.add(r)
		if v := r.Verdict; v != nil && v.Score != nil {
			scores = append(scores, *v.Score)
		}
	}
	g.Score = mean(scores)
	if g.PassBy == "" {
		g.Passed = 0
		for i := range g.Attempts {
			g.Attempts[i].Passed = nil
		}
		return g
	}
	for k := 1; k <= g.Counted; k++ {
		g.PassAt = append(g.PassAt, PassAt(g.Counted, g.Passed, k))
	}
	return g
}

func number(r rundir.Summary) int {
	if r.Attempt == nil {
		return 0
	}
	return r.Attempt.Number
}

func (g *Group) add(r rundir.Summary) {
	if len(g.Attempts) == 0 || r.Created.Before(g.Created) {
		g.Created = r.Created
	}
	g.Task, g.Agent, g.Model = r.Task, r.Agent, r.Model
	if r.Attempt != nil {
		g.Of = r.Attempt.Of
	}
	if r.Alive {
		g.Alive++
	}
	a := Attempt{Run: r.ID, Number: number(r), Seed: r.Seed, Phase: r.Phase, Assisted: r.Assisted, Reason: r.Reason}
	if r.Verdict != nil {
		g.judge(&a, r.Verdict)
	}
	g.Attempts = append(g.Attempts, a)
}

// judge takes an attempt's verdict into the counts.
func (g *Group) judge(a *Attempt, v *tasks.Verdict) {
	a.Status, a.Score, a.Medal, a.Success, a.Entered, a.Reason = v.Status, v.Score, v.Medal, v.Success, v.Entered, v.Reason
	if v.Metric != "" {
		g.Metric, g.Unit, g.HigherIsBetter = v.Metric, v.Unit, v.HigherIsBetter
	}
	if v.Medal != "" {
		g.Medals++
	}
	if v.Entered != nil {
		g.Entered++
	}
	if v.Score != nil && (g.Best == nil || tasks.Metric{HigherIsBetter: v.HigherIsBetter}.Better(*v.Score, *g.Best)) {
		g.Best = v.Score
	}
	passed, by := v.Passed()
	if by != "" {
		g.PassBy = by
	}
	if v.Status.Counts() {
		passed = passed && v.Status == tasks.Graded
		a.Passed = &passed
		g.Counted++
		if passed {
			g.Passed++
		}
	}
}

// Graded is how many attempts have a score.
func (g *Group) Graded() int {
	if g.Score == nil {
		return 0
	}
	return g.Score.N
}

// State says in a few words how far the attempts are.
func (g *Group) State() string {
	switch over := len(g.Attempts) - g.Alive; {
	case g.Alive > 0:
		return fmt.Sprintf("%d of %d over", over, g.Of)
	case len(g.Attempts) < g.Of:
		return fmt.Sprintf("%d of %d made", len(g.Attempts), g.Of)
	case len(g.Attempts) == 1:
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", len(g.Attempts))
}

// Words says how the group stands in parts, the most telling first, such as
// "pass@1 0.50 ± 0.22", "best 0.98", "3/6 medals".
func (g *Group) Words(format func(score float64) string) []string {
	var words []string
	switch {
	case len(g.PassAt) > 0:
		words = append(words, "pass@1 "+g.PassAt[0].String())
	case g.Score != nil:
		words = append(words, "mean "+g.Score.words(format))
	}
	if g.Best != nil {
		words = append(words, "best "+format(*g.Best))
	}
	switch {
	case g.Counted == 0 && g.Graded() == 0:
		words = append(words, fmt.Sprintf("0/%d graded", len(g.Attempts)))
	case g.PassBy == "any medal":
		words = append(words, fmt.Sprintf("%d/%d medals", g.Medals, g.Counted))
	case g.PassBy != "":
		words = append(words, fmt.Sprintf("%d/%d passed", g.Passed, g.Counted))
	case g.Alive == 0:
		words = append(words, fmt.Sprintf("%d/%d graded", g.Graded(), len(g.Attempts)))
	}
	return words
}

// String writes a rate with two decimals.
func (r Rate) String() string {
	if r.SE == nil {
		return fmt.Sprintf("%.2f", r.Value)
	}
	return fmt.Sprintf("%.2f ± %.2f", r.Value, *r.SE)
}

func (m *Mean) words(format func(float64) string) string {
	if m.SE == nil {
		return format(m.Value)
	}
	return format(m.Value) + " ± " + format(*m.SE)
}

// Details says what Words has left out: the other rates, of many only those
// whose k is a power of two or all attempts, and the mean.
func (g *Group) Details(format func(score float64) string) []string {
	var words []string
	for _, r := range g.PassAt {
		if len(g.PassAt) <= 8 || r.K&(r.K-1) == 0 || r.K == len(g.PassAt) {
			words = append(words, fmt.Sprintf("pass@%d %s", r.K, r))
		}
	}
	if g.Score != nil {
		words = append(words, "mean "+g.Score.words(format))
	}
	return words
}
