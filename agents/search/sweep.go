package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"proctor/agents"
)

// spent is the reason that ends most searches.
const spent = "what is left of the budget would not do for another trial"

// A sweep is one search at work.
type sweep struct {
	*agents.Session
	options
	whole  space // as the task declares it
	space  space // what hints have left of it
	pace   pace
	margin time.Duration

	drawn   uint64             // settings drawn so far, which seeds the next
	started map[string]bool    // settings that were put on a rung, by key
	seen    map[string]outcome // trials, by setting at its fidelity
	results []result           // of every trial that counted, in order

	trials  int
	skipped int // trials that did not count
	row     int // of these, in a row at the end
	idle    int // trials since the best
	best    *kept
	first   string // what the starter as it is came to

	past   []chapter // brackets done with
	reason string    // why the search is over; empty while it goes on
}

// An outcome is what a trial came to; value says nothing unless it counted.
type outcome struct {
	value   float64
	counted bool
}

// kept is the best trial so far, whose outputs stand.
type kept struct {
	trial      int
	value      float64
	text       string // its setting, for people
	checkpoint string
}

func newSweep(s *agents.Session, o options) *sweep {
	whole := newSpace(s.Task.Knobs, o.Eta)
	w := &sweep{
		Session: s,
		options: o,
		whole:   whole,
		space:   whole,
		started: map[string]bool{},
		seen:    map[string]outcome{},
	}
	if left := s.Remaining().Time; left != nil {
		w.margin = margin(*left)
	}
	return w
}

func (w *sweep) run(ctx context.Context) error {
	w.plan(nil)
	defaults := w.space.defaults()
	if err := w.trial(ctx, nil, defaults, w.Task.Starter, "the starter as it is"); err != nil {
		return err
	}
	w.first = "failed"
	if out := w.seen[w.space.text(defaults)]; out.counted {
		w.first = w.score(out.value)
	}
	carry := []setting{defaults}
	for n := 1; w.reason == ""; n++ {
		w.listen()
		b := w.open(n, carry)
		if b == nil {
			break
		}
		var err error
		if carry, err = w.climb(ctx, b); err != nil {
			return err
		}
		w.past = append(w.past, w.close(b))
		if w.reason == "" && w.idle >= w.patience() {
			w.reason = fmt.Sprintf("%d trials since the best have not bettered it", w.idle)
		}
	}
	return w.submit()
}

// open fills a bracket with settings: those carried over first, then new
// ones. It returns nil, and sets the reason, when the search is over.
func (w *sweep) open(number int, carry []setting) *bracket {
	depth := min(w.space.depth(), w.Rungs-1)
	shape, ok := fit(depth, w.Eta, w.cost, w.limit())
	if !ok {
		w.reason = spent
		return nil
	}
	var start []setting
	fresh := map[string]bool{}
	for _, set := range carry {
		if key := w.space.key(set); len(start) < shape.start && w.space.contains(set) && !fresh[key] {
			fresh[key] = true
			start = append(start, set)
		}
	}
	parents := w.parents()
	for len(start) < shape.start {
		var parent setting
		if number > 1 && len(start)%2 == 0 && len(parents) > 0 {
			parent = parents[len(start)/2%len(parents)]
		}
		set, ok := w.candidate(parent)
		if !ok {
			break
		}
		start = append(start, set)
	}
	for _, set := range start {
		w.started[w.space.key(set)] = true
	}
	if len(start) == 0 || len(start) == 1 && w.exhausted(start[0]) {
		return w.finalists(number)
	}
	return newBracket(number, shape.levels, start)
}

// exhausted reports whether the setting has had its trial at the highest
// fidelity.
func (w *sweep) exhausted(set setting) bool {
	_, done := w.seen[w.space.text(w.space.at(set, 0))]
	return done
}

// finalists makes the bracket for when every setting has been started: those
// not yet tried at the highest fidelity get there, best first. Without any
// left the search is over.
func (w *sweep) finalists(number int) *bracket {
	var start []setting
	listed := map[string]bool{}
	for _, r := range ranked(w.results, w.Task.Metric) {
		key := w.space.key(r.setting)
		if len(start) < w.Eta && w.space.contains(r.setting) && !listed[key] && !w.exhausted(r.setting) {
			listed[key] = true
			start = append(start, r.setting)
		}
	}
	if len(start) == 0 {
		w.reason = "every setting has been tried"
		return nil
	}
	return newBracket(number, []int{0}, start)
}

// candidate draws a setting that has not been started: near parent, or
// anywhere when parent is nil. What it draws depends on the seed, on how
// many have been drawn, and on the space alone.
func (w *sweep) candidate(parent setting) (setting, bool) {
	for range 200 {
		w.drawn++
		r := rand.New(rand.NewPCG(uint64(w.Seed), w.drawn))
		set := w.space.draw(r)
		if parent != nil {
			set = w.space.near(r, parent)
		}
		if key := w.space.key(set); !w.started[key] {
			w.started[key] = true
			return set, true
		}
	}
	all, _ := w.space.settings()
	for _, set := range all {
		if key := w.space.key(set); !w.started[key] {
			w.started[key] = true
			return set, true
		}
	}
	return nil, false
}

// parents returns the best few settings of what is left of the space.
func (w *sweep) parents() []setting {
	var parents []setting
	listed := map[string]bool{}
	for _, r := range ranked(w.results, w.Task.Metric) {
		if key := w.space.key(r.setting); len(parents) < w.Eta && w.space.contains(r.setting) && !listed[key] {
			listed[key] = true
			parents = append(parents, r.setting)
		}
	}
	return parents
}

// climb works through the bracket. When a hint changes the space the bracket
// ends early, and what stands in it is carried into the next.
func (w *sweep) climb(ctx context.Context, b *bracket) (carry []setting, err error) {
	for {
		for set, ok := b.next(); ok; set, ok = b.next() {
			full := w.space.at(set, b.rung().level)
			if _, known := w.seen[w.space.text(full)]; !known {
				switch {
				case !w.limit().affords(1, w.estimate(full)):
					b.slow++
					continue
				case w.mustClimb(b, full):
					w.Thought("what is left of the budget is needed to take the best so far to the top, so this rung ends here")
					b.rung().queue = nil
					continue
				}
				b.trials++
				if err := w.trial(ctx, b, full, w.Task.Starter+" "+w.space.flags(full), w.space.text(full)); err != nil {
					return nil, err
				}
			}
			if out := w.seen[w.space.text(full)]; out.counted {
				b.rung().done = append(b.rung().done, result{set, out.value})
			}
			if w.listen() {
				b.ended = "a hint changed the space"
				return b.standing(w.Task.Metric), nil
			}
			if w.reason != "" {
				return nil, nil
			}
		}
		if b.trials == 0 && b.slow > 0 {
			w.reason = spent
			return nil, nil
		}
		if !b.promote(w.Task.Metric, w.Eta, func(set setting) bool { return w.space.work(set).flat }) {
			return nil, nil
		}
		w.explain(b)
	}
}

// listen takes the hints that have come and reports whether the space has
// changed.
func (w *sweep) listen() bool {
	changed := false
	for _, hint := range w.Hints() {
		left, answer, ok := hear(hint.Text, w.space, w.whole)
		w.space = left
		w.Delivered(hint.ID, agents.Queued, answer)
		if ok {
			changed, w.idle = true, 0
		}
	}
	return changed
}

// limit is what may still be used, less the margin for finishing.
func (w *sweep) limit() limit {
	left := w.Remaining()
	l := limit{trials: left.Steps}
	if left.Time != nil {
		seconds := max(0, (*left.Time - w.margin).Seconds())
		l.seconds = &seconds
	}
	return l
}

// cost estimates the seconds of a trial of no particular setting at a level.
func (w *sweep) cost(level int) float64 { return w.pace.trial(w.space.typical(level)) }

// estimate is how many seconds a trial of the setting will take.
func (w *sweep) estimate(set setting) float64 { return w.pace.trial(w.space.work(set)) }

// mustClimb reports whether, after a trial of set, the budget would no longer
// do for taking one setting through the rungs above, though it does now.
func (w *sweep) mustClimb(b *bracket, set setting) bool {
	above := b.rungs[b.at+1:]
	if len(above) == 0 || len(b.rung().done) == 0 {
		return false
	}
	seconds := 0.0
	for _, r := range above {
		seconds += w.cost(r.level)
	}
	l := w.limit()
	return l.affords(len(above), seconds) && !l.affords(len(above)+1, seconds+w.estimate(set))
}

// explain says what climbs and why, as the bracket enters a rung.
func (w *sweep) explain(b *bracket) {
	text := fmt.Sprintf("rung %d of bracket %d is done; going on with", b.at, b.number)
	for _, set := range b.rung().queue {
		for _, r := range b.rungs[b.at-1].done {
			if w.space.key(r.setting) == w.space.key(set) {
				text += fmt.Sprintf("\n  %s  %s", w.score(r.value), w.space.key(set))
			}
		}
	}
	w.Thought(text)
}
